"""How a unit's outcome reads as a result: for whatever verb runs units."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, assert_never

from rerail.boundary import hints
from rerail.boundary.result import Result
from rerail.boundary.slugs import ErrorSlug
from rerail.boundary.words import utc
from rerail.decisions.model import Why
from rerail.errors import LedgerError, UnknownNameError
from rerail.ids import UnitName
from rerail.observe import decision_facts
from rerail.runner.command import streams_of
from rerail.runner.outcome import Cancelled, HandedBack, Outcome, Paused, Stopped, Succeeded
from rerail.verbs.heal import heal_data, heal_notices
from rerail.verbs.history import last_record

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping
    from pathlib import Path

    from rerail.app import Loop
    from rerail.boundary.hints import Hint
    from rerail.decisions.effects import FailureRecord
    from rerail.handlers.repair import RepairRequest
    from rerail.ledger.store import Ledger, PauseRecord
    from rerail.process import Finished
    from rerail.rules.model import Classification
    from rerail.taxonomy import Taxonomy

_OUTPUT_CHARS = 8000


def spends_elsewhere(loop: Loop, unit: str, command: tuple[str, ...], cwd: Path) -> tuple[Hint, ...]:
    """Return what to tell of a run that is about to spend an answer which was given for another command.

    Raises:
        LedgerError: What the ledger has of the unit cannot be read.
    """
    standing = loop.tools.ledger.standing(UnitName(unit))
    pause = standing.pause if standing is not None else None
    if pause is None or pause.answer is None or not pause.is_answered_for_another(command, str(cwd)):
        return ()
    return (hints.answered_for_another(pause=pause.id, answer=pause.answer),)


def result_of(
    verb: str,
    unit: str,
    outcome: Outcome[Any],
    loop: Loop,
    *,
    command: tuple[str, ...],
    notices: Iterable[Hint] = (),
) -> Result:
    """Return the result of a run, with the next step that its end asks for.

    Args:
        verb: As it is typed.
        unit: The unit's name.
        outcome: How it ended.
        loop: What ran it; its ledger remembers what an earlier run was told.
        command: What was run, or was not.
        notices: What else is good to know.
    """
    ledger, taxonomy = loop.tools.ledger, loop.project.loaded.taxonomy
    last = outcome.history[-1] if outcome.history else None
    data = {
        "unit": unit,
        "attempts": outcome.attempts,
        "failures": [_failure(record) for record in outcome.history],
        "heals": [heal_data(report) for report in outcome.heals],
    }
    result = _ended(verb, unit, outcome, data, last, ledger, taxonomy, command)
    # The next step first: what a heal has to say comes behind it.
    told = [*notices, *(notice for report in outcome.heals for notice in heal_notices(report))]
    location = loop.project.location
    if location.note and (outcome.history or not result.ok):
        told.append(hints.ledger_in_project(path=str(location.path)))
    return result._replace(hints=(*result.hints, *told))


def _ended(
    verb: str,
    unit: str,
    outcome: Outcome[Any],
    data: Mapping[str, object],
    last: FailureRecord | None,
    ledger: Ledger,
    taxonomy: Taxonomy,
    command: tuple[str, ...],
) -> Result:
    match outcome:
        case Succeeded():
            message = (
                "" if outcome.attempts == 1 and not last else f"{unit}: succeeded after {outcome.attempts} attempts"
            )
            if outcome.landed:
                message = f"{unit}: the attempt failed, but its effect is there"
            return Result(True, verb, message, {**data, "outcome": "succeeded", "landed": outcome.landed})
        case HandedBack():
            return _handed_back(verb, unit, data, outcome.request, ledger, command)
        case Paused():
            return _paused(verb, unit, outcome, data, last, ledger)
        case Stopped():
            return _stopped(verb, unit, outcome, data, last, taxonomy)
        case Cancelled():
            return cancelled(verb, unit, data)
    assert_never(outcome)


def with_output(result: Result, outcome: Outcome[Finished]) -> Result:
    """Return a result with the last attempt's output in its data, for callers that are not shown it otherwise."""
    if isinstance(outcome, Succeeded):
        streams = [] if outcome.landed else [*streams_of(outcome.value)]
    else:
        streams = list(outcome.history[-1].evidence.streams) if outcome.history else []
    output = {str(each.name): each.text[-_OUTPUT_CHARS:] for each in streams if each.text}
    return result._replace(data={**result.data, "output": output})


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


def _handed_back(
    verb: str,
    unit: str,
    data: Mapping[str, object],
    request: RepairRequest | None,
    ledger: Ledger,
    command: tuple[str, ...],
) -> Result:
    if request is None:
        asked = _asked_before(unit, ledger, command)
        repair = {} if asked is None else {"repair": {"prompt": asked.prompt()}}
        since = "" if asked is None else f" since {_named(asked.classification)}"
        return Result(
            ok=False,
            verb=verb,
            message=f"{unit}: not run: nothing has changed{since}",
            data={**data, "outcome": "handed-back", "refused": True, **repair},
            hints=(hints.change_input_first(unit=unit),),
            error=ErrorSlug.INPUT_UNCHANGED,
        )
    return Result(
        ok=False,
        verb=verb,
        message=f"{unit}: handed back: {_named(request.classification)}",
        data={**data, "outcome": "handed-back", "refused": False, "repair": {"prompt": request.prompt()}},
        hints=(hints.repair_input(unit=unit),),
        error=ErrorSlug.HANDED_BACK,
    )


def _asked_before(unit: str, ledger: Ledger, command: tuple[str, ...]) -> RepairRequest | None:
    """Return the repair request that an earlier run was handed back with, made again; None where it cannot be read."""
    from rerail.handlers.repair import RepairRequest

    try:
        record = last_record(ledger, unit)
    except LedgerError:
        return None
    return None if record is None else RepairRequest(record.unit, command, record.classification, record.evidence)


def _paused(
    verb: str,
    unit: str,
    outcome: Paused,
    data: Mapping[str, object],
    last: FailureRecord | None,
    ledger: Ledger,
) -> Result:
    resume_at = None if outcome.resume_at_s is None else utc(outcome.resume_at_s)
    error, step = _continuation(unit, outcome, last, resume_at)
    question = _question(ledger, outcome)
    if last is not None:
        said = f"paused until {resume_at}" if resume_at else "paused"
    else:
        said = (
            f"not run: waiting until {resume_at}"
            if resume_at
            else f"not run: waiting for your answer to {outcome.pause}"
        )
    cause = "" if question is None else f": {question.class_}/{question.reason}: {question.question}"
    return Result(
        ok=False,
        verb=verb,
        message=f"{unit}: {said}{cause}",
        data={
            **data,
            "outcome": "paused",
            "why": outcome.why,
            "pause": outcome.pause,
            "question": None if question is None else question.question,
            "resume_at": resume_at,
        },
        hints=(step,),
        error=error,
    )


def _question(ledger: Ledger, outcome: Paused) -> PauseRecord | None:
    """Return what the pause asks; None where the ledger cannot say."""
    try:
        return ledger.pause(outcome.pause)
    except (LedgerError, UnknownNameError):
        return None


def _continuation(
    unit: str, outcome: Paused, last: FailureRecord | None, resume_at: str | None
) -> tuple[ErrorSlug, Hint]:
    if resume_at is not None:
        return ErrorSlug.PAUSED_UNTIL, hints.resume_at(unit=unit, time=resume_at)
    if outcome.why is Why.UNKNOWN_OUTCOME:
        return ErrorSlug.OUTCOME_UNKNOWN, hints.check_effect(unit=unit, pause=outcome.pause)
    if outcome.why is Why.NOT_HEALED and outcome.heals and outcome.heals[-1].untrusted is not None:
        step = hints.trust_then_answer(file=outcome.heals[-1].untrusted, pause=outcome.pause)
        return ErrorSlug.RECIPE_UNTRUSTED, step
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
            message=f"{unit}: not run: {last.classification.summary if last else 'the worktree check failed'}",
            data=data,
            hints=(hints.pass_worktree_check(root="this worktree"),),
            error=ErrorSlug.WORKTREE_REFUSED,
        )
    if last is None:
        # Only an answer ends a run in which nothing failed.
        message = (
            f"{unit}: not run: {'the operator skipped it' if outcome.why is Why.SKIPPED else 'the operator ended it'}"
        )
        step = hints.heed_operator(unit=unit)
    else:
        named = last.classification
        message = f"{unit}: stopped: {_named(named)}"
        remedy = taxonomy.reason_spec(named.class_, named.reason).hint
        step = hints.remove_cause(failure_class=named.class_, remedy=remedy)
    return Result(ok=False, verb=verb, message=message, data=data, hints=(step,), error=ErrorSlug.STOPPED)


def _named(named: Classification) -> str:
    return f"{named.class_}/{named.reason}: {named.summary}"


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
