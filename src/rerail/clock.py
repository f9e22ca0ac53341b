"""Time and chance as arguments: the protocols, and the ones the system offers.

Durations are read from the monotonic clock; the wall clock is only for points in time that people and servers name.
"""

from __future__ import annotations

import random
import time
from typing import Protocol


class Clock(Protocol):
    """Reads the two clocks."""

    def monotonic_s(self) -> float:
        """Return seconds on a clock that never goes back."""
        ...

    def wall_s(self) -> float:
        """Return seconds since the epoch, UTC."""
        ...


class Draw(Protocol):
    """A source of chance: returns a number in [0, 1)."""

    def __call__(self) -> float:
        """Draw once."""
        ...


class SystemClock:
    """The clocks of this machine."""

    def monotonic_s(self) -> float:
        """Return ``time.monotonic()``."""
        return time.monotonic()

    def wall_s(self) -> float:
        """Return ``time.time()``."""
        return time.time()


def system_draw() -> float:
    """Return a random number in [0, 1) for jitter; nothing secret depends on it."""
    return random.random()  # noqa: S311  jitter, not a secret
