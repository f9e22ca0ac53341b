"""``rerail pauses``: the questions that await an answer."""

from __future__ import annotations

import shlex
import time
from typing import TYPE_CHECKING, Any

import click

from rerail.cli.here import project_here
from rerail.cli.main import json_option
from rerail.cli.output import leave
from rerail.cli.pictures import age_of, cell, class_cell, stanzas, time_of

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from rich.console import Console


@click.command("pauses")
@click.option("--all", "include_answered", is_flag=True, help="Also those that have their answer.")
@json_option
def command(include_answered: bool, as_json: bool) -> int:
    """Show the questions that await an answer, oldest first."""
    from rerail.verbs.pauses import pauses

    result = pauses(project_here(), include_answered=include_answered)
    found = result.rows("pauses")
    now_s = time.time()

    def show(console: Console) -> None:
        stanzas(console, ((cell(f"{each['id']}  {each['unit']}", "bold"), _lines(each, now_s)) for each in found))

    return leave(result, as_json=as_json, picture=show if found else None)


def _lines(pause: Mapping[str, Any], now_s: float) -> Iterator[object]:
    """Yield what a person needs to answer a pause."""
    yield class_cell(pause["class"]).append(cell(f"/{pause['reason']}, {age_of(pause['asked_at_s'], now_s)}"))
    yield pause["question"]
    if pause["evidence"] and pause["evidence"] not in pause["question"]:
        yield f"evidence: {pause['evidence']}"
    if pause["command"] is not None:
        yield f"command: {shlex.join(pause['command'])}"
    if pause["answer"] is not None:
        yield f"answered: {pause['answer']}" + (f" ({pause['note']})" if pause["note"] else "")
    elif pause["resume_at_s"] is not None:
        yield f"goes on by itself from {time_of(pause['resume_at_s'])}"
