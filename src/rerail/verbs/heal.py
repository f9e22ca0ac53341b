"""Healing a repository by a known recipe, and taking a heal back. It never runs the command that failed."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING, assert_never

from rerail.boundary import hints
from rerail.boundary.result import Diagnostic, Result
from rerail.boundary.slugs import ErrorSlug
from rerail.boundary.words import utc
from rerail.errors import UsageError
from rerail.taxonomy import FailureClass

if TYPE_CHECKING:
    from pathlib import Path

    from rerail.boundary.hints import Hint
    from rerail.git.report import HealPlan, HealReport
    from rerail.settings import BackupSettings
    from rerail.taxonomy import Taxonomy

_STATE_ALONE = {"message": "no failure was given"}
_UNASKED = "nothing to heal here: no failure was given"


def heal(cwd: Path, failure: object = None, *, plan_only: bool = False) -> Result:
    """Heal the repository that *cwd* is in, with a backup; else say why not, and change nothing.

    Args:
        cwd: Where it failed; absolute.
        failure: What failed, as evidence JSON; None looks at the repository's state alone.
        plan_only: Whether to say what would be done, and do nothing.

    Raises:
        EvidenceError: *failure* is not evidence.
        RecipeError: The project's recipes have faults.
        SettingsError: Its settings have faults.
    """
    from rerail.app import open_project
    from rerail.evidence.payload import from_payload
    from rerail.rules.engine import classify

    is_asked = failure is not None
    project = open_project(cwd)
    evidence = from_payload(failure if is_asked else _STATE_ALONE)
    named = classify(evidence, project.loaded.rules, now=time.time())
    healer = project.healer()
    if plan_only:
        return _planned(healer.plan(named, evidence, str(cwd)), is_asked=is_asked)
    report = healer.heal(named, evidence, str(cwd))
    if not is_asked and report.class_ == FailureClass.UNCLASSIFIED:
        return Result(
            ok=False,
            verb="heal",
            message=_UNASKED,
            data=heal_data(report),
            hints=(hints.hand_in_failure(),),
            error=ErrorSlug.NOT_HEALED,
        )
    return _healed(report, project.loaded.taxonomy)


def _planned(planned: HealPlan, *, is_asked: bool) -> Result:
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
        "begins": planned.not_begun is None,
        "question": planned.not_begun.question if planned.not_begun is not None else None,
        "ways": _ways(planned.not_begun),
    }
    untrusted = planned.not_begun.untrusted if planned.not_begun is not None else None
    if untrusted is not None:
        return Result(True, "heal", planned.detail, data, hints=(hints.trust_recipe(file=untrusted),))
    if not is_asked and planned.class_ == FailureClass.UNCLASSIFIED:
        return Result(True, "heal", _UNASKED, data, hints=(hints.hand_in_failure(),))
    return Result(True, "heal", "", data, hints=_way_hints(planned.not_begun))


def heal_data(report: HealReport) -> dict[str, object]:
    """Return what a heal did, as every verb that heals says it."""
    return {
        "outcome": report.outcome,
        "class": report.class_,
        "reason": report.reason,
        "recipe": report.recipe,
        "steps": report.steps,
        "backup": report.backup,
        "undo": report.undo,
        "detail": report.detail,
        "expired": report.expired,
        "question": report.question,
        "ways": _ways(report),
    }


def _ways(report: HealReport | None) -> list[dict[str, object]]:
    return [{"to": way.to, "commands": way.commands} for way in (report.ways if report is not None else ())]


def _way_hints(report: HealReport | None) -> tuple[Hint, ...]:
    ways = report.ways if report is not None else ()
    return tuple(hints.take_way(to=way.to, commands=" && ".join(way.commands)) for way in ways)


def heal_notices(report: HealReport) -> tuple[Hint, ...]:
    """Return what is good to know after a heal: what a person can do, how it is taken back, and which backups have expired."""
    notices = [*_way_hints(report)]
    if report.undo is not None and report.backup is not None:
        notices.append(hints.undo_heal(backup=report.backup))
    if report.expired:
        notices.append(hints.backups_expired(backups=", ".join(report.expired)))
    return tuple(notices)


def _healed(report: HealReport, taxonomy: Taxonomy) -> Result:
    data = heal_data(report)
    match report.outcome:
        case "healed":
            message = f"healed by {report.recipe}; run the command again"
            return Result(True, "heal", message, data, hints=heal_notices(report))
        case "retry":
            return Result(True, "heal", f"nothing is broken here: {report.detail}; wait, then run it again", data)
        case "paused" if report.untrusted is not None:
            step = hints.trust_recipe(file=report.untrusted)
            message = f"not healed, and nothing was changed: {report.detail}"
            return Result(False, "heal", message, data, hints=(step,), error=ErrorSlug.RECIPE_UNTRUSTED)
        case "paused":
            # With a backup, steps were taken that could not all be put back: what that means goes before any question.
            stuck = report.backup is not None
            told = report.detail if stuck else f"nothing was changed: {report.question or report.detail}"
            message = f"not healed, and {told}"
            steps = (*_way_hints(report), hints.finish_by_hand())
            return Result(False, "heal", message, data, hints=steps, error=ErrorSlug.NOT_HEALED)
        case "stopped":
            remedy = taxonomy.reason_spec(report.class_, report.reason).hint
            step = hints.remove_cause(failure_class=report.class_, remedy=remedy)
            message = f"stopped: {report.detail}"
            return Result(False, "heal", message, data, hints=(step, *_way_hints(report)), error=ErrorSlug.STOPPED)
    assert_never(report.outcome)


def undo(cwd: Path, backup: str) -> Result:
    """Take a heal, or an undo, back, under a backup of its own; where that would cost newer work, change nothing and say what.

    Args:
        cwd: A directory of the worktree that was healed; absolute.
        backup: The backup that the heal made.

    Raises:
        UnknownNameError: There is no such backup.
        UsageError: *cwd* is in no repository that can be worked in.
        GitError: The repository cannot be read or written.
    """
    from rerail.git.undo import UndoRefusedError
    from rerail.git.undo import undo as take_back

    try:
        undone = take_back(backup, cwd, policy=_policy(cwd))
    except UndoRefusedError as refused:
        step = hints.undo_later(backup=backup) if refused.waits else hints.undo_by_hand()
        return Result(
            ok=False,
            verb="heal",
            message=f"not undone, and nothing was changed: {refused.message}; {refused.hint}",
            data={"outcome": "retry" if refused.waits else "paused", "undid": None, "found": refused.found},
            diagnostics=tuple(Diagnostic("is not as the heal left it", found) for found in refused.found),
            hints=(step,),
            error=ErrorSlug.UNDO_REFUSED,
        )
    data = {
        "outcome": "undone",
        "undid": undone.undid,
        "recipe": undone.recipe,
        "paths": undone.paths,
        "refs": undone.refs,
        "backup": undone.backup,
        "undo": f"rerail heal --undo {undone.backup}",
        "detail": "; ".join(filter(None, (undone.note, undone.expired.fault))),
        "expired": undone.expired.ids,
    }
    notices = [hints.undo_heal(backup=undone.backup)]
    if undone.expired.ids:
        notices.append(hints.backups_expired(backups=", ".join(undone.expired.ids)))
    return Result(True, "heal", f"{undone.recipe} was taken back", data, hints=tuple(notices))


def backups(cwd: Path) -> Result:
    """List the backups of the repository that *cwd* is in, oldest first: what each is for, and until when it stays.

    Raises:
        UsageError: *cwd* is in no repository.
    """
    from rerail.git.backup import Base
    from rerail.git.backups import backup_ids, due, list_backups
    from rerail.git.outcome import readable_outcome_of
    from rerail.git.place import NoPlace, locate
    from rerail.git.probe import probe

    place = locate(cwd)
    if isinstance(place, NoPlace):
        raise UsageError(place.detail, hint="name the repository with --repo")
    git = probe(cwd).git
    policy, found = _policy(cwd), list_backups(git)
    can_go = {each.id for each in due(found, place, policy, time.time())}
    rows = []
    for each in found:
        done = readable_outcome_of(git, each.id)
        rows.append(
            {
                "id": each.id,
                "made_at": utc(each.made_at),
                "note": each.note,
                "recipe": done.recipe if done else None,
                "worktree": each.root,
                "paths": len(each.saved(Base.WORK)),
                "undo": f"rerail heal --undo {each.id}" if done else None,
                "expires": "at the next heal" if each.id in can_go else None,
            }
        )
    unreadable = sorted({*backup_ids(git)} - {each.id for each in found})
    data = {"backups": rows, "unreadable": unreadable, "age_s": policy.age_s, "count": policy.count}
    days = f"{policy.age_s / 86_400:g} days"
    kept = f"backups: {len(rows)}; one goes once it is older than {days} and {policy.count} newer ones are there"
    damaged = f"; cannot be read: {', '.join(unreadable)}" if unreadable else ""
    return Result(True, "heal", kept + damaged, data)


def _policy(cwd: Path) -> BackupSettings:
    from rerail.app import open_project

    return open_project(cwd).settings.backups
