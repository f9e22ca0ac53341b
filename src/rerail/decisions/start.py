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
    from collections.abc import Sequence

    from rerail.decisions.policy import Policy
    from rerail.ids import Fingerprint, PauseId, RunId, UnitName


_HOST_GONE = "host-gone"
_NAMED_SURVIVORS = 5


@attrs.frozen
class OpenPause:
    """The pause that a unit stands in."""

    id: PauseId
    why: Why
    resume_at_s: float | None
    """Wall clock, seconds since the epoch."""
    answer: Answer | None
    command: tuple[str, ...] | None = None
    """What was asked about; None for what is no command."""
    cwd: str = ""
    """Where it ran."""

    def is_answered_for_another(self, command: tuple[str, ...] | None, cwd: str) -> bool:
        """Whether the operator has answered, and looked at another command than the one that the unit would run now.

        A unit may change its command: often that is how a failure is mended. Its answer counts all the same, for a question
        freezes the unit and not a line of words; but whoever reads of it must be able to tell.
        """
        return self.answer is not None and self.command is not None and (self.command, self.cwd) != (command, cwd)


@attrs.frozen
class Standing:
    """What the ledger knows of a unit that did not end, or ended with something left to do."""

    state: RunState
    pause: OpenPause | None = None
    """Set while the state is paused."""


def host_gone(still_running: Sequence[str] = ()) -> Classification:
    """Return what an attempt is called that was started and never ended: the unit is parked, for it may have killed its host.

    Args:
        still_running: The processes that the attempt started and that live on without it, each in a word or two.
    """
    summary, said = "the previous attempt never ended: its host process is gone", "its process no longer exists"
    if still_running:
        those = f"{'process' if len(still_running) == 1 else 'processes'} {', '.join(still_running[:_NAMED_SURVIVORS])}"
        summary += f", and what it started still runs: {those}"
        said += f"; {those} of it still {'runs' if len(still_running) == 1 else 'run'}"
    return Classification(
        class_=FailureClass.RUNTIME.value,
        reason=_HOST_GONE,
        rule=RuleSlug("rerail-host-gone"),
        summary=summary,
        evidence=(Citation("ledger", 0, f"an attempt was started and {said}"),),
        action=Action.PAUSE,
    )


def may_still_run(standing: Standing) -> bool:
    """Whether an attempt that never ended may have left something that runs, which the next one must not run beside.

    An operator who was told of it and says `Answer.APPROVE` has decided that it may.
    """
    state, pause = standing.state, standing.pause
    if state.phase is Phase.RUNNING:
        return True
    was_lost = state.last is not None and (state.last.class_, state.last.reason) == (FailureClass.RUNTIME, _HOST_GONE)
    return was_lost and pause is not None and pause.answer is Answer.RETRY


_AGAIN = Again()  # it says nothing but what it is


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
    still_running: Sequence[str] = (),
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
        still_running: What an attempt that never ended has left running; see `may_still_run`.
    """
    if standing is None:
        return RunState(run, unit, now_s, effects), _AGAIN
    state = standing.state._replace(effects=effects)
    match state.phase:
        case Phase.PAUSED:
            if still_running:
                # The answer lets it run again, not a second time at once: it is asked anew, by name.
                return state._replace(last=host_gone(still_running)), Pause(Why.CLASS)
            return _from_pause(state, standing.pause, now_s, policy)
        case Phase.HANDED_BACK:
            return step(state, Repaired(current), policy)
        case Phase.RUNNING | Phase.PROBING:
            # Left as it is: the script names the attempt that never ended, or asks once more whether it landed.
            return state, Again()
        case Phase.READY | Phase.WAITING | Phase.REPAIRING | Phase.HEALING:
            # The failure was named and charged; only the action was cut off. The next attempt shows what is left of it.
            return state._replace(phase=Phase.READY), _AGAIN
        case Phase.SUCCEEDED | Phase.STOPPED | Phase.CANCELLED:
            return RunState(run, unit, started_at_s=now_s, effects=effects), _AGAIN
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
