"""One run of one unit: where it starts from, its script, and the outcome its end is for the caller."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, assert_never

from rerail.decisions.model import HandBack, Pause, Phase, Proceed, RunState, Stop
from rerail.decisions.start import may_still_run, refused_worktree, start
from rerail.runner.outcome import Cancelled, HandedBack, Outcome, Paused, Stopped, Succeeded
from rerail.runner.perform import Performer
from rerail.runner.script import follow, refuse

if TYPE_CHECKING:
    from rerail.decisions.effects import Finish, Tried
    from rerail.decisions.policy import Policy
    from rerail.decisions.start import Standing
    from rerail.ids import RunId
    from rerail.ledger.store import Refusal
    from rerail.runner.perform import Tools
    from rerail.runner.script import Classify
    from rerail.runner.work import Work


class Session(Performer):
    """One run, and what performs its effects.

    Args:
        work: What is run.
        standing: What the ledger knows of the unit.
        run: The id of this run, should it be a new one.
        tools: What recovery works with.
        policy: The loop's; the unit's own goes before it.
        classify: Names a failure.
        refusal: Why nothing may be started where the unit works; None: it may.
        first: What the first attempt came to, where it was made before a session was needed.
    """

    pending: BaseException | None = None
    """A cancellation that came while something was written: it is raised once that is done, and the run has ended."""

    def __init__(
        self,
        work: Work,
        standing: Standing | None,
        *,
        run: RunId,
        tools: Tools,
        policy: Policy,
        classify: Classify,
        refusal: Refusal | None = None,
        first: Tried | None = None,
    ) -> None:
        unit = work.unit
        policy = unit.policy or policy
        super().__init__(tools, work, policy, known=standing is not None)
        now_s = tools.clock.wall_s()
        if refusal is not None:
            # What the ledger knows of the unit stays as it is: it goes on where the unit may run again.
            self.refuse(None)
            state = RunState(run, unit.name, started_at_s=now_s, effects=unit.effects)
            self.script = refuse(state, refused_worktree(refusal.reason, refusal.detail), now_s)
            return
        still_running = work.survivors(standing.state) if standing is not None and may_still_run(standing) else ()
        handed_back = standing is not None and standing.state.phase is Phase.HANDED_BACK
        state, decision = start(
            standing,
            run=run,
            unit=unit.name,
            effects=unit.effects,
            # Fingerprinting an input reads all of it, for a command the whole work tree; only a hand-back asks for it.
            current=work.input_id() if handed_back else None,
            now_s=now_s,
            policy=policy,
            still_running=still_running,
        )
        pause = standing.pause if standing is not None else None
        if isinstance(decision, HandBack) or (
            isinstance(decision, Pause) and pause is not None and pause.answer is None
        ):
            # Nothing is run, so nothing ends: the run that asked, or handed back, has its terminal record already.
            self.refuse(pause.id if pause is not None else None)
        elif pause is not None and pause.is_answered_for_another(work.command, work.cwd):
            self.spend_elsewhere(pause, state)
        self.script = follow(
            state, decision, policy=policy, classify=classify, first=first, still_running=still_running
        )

    def outcome(self, end: Finish) -> Outcome[Any]:
        """Return how the run ended."""
        work, state, decision = self.work, end.state, end.decision
        history, heals = work.history, work.heals
        match decision:
            case Proceed():
                landed = decision.landed
                return Succeeded(None if landed else work.value, state.attempt, history, landed, heals)
            case Pause(why, resume_at_s):
                assert self.pause is not None, "a paused run has its question"
                return Paused(state.unit, state.attempt, history, work.error, why, self.pause, resume_at_s, heals=heals)
            case Stop(why):
                if state.ended_as is Phase.CANCELLED:
                    return Cancelled(state.unit, state.attempt, history, work.error, heals=heals)
                return Stopped(state.unit, state.attempt, history, work.error, why, heals=heals)
            case HandBack():
                request = self.request(end.record) if end.record is not None else None
                return HandedBack(state.unit, state.attempt, history, work.error, request, heals=heals)
        assert_never(decision)
