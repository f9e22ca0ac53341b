"""Backoff curves from tenacity's wait strategies. What the server's hint and the caps make of them is decided in the core."""

from __future__ import annotations

from functools import cache, lru_cache
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable

    from tenacity import BaseRetrying, RetryCallState

    from rerail.decisions.policy import Backoff


def curve_s(backoff: Backoff, nth: int) -> float:
    """Return a policy's wait after the *nth* failure of a class, counted from 1: in seconds, never negative.

    The curve is the policy's own tenacity strategy, or doubling from ``initial_s`` to ``cap_s``. tenacity is imported at the
    first wait and not before, for most runs never wait.
    """
    strategy = _doubling(backoff.initial_s, backoff.cap_s) if backoff.wait is None else backoff.wait
    return max(0.0, float(strategy(_call_state(nth))))


@cache
def _doubling(initial_s: float, cap_s: float) -> Callable[[RetryCallState], float]:
    from tenacity import wait_exponential

    return wait_exponential(multiplier=initial_s, max=cap_s)


@lru_cache(maxsize=64)
def _call_state(nth: int) -> RetryCallState:
    """Return the state that a strategy reads its attempt number from; strategies read it and change nothing."""
    from tenacity import RetryCallState

    state = RetryCallState(_retrying(), None, (), {})
    state.attempt_number = nth
    return state


@cache
def _retrying() -> BaseRetrying:
    from tenacity import Retrying

    return Retrying()
