"""``rerail answer``: the operator's answer to a pause, at most once."""

from __future__ import annotations

import click

from rerail.cli.here import project_here
from rerail.cli.main import json_option
from rerail.cli.output import leave
from rerail.decisions.model import Answer

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
    from rerail.verbs import pauses

    return leave(pauses.answer(project_here(), pause, Answer(answer), note), as_json=as_json)
