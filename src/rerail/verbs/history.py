"""What the ledger remembers of a unit, for verbs that are asked about one by its name."""

from __future__ import annotations

from typing import TYPE_CHECKING

from rerail.ids import UnitName
from rerail.ledger.codec import record_from_json
from rerail.ledger.named import FAILURE_NAMED

if TYPE_CHECKING:
    from rerail.decisions.effects import FailureRecord
    from rerail.ledger.store import EventRow, Ledger, PauseRecord


def last_failure(ledger: Ledger, unit: str | None = None) -> EventRow | None:
    """Return the last named failure, of one unit or of all; None where there is none."""
    return _last(ledger, unit, FAILURE_NAMED)


def failure_of(ledger: Ledger, pause: PauseRecord) -> EventRow | None:
    """Return the named failure that a pause was asked about."""
    rows = (
        row
        for row in ledger.events(unit=pause.unit)
        if row.name == FAILURE_NAMED and row.run == pause.run and row.at_s <= pause.asked_at_s
    )
    return max(rows, key=lambda row: row.id, default=None)


def last_record(ledger: Ledger, unit: str) -> FailureRecord | None:
    """Return a unit's last named failure as a value.

    Raises:
        LedgerError: It cannot be read.
    """
    row = last_failure(ledger, unit)
    return None if row is None else record_from_json(row.fields)


def failure_since_success(ledger: Ledger, unit: UnitName) -> FailureRecord | None:
    """Return a unit's last named failure as a value; None where it has succeeded since, or never failed.

    Raises:
        LedgerError: It cannot be read.
    """
    found: EventRow | None = None
    for row in ledger.events(unit=unit):
        if row.name == FAILURE_NAMED:
            found = row
        elif row.name == "unit.finished" and row.fields.get("outcome") == "succeeded":
            found = None
    return None if found is None else record_from_json(found.fields)


def last_outcome(ledger: Ledger, unit: str) -> str | None:
    """Return how a unit's last run ended, as its terminal record says; None where none is known."""
    row = _last(ledger, unit, "unit.finished")
    return None if row is None else str(row.fields.get("outcome"))


def known_units(ledger: Ledger) -> set[str]:
    """Return the units that the ledger has heard of."""
    return {row.unit for row in ledger.events() if row.unit}


def _last(ledger: Ledger, unit: str | None, name: str) -> EventRow | None:
    rows = (row for row in ledger.events(unit=None if unit is None else UnitName(unit)) if row.name == name)
    return max(rows, key=lambda row: row.id, default=None)
