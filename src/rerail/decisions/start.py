"""What an earlier run of the same unit left, and what it means for this one. A pure function, like `machine`."""

from __future__ import annotations

from typing import TYPE_CHECKING, assert_never

import attrs

from rerail.decisions.machine import step
from rerail.decisions.model import (
    Again,
    Answer,
    Answered,
    Decision,
    Effects,
    Pause,
    Phase,
    Repaired,
    RunState,
    TimeCame,
    Why,
)
from rerail.ids import RuleSlug
from rerail.rules.model import Citation, Classification
from rerail.taxonomy import Action, FailureClass

if TYPE_CHECKING:
    from rerail.decisions.policy import Policy
    from rerail.ids import Fingerprint, PauseId, RunId, UnitName


@attrs.frozen
class OpenPause:
    """The pause that a unit stands in."""

    id: PauseId
    why: Why
    resume_at_s: float | None
    """Wall clock, seconds since the epoch."""
    answer: Answer | None


@attrs.frozen
class Standing:
    """What the ledger knows of a unit that did not end, or ended with something left to do."""

    state: RunState
    pause: OpenPause | None = None
    """Set while the state is paused."""


HOST_GONE = Classification(
    class_=FailureClass.RUNTIME.value,
    reason="host-gone",
    rule=RuleSlug("rerail-host-gone"),
    summary="the previous attempt never ended: its host process is gone",
    evidence=(Citation("ledger", 0, "an attempt was started and its process no longer exists"),),
    action=Action.PAUSE,
)
"""What an attempt is called that was started and never ended: the unit is parked, for it may have killed its host."""


def refused_worktree(reason: str, detail: str) -> Classification:
    """Return what a failed check before the first attempt is called: nothing may be started there."""
    return Classification(
        class_=FailureClass.WORKTREE.value,
        reason=reason,
        rule=RuleSlug("rerail-worktree-check"),
        summary=detail,
        evidence=(Citation("worktree-safety", 0, detail),),
        action=Action.STOP,
    )


def start(
    standing: Standing | None,
    *,
    run: RunId,
    unit: UnitName,
    effects: Effects,
    current: Fingerprint | None,
    now_s: float,
    policy: Policy,
) -> tuple[RunState, Decision]:
    """Return the state that a run of the unit begins with, and whether it may run.

    The decision is `Again` to run it; `Pause` while its question is open or its time has not come; `HandBack` when the input is
    one that was already rejected; `Stop` when the operator said so.

    Args:
        standing: What the ledger knows, or None.
        run: The id of a new run; a continued one keeps its own.
        unit: The unit's name.
        effects: What the unit declares now.
        current: The fingerprint of the input it would run with; None when it was not computed.
        now_s: Wall clock, seconds since the epoch.
        policy: The policy in force now.
    """
    if standing is None:
        return RunState(run, unit, started_at_s=now_s, effects=effects), Again()
    state = standing.state._replace(effects=effects)
    match state.phase:
        case Phase.PAUSED:
            return _from_pause(state, standing.pause, now_s, policy)
        case Phase.HANDED_BACK:
            return step(state, Repaired(current), policy)
        case Phase.RUNNING | Phase.PROBING:
            # Left as it is: the script names the attempt that never ended, or asks once more whether it landed.
            return state, Again()
        case Phase.READY | Phase.WAITING | Phase.REPAIRING | Phase.HEALING:
            # The failure was named and charged; only the action was cut off. The next attempt shows what is left of it.
            return state._replace(phase=Phase.READY), Again()
        case Phase.SUCCEEDED | Phase.STOPPED | Phase.CANCELLED:
            return RunState(run, unit, started_at_s=now_s, effects=effects), Again()
    assert_never(state.phase)


def _from_pause(state: RunState, pause: OpenPause | None, now_s: float, policy: Policy) -> tuple[RunState, Decision]:
    if pause is None:
        # A paused state whose question cannot be found was damaged; it is not free to go on.
        return state, Pause(Why.CLASS)
    if pause.answer is not None:
        return step(state, Answered(pause.answer), policy)
    if pause.resume_at_s is not None and pause.resume_at_s <= now_s:
        return step(state, TimeCame(), policy)
    return state, Pause(pause.why, pause.resume_at_s)
