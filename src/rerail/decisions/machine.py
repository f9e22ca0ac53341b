"""The decision core: ``step(state, event, policy, draws) -> (state, decision)``.

A pure function: it does no I/O, reads no clock and draws nothing. The table says which events a phase accepts; what an accepted
event leads to is decided by one small function per event.

    READY      Started    -> RUNNING
    RUNNING    Succeeded  -> SUCCEEDED
    RUNNING    Failed     -> WAITING | REPAIRING | HEALING | PROBING | PAUSED | STOPPED
    WAITING    Waited     -> READY
    PROBING    Probed     -> SUCCEEDED | WAITING | PAUSED | STOPPED
    REPAIRING  Repaired   -> READY | HANDED_BACK | PAUSED
    HEALING    Healed     -> READY | WAITING | PAUSED | STOPPED
    PAUSED     Answered   -> READY | STOPPED
    PAUSED     TimeCame   -> READY
    HANDED_BACK Repaired  -> READY | HANDED_BACK        (the next run of the same unit brings its input)
    any but an ended one  Cancelled -> CANCELLED
"""

from __future__ import annotations

from typing import TYPE_CHECKING, assert_never

from rerail.budget.model import Limit
from rerail.decisions.model import (
    NO_DRAWS,
    Again,
    Answer,
    Answered,
    Cancelled,
    Decision,
    Draws,
    Effects,
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
    TimeCame,
    Waited,
    Why,
)
from rerail.taxonomy import Action, FailureClass

if TYPE_CHECKING:
    from rerail.decisions.policy import Backoff, Policy
    from rerail.rules.model import Classification

ENDED = frozenset({Phase.SUCCEEDED, Phase.STOPPED, Phase.CANCELLED})
"""A run in one of these takes no event; a paused or handed-back one can go on, in this process or another."""

_ACCEPTS: dict[type, frozenset[Phase]] = {
    Started: frozenset({Phase.READY}),
    Succeeded: frozenset({Phase.RUNNING}),
    Failed: frozenset({Phase.RUNNING}),
    Waited: frozenset({Phase.WAITING}),
    Probed: frozenset({Phase.PROBING}),
    Repaired: frozenset({Phase.REPAIRING, Phase.HANDED_BACK}),
    Healed: frozenset({Phase.HEALING}),
    Answered: frozenset({Phase.PAUSED}),
    TimeCame: frozenset({Phase.PAUSED}),
    Cancelled: frozenset(Phase) - ENDED,
}

_NOTHING_TO_GO_BY = (FailureClass.TOOL_SCHEMA, "bad-request")
"""The rejection that names no part of the input: without a repairer there is nothing to hand back."""

_SPENDS = frozenset({Action.RETRY, Action.REPAIR, Action.HEAL})

_ASKS_FIRST = frozenset({Action.RETRY, Action.STOP})
"""What neither asks the operator nor changes anything: when the effect may be there, somebody must look before it is done."""

# Decisions that say nothing but what they are: one of each is enough.
_AGAIN, _REPAIR, _HEAL, _PROBE, _PROCEED = Again(), Repair(), Heal(), Probe(), Proceed()


class IllegalEventError(Exception):
    """An event that the phase does not accept: a bug of the caller, never a failure of the unit."""


def spends(action: Action) -> bool:
    """Whether an action is a recovery, charged before it happens. Denials, stops and pauses charge nothing."""
    return action in _SPENDS


def step(state: RunState, event: Event, policy: Policy, draws: Draws = NO_DRAWS) -> tuple[RunState, Decision]:
    """Return the state after *event*, and what to do now.

    Raises:
        IllegalEventError: The phase does not accept the event.
    """
    if state.phase not in _ACCEPTS[type(event)]:
        raise IllegalEventError(f"a run that is {state.phase} takes no {type(event).__name__}")
    match event:
        case Started():
            return state.attempting(), _AGAIN
        case Succeeded():
            return state.moved_to(Phase.SUCCEEDED), _PROCEED
        case Failed():
            return _after_failure(state, event, policy, draws)
        case Waited():
            return state.moved_to(Phase.READY), _AGAIN
        case Probed():
            return _after_probe(state, event.landing, policy, draws)
        case Repaired():
            return _after_repair(state, event)
        case Healed():
            return _after_heal(state, event.outcome, policy.backoff, draws)
        case Answered():
            return _after_answer(state, event.answer)
        case TimeCame():
            return state.moved_to(Phase.READY), _AGAIN
        case Cancelled():
            return state.moved_to(Phase.CANCELLED), Stop(Why.ABORTED)
    assert_never(event)


def _after_failure(state: RunState, failed: Failed, policy: Policy, draws: Draws) -> tuple[RunState, Decision]:
    action = policy.action(failed.classification)
    came_back = failed.evidence in state.seen
    state = state.failed(failed)
    if (limit := _what_binds(state, failed, policy, came_back=came_back)) is not None:
        return _pause(state, limit)
    if failed.classification.may_have_landed and state.effects is Effects.UNSAFE and action in _ASKS_FIRST:
        return state.moved_to(Phase.PROBING), _PROBE
    match action:
        case Action.RETRY:
            return _retry(state, failed.classification, policy.backoff, draws, at_s=failed.at_s)
        case Action.REPAIR:
            return state.moved_to(Phase.REPAIRING), _REPAIR
        case Action.HEAL:
            if failed.not_begun is not None:
                return _after_heal(state, failed.not_begun, policy.backoff, draws)
            return state.moved_to(Phase.HEALING), _HEAL
        case Action.PAUSE:
            return _pause(state, Why.CLASS, resume_at_s=_resume_at_s(failed.classification, failed.at_s))
        case Action.STOP:
            return state.moved_to(Phase.STOPPED), Stop(Why.CLASS)
    assert_never(action)


def _what_binds(state: RunState, failed: Failed, policy: Policy, *, came_back: bool) -> Why | None:
    """Return why no recovery may follow, or None. Asked only of actions that would recover."""
    if failed.grant is None:
        return None
    match failed.grant.refused_by:
        case None:
            pass
        case Limit.CLASS:
            return Why.BUDGET_SPENT
        case Limit.WINDOW:
            return Why.WINDOW_SPENT
        case Limit.LEDGER:
            return Why.LEDGER_UNUSABLE
        case never:
            assert_never(never)
    if came_back:
        return Why.SAME_EVIDENCE
    if state.attempt >= policy.ceiling.attempts:
        return Why.ATTEMPT_CEILING
    if failed.at_s - state.started_at_s >= policy.ceiling.wall_s:
        return Why.TIME_CEILING
    return None


def _retry(
    state: RunState, classification: Classification | None, backoff: Backoff, draws: Draws, *, at_s: float | None = None
) -> tuple[RunState, Decision]:
    """Wait for the curve or the server's hint, whichever is longer, plus jitter; past a cap, pause instead."""
    hint_s = (classification.retry_after_s if classification else None) or 0.0
    if classification is not None and hint_s > backoff.horizon_s:
        return _pause(state, Why.RESUME_LATER, resume_at_s=_resume_at_s(classification, at_s))
    floor_s = max(hint_s, min(draws.curve_s, backoff.cap_s))
    wait_s = floor_s * (1.0 + backoff.jitter * draws.jitter)
    if state.waited_s + wait_s > backoff.total_s:
        return _pause(state, Why.TOTAL_WAIT)
    return state.waiting(wait_s), Retry(wait_s)


def _resume_at_s(classification: Classification, at_s: float | None) -> float | None:
    """Return when the provider said that it takes work again; what any other class says of times opens no gate."""
    if classification.class_ != FailureClass.PROVIDER:
        return None
    if classification.resets_at is not None or classification.retry_after_s is None or at_s is None:
        return classification.resets_at
    return at_s + classification.retry_after_s


def _after_probe(state: RunState, landing: Landing, policy: Policy, draws: Draws) -> tuple[RunState, Decision]:
    match landing:
        case Landing.LANDED:
            return state.moved_to(Phase.SUCCEEDED), Proceed(landed=True)
        case Landing.ABSENT:
            if state.last is not None and policy.action(state.last) is Action.STOP:
                return state.moved_to(Phase.STOPPED), Stop(Why.CLASS)
            return _retry(state, state.last, policy.backoff, draws)
        case Landing.UNKNOWN:
            return _pause(state, Why.UNKNOWN_OUTCOME)
    assert_never(landing)


def _after_repair(state: RunState, repaired: Repaired) -> tuple[RunState, Decision]:
    if repaired.input is None:
        if state.last is not None and (state.last.class_, state.last.reason) == _NOTHING_TO_GO_BY:
            return _pause(state, Why.NO_CORRECTION)
        return state.moved_to(Phase.HANDED_BACK), HandBack()
    if repaired.input in state.rejected:
        if state.phase is Phase.HANDED_BACK:
            return state, HandBack()
        return _pause(state, Why.SAME_INPUT)
    return state.moved_to(Phase.READY), _AGAIN


def _after_heal(state: RunState, outcome: HealOutcome, backoff: Backoff, draws: Draws) -> tuple[RunState, Decision]:
    match outcome:
        case HealOutcome.HEALED:
            return state.moved_to(Phase.READY), _AGAIN
        case HealOutcome.RETRY:
            return _retry(state, state.last, backoff, draws)
        case HealOutcome.PAUSED:
            return _pause(state, Why.NOT_HEALED)
        case HealOutcome.STOPPED:
            return state.moved_to(Phase.STOPPED), Stop(Why.NOT_HEALED)
    assert_never(outcome)


def _after_answer(state: RunState, answer: Answer) -> tuple[RunState, Decision]:
    match answer:
        case Answer.RETRY | Answer.APPROVE:
            # What the operator sent back may fail as before; it is the operator's try, so the evidence is not held against it.
            return state._replace(phase=Phase.READY, seen=frozenset()), _AGAIN
        case Answer.SKIP:
            return state.moved_to(Phase.STOPPED), Stop(Why.SKIPPED)
        case Answer.ABORT:
            return state.moved_to(Phase.STOPPED), Stop(Why.ABORTED)
    assert_never(answer)


def _pause(state: RunState, why: Why, *, resume_at_s: float | None = None) -> tuple[RunState, Decision]:
    return state.moved_to(Phase.PAUSED), Pause(why, resume_at_s)
