"""``rerail rules learn``: drafts of rules for failures that no rule names."""

from __future__ import annotations

import sys

import click

from rerail.cli.here import project_here
from rerail.cli.input import read_text
from rerail.cli.main import json_option
from rerail.cli.output import console_for, leave
from rerail.cli.pictures import show_lines


@click.command("learn")
@click.option(
    "--from", "file", metavar="FILE|-", help="Failures as evidence JSON, one a line, in place of the recorded ones."
)
@json_option
def command(file: str | None, as_json: bool) -> int:
    """Put the recorded failures that no rule names together by what they say, and draft a rule for each cluster.

    The drafts go to stdout as a recipe file, the largest cluster first, and what they mean is for you to fill in:
    rerail rules learn > draft.toml, then rerail rules test draft.toml says what is missing.
    """
    from rerail.verbs.learn import learn, read_failures

    failures = None if file is None else read_failures(read_text(file), file)
    result = learn(project_here(), failures)
    toml = str(result.data["toml"])
    # Everything for people goes aside, so that stdout is the file.
    return leave(
        result,
        as_json=as_json,
        picture=lambda _: show_lines(console_for(sys.stdout), toml) if toml else None,
        aside=True,
    )
