"""``rerail why``: what named a failure, what lost, and why."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from rerail.boundary.result import Result
from rerail.cli.classify import to_json_value
from rerail.cli.here import project_here
from rerail.cli.history import NAMED, failure_of, known_units, last_failure
from rerail.cli.main import json_option
from rerail.cli.output import leave
from rerail.cli.pictures import facts, show_classification, time_of
from rerail.cli.run import scoped
from rerail.errors import UnknownNameError, UsageError
from rerail.ids import EventId
from rerail.ledger.codec import record_from_json

if TYPE_CHECKING:
    from rich.console import Console

    from rerail.ledger.store import EventRow, Ledger


@click.command("why")
@click.argument("event", default="last", metavar="[EVENT|UNIT|PAUSE]")
@json_option
def command(event: str, as_json: bool) -> int:
    """Show what named a failure: by its number in rerail ledger show, by its pause, or a unit's last; else the last of all."""
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


def _row(ledger: Ledger, asked: str) -> EventRow:
    """Return the named failure that *asked* means: a number is always an event's."""
    if asked == "last":
        row = last_failure(ledger)
        if row is None:
            raise UsageError("no failure has been recorded here yet", hint="run a unit first: rerail run -- CMD")
        return row
    if asked.isascii() and asked.isdecimal():
        row = ledger.event(EventId(int(asked)))
        if row.name != NAMED:
            raise UsageError(
                f"event {asked} is {row.name}, not a named failure", hint="see rerail ledger show --failures"
            )
        return row
    pauses = {str(pause.id): pause for pause in ledger.pauses(include_answered=True)}
    row = failure_of(ledger, pauses[asked]) if asked in pauses else last_failure(ledger, scoped(asked))
    if row is not None:
        return row
    units = known_units(ledger)
    if asked in pauses or scoped(asked) in units:
        raise UsageError(f"no named failure of {asked} is recorded")
    raise UnknownNameError("event, unit or pause", asked, {*units, *pauses})
