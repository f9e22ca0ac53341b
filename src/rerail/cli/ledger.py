"""``rerail ledger``: what is spent, and what happened."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import click

from rerail.boundary.exit_codes import ExitCode
from rerail.boundary.serialize import plain, to_json
from rerail.cli.here import project_here
from rerail.cli.main import DefaultGroup, json_option
from rerail.cli.output import leave, silence_stdout
from rerail.cli.pictures import class_cell, facts, short_time_of, table
from rerail.errors import UsageError
from rerail.verbs.units import scoped

if TYPE_CHECKING:
    from collections.abc import Mapping

    from rich.console import Console


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
    from rerail.verbs import ledger

    result = ledger.show(project_here(), unit=unit, failures=failures, count=count)
    balances, events = result.rows("balances"), result.rows("events")

    def picture(console: Console) -> None:
        facts(console, [("ledger", result.data["path"]), ("note", result.data["note"])])
        if balances:
            console.print()
            console.print(
                table(
                    ("class", "spent", "budget", "unit"),
                    [(class_cell(each["class"]), each["spent"], each["budget"], each["unit"]) for each in balances],
                )
            )
        if events:
            console.print()
            console.print(table(("event", "at", "attempt", "what", "unit"), [_cells(each) for each in events]))

    return leave(result, as_json=as_json, picture=picture)


@command.command("export")
def export() -> int:
    """Print all that the ledger holds, one JSON object a line: `rerail schema ledger-export` says what is in one."""
    from rerail.verbs import ledger

    try:
        for record in ledger.export(project_here()):
            print(to_json(plain(record)), flush=True)  # noqa: T201  the records are the output
    except BrokenPipeError:
        silence_stdout()
    except OSError as error:
        silence_stdout()
        raise UsageError(f"the export is incomplete: stdout cannot be written: {error.strerror}") from None
    return ExitCode.SUCCEEDED


@command.command("release")
@click.argument("unit")
@json_option
def release(unit: str, as_json: bool) -> int:
    """Let go of UNIT, whose process is gone together with its host."""
    from rerail.verbs import ledger

    return leave(ledger.release(project_here(), scoped(unit)), as_json=as_json)


def _cells(event: Mapping[str, Any]) -> tuple[object, ...]:
    # A class says that a failure was named; the event's own name would only push the unit off the line.
    what = class_cell(str(event["class"])).append(f"/{event['reason']}") if "class" in event else event["name"]
    return (event["id"], short_time_of(event["at_s"]), event["attempt"], what, event["unit"])
