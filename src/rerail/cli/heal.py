"""``rerail heal``: one heal of a repository by a known recipe. It never runs the command that failed."""

from __future__ import annotations

import json
import sys
import time
from pathlib import Path
from typing import TYPE_CHECKING, assert_never

import click

from rerail.boundary import hints
from rerail.boundary.result import Result
from rerail.boundary.slugs import ErrorSlug
from rerail.cli.main import json_option
from rerail.cli.output import leave
from rerail.cli.pictures import facts
from rerail.errors import EvidenceError, UsageError
from rerail.taxonomy import FailureClass

if TYPE_CHECKING:
    from rich.console import Console

    from rerail.git.report import HealPlan, HealReport
    from rerail.taxonomy import Taxonomy

_STATE_ALONE = {"message": "no failure was given"}
_UNASKED = "nothing to heal here: no failure was given"


@click.command("heal")
@click.option("--plan", "plan_only", is_flag=True, help="Show the steps without running them.")
@click.option("--failure", "file", metavar="FILE|-", help="Evidence JSON of what failed; - for standard input.")
@click.option("--repo", metavar="DIR", default=".", show_default=True, help="Where it failed.")
@json_option
def command(plan_only: bool, file: str | None, repo: str, as_json: bool) -> int:
    """Heal a repository by a known recipe, with a backup; else say why not, and change nothing."""
    from rerail.app import open_project
    from rerail.evidence.payload import from_payload
    from rerail.handlers.heal import GitHealer
    from rerail.rules.engine import classify

    cwd = Path(repo).absolute()
    project = open_project(cwd)
    evidence = from_payload(_read(file) if file else _STATE_ALONE)
    named = classify(evidence, project.loaded.rules, now=time.time())
    healer = GitHealer(lambda: project.loaded.heals, project.loaded.taxonomy)
    if plan_only:
        return _leave_plan(healer.look(named, evidence, str(cwd)), is_asked=file is not None, as_json=as_json)
    report = healer.heal(named, evidence, str(cwd))
    if file is None and report.class_ == FailureClass.UNCLASSIFIED:
        unasked = Result(
            ok=False,
            verb="heal",
            message=_UNASKED,
            data=_data(report),
            hints=(hints.hand_in_failure(),),
            error=ErrorSlug.NOT_HEALED,
        )
        return leave(unasked, as_json=as_json)
    return leave(
        _result(report, project.loaded.taxonomy), as_json=as_json, picture=lambda console: _show(console, report)
    )


def _read(file: str) -> object:
    try:
        text = sys.stdin.buffer.read() if file == "-" else Path(file).read_bytes()
    except OSError as error:
        raise UsageError(f"{file}: cannot be read: {error.strerror}") from None
    try:
        return json.loads(text)
    except (ValueError, RecursionError) as error:
        raise EvidenceError(f"{file}: expected evidence JSON: {error}") from None


def _leave_plan(planned: HealPlan, *, is_asked: bool, as_json: bool) -> int:
    data = {
        "class": planned.class_,
        "reason": planned.reason,
        "recipe": planned.recipe,
        "steps": planned.steps,
        "conditions": [
            {"name": each.need.value, "verdict": each.finding.verdict.value, "detail": each.finding.text}
            for each in planned.conditions
        ],
        "detail": planned.detail,
    }

    if not is_asked and planned.class_ == FailureClass.UNCLASSIFIED:
        return leave(Result(True, "heal", _UNASKED, data, hints=(hints.hand_in_failure(),)), as_json=as_json)

    def show(console: Console) -> None:
        facts(
            console,
            [
                ("failure", f"{planned.class_}/{planned.reason}"),
                ("recipe", planned.recipe or "none would run"),
                ("why", planned.detail),
                *((f"step {number}", step) for number, step in enumerate(planned.steps, start=1)),
                *((each.need.value, each.finding.text) for each in planned.conditions),
            ],
        )

    return leave(Result(True, "heal", "", data), as_json=as_json, picture=show)


def _data(report: HealReport) -> dict[str, object]:
    return {
        "outcome": report.outcome,
        "class": report.class_,
        "reason": report.reason,
        "recipe": report.recipe,
        "steps": report.steps,
        "backup": report.backup,
        "detail": report.detail,
    }


def _result(report: HealReport, taxonomy: Taxonomy) -> Result:
    data = _data(report)
    match report.outcome:
        case "healed":
            return Result(True, "heal", f"healed by {report.recipe}; run the command again", data)
        case "retry":
            return Result(True, "heal", f"nothing is broken here: {report.detail}; wait, then run it again", data)
        case "paused":
            message = f"not healed, and nothing was changed: {report.question or report.detail}"
            return Result(False, "heal", message, data, hints=(hints.finish_by_hand(),), error=ErrorSlug.NOT_HEALED)
        case "stopped":
            remedy = taxonomy.reason_spec(report.class_, report.reason).hint
            step = hints.remove_cause(failure_class=report.class_, remedy=remedy)
            return Result(False, "heal", f"stopped: {report.detail}", data, hints=(step,), error=ErrorSlug.STOPPED)
    assert_never(report.outcome)


def _show(console: Console, report: HealReport) -> None:
    facts(
        console,
        [
            ("failure", f"{report.class_}/{report.reason}"),
            ("recipe", report.recipe),
            *((f"step {number}", step) for number, step in enumerate(report.steps, start=1)),
            ("backup", report.backup),
        ],
    )
