"""What only the store of one process has: bounds for weeks of work, and a first look that costs nothing."""

from __future__ import annotations

import threading

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.ledgers import charge, in_phase
from tests.strategies import RUN, UNIT, record

from rerail.budget.model import Window
from rerail.decisions.model import Phase, Proceed, Retry
from rerail.errors import UnknownNameError
from rerail.ids import EventId
from rerail.ledger import memory
from rerail.ledger.memory import MemoryLedger


def test_the_history_is_bounded_and_its_numbers_go_on() -> None:
    ledger = MemoryLedger(history=3)
    for _ in range(10):
        ledger.append("e", run=RUN, unit=UNIT, attempt=1, at_s=0.0, fields={})
    assert [event.id for event in ledger.events()] == [8, 9, 10]
    assert ledger.event(EventId(8)).id == 8
    with pytest.raises(UnknownNameError):
        ledger.event(EventId(7))


def test_balances_outlive_the_history() -> None:
    ledger = MemoryLedger(history=1)
    for attempt in range(1, 6):
        ledger.charge(charge(attempt))
        ledger.record(record(Retry(1.0)), in_phase(Phase.WAITING))
    assert ledger.balances()[0].spent == 5


def test_grants_are_remembered_for_redelivery_in_bounded_number(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(memory, "_REMEMBERED_GRANTS", 10)
    ledger = MemoryLedger()
    grants = [ledger.charge(charge(attempt, budget=1000)) for attempt in range(1, 101)]
    assert [ledger.charge(charge(attempt, budget=1000)) for attempt in range(91, 101)] == grants[90:]
    assert len(ledger._grants) + len(ledger._older_grants) <= 20


@given(st.lists(st.integers(0, 40), max_size=60), st.integers(1, 8))
def test_a_window_is_exact_although_old_times_are_forgotten(times: list[int], allowed: int) -> None:
    """Also when the clock jumps about, and a window allows more than are kept otherwise."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(memory, "_KEPT_TIMES", 5)
        ledger = MemoryLedger()
        window = Window(allowed, 10.0)
        granted: list[int] = []
        for attempt, at_s in enumerate(times, start=1):
            fits = sum(past > at_s - 10 for past in granted) < allowed
            assert ledger.charge(charge(attempt, budget=1000, window=window, at_s=float(at_s))).granted is fits
            granted += [at_s] * fits
        assert all(len(account.times) <= 8 for accounts in ledger._accounts.values() for account in accounts.values())


def test_a_unit_that_recovered_leaves_only_its_account() -> None:
    ledger = MemoryLedger()
    ledger.record(record(Retry(1.0)), in_phase(Phase.WAITING))
    ledger.finish(in_phase(Phase.SUCCEEDED), Proceed(), record=None, at_s=1.0)
    assert ledger._units == {}


def test_an_unknown_unit_is_seen_without_waiting_for_anybody() -> None:
    ledger = MemoryLedger()
    seen = threading.Event()
    with ledger._lock:

        def look() -> None:
            assert ledger.standing(UNIT) is None
            seen.set()

        looker = threading.Thread(target=look)
        looker.start()
        assert seen.wait(timeout=10)
    looker.join()


def test_what_is_read_is_not_the_live_object() -> None:
    ledger = MemoryLedger()
    fields = {"steps": ["a"]}
    event_id = ledger.append("e", run=RUN, unit=UNIT, attempt=1, at_s=0.0, fields=fields)
    fields["steps"].append("b")
    assert ledger.event(event_id).fields == {"steps": ["a"]}
