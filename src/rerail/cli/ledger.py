"""``rerail ledger``: what is spent, and what happened."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from rerail.boundary.result import Result
from rerail.cli.here import project_here
from rerail.cli.main import json_option
from rerail.cli.output import leave
from rerail.cli.pictures import class_cell, facts, table, time_of
from rerail.ids import UnitName

if TYPE_CHECKING:
    from rich.console import Console

    from rerail.ledger.store import EventRow


@click.group("ledger")
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
        rows = [row for row in ledger.events(unit=name) if not failures or row.name == "failure.classified"][-count:]
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
                    ("unit", "class", "spent", "budget"),
                    [(each.unit, class_cell(each.class_), each.spent, each.budget) for each in balances],
                )
            )
        if rows:
            console.print()
            console.print(table(("event", "at", "unit", "attempt", "what", "class"), [_cells(row) for row in rows]))

    message = "" if balances or rows else "nothing has failed here yet"
    return leave(Result(True, "ledger show", message, data), as_json=as_json, picture=picture)


def _named(row: EventRow) -> dict[str, object]:
    named = row.fields.get("classification")
    if not isinstance(named, dict):
        return {}
    return {"class": named.get("class"), "reason": named.get("reason"), "summary": named.get("summary")}


def _cells(row: EventRow) -> tuple[object, ...]:
    named = _named(row)
    shown = class_cell(str(named["class"])) if named else ""
    return (row.id, time_of(row.at_s), row.unit, row.attempt, row.name, shown)
