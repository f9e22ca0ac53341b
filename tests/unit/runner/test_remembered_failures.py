"""What a loop remembers of a failure, its evidence and its name, changes nothing that it says or does about the next one."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from rerail import Unit
from rerail.evidence.exceptions import from_exception
from rerail.rules.engine import classify
from rerail.runner import work
from rerail.testing import ManualClock, manual_loop

if TYPE_CHECKING:
    from rerail.app import Loop
    from rerail.decisions.effects import FailureRecord
    from rerail.runner.outcome import Outcome


class WithStatus(Exception):
    def __init__(self, status: int, said: str) -> None:
        super().__init__(said)
        self.status_code = status


class Noted(Exception):
    def __init__(self, said: str) -> None:
        super().__init__("noted")
        self.add_note(said)


texts = st.sampled_from(
    [
        "Connection reset by peer",
        "rate limit: try again in 7 s",
        "usage limit: resets at 3pm (Europe/Rome)",
        "overloaded",
        "missing required field: workspace_id",
        "No space left on device",
        "password=hunter2hunter2 was refused",
        "x" * 2_000,
        "",
    ]
)
raised = st.one_of(
    st.tuples(st.sampled_from([RuntimeError, ValueError, TimeoutError, Noted]), texts).map(
        lambda made: made[0](made[1])
    ),
    st.tuples(st.sampled_from([28, 104, 111, 13, True]), texts).map(lambda made: OSError(*made)),
    st.tuples(st.sampled_from([429, 500, 503, 529]), texts).map(lambda made: WithStatus(*made)),
)
runs = st.lists(st.lists(raised, min_size=1, max_size=4), min_size=1, max_size=4)


def told(loop: Loop, runs_of_failures: list[list[Exception]]) -> list[tuple[Any, ...]]:
    """Run a unit as often as there are lists, failing as each says and then succeeding; return all that was said and done."""
    said: list[tuple[Any, ...]] = []
    for number, failures in enumerate(runs_of_failures):
        left = list(failures)

        def call(left: list[Exception] = left) -> str:
            if left:
                raise left.pop(0)
            return "value"

        outcome: Outcome[str] = loop.run(Unit(f"unit-{number}", effects="none"), call)
        said.append((type(outcome), outcome.attempts, [facts(record) for record in outcome.history]))
        loop.tools.clock.advance(3_600.0)  # type: ignore[attr-defined]  # the manual clock's
    return said


def facts(record: FailureRecord) -> tuple[Any, ...]:
    return record[1:]  # all but the run, which is another one


@settings(max_examples=60, deadline=None)
@given(runs)
def test_a_loop_that_remembers_says_what_one_says_that_does_not(runs_of_failures: list[list[Exception]]) -> None:
    first = told(manual_loop(ManualClock()), runs_of_failures)
    again = told(manual_loop(ManualClock()), runs_of_failures)
    forgets = manual_loop(ManualClock())
    rules, clock = forgets.project.loaded.rules, forgets.tools.clock
    forgets._classify = lambda evidence: classify(evidence, rules, now=clock.wall_s())
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(work, "evidence_of", from_exception)
        assert told(forgets, runs_of_failures) == first == again
