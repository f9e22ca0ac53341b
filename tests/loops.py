"""Loops for tests: real drivers, ledger and core, a manual clock, and failures whose names are chosen by the test."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from tests.strategies import classification

from rerail.evidence.exceptions import from_exception
from rerail.testing import manual_loop

if TYPE_CHECKING:
    from collections.abc import Iterable

    from rerail.app import Loop
    from rerail.evidence.model import Evidence
    from rerail.rules.model import Classification


class Named(Exception):
    """A failure that carries its own name: ``Named("provider/timeout")``; what else it says is its evidence."""

    def __init__(self, reason: str, detail: str = "", **facts: Any) -> None:
        super().__init__(f"{reason} {detail}")
        self.reason, self.facts = reason, facts


class Names:
    """Stands in for the rules, which have tests of their own: gives each `Named` failure the name that it carries."""

    def __init__(self) -> None:
        self._named: dict[Evidence, Classification] = {}

    def learn(self, failure: Named) -> None:
        """Know a failure before it is raised."""
        self._named[from_exception(failure)] = classification(failure.reason, **failure.facts)

    def __call__(self, evidence: Evidence) -> Classification:
        return self._named[evidence]


class Script:
    """A callable whose calls come to what a list says: `Named` failures are raised, anything else is returned."""

    def __init__(self, outcomes: Iterable[object], names: Names | None = None) -> None:
        self._outcomes = list(outcomes)
        self.inputs: list[dict[str, Any]] = []
        for outcome in self._outcomes:
            if names is not None and isinstance(outcome, Named):
                names.learn(outcome)

    @property
    def calls(self) -> int:
        """How often it was called."""
        return len(self.inputs)

    def __call__(self, **given: Any) -> object:
        self.inputs.append(given)
        outcome = self._outcomes[min(self.calls, len(self._outcomes)) - 1]
        if isinstance(outcome, BaseException):
            raise outcome
        return outcome

    async def awaited(self, **given: Any) -> object:
        """Be called by an awaiting loop."""
        return self(**given)


def named_loop(**options: Any) -> tuple[Loop, Names]:
    """Return a loop whose failures are named by what they carry."""
    names = Names()
    loop = manual_loop(**options)
    loop._classify = names
    return loop, names


def scripted(outcomes: Iterable[object], **options: Any) -> tuple[Loop, Script]:
    """Return a loop and a callable that comes to *outcomes*."""
    loop, names = named_loop(**options)
    return loop, Script(outcomes, names)
