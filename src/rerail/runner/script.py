"""The one-way path as one generator of effects: call, name, charge, decide, announce, act, and again until the run ends.

It does no I/O: it yields effects (`rerail.decisions.effects`) and receives replies, failures included. A driver performs them;
the blocking and the awaiting one differ in nothing else, so both make the same decisions. A generator cannot be stored: what
outlives the process is the state inside the effects, from which a script is made afresh.
"""

from __future__ import annotations

from collections.abc import Callable, Generator
from typing import TYPE_CHECKING, TypeAlias, assert_never

import attrs

from rerail.budget.model import Charge, Grant
from rerail.decisions.effects import (
    Announce,
    AskLanded,
    Call,
    DrawWait,
    Effect,
    FailureRecord,
    Finish,
    HealPlanned,
    IdentifyInput,
    Interrupted,
    MakeRepair,
    PlanHeal,
    PlanRepair,
    Raised,
    Reply,
    Returned,
    RunHeal,
    Sleep,
    Spend,
)
from rerail.decisions.machine import spends, step
from rerail.decisions.model import (
    NO_DRAWS,
    Again,
    Cancelled,
    Decision,
    Draws,
    Ending,
    Event,
    Failed,
    HandBack,
    Heal,
    Healed,
    HealOutcome,
    Landing,
    Pause,
    Phase,
    Probe,
    Probed,
    Proceed,
    Repair,
    Repaired,
    Retry,
    RunState,
    Started,
    Stop,
    Succeeded,
    Waited,
    Why,
)
from rerail.decisions.start import HOST_GONE
from rerail.evidence.fingerprint import evidence_fingerprint
from rerail.evidence.model import Evidence, Source
from rerail.ids import Fingerprint
from rerail.taxonomy import Action

if TYPE_CHECKING:
    from rerail.decisions.policy import Policy
    from rerail.rules.model import Classification

Classify: TypeAlias = Callable[[Evidence], "Classification"]
"""Names a failure: evidence in, classification out."""


@attrs.frozen
class End:
    """How a run ended; the state's phase is the terminal record's kind."""

    state: RunState
    decision: Ending
    record: FailureRecord | None
    """The failure that ended it, or the last one before a success."""


Script: TypeAlias = Generator[Effect, Reply, End]

_NO_EVIDENCE = Evidence(Source.PROCESS)
"""Of a failure that no process was there to tell of."""


def follow(state: RunState, decision: Decision, *, policy: Policy, classify: Classify) -> Script:
    """Yield the effects of one run until its terminal record is written.

    Args:
        state: Where the run stands, from `rerail.decisions.start.start`.
        decision: What that function decided.
        policy: The policy in force.
        classify: Names a failure.
    """
    record: FailureRecord | None = None
    if state.phase is Phase.RUNNING:
        state, decision, record = yield from _name_lost_attempt(state, policy)
    elif state.phase is Phase.PROBING:
        decision = Probe()
    while True:
        match decision:
            case Again():
                state, _ = step(state, _STARTED, policy)
                reply = yield Call(state)
                if isinstance(reply, Raised):
                    state, decision, record = yield from _name(state, reply, policy, classify(reply.evidence))
                else:
                    state, decision = step(state, _ending(reply), policy)
            case Retry():
                reply = yield Sleep(decision.wait_s)
                state, decision = step(state, _CANCELLED if isinstance(reply, Interrupted) else _WAITED, policy)
            case Repair() | Heal() | Probe():
                reply = yield _act(decision, record)
                event = _CANCELLED if isinstance(reply, Interrupted) else _done(decision, reply)
                draws = _draws((yield DrawWait(max(1, len(state.failures))))) if event in _RETRIED_AFTER else NO_DRAWS
                state, decision = step(state, event, policy, draws)
            case Pause() | Stop() | HandBack() | Proceed():
                yield Finish(state, decision, record)
                return End(state, decision, record)
            case _:
                assert_never(decision)


# Events that say nothing but what they are: one of each is enough.
_STARTED, _SUCCEEDED, _WAITED, _CANCELLED = Started(), Succeeded(), Waited(), Cancelled()

_RETRIED_AFTER: tuple[Event, ...] = (Healed(HealOutcome.RETRY), Probed(Landing.ABSENT))
"""What turns out to need no more than a wait."""


def _act(decision: Repair | Heal | Probe, record: FailureRecord | None) -> MakeRepair | RunHeal | AskLanded:
    """Return the effect that carries a decision out."""
    match decision:
        case Repair():
            return MakeRepair(_named(record))
        case Heal():
            return RunHeal(_named(record))
        case Probe():
            return AskLanded()
    assert_never(decision)


def _done(decision: Repair | Heal | Probe, reply: Reply) -> Repaired | Healed | Probed:
    """Return the event that an effect's reply is."""
    match decision:
        case Repair():
            return Repaired(_fingerprint(reply))
        case Heal():
            return Healed(HealOutcome(_text(reply)))
        case Probe():
            return Probed(Landing(_text(reply)))
    assert_never(decision)


def _name(
    state: RunState, failure: Raised, policy: Policy, classification: Classification
) -> Generator[Effect, Reply, tuple[RunState, Decision, FailureRecord]]:
    """Charge, decide and announce one named failure: all that happens between the failure and the first action."""
    action = policy.action(classification)
    grant: Grant | None = None
    plan, not_begun = "", None
    if action is Action.HEAL:
        # Looked at before it is charged: where no recipe fits, nothing is recovered.
        plan, not_begun = _planned((yield PlanHeal(classification, failure.evidence)))
    if spends(action) and not_begun is None:
        reply = yield Spend(
            Charge(
                state.run,
                state.unit,
                state.attempt,
                classification.class_,
                policy.budget(classification.class_),
                policy.window,
                failure.at_s,
            )
        )
        assert isinstance(reply, Grant)
        grant = reply
    draws, evidence, rejected = NO_DRAWS, None, None
    match action:
        case Action.RETRY:
            draws = _draws((yield DrawWait(state.failures_of(classification.class_) + 1)))
        case Action.REPAIR:
            # It should change the evidence, and what was rejected never runs again.
            evidence = evidence_fingerprint(failure.evidence)
            rejected = _fingerprint((yield IdentifyInput()))
        case Action.HEAL:
            evidence = evidence_fingerprint(failure.evidence) if not_begun is None else None
        case Action.PAUSE | Action.STOP:
            pass
        case _:
            assert_never(action)
    failed = Failed(classification, grant, failure.at_s, evidence, rejected, not_begun)
    state, decision = step(state, failed, policy, draws)
    if isinstance(decision, Repair):
        plan = _text((yield PlanRepair(classification, failure.evidence)))
    elif isinstance(decision, Pause) and not_begun is None:
        plan = ""  # a limit binds: what a heal would do is not done
    record = _record(state, failure, classification, decision, plan, grant)
    yield Announce(record, state)
    return state, decision, record


def refuse(state: RunState, classification: Classification, at_s: float) -> Script:
    """Yield the effects of a run that may not begin: why is named and announced like any failure, and nothing is called."""
    decision = Stop(Why.REFUSED_WORKTREE)
    state = state._replace(phase=Phase.STOPPED, last=classification)
    record = _record(state, Raised(_NO_EVIDENCE, at_s), classification, decision)
    yield Announce(record, state)
    yield Finish(state, decision, record)
    return End(state, decision, record)


def _record(
    state: RunState,
    failure: Raised,
    classification: Classification,
    decision: Decision,
    plan: str = "",
    grant: Grant | None = None,
) -> FailureRecord:
    return FailureRecord(
        state.run,
        state.unit,
        state.attempt,
        failure.at_s,
        failure.evidence,
        classification,
        decision,
        plan,
        grant.balance if grant else None,
    )


def _name_lost_attempt(
    state: RunState, policy: Policy
) -> Generator[Effect, Reply, tuple[RunState, Decision, FailureRecord]]:
    """Name an attempt that was started and never ended, instead of running the unit that may have killed its host."""
    lost = Raised(_NO_EVIDENCE, state.started_at_s)
    return (yield from _name(state, lost, policy, HOST_GONE))


def _ending(reply: Reply) -> Succeeded | Cancelled:
    return _SUCCEEDED if isinstance(reply, Returned) else _CANCELLED


def _draws(reply: Reply) -> Draws:
    assert isinstance(reply, Draws), reply
    return reply


def _planned(reply: Reply) -> HealPlanned:
    assert isinstance(reply, HealPlanned), reply
    return reply


def _named(record: FailureRecord | None) -> FailureRecord:
    assert record is not None, "a repair or heal follows only a failure that was named in this process"
    return record


def _fingerprint(reply: Reply) -> Fingerprint | None:
    return Fingerprint(reply) if isinstance(reply, str) else None


def _text(reply: Reply) -> str:
    assert isinstance(reply, str), reply
    return reply
