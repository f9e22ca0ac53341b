"""What is done about a named failure, in words: every decision. Why a unit pauses or stops, `rerail.decisions.because` says."""

from __future__ import annotations

from typing import TYPE_CHECKING, assert_never

from rerail.decisions.because import BECAUSE
from rerail.decisions.model import (
    Again,
    Decision,
    HandBack,
    Heal,
    Pause,
    Probe,
    Proceed,
    Repair,
    Retry,
    Stop,
    Why,
)
from rerail.taxonomy import Action, FailureClass

if TYPE_CHECKING:
    from rerail.decisions.effects import FailureRecord
    from rerail.taxonomy import Taxonomy


def action_in_words(record: FailureRecord, taxonomy: Taxonomy) -> str:
    """Return what is done about a failure: what the block shows as its action."""
    decision: Decision = record.decision
    plan = f" ({record.plan})" if record.plan else ""
    match decision:
        case Retry(wait_s):
            asked_s = record.classification.retry_after_s
            asked = f" (the server asked for {_seconds(asked_s)})" if asked_s is not None else ""
            return f"retry in {_seconds(wait_s)} with exponential backoff{asked}"
        case Repair():
            return f"repair {_repaired(record)}{plan}, do NOT retry verbatim"
        case HandBack():
            return f"hand back: the caller repairs {_repaired(record)}{plan}, do NOT retry verbatim"
        case Heal():
            return f"heal by recipe{plan}, else pause"
        case Probe():
            return "ask whether the effect landed, do NOT retry before that is known"
        case Pause(why, resume_at_s):
            return _pause(record, why, resume_at_s, taxonomy)
        case Stop(why):
            return (
                _advice(record, why, Action.STOP, taxonomy)
                or f"stop, surface to operator ({_because(record, why, taxonomy)})"
            )
        case Proceed(landed):
            return "proceed: the effect has landed" if landed else "proceed"
        case Again():
            return "run again"
    assert_never(decision)


def _pause(record: FailureRecord, why: Why, resume_at_s: float | None, taxonomy: Taxonomy) -> str:
    because = _because(record, why, taxonomy)
    if why is Why.NOT_HEALED and record.plan:
        because = f"{because}: {record.plan}"
    if resume_at_s is not None:
        return f"pause until {utc(resume_at_s)} ({because}), do NOT retry before"
    return _advice(record, why, Action.PAUSE, taxonomy) or f"pause, ask operator ({because})"


def _advice(record: FailureRecord, why: Why, action: Action, taxonomy: Taxonomy) -> str:
    """Return the class's own word on *action*; ``""`` where a limit, a reason or the policy chose it and not the class."""
    class_ = record.classification.class_
    if why is not Why.CLASS or class_ not in taxonomy or taxonomy.class_spec(class_).action is not action:
        return ""
    return taxonomy.class_spec(class_).advice


def _because(record: FailureRecord, why: Why, taxonomy: Taxonomy) -> str:
    named = record.classification
    reasons = (reason.summary for reason in taxonomy.reasons(named.class_) if reason.name == named.reason)
    return next(reasons, BECAUSE[why]) if why is Why.CLASS else BECAUSE[why]


def _repaired(record: FailureRecord) -> str:
    return "the work" if record.classification.class_ == FailureClass.VERIFICATION else "input"


def _seconds(value_s: float) -> str:
    return f"{value_s:.0f} s" if value_s >= 100 else f"{value_s:.3g} s"


def utc(at_s: float) -> str:
    """Return a wall-clock time, in seconds since the epoch, for people: in UTC, to the second."""
    from datetime import UTC, datetime

    try:
        return f"{datetime.fromtimestamp(at_s, UTC):%Y-%m-%dT%H:%M:%SZ}"
    except (OverflowError, ValueError, OSError):
        return "a time beyond every calendar"


def counted(number: int, noun: str) -> str:
    """Return how many there are of something: ``1 rule``, ``2 rules``."""
    return f"{number} {noun}{'s' * (number != 1)}"
