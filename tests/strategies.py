"""Values for tests: builders with sensible defaults, and Hypothesis strategies over them."""

from __future__ import annotations

from hypothesis import strategies as st

from rerail.budget.model import Balance, Grant, Limit
from rerail.decisions.effects import FailureRecord
from rerail.decisions.model import Decision, Effects, Failed, Phase, RunState
from rerail.evidence.model import Evidence, Source
from rerail.ids import Fingerprint, RuleSlug, RunId, UnitName
from rerail.rules.model import Citation, Classification
from rerail.taxonomy import BUILT_IN, REASONS, Action

UNIT = UnitName("verify:tests")
RUN = RunId("run-1")


def classification(
    full_reason: str = "provider/rate-limit",
    *,
    retry_after_s: float | None = None,
    resets_at: float | None = None,
    may_have_landed: bool = False,
) -> Classification:
    """A classification as the engine would give it for a reason."""
    class_, _, reason = full_reason.partition("/")
    return Classification(
        class_=class_,
        reason=reason,
        rule=RuleSlug(f"rule-{reason}"),
        summary=f"what happened: {reason}",
        evidence=(Citation("stderr", 14, f"error: {reason}"),),
        action=BUILT_IN.action(class_, reason),
        retry_after_s=retry_after_s,
        resets_at=resets_at,
        may_have_landed=may_have_landed,
    )


def grant(full_reason: str = "provider/rate-limit", *, refused_by: Limit | None = None, spent: int = 1) -> Grant:
    """A ledger's answer to the charge of a reason's class."""
    class_ = full_reason.partition("/")[0]
    return Grant(refused_by, Balance(UNIT, class_, BUILT_IN.budget(class_), spent))


def failed(
    full_reason: str = "provider/rate-limit",
    *,
    evidence: str = "evidence-1",
    given: str = "input-1",
    granted: Grant | None = None,
    at_s: float = 0.0,
    retry_after_s: float | None = None,
    resets_at: float | None = None,
    may_have_landed: bool = False,
) -> Failed:
    """A failure that was named and, by default, charged."""
    named = classification(
        full_reason, retry_after_s=retry_after_s, resets_at=resets_at, may_have_landed=may_have_landed
    )
    repairs, heals = named.action is Action.REPAIR, named.action is Action.HEAL
    return Failed(
        named,
        granted or grant(full_reason),
        at_s,
        evidence=Fingerprint(evidence) if repairs or heals else None,
        input=Fingerprint(given) if repairs else None,
    )


def record(
    decision: Decision,
    full_reason: str = "tool-schema/missing-field",
    *,
    named: Classification | None = None,
    plan: str = "",
    balance: Balance | None = None,
) -> FailureRecord:
    """A named failure with what follows from it."""
    return FailureRecord(
        run=RUN,
        unit=UNIT,
        attempt=1,
        at_s=0.0,
        evidence=Evidence(Source.TEXT),
        classification=named or classification(full_reason),
        decision=decision,
        plan=plan,
        balance=balance,
    )


def running(*, attempt: int = 1, effects: Effects = Effects.NONE, **fields: object) -> RunState:
    """A run whose attempt is under way."""
    return RunState(RUN, UNIT, started_at_s=0.0, effects=effects, phase=Phase.RUNNING, attempt=attempt, **fields)  # type: ignore[arg-type]  # the caller names fields of RunState


reasons = st.sampled_from([reason.full_name for reason in REASONS])
"""Every built-in reason by its full name."""
