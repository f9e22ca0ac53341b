"""``rerail verify``: the phases of a project, each as one unit under recovery."""

from __future__ import annotations

import signal
import sys
from typing import TYPE_CHECKING, Any

import click

from rerail.cli import margin
from rerail.cli.here import project_here, working_directory
from rerail.cli.main import json_option
from rerail.cli.output import leave
from rerail.cli.pictures import cell, show_lines, table
from rerail.cli.run import binary, ending_signals, open_loop
from rerail.errors import UsageError
from rerail.runner.command import Sinks
from rerail.settings_file import PHASES
from rerail.verbs.ladder import VERB, ladder_of, plan
from rerail.verbs.units import nowhere_to_run
from rerail.verbs.verify import verify

if TYPE_CHECKING:
    from collections.abc import Mapping

    from rich.console import Console

    from rerail.boundary.result import Result
    from rerail.ladder.model import Phase

_STYLES = {
    "passed": "green",
    "skipped": "dim",
    "unresolved": "yellow",
    "not-reached": "dim",
    "handed-back": "cyan",
    "paused": "magenta",
    "flaky": "magenta",
    "stopped": "bold red",
    "cancelled": "bold red",
}


def _phases_like(_context: click.Context, _parameter: click.Parameter, begun: str) -> list[str]:
    """Return the phases that a word may become."""
    return [name for name in PHASES if name.startswith(begun)]


@click.command("verify")
@click.argument("phases", nargs=-1, metavar="[PHASE]...", shell_complete=_phases_like)
@click.option("--keep-going", is_flag=True, help="Run the phases after one that did not pass as well.")
@click.option("--plan", "plan_only", is_flag=True, help="Show the phases, and run nothing.")
@json_option
def command(phases: tuple[str, ...], keep_going: bool, plan_only: bool, as_json: bool) -> int:
    """Run the phases build, types, lint, tests, security and diff, in this order; or only those that are named.

    Each phase is what the project's own files state, and a unit under recovery. The first one that does not pass ends the
    ladder.
    """
    if plan_only:
        ladder = ladder_of(project_here(), phases)
        lines = "\n".join(ladder.block_lines())
        return leave(plan(ladder), as_json=as_json, picture=lambda console: show_lines(console, lines))
    return climb(phases, keep_going=keep_going, as_json=as_json)


def climb(phases: tuple[str, ...], *, keep_going: bool, as_json: bool, verb: str = VERB) -> int:
    """Run the ladder of the project that we are in, and leave with its result."""
    try:
        cwd = working_directory()
    except UsageError as error:
        return leave(nowhere_to_run(error)._replace(verb=verb), as_json=as_json)
    loop = open_loop(cwd, as_json=as_json)
    ladder = ladder_of(loop.project, phases)
    for line in (*ladder.block_lines(), *(f"  ! {fault}" for fault in ladder.faults)):
        margin.say(sys.stderr, cell(line).plain)
    stdout, stderr = binary(sys.stdout), binary(sys.stderr)

    def tell(phase: Phase) -> None:
        margin.settle(sys.stderr)
        margin.say(sys.stderr, f"verify:{phase.name}")

    with ending_signals():
        climbed = verify(
            loop,
            ladder,
            verb=verb,
            keep_going=keep_going,
            sinks=Sinks(stderr if as_json else stdout, stderr),
            tell=tell,
        )
    margin.settle(sys.stderr)
    number = None if climbed.signal is None else getattr(signal, climbed.signal)
    return leave(
        climbed.result,
        as_json=as_json,
        picture=lambda console: _show(console, climbed.result),
        signal=number,
        aside=True,
    )


def _show(console: Console, result: Result) -> None:
    """Print how each phase ended, after what it asks of whoever ran it."""
    rows = result.rows("phases")
    for row in rows:
        if prompt := (row.get("run") or {}).get("repair", {}).get("prompt"):
            show_lines(console, str(prompt))
    console.print(
        table(
            ("phase", "outcome", "time", "checks", "detail"),
            [
                (row["name"], cell(row["outcome"], _STYLES[row["outcome"]]), _time(row), _checks(row), _detail(row))
                for row in rows
            ],
        )
    )


def _time(row: Mapping[str, Any]) -> str:
    duration_s = row.get("duration_s")
    return "" if duration_s is None else f"{duration_s:.1f} s"


def _checks(row: Mapping[str, Any]) -> str:
    """Return what a phase's report counts: ``2 of 14 failed``."""
    report, changes = row.get("report"), row.get("changes")
    if changes:
        return f"{changes['files']} files +{changes['added']} -{changes['deleted']}"
    if not report:
        return ""
    if report["total"] is None:
        return f"{report['failed']} found"
    return f"{report['failed']} of {report['total']} failed" if report["failed"] else f"{report['total']} checks"


def _detail(row: Mapping[str, Any]) -> str:
    """Return what else there is to say: why a phase is left out, what an open question is, which report was ignored."""
    if row["outcome"] == "passed":
        return "; ".join(row["notes"])
    if row["outcome"] == "not-reached":
        return ""
    if row["outcome"] in ("skipped", "unresolved"):
        return str(row["detail"])
    run = row.get("run") or {}
    pause = f" (question {run['pause']})" if run.get("pause") else ""
    return "; ".join([f"{str(row['detail']).partition(': ')[2]}{pause}", *row["notes"]])
