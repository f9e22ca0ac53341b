"""The decision core: ``step(state, event, policy, draws) -> (state, decision)``.

A pure function: it does no I/O, reads no clock and draws nothing. The table says which events a phase accepts; what an accepted
event leads to is decided by one small function per event.

    READY      Started    -> RUNNING
    WAITING    Started    -> RUNNING                    (the wait is over)
    RUNNING    Succeeded  -> SUCCEEDED
    RUNNING    Failed     -> WAITING | REPAIRING | HEALING | PROBING | PAUSED | STOPPED
    PROBING    Probed     -> SUCCEEDED | WAITING | PAUSED | STOPPED
    REPAIRING  Repaired   -> READY | HANDED_BACK | PAUSED
    HEALING    Healed     -> READY | WAITING | PAUSED | STOPPED
    PAUSED     Answered   -> READY | STOPPED
    PAUSED     TimeCame   -> READY
    HANDED_BACK Repaired  -> READY | HANDED_BACK        (the next run of the same unit brings its input)
    PROBING    Cancelled  -> PROBING                    (its next run asks again)
    any other but an ended one  Cancelled -> CANCELLED
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final, assert_never, get_args

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
    Why,
)
from rerail.taxonomy import Action, FailureClass

if TYPE_CHECKING:
    from collections.abc import Callable

    from rerail.decisions.policy import Backoff, Policy
    from rerail.rules.model import Classification

ENDED = frozenset({Phase.SUCCEEDED, Phase.STOPPED, Phase.CANCELLED})
"""A run in one of these takes no event; a paused or handed-back one can go on, in this process or another."""

_NOTHING_TO_GO_BY = (FailureClass.TOOL_SCHEMA, "bad-request")
"""The rejection that names no part of the input: without a repairer there is nothing to hand back."""

_SPENDS = frozenset({Action.RETRY, Action.REPAIR, Action.HEAL})

_ASKS_FIRST = frozenset({Action.RETRY, Action.STOP})
"""What neither asks the operator nor changes anything: when the effect may be there, somebody must look before it is done."""

# A look-up of an enumeration's member takes 120 ns in Python 3.11.
_READY, _SUCCEEDED = Phase.READY, Phase.SUCCEEDED
_RETRY: Final = Action.RETRY

# Decisions that say nothing but what they are: one of each is enough.
_AGAIN, _REPAIR, _HEAL, _PROBE, _PROCEED = Again(), Repair(), Heal(), Probe(), Proceed()


_REFUSED = {
    Limit.CLASS: Why.BUDGET_SPENT,
    Limit.WINDOW: Why.WINDOW_SPENT,
    Limit.LEDGER: Why.LEDGER_UNUSABLE,
}
"""What it is for a run that a limit refuses its recovery."""
assert _REFUSED.keys() == set(Limit), "every limit is a reason to pause"


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
    accepts, lead = _TABLE[type(event)]
    if state.phase not in accepts:
        raise IllegalEventError(f"a run that is {state.phase} takes no {type(event).__name__}")
    return lead(state, event, policy, draws)


def _after_start(state: RunState, _event: Started, _policy: Policy, _draws: Draws) -> tuple[RunState, Decision]:
    return state.attempting(), _AGAIN


def _after_success(state: RunState, _event: Succeeded, _policy: Policy, _draws: Draws) -> tuple[RunState, Decision]:
    return state.moved_to(_SUCCEEDED), _PROCEED


def _go_on(state: RunState, _event: TimeCame, _policy: Policy, _draws: Draws) -> tuple[RunState, Decision]:
    return state.moved_to(_READY), _AGAIN


def _cancel(state: RunState, _event: Cancelled, _policy: Policy, _draws: Draws) -> tuple[RunState, Decision]:
    # Nobody knows yet whether an effect landed that was being asked for: the unit's next run asks once more, as after a kill.
    return state if state.phase is Phase.PROBING else state.moved_to(Phase.CANCELLED), Stop(Why.ABORTED)


def _after_failure(state: RunState, failed: Failed, policy: Policy, draws: Draws) -> tuple[RunState, Decision]:
    action = policy.action(failed.classification)
    came_back = failed.evidence in state.seen
    state = state.failed(failed)
    if (limit := _what_binds(state, failed, policy, came_back=came_back)) is not None:
        return _pause(state, limit)
    if failed.classification.may_have_landed and state.effects is Effects.UNSAFE and action in _ASKS_FIRST:
        return state.moved_to(Phase.PROBING), _PROBE
    if action is _RETRY:
        return _retry(state, failed.classification, policy.backoff, draws, at_s=failed.at_s)
    match action:
        case Action.REPAIR:
            return state.moved_to(Phase.REPAIRING), _REPAIR
        case Action.HEAL:
            if failed.not_begun is not None:
                return _after_heal(state, Healed(failed.not_begun), policy, draws)
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
    if failed.grant.refused_by is not None:
        return _REFUSED[failed.grant.refused_by]
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


def _after_probe(state: RunState, probed: Probed, policy: Policy, draws: Draws) -> tuple[RunState, Decision]:
    match probed.landing:
        case Landing.LANDED:
            return state.moved_to(Phase.SUCCEEDED), Proceed(landed=True)
        case Landing.ABSENT:
            if state.last is not None and policy.action(state.last) is Action.STOP:
                return state.moved_to(Phase.STOPPED), Stop(Why.CLASS)
            return _retry(state, state.last, policy.backoff, draws)
        case Landing.UNKNOWN:
            return _pause(state, Why.UNKNOWN_OUTCOME)
    assert_never(probed.landing)


def _after_repair(state: RunState, repaired: Repaired, _policy: Policy, _draws: Draws) -> tuple[RunState, Decision]:
    if repaired.input is None:
        if state.last is not None and (state.last.class_, state.last.reason) == _NOTHING_TO_GO_BY:
            return _pause(state, Why.NO_CORRECTION)
        return state.moved_to(Phase.HANDED_BACK), HandBack()
    if repaired.input in state.rejected:
        if state.phase is Phase.HANDED_BACK:
            return state, HandBack()
        return _pause(state, Why.SAME_INPUT)
    return state.moved_to(Phase.READY), _AGAIN


def _after_heal(state: RunState, healed: Healed, policy: Policy, draws: Draws) -> tuple[RunState, Decision]:
    match healed.outcome:
        case HealOutcome.HEALED:
            return state.moved_to(Phase.READY), _AGAIN
        case HealOutcome.RETRY:
            return _retry(state, state.last, policy.backoff, draws)
        case HealOutcome.PAUSED:
            return _pause(state, Why.NOT_HEALED)
        case HealOutcome.STOPPED:
            return state.moved_to(Phase.STOPPED), Stop(Why.NOT_HEALED)
    assert_never(healed.outcome)


def _after_answer(state: RunState, answered: Answered, _policy: Policy, _draws: Draws) -> tuple[RunState, Decision]:
    match answered.answer:
        case Answer.RETRY | Answer.APPROVE:
            # What the operator sent back may fail as before; it is the operator's try, so the evidence is not held against it.
            return state._replace(phase=Phase.READY, seen=frozenset()), _AGAIN
        case Answer.SKIP:
            return state.moved_to(Phase.STOPPED), Stop(Why.SKIPPED)
        case Answer.ABORT:
            return state.moved_to(Phase.STOPPED), Stop(Why.ABORTED)
    assert_never(answered.answer)


def _pause(state: RunState, why: Why, *, resume_at_s: float | None = None) -> tuple[RunState, Decision]:
    return state.moved_to(Phase.PAUSED), Pause(why, resume_at_s)


_TABLE: dict[type, tuple[tuple[Phase, ...], Callable[[RunState, Any, Policy, Draws], tuple[RunState, Decision]]]] = {
    Started: ((Phase.READY, Phase.WAITING), _after_start),
    Succeeded: ((Phase.RUNNING,), _after_success),
    Failed: ((Phase.RUNNING,), _after_failure),
    Probed: ((Phase.PROBING,), _after_probe),
    Repaired: ((Phase.REPAIRING, Phase.HANDED_BACK), _after_repair),
    Healed: ((Phase.HEALING,), _after_heal),
    Answered: ((Phase.PAUSED,), _after_answer),
    TimeCame: ((Phase.PAUSED,), _go_on),
    Cancelled: (tuple(phase for phase in Phase if phase not in ENDED), _cancel),
}
"""Per event, the phases that accept it and what it leads to: looked up, and not matched, for a retry takes four steps."""

assert _TABLE.keys() == set(get_args(Event)), "every event has its row"
