"""What is spent, and what happened."""

from __future__ import annotations

from typing import TYPE_CHECKING

from rerail.boundary.result import Result
from rerail.errors import UnknownNameError, UsageError
from rerail.ids import UnitName
from rerail.ledger.named import FAILURE_NAMED
from rerail.ledger.owner import current_owner, is_alive
from rerail.verbs.history import known_units
from rerail.verbs.pauses import as_data

if TYPE_CHECKING:
    from collections.abc import Iterator

    from rerail.app import Project
    from rerail.ledger.store import EventRow

EXPORT_VERSION = 1
"""Of the export's lines. It stays while fields are only added."""

LAST_EVENTS = 20
"""How many events are shown where nobody says."""


def show(project: Project, *, unit: str | None = None, failures: bool = False, count: int = LAST_EVENTS) -> Result:
    """Return balances and the last events.

    Args:
        project: Whose ledger.
        unit: Of one unit alone.
        failures: Only named failures.
        count: How many events, at least 1.
    """
    ledger = project.open_ledger()
    try:
        name = UnitName(unit) if unit else None
        balances = ledger.balances(name)
        rows = [row for row in ledger.events(unit=name) if not failures or row.name == FAILURE_NAMED][-count:]
    finally:
        ledger.close()
    data = {
        "path": str(project.location.path),
        "note": project.location.note,
        "balances": [
            {"unit": each.unit, "class": each.class_, "spent": each.spent, "budget": each.budget} for each in balances
        ],
        "events": [
            {"id": row.id, "at_s": row.at_s, "unit": row.unit, "attempt": row.attempt, "name": row.name, **_named(row)}
            for row in rows
        ],
    }
    return Result(True, "ledger show", "" if balances or rows else "nothing has failed here yet", data)


def release(project: Project, unit: str) -> Result:
    """Let go of a unit whose process is gone with its host, which nobody can see from here.

    Raises:
        UnitBusyError: Its process runs on this host.
        UnknownNameError: Nothing is known of the unit.
        UsageError: Nobody holds it.
    """
    here = current_owner().host
    ledger = project.open_ledger()
    try:
        owner = ledger.release(UnitName(unit), seen=lambda owner: owner.host == here and is_alive(owner))
        if owner is None and unit not in (units := known_units(ledger)):
            raise UnknownNameError("unit", unit, units)
    finally:
        ledger.close()
    if owner is None:
        raise UsageError(f"{unit}: no process holds it", hint="run it, or see what it waits for: rerail pauses")
    message = f"{unit}: taken from process {owner.pid} on {owner.host}; its next run asks what became of the attempt"
    data = {"unit": unit, "pid": owner.pid, "host": owner.host}
    return Result(True, "ledger release", message, data)


def export(project: Project) -> Iterator[dict[str, object]]:
    """Yield all that the ledger holds, one JSON object a record: a header, the history, the balances, the questions.

    Raises:
        LedgerError: It cannot be read; what was yielded before is whole.
    """
    yield {"kind": "ledger", "schema_version": EXPORT_VERSION, "path": str(project.location.path)}
    ledger = project.open_ledger()
    try:
        for row in ledger.events():
            yield {"kind": "event", **row._asdict(), "fields": dict(row.fields)}
        for each in ledger.balances():
            yield {
                "kind": "balance",
                "unit": each.unit,
                "class": each.class_,
                "spent": each.spent,
                "budget": each.budget,
            }
        for pause in ledger.pauses(include_answered=True):
            yield {"kind": "pause", **as_data(pause)}
    finally:
        ledger.close()


def _named(row: EventRow) -> dict[str, object]:
    named = row.fields.get("classification")
    if not isinstance(named, dict):
        return {}
    return {"class": named.get("class"), "reason": named.get("reason"), "summary": named.get("summary")}
