"""How a unit's outcome reads as a result: for ``run``, ``resume`` and whoever else runs units from the command line."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, assert_never

from rerail.boundary import hints
from rerail.boundary.result import Result
from rerail.boundary.slugs import ErrorSlug
from rerail.boundary.words import utc
from rerail.decisions.model import Why
from rerail.observe import decision_facts
from rerail.runner.outcome import Cancelled, HandedBack, Outcome, Paused, Stopped, Succeeded

if TYPE_CHECKING:
    from collections.abc import Mapping

    from rerail.boundary.hints import Hint
    from rerail.decisions.effects import FailureRecord
    from rerail.taxonomy import Taxonomy


def result_of(verb: str, unit: str, outcome: Outcome[Any], taxonomy: Taxonomy) -> Result:
    """Return the result of a run, with the next step that its end asks for."""
    last = outcome.history[-1] if outcome.history else None
    data = {"unit": unit, "attempts": outcome.attempts, "failures": [_failure(record) for record in outcome.history]}
    match outcome:
        case Succeeded():
            message = (
                "" if outcome.attempts == 1 and not last else f"{unit}: succeeded after {outcome.attempts} attempts"
            )
            if outcome.landed:
                message = f"{unit}: the attempt failed, but its effect is there"
            return Result(True, verb, message, {**data, "outcome": "succeeded", "landed": outcome.landed})
        case HandedBack():
            return _handed_back(verb, unit, outcome, data)
        case Paused():
            return _paused(verb, unit, outcome, data, last)
        case Stopped():
            return _stopped(verb, unit, outcome, data, last, taxonomy)
        case Cancelled():
            return cancelled(verb, unit, data)
    assert_never(outcome)


def cancelled(verb: str, unit: str, data: Mapping[str, object]) -> Result:
    """Return the result of a run that was cancelled."""
    return Result(
        ok=False,
        verb=verb,
        message=f"{unit}: cancelled",
        data={**data, "outcome": "cancelled"},
        hints=(hints.run_when_wanted(unit=unit),),
        error=ErrorSlug.CANCELLED,
    )


def _handed_back(verb: str, unit: str, outcome: HandedBack, data: Mapping[str, object]) -> Result:
    if outcome.request is None:
        return Result(
            ok=False,
            verb=verb,
            message=f"{unit}: not run: nothing has changed since its input was rejected",
            data={**data, "outcome": "handed-back", "refused": True},
            hints=(hints.change_input_first(unit=unit),),
            error=ErrorSlug.INPUT_UNCHANGED,
        )
    named = outcome.request.classification
    return Result(
        ok=False,
        verb=verb,
        message=f"{unit}: handed back: {named.class_}/{named.reason}: {named.summary}",
        data={**data, "outcome": "handed-back", "refused": False, "repair": {"prompt": outcome.request.prompt()}},
        hints=(hints.repair_input(unit=unit),),
        error=ErrorSlug.HANDED_BACK,
    )


def _paused(verb: str, unit: str, outcome: Paused, data: Mapping[str, object], last: FailureRecord | None) -> Result:
    resume_at = None if outcome.resume_at_s is None else utc(outcome.resume_at_s)
    error, step = _continuation(unit, outcome, last, resume_at)
    until = f" until {resume_at}" if resume_at else ""
    cause = (
        f": {last.classification.class_}/{last.classification.reason}: {last.classification.summary}" if last else ""
    )
    return Result(
        ok=False,
        verb=verb,
        message=f"{unit}: paused{until} ({outcome.why}){cause}",
        data={**data, "outcome": "paused", "why": outcome.why, "pause": outcome.pause, "resume_at": resume_at},
        hints=(step,),
        error=error,
    )


def _continuation(
    unit: str, outcome: Paused, last: FailureRecord | None, resume_at: str | None
) -> tuple[ErrorSlug, Hint]:
    if resume_at is not None:
        return ErrorSlug.PAUSED_UNTIL, hints.resume_at(unit=unit, time=resume_at)
    if outcome.why is Why.UNKNOWN_OUTCOME:
        return ErrorSlug.OUTCOME_UNKNOWN, hints.check_effect(unit=unit, pause=outcome.pause)
    if last is not None and last.classification.class_ == "unclassified":
        return ErrorSlug.UNCLASSIFIED, hints.name_failure(pause=outcome.pause)
    return ErrorSlug.PAUSED, hints.answer_pause(pause=outcome.pause)


def _stopped(
    verb: str,
    unit: str,
    outcome: Stopped,
    data: Mapping[str, object],
    last: FailureRecord | None,
    taxonomy: Taxonomy,
) -> Result:
    data = {**data, "outcome": "stopped", "why": outcome.why}
    if outcome.why is Why.REFUSED_WORKTREE:
        return Result(
            ok=False,
            verb=verb,
            message=f"{unit}: not run: this worktree is refused until its check passes",
            data=data,
            hints=(hints.pass_worktree_check(root="this worktree"),),
            error=ErrorSlug.WORKTREE_REFUSED,
        )
    if last is None:
        message, step = (
            f"{unit}: stopped ({outcome.why})",
            hints.remove_cause(failure_class="runtime", remedy="the operator ended this unit"),
        )
    else:
        named = last.classification
        message = f"{unit}: stopped: {named.class_}/{named.reason}: {named.summary}"
        remedy = taxonomy.reason_spec(named.class_, named.reason).hint
        step = hints.remove_cause(failure_class=named.class_, remedy=remedy)
    return Result(ok=False, verb=verb, message=message, data=data, hints=(step,), error=ErrorSlug.STOPPED)


def _failure(record: FailureRecord) -> dict[str, object]:
    named = record.classification
    return {
        "attempt": record.attempt,
        "class": named.class_,
        "reason": named.reason,
        "rule": named.rule,
        "summary": named.summary,
        "exit_code": record.evidence.exit_code,
        "signal": record.evidence.signal,
        "evidence": [{"stream": str(cited.stream), "line": cited.line, "text": cited.text} for cited in named.evidence],
        "decision": decision_facts(record.decision)["decision"],
        "plan": record.plan,
        "remaining": record.balance.remaining if record.balance else 0,
        "budget": record.balance.budget if record.balance else 0,
    }
