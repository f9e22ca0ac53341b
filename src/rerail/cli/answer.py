"""``rerail answer``: the operator's answer to a pause, at most once."""

from __future__ import annotations

import time

import click

from rerail.boundary import hints
from rerail.boundary.result import Result
from rerail.cli.here import ledger_here, project_here
from rerail.cli.main import json_option
from rerail.cli.output import leave
from rerail.cli.pauses import as_data
from rerail.decisions.model import Answer
from rerail.ids import PauseId
from rerail.observe import Observer

_HELP = """\
Answer PAUSE, an id that rerail pauses lists. A pause is answered once.

\b
  retry    run it again
  approve  what was denied is allowed now: run it again
  skip     go on without it: it is not run, and ends as stopped
  abort    end it: it is not run, and ends as stopped

The answer takes effect when the unit runs again: by its harness, or by rerail resume.
"""


@click.command("answer", help=_HELP, short_help="Answer a pause, once.")
@click.argument("pause")
@click.argument("answer", type=click.Choice([answer.value for answer in Answer]), metavar="retry|approve|skip|abort")
@click.option("--note", default="", help="Kept with the answer, for whoever reads the history.")
@json_option
def command(pause: str, answer: str, note: str, as_json: bool) -> int:
    """Write the answer down."""
    with ledger_here() as ledger:
        answered = ledger.answer(PauseId(pause), Answer(answer), note=note, at_s=time.time())
    observer = Observer(log=project_here().settings.log)
    observer.emit("pause.answered", unit=answered.unit, run=answered.run, pause=pause, answer=answer, note=note)
    message = f"{answered.unit}: {answer}; it takes effect when the unit runs again"
    runs = answered.command is not None and answered.answer in (Answer.RETRY, Answer.APPROVE)
    steps = (hints.resume_answered(unit=answered.unit),) if runs else ()
    return leave(Result(True, "answer", message, {"pause": as_data(answered)}, hints=steps), as_json=as_json)
