"""``rerail ledger``: what is spent, and what happened."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from rerail.boundary.result import Result
from rerail.cli.here import project_here
from rerail.cli.history import NAMED
from rerail.cli.main import DefaultGroup, json_option
from rerail.cli.output import leave
from rerail.cli.pictures import class_cell, facts, short_time_of, table
from rerail.ids import UnitName

if TYPE_CHECKING:
    from rich.console import Console

    from rerail.ledger.store import EventRow


@click.group("ledger", cls=DefaultGroup, default="show")
def command() -> None:
    """Show what the ledger holds."""


@command.command("show")
@click.option("--unit", help="Of one unit alone.")
@click.option("--failures", is_flag=True, help="Only named failures.")
@click.option("--last", "count", type=click.IntRange(min=1), default=20, show_default=True, help="How many events.")
@json_option
def show(unit: str | None, failures: bool, count: int, as_json: bool) -> int:
    """Show balances and the last events."""
    project = project_here()
    ledger = project.open_ledger()
    try:
        name = UnitName(unit) if unit else None
        balances = ledger.balances(name)
        rows = [row for row in ledger.events(unit=name) if not failures or row.name == NAMED][-count:]
    finally:
        ledger.close()
    data = {
        "path": str(project.location.path),
        "balances": [
            {"unit": each.unit, "class": each.class_, "spent": each.spent, "budget": each.budget} for each in balances
        ],
        "events": [
            {"id": row.id, "at_s": row.at_s, "unit": row.unit, "attempt": row.attempt, "name": row.name, **_named(row)}
            for row in rows
        ],
    }

    def picture(console: Console) -> None:
        facts(console, [("ledger", project.location.path), ("note", project.location.note)])
        if balances:
            console.print()
            console.print(
                table(
                    ("class", "spent", "budget", "unit"),
                    [(class_cell(each.class_), each.spent, each.budget, each.unit) for each in balances],
                )
            )
        if rows:
            console.print()
            console.print(table(("event", "at", "attempt", "what", "unit"), [_cells(row) for row in rows]))

    message = "" if balances or rows else "nothing has failed here yet"
    return leave(Result(True, "ledger show", message, data), as_json=as_json, picture=picture)


def _named(row: EventRow) -> dict[str, object]:
    named = row.fields.get("classification")
    if not isinstance(named, dict):
        return {}
    return {"class": named.get("class"), "reason": named.get("reason"), "summary": named.get("summary")}


def _cells(row: EventRow) -> tuple[object, ...]:
    named = _named(row)
    # A class says that a failure was named; the event's own name would only push the unit off the line.
    what = class_cell(str(named["class"])).append(f"/{named['reason']}") if named else row.name
    return (row.id, short_time_of(row.at_s), row.attempt, what, row.unit)
