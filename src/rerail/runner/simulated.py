"""The simulated driver: plays a policy against scripted failures in virtual time, so that people can see what it would do.

No unit runs, nothing is written, and no second passes.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import attrs

from rerail.budget.account import binding_limit
from rerail.budget.model import Balance, Grant
from rerail.decisions.effects import (
    Announce,
    AskLanded,
    Call,
    DrawWait,
    Finish,
    HealPlanned,
    IdentifyInput,
    MakeRepair,
    PlanHeal,
    PlanRepair,
    Raised,
    Returned,
    RunHeal,
    Sleep,
    Spend,
    Spent,
)
from rerail.decisions.model import NO_DRAWS, Again, Draws, HealOutcome, Landing, RunState
from rerail.handlers.backoff import curve_s
from rerail.ids import Fingerprint, RunId, UnitName
from rerail.runner.script import follow

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

    from rerail.budget.model import Charge
    from rerail.decisions.effects import Effect, FailureRecord, Reply, Tried
    from rerail.decisions.model import Effects
    from rerail.decisions.policy import Policy
    from rerail.evidence.model import Evidence
    from rerail.runner.script import Classify


@attrs.frozen
class Scenario:
    """What happens around a simulated unit."""

    outcomes: tuple[Evidence | None, ...]
    """The attempts in order, None for a success; after the last, attempts succeed."""
    effects: Effects
    repairs: bool = True
    """Whether somebody repairs rejected inputs, differently each time."""
    heal: HealOutcome = HealOutcome.HEALED
    landing: Landing = Landing.UNKNOWN


@attrs.frozen
class Timeline:
    """What a policy did."""

    end: Finish
    failures: tuple[FailureRecord, ...]
    waits_s: tuple[float, ...]
    took_s: float
    """Virtual time, the waits alone."""


def simulate(
    scenario: Scenario, policy: Policy, classify: Classify, *, draw: Callable[[], float], unit: str = "simulated"
) -> Timeline:
    """Play *scenario* under *policy* and return what was done.

    Args:
        scenario: What the attempts come to.
        policy: The policy to try.
        classify: Names a failure.
        draw: Gives numbers in [0, 1) for jitter.
        unit: The unit's name in the records.
    """
    world = _World(scenario, policy, draw)
    script = follow(
        RunState(RunId("simulated"), UnitName(unit), started_at_s=0.0, effects=scenario.effects),
        Again(),
        policy=policy,
        classify=classify,
    )
    reply: Reply = None
    while True:
        try:
            effect = script.send(reply)
        except StopIteration as done:
            return Timeline(done.value, tuple(world.failures), tuple(world.waits_s), world.now_s)
        reply = world.perform(effect)


class _World:
    """Virtual time, balances and inputs."""

    def __init__(self, scenario: Scenario, policy: Policy, draw: Callable[[], float]) -> None:
        self._scenario, self._policy, self._draw = scenario, policy, draw
        self._outcomes: Iterator[Evidence | None] = iter(scenario.outcomes)
        self._charges: list[Charge] = []
        self._inputs = 0
        self.now_s = 0.0
        self.waits_s: list[float] = []
        self.failures: list[FailureRecord] = []

    def perform(self, effect: Effect) -> Reply:
        match effect:
            case Call():
                return self._attempt()
            case IdentifyInput():
                return self._input()
            case Spend(charge, nth):
                return Spent(self._charge(charge), self._draws(nth) if nth else NO_DRAWS)
            case DrawWait(nth):
                return self._draws(nth)
            case Sleep(wait_s):
                self.now_s += wait_s
                self.waits_s.append(wait_s)
            case MakeRepair():
                if not self._scenario.repairs:
                    return None
                self._inputs += 1
                return self._input()
            case RunHeal():
                return self._scenario.heal
            case AskLanded():
                return self._scenario.landing
            case Announce(record):
                self.failures.append(record)
            case PlanRepair():
                return ""
            case PlanHeal():
                return HealPlanned("")
        return None

    def _draws(self, nth: int) -> Draws:
        return Draws(curve_s(self._policy.backoff, nth), self._draw())

    def _attempt(self) -> Tried:
        evidence = next(self._outcomes, None)
        if evidence is None:
            return Returned()
        return Raised(evidence, self.now_s)

    def _charge(self, charge: Charge) -> Grant:
        same: Iterable[Charge] = [made for made in self._charges if made.class_ == charge.class_]
        spent = sum(1 for _ in same)
        recent = sum(1 for made in same if made.at_s > charge.at_s - charge.window.length_s)
        refused_by = binding_limit(charge, spent=spent, spent_in_window=recent)
        if refused_by is None:
            self._charges.append(charge)
            spent += 1
        return Grant(refused_by, Balance(charge.unit, charge.class_, charge.budget, spent))

    def _input(self) -> Fingerprint:
        return Fingerprint(f"input-{self._inputs}")
