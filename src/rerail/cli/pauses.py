"""``rerail pauses``: the questions that await an answer."""

from __future__ import annotations

import shlex
import time
from typing import TYPE_CHECKING

import click

from rerail.boundary import hints
from rerail.boundary.result import Result
from rerail.cli.here import ledger_here
from rerail.cli.main import json_option
from rerail.cli.output import leave
from rerail.cli.pictures import age_of, cell, class_cell, stanzas, time_of
from rerail.evidence.redact import redact_command

if TYPE_CHECKING:
    from collections.abc import Iterator

    from rich.console import Console

    from rerail.ledger.store import PauseRecord


@click.command("pauses")
@click.option("--all", "include_answered", is_flag=True, help="Also those that have their answer.")
@json_option
def command(include_answered: bool, as_json: bool) -> int:
    """Show the questions that await an answer, oldest first."""
    with ledger_here() as ledger:
        pauses = ledger.pauses(include_answered=include_answered)

    now_s = time.time()

    def show(console: Console) -> None:
        stanzas(console, ((cell(f"{each.id}  {each.unit}", "bold"), _lines(each, now_s)) for each in pauses))

    message = "" if pauses else "nothing is paused"
    data = {"pauses": [as_data(pause) for pause in pauses]}
    steps = tuple(hints.give_answer(unit=each.unit, pause=each.id) for each in pauses if each.answer is None)
    return leave(Result(True, "pauses", message, data, hints=steps), as_json=as_json, picture=show if pauses else None)


def _lines(pause: PauseRecord, now_s: float) -> Iterator[object]:
    """Yield what a person needs to answer a pause."""
    yield class_cell(pause.class_).append(cell(f"/{pause.reason}, {age_of(pause.asked_at_s, now_s)}"))
    yield pause.question
    if pause.evidence and pause.evidence not in pause.question:
        yield f"evidence: {pause.evidence}"
    if pause.command is not None:
        yield f"command: {shlex.join(redact_command(pause.command))}"
    if pause.answer is not None:
        yield f"answered: {pause.answer}" + (f" ({pause.note})" if pause.note else "")
    elif pause.resume_at_s is not None:
        yield f"goes on by itself from {time_of(pause.resume_at_s)}"


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
