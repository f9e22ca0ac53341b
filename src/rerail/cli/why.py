"""``rerail why``: what named a failure, what lost, and why."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from rerail.boundary.result import Result
from rerail.cli.classify import to_json_value
from rerail.cli.here import project_here
from rerail.cli.main import json_option
from rerail.cli.output import leave
from rerail.cli.pictures import facts, show_classification, time_of
from rerail.errors import UsageError
from rerail.ids import EventId
from rerail.ledger.codec import record_from_json

if TYPE_CHECKING:
    from rich.console import Console

    from rerail.ledger.store import EventRow, Ledger


@click.command("why")
@click.argument("event", default="last")
@json_option
def command(event: str, as_json: bool) -> int:
    """Show what named the failure of EVENT, a number that rerail ledger show lists; by default the last one."""
    project = project_here()
    ledger = project.open_ledger()
    try:
        row = _row(ledger, event)
    finally:
        ledger.close()
    record = record_from_json(row.fields)
    named = record.classification
    text = project.loaded.texts.get(named.rule)

    def show(console: Console) -> None:
        show_classification(console, named)
        console.print()
        facts(
            console,
            [
                ("why", text.why if text else None),
                ("source", text.source if text else None),
                ("recipe", text.pack if text else None),
                ("unit", f"{record.unit}, attempt {record.attempt}"),
                ("at", time_of(record.at_s)),
            ],
        )

    data = {
        "event": row.id,
        "unit": record.unit,
        "attempt": record.attempt,
        "classification": to_json_value(named),
        "why": text.why if text else None,
        "source": text.source if text else None,
    }
    return leave(Result(True, "why", "", data), as_json=as_json, picture=show)


def _row(ledger: Ledger, event: str) -> EventRow:
    if event == "last":
        rows = [row for row in ledger.events() if row.name == "failure.classified"]
        if not rows:
            raise UsageError("no failure has been recorded here yet", hint="run a unit first: rerail run -- CMD")
        return rows[-1]
    if not event.isdecimal():
        raise UsageError(f"EVENT must be a number or 'last', got {event!r}", hint="see rerail ledger show")
    row = ledger.event(EventId(int(event)))
    if row.name != "failure.classified":
        raise UsageError(f"event {event} is {row.name}, not a named failure", hint="see rerail ledger show --failures")
    return row
