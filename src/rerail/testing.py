"""For the tests of programs that embed rerail: a clock moved by hand, a loop in memory, and a policy played in virtual time."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from rerail.app import Loop, open_project, remembering
from rerail.decisions.model import Effects
from rerail.ledger.memory import MemoryLedger
from rerail.runner.simulated import Scenario
from rerail.runner.simulated import simulate as play

if TYPE_CHECKING:
    from collections.abc import Sequence

    from rerail.decisions.policy import Policy
    from rerail.evidence.model import Evidence
    from rerail.runner.simulated import Timeline

__all__ = ["ManualClock", "Scenario", "manual_loop", "simulate"]


class ManualClock:
    """A clock that moves only when it is told to; waiting on it takes no time.

    Args:
        wall_s: Where the wall clock starts, in seconds since the epoch.
    """

    def __init__(self, wall_s: float = 1_800_000_000.0) -> None:
        self._wall_s, self._passed_s = wall_s, 0.0
        self.slept_s: list[float] = []
        """Every wait, in order."""

    def monotonic_s(self) -> float:
        """Return the seconds that have passed since the clock was made."""
        return self._passed_s

    def wall_s(self) -> float:
        """Return seconds since the epoch."""
        return self._wall_s + self._passed_s

    def advance(self, by_s: float) -> None:
        """Let *by_s* seconds pass."""
        self._passed_s += by_s

    def sleep(self, wait_s: float) -> None:
        """Wait, at once."""
        self.slept_s.append(wait_s)
        self.advance(wait_s)

    async def asleep(self, wait_s: float) -> None:
        """Wait, at once, in an event loop."""
        self.sleep(wait_s)


def manual_loop(clock: ManualClock | None = None, **options: Any) -> Loop:
    """Return a loop in memory that waits on a manual clock, without jitter.

    Args:
        clock: The clock; a new one by default. ``loop.tools.clock`` is it.
        **options: As `Loop`'s.
    """
    clock = clock or ManualClock()
    chosen: dict[str, Any] = {"ledger": MemoryLedger(), "draw": lambda: 0.0, **options}
    return Loop(clock=clock, sleep=clock.sleep, asleep=clock.asleep, **chosen)


def simulate(failures: Sequence[Evidence | None] | Scenario, policy: Policy) -> Timeline:
    """Play failures under a policy in virtual time and return what it would do, with half of the jitter.

    Args:
        failures: What the attempts come to, None for a success; afterwards they succeed. A `Scenario` says more.
        policy: The policy to try.
    """
    from pathlib import Path

    from rerail.clock import SystemClock

    scenario = failures if isinstance(failures, Scenario) else Scenario(tuple(failures), Effects.NONE)
    classify = remembering(open_project(Path.cwd()).loaded.rules, SystemClock())
    return play(scenario, policy, classify, draw=lambda: 0.5)
