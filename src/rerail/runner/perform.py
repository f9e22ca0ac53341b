"""Performs the effects of a recovery, written once for every driver.

All of it may block. Calls, waits and callbacks are not here, for an awaiting program awaits those: see
`rerail.runner.blocking` and `rerail.runner.awaited`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, ClassVar, Protocol, get_args

import attrs

from rerail.budget.model import Balance, Grant, Limit
from rerail.decisions.effects import (
    Announce,
    Call,
    DrawWait,
    Finish,
    HealPlanned,
    IdentifyInput,
    PlanHeal,
    PlanRepair,
    RunHeal,
    Spend,
    Spent,
)
from rerail.decisions.model import NO_DRAWS, Draws, HealOutcome, Pause, Stop
from rerail.errors import LedgerError
from rerail.handlers.backoff import curve_s
from rerail.ledger.store import Refusal
from rerail.observe import contained, decision_facts
from rerail.paths import worktree_key
from rerail.runner.work import landing
from rerail.taxonomy import FailureClass

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from rerail.budget.model import Charge
    from rerail.clock import Clock, Draw
    from rerail.decisions.effects import FailureRecord, Reply
    from rerail.decisions.model import Ending, Landing, RunState
    from rerail.decisions.policy import Policy
    from rerail.decisions.start import OpenPause
    from rerail.evidence.model import Evidence
    from rerail.git.report import HealPlan, HealReport
    from rerail.handlers.repair import RepairRequest
    from rerail.ids import Fingerprint, PauseId
    from rerail.ledger.store import Ledger, Owner
    from rerail.observe import EventName, Observer
    from rerail.rules.model import Classification
    from rerail.runner.outcome import Paused
    from rerail.runner.work import Work

BlockingEffect = Call | IdentifyInput | Spend | DrawWait | PlanRepair | PlanHeal | Announce | RunHeal | Finish
"""The effects performed here; of a `Call`, only the mark that it starts."""


class Healer(Protocol):
    """Heals what a named failure broke, or says why not; `rerail.app` builds one over git and the recipes in force."""

    def plan(self, classification: Classification, evidence: Evidence, cwd: str) -> HealPlan:
        """Return what would be done, or how the heal would end where it cannot begin; change nothing."""
        ...

    def heal(self, classification: Classification, evidence: Evidence, cwd: str) -> HealReport:
        """Do it; never run the unit."""
        ...


@attrs.frozen
class Tools:
    """What a recovery works with; built once, by `rerail.app`."""

    ledger: Ledger
    observer: Observer
    clock: Clock
    draw: Draw
    healer: Healer
    admit: Callable[[str], Refusal | None]
    """Checks a refused worktree again, by its root; the refusal when it still stands."""
    owner: Callable[[], Owner]
    """This process."""
    alive: Callable[[Owner], bool]
    """Whether an owner still runs."""
    on_failure: Mapping[str, Callable[[FailureRecord], object]] = attrs.field(factory=dict)
    """Shown every named failure before anything is done about it, each by the name that its giver knows it by."""
    on_pause: Callable[[Paused], Any] | None = None
    """Told of every pause; an `Answer` that it returns is the operator's, and the run goes on with it."""

    def show(self, record: FailureRecord) -> None:
        """Show a named failure to everybody who wants to see it."""
        self.observer.failure(record)
        for name, show in self.on_failure.items():
            with contained(name):
                show(record)


class Performer:
    """Performs the effects of one run.

    Args:
        tools: The loop's tools.
        work: The run's work; takes the repairer's proposal.
        policy: The policy in force for the unit.
        known: Whether the ledger already knows the unit: then its starts and its success are written down too.
    """

    pause: PauseId | None = None
    """The question that the run ended with."""
    _state: RunState | None = None
    _is_refused = False

    def __init__(self, tools: Tools, work: Work, policy: Policy, *, known: bool) -> None:
        self._tools, self.work, self._policy = tools, work, policy
        self._known = known or work.unit.marks_starts
        self.blocks = tools.ledger.durable
        """Whether performing may wait for a disk; an awaiting driver then performs in a thread."""
        # Asked once per run: whether anybody listens does not change within the microseconds of one.
        self._is_heard = tools.observer.hears_failures

    def emit(self, name: EventName, **fields: object) -> None:
        """Pass on an event of this run, bound to its unit, attempt and last failure."""
        if not self._is_heard:
            return
        if (state := self._state) is not None:
            last = state.last
            fields = {
                "unit": state.unit,
                "run": state.run,
                "attempt": state.attempt,
                "class": last.class_ if last else None,
                "reason": last.reason if last else None,
                **fields,
            }
        self._tools.observer.emit(name, **fields)

    def refuse(self, pause: PauseId | None) -> None:
        """Perform nothing in this run, which is not one: its end is told and not written down.

        Args:
            pause: The question that is open, if one is.
        """
        self.pause, self._is_refused = pause, True

    def spend_elsewhere(self, pause: OpenPause, state: RunState) -> None:
        """Write down, and tell, that an answer takes effect on another command than the operator was asked about."""
        said = {"pause": pause.id, "answer": pause.answer}
        try:
            self._tools.ledger.append(
                "answer.spent",
                run=state.run,
                unit=state.unit,
                attempt=state.attempt,
                at_s=self._tools.clock.wall_s(),
                fields=said,
            )
        except LedgerError as error:
            self.emit("ledger.unusable", error=str(error))
        self.emit("answer.spent", unit=state.unit, run=state.run, attempt=state.attempt, **said)

    def _begin(self, call: Call) -> None:
        self._state = call.state
        # What is kept in memory alone ends with the process: a start that nobody could find unended is not worth a mark.
        if self._known and self.blocks:
            root = worktree_key(self.work.cwd) if self.work.cwd else ""
            self._tools.ledger.begin(call.state, self._tools.owner(), alive=self._tools.alive, root=root)
            self.work.marked_as(call.state)
        if self._is_heard:
            self.emit("attempt.started")

    def _identify(self, _: IdentifyInput) -> Fingerprint:
        return self.work.input_id()

    def _draw(self, wait: DrawWait | Spend) -> Draws:
        return Draws(curve_s(self._policy.backoff, wait.nth), self._tools.draw())

    def _spend(self, spend: Spend) -> Spent:
        charge = spend.charge
        try:
            grant = self._tools.ledger.charge(charge)
        except LedgerError as error:
            # What cannot be read counts as spent. The failure is still named and shown; the run pauses on it.
            self.emit("ledger.unusable", **_of(charge), error=str(error))
            grant = Grant(Limit.LEDGER, Balance(charge.unit, charge.class_, charge.budget, charge.budget))
        if self._is_heard:
            self.emit(
                "budget.charged",
                **_of(charge),
                granted=grant.granted,
                refused_by=grant.refused_by,
                remaining=grant.balance.remaining,
                budget=grant.balance.budget,
            )
        return Spent(grant, self._draw(spend) if spend.nth else NO_DRAWS)

    def _plan_repair(self, plan: PlanRepair) -> str:
        from rerail.handlers.repair import propose  # 60 ms to import, and most failures are not repaired

        self.work.proposal = propose(self._request(plan.classification, plan.evidence))
        return "; ".join(self.work.proposal.changes) if self.work.proposal else ""

    def _plan_heal(self, plan: PlanHeal) -> HealPlanned:
        planned = self._tools.healer.plan(plan.classification, plan.evidence, self.work.cwd)
        report = planned.not_begun
        if report is None:
            return HealPlanned(f"{planned.recipe}: {', '.join(planned.steps)}" if planned.recipe else "")
        self.work.heals += (report,)
        return HealPlanned(report.detail, HealOutcome(report.outcome))

    def repaired(self, new_input: object) -> Fingerprint | None:
        """Take what a repairer gave; return the fingerprint of the new input, or None where it gave none."""
        fingerprint = self.work.take(new_input)
        self.emit("input.repaired", input=fingerprint)
        return fingerprint

    def probed(self, answer: object) -> Landing:
        """Take what a unit's probe answered."""
        landed = landing(answer)
        self.emit("effect.probed", landing=landed)
        return landed

    def request(self, record: FailureRecord) -> RepairRequest:
        """Return what a repairer or caller needs to know of a rejected input."""
        return self._request(record.classification, record.evidence)

    def _request(self, classification: Classification, evidence: Evidence) -> RepairRequest:
        from rerail.handlers.repair import RepairRequest

        unit = self.work.unit
        return RepairRequest(
            unit=unit.name,
            input=self.work.input,
            classification=classification,
            evidence=evidence,
            schema=unit.schema,
            context=unit.context,
        )

    def _announce(self, announce: Announce) -> None:
        record, self._state = announce.record, announce.state
        self._known = True
        self.work.history += (record,)
        if not self._is_refused:
            self._tools.ledger.record(record, announce.state)
        if self._is_heard or self._tools.on_failure:
            self._tools.show(record)

    def _heal(self, run: RunHeal) -> HealOutcome:
        record = run.record
        report = self._tools.healer.heal(record.classification, record.evidence, self.work.cwd)
        self.work.heals += (report,)
        self._tools.ledger.append(
            "heal.finished",
            run=record.run,
            unit=record.unit,
            attempt=record.attempt,
            at_s=self._tools.clock.wall_s(),
            fields=attrs.asdict(report),
        )
        self.emit(
            "heal.finished",
            outcome=report.outcome,
            recipe=report.recipe,
            steps=report.steps or None,
            backup=report.backup,
            undo=report.undo,
            expired=report.expired or None,
            detail=report.detail,
        )
        return HealOutcome(report.outcome)

    def _finish(self, finish: Finish) -> None:
        state, decision = finish.state, finish.decision
        self._state = state
        if self._is_refused:
            self.emit("unit.refused", detail=state.last.summary if state.last else "")
            return
        if self._known:
            try:
                self.pause = self._tools.ledger.finish(
                    state,
                    decision,
                    record=finish.record,
                    at_s=self._tools.clock.wall_s(),
                    command=self.work.command,
                    cwd=self.work.cwd,
                )
            except LedgerError as error:
                # What came out is known, and is told as it is; only a question that cannot be kept is none.
                if isinstance(decision, Pause):
                    raise
                self.emit("ledger.unusable", error=str(error))
        if isinstance(decision, Stop) and state.last is not None and state.last.class_ == FailureClass.WORKTREE:
            self._refuse_worktree(state.last.reason, state.last.summary)
        if self._is_heard:
            self._tell_end(state, decision)

    def _tell_end(self, state: RunState, decision: Ending) -> None:
        if isinstance(decision, Pause):
            question = state.last.summary if state.last else ""
            self.emit(
                "pause.asked", pause=self.pause, question=question, why=decision.why, resume_at_s=decision.resume_at_s
            )
        self.emit("unit.finished", outcome=state.ended_as, pause=self.pause, **decision_facts(decision))

    def _refuse_worktree(self, reason: str, detail: str) -> None:
        if self.work.cwd:
            root = worktree_key(self.work.cwd)
            self._tools.ledger.refuse(Refusal(root, self._tools.clock.wall_s(), reason, detail))

    performs: ClassVar[Mapping[type, Callable[[Any, Any], Reply]]] = {
        Call: _begin,
        Spend: _spend,
        DrawWait: _draw,
        Announce: _announce,
        Finish: _finish,
        IdentifyInput: _identify,
        PlanRepair: _plan_repair,
        PlanHeal: _plan_heal,
        RunHeal: _heal,
    }
    """How each effect is performed: ``performs[type(effect)](self, effect)`` returns its reply. Looked up, and not matched, for a
    retry asks for five of them."""


def _of(charge: Charge) -> dict[str, object]:
    """Return whose charge it is, as fields of an event: the failure that asks for it is announced after it."""
    return {"unit": charge.unit, "run": charge.run, "attempt": charge.attempt, "class": charge.class_, "reason": None}


assert Performer.performs.keys() == set(get_args(BlockingEffect)), "every effect is performed"
