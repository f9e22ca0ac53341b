"""Which limit binds, for any amounts."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st
from tests.strategies import RUN, UNIT

from rerail.budget import Balance, Charge, Limit, Window, binding_limit

amounts = st.integers(0, 50)


def charge(budget: int, window: int) -> Charge:
    return Charge(RUN, UNIT, 1, "provider", budget, Window(window, 60.0), at_s=0.0)


@given(budget=amounts, spent=amounts, window=st.integers(1, 50), recent=amounts)
def test_a_charge_is_granted_only_below_both_limits(budget: int, spent: int, window: int, recent: int) -> None:
    limit = binding_limit(charge(budget, window), spent=spent, spent_in_window=recent)
    assert (limit is None) == (spent < budget and recent < window)


def test_zero_means_zero() -> None:
    assert binding_limit(charge(0, 20), spent=0, spent_in_window=0) is Limit.CLASS


@given(budget=amounts, spent=amounts)
def test_what_remains_is_never_negative(budget: int, spent: int) -> None:
    assert Balance(UNIT, "provider", budget, spent).remaining == max(0, budget - spent)
