"""The one-way path as one generator of effects: call, name, charge, decide, announce, act, and again until the run ends.

It does no I/O: it yields effects (`rerail.decisions.effects`) and receives replies, failures included. A driver performs them;
the blocking and the awaiting one differ in nothing else, so both make the same decisions. A generator cannot be stored: what
outlives the process is the state inside the effects, from which a script is made afresh.
"""

from __future__ import annotations

from collections.abc import Callable, Generator, Sequence
from typing import TYPE_CHECKING, TypeAlias, assert_never

from rerail.budget.model import Charge
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
    Spent,
)
from rerail.decisions.machine import spends, step
from rerail.decisions.model import (
    NO_DRAWS,
    Again,
    Cancelled,
    Decision,
    Draws,
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
    Why,
)
from rerail.decisions.start import host_gone
from rerail.evidence.fingerprint import evidence_fingerprint
from rerail.evidence.model import Evidence, Source
from rerail.ids import Fingerprint
from rerail.taxonomy import Action

if TYPE_CHECKING:
    from rerail.budget.model import Grant
    from rerail.decisions.effects import Tried
    from rerail.decisions.policy import Policy
    from rerail.rules.model import Classification

Classify: TypeAlias = Callable[[Evidence], "Classification"]
"""Names a failure: evidence in, classification out."""


Script: TypeAlias = Generator[Effect, Reply, Finish]
"""What it returns is its last effect, and how the run ended."""

_NO_EVIDENCE = Evidence(Source.PROCESS)
"""Of a failure that no process was there to tell of."""


def follow(
    state: RunState,
    decision: Decision,
    *,
    policy: Policy,
    classify: Classify,
    first: Tried | None = None,
    still_running: Sequence[str] = (),
) -> Script:
    """Yield the effects of one run, and return the last one, which writes its terminal record.

    Args:
        state: Where the run stands, from `rerail.decisions.start.start`.
        decision: What that function decided.
        policy: The policy in force.
        classify: Names a failure.
        first: What the first attempt came to, where it was made before there was a script.
        still_running: What an attempt that never ended has left running.
    """
    record: FailureRecord | None = None
    phase = state.phase
    if phase is _RUNNING:
        state, decision, record = yield from _name_lost_attempt(state, policy, still_running)
    elif phase is _PROBING:
        decision = Probe()
    while True:
        match decision:  # in the order of how often each comes
            case Again():
                state, _ = step(state, _STARTED, policy)
                reply, first = (yield Call(state)) if first is None else first, None
                if isinstance(reply, Raised):
                    state, decision, record = yield from _name(state, reply, policy, classify(reply.evidence))
                else:
                    state, decision = step(state, _SUCCEEDED if isinstance(reply, Returned) else _CANCELLED, policy)
            case Retry():
                reply = yield Sleep(decision.wait_s)
                if isinstance(reply, Interrupted):
                    state, decision = step(state, _CANCELLED, policy)
                else:
                    decision = _AGAIN
            case Proceed() | Pause() | Stop() | HandBack():
                return Finish(state, decision, record)
            case Repair() | Heal() | Probe():
                reply = yield _act(decision, record)
                event = _CANCELLED if isinstance(reply, Interrupted) else _done(decision, reply)
                draws = _draws((yield DrawWait(max(1, len(state.failures))))) if event in _RETRIED_AFTER else NO_DRAWS
                state, decision = step(state, event, policy, draws)
            case _:
                assert_never(decision)


# A look-up of an enumeration's member takes 120 ns in Python 3.11.
_RETRY, _REPAIR, _HEAL = Action.RETRY, Action.REPAIR, Action.HEAL
_RUNNING, _PROBING = Phase.RUNNING, Phase.PROBING

# Events and decisions that say nothing but what they are: one of each is enough.
_STARTED, _SUCCEEDED, _CANCELLED = Started(), Succeeded(), Cancelled()
_AGAIN = Again()

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
    action, class_ = policy.action(classification), classification.class_
    grant: Grant | None = None
    draws, evidence, rejected = NO_DRAWS, None, None
    plan, not_begun = "", None
    if action is _HEAL:
        # Looked at before it is charged: where no recipe fits, nothing is recovered.
        plan, not_begun = _planned((yield PlanHeal(classification, failure.evidence)))
    if spends(action) and not_begun is None:
        budget = policy.budget(class_)
        charge = Charge(state.run, state.unit, state.attempt, class_, budget, policy.window, failure.at_s)
        reply = yield Spend(charge, state.failures_of(class_) + 1 if action is _RETRY else 0)
        assert isinstance(reply, Spent), reply
        grant, draws = reply
        if action is not _RETRY:
            # It should change the evidence, and what was rejected never runs again.
            evidence = evidence_fingerprint(failure.evidence)
    if action is _REPAIR:
        rejected = _fingerprint((yield IdentifyInput()))
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
    return Finish(state, decision, record)


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
    state: RunState, policy: Policy, still_running: Sequence[str]
) -> Generator[Effect, Reply, tuple[RunState, Decision, FailureRecord]]:
    """Name an attempt that was started and never ended, instead of running the unit that may have killed its host."""
    lost = Raised(_NO_EVIDENCE, state.started_at_s)
    return (yield from _name(state, lost, policy, host_gone(still_running)))


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
