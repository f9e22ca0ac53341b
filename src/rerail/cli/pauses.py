"""``rerail pauses``: the questions that await an answer."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from rerail.boundary.result import Result
from rerail.cli.here import ledger_here
from rerail.cli.main import json_option
from rerail.cli.output import leave
from rerail.cli.pictures import class_cell, table, time_of

if TYPE_CHECKING:
    from rich.console import Console

    from rerail.ledger.store import PauseRecord


@click.command("pauses")
@click.option("--all", "include_answered", is_flag=True, help="Also those that have their answer.")
@json_option
def command(include_answered: bool, as_json: bool) -> int:
    """Show the questions that await an answer, oldest first."""
    with ledger_here() as ledger:
        pauses = ledger.pauses(include_answered=include_answered)

    def show(console: Console) -> None:
        console.print(
            table(
                ("pause", "unit", "class", "since", "why", "question"),
                [
                    (each.id, each.unit, class_cell(each.class_), time_of(each.asked_at_s), each.why, each.question)
                    for each in pauses
                ],
            )
        )

    message = "" if pauses else "nothing is paused"
    data = {"pauses": [as_data(pause) for pause in pauses]}
    return leave(Result(True, "pauses", message, data), as_json=as_json, picture=show if pauses else None)


def as_data(pause: PauseRecord) -> dict[str, object]:
    """Return a pause in its public shape."""
    return {
        "id": pause.id,
        "unit": pause.unit,
        "asked_at_s": pause.asked_at_s,
        "why": pause.why,
        "question": pause.question,
        "class": pause.class_,
        "reason": pause.reason,
        "rule": pause.rule,
        "evidence": pause.evidence,
        "resume_at_s": pause.resume_at_s,
        "command": pause.command,
        "cwd": pause.cwd,
        "answer": pause.answer,
        "note": pause.note,
    }
