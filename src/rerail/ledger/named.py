"""A named failure as plain JSON: what a row of the history holds. Reading it again is `rerail.ledger.codec`'s.

Standard library only: a hook writes such rows, and a decision as a value would cost it attrs.
"""

from __future__ import annotations

from rerail.evidence.payload import to_payload
from rerail.light_typing import TYPE_CHECKING
from rerail.taxonomy import FailureClass

if TYPE_CHECKING:
    from collections.abc import Mapping

    from rerail.budget.model import Balance
    from rerail.evidence.model import Evidence
    from rerail.rules.model import Candidate, Classification


FAILURE_NAMED = "failure.classified"
"""The event of a named failure."""


def is_gap(name: str, fields: Mapping[str, object]) -> bool:
    """Whether an event is a failure that no rule could name."""
    named = fields.get("classification") if name == FAILURE_NAMED else None
    return isinstance(named, dict) and named.get("class") == FailureClass.UNCLASSIFIED


def failure_to_json(
    *,
    run: str,
    unit: str,
    attempt: int,
    at_s: float,
    evidence: Evidence,
    classification: Classification,
    decision: Mapping[str, object],
    plan: str,
    balance: Balance | None,
) -> dict[str, object]:
    """Return the fields of a `FailureRecord` as JSON values, its evidence as evidence JSON.

    Args:
        run: The run.
        unit: The unit.
        attempt: Counted from 1.
        at_s: Wall clock, seconds since the epoch.
        evidence: What failed.
        classification: What it was named.
        decision: What follows, as `rerail.ledger.codec.decision_to_json` writes it.
        plan: What exactly will be done, where that is known.
        balance: What is left to the unit; None for a class that is not charged.
    """
    return {
        "run": run,
        "unit": unit,
        "attempt": attempt,
        "at_s": at_s,
        "evidence": to_payload(evidence),
        "classification": classification_to_json(classification),
        "decision": dict(decision),
        "plan": plan,
        "balance": None if balance is None else _balance_to_json(balance),
    }


def classification_to_json(classification: Classification) -> dict[str, object]:
    """Return a classification as JSON values; the keys are those of the public classification JSON."""
    return {
        "class": classification.class_,
        "reason": classification.reason,
        "rule": classification.rule,
        "summary": classification.summary,
        "evidence": [citation._asdict() for citation in classification.evidence],
        "action": classification.action.value,
        "retry_after_s": classification.retry_after_s,
        "resets_at": classification.resets_at,
        "may_have_landed": classification.may_have_landed,
        "trace": [_candidate_to_json(candidate) for candidate in classification.trace],
    }


def _candidate_to_json(candidate: Candidate) -> dict[str, object]:
    return {
        "rule": candidate.rule,
        "class": candidate.class_,
        "reason": candidate.reason,
        "trust": candidate.trust.name.lower(),
        "evidence": [citation._asdict() for citation in candidate.evidence],
        "verdict": candidate.verdict,
    }


def _balance_to_json(balance: Balance) -> dict[str, object]:
    return {"unit": balance.unit, "class": balance.class_, "budget": balance.budget, "spent": balance.spent}
