"""Both real drivers make the same decisions on the same evidence, balances and draws; the simulated one foretells them."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, Any

import attrs
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.loops import Named, Script, named_loop
from tests.strategies import reasons

from rerail import Unit
from rerail.decisions.model import Decision, Effects, Landing, Pause
from rerail.evidence.exceptions import from_exception
from rerail.runner.simulated import Scenario, simulate
from rerail.taxonomy import BUILT_IN

if TYPE_CHECKING:
    from rerail.app import Loop
    from rerail.rules.model import Classification
    from rerail.runner.outcome import Outcome

failures = st.builds(
    lambda reason, detail, hint_s, landed: Named(
        reason, f"detail {detail}", retry_after_s=hint_s, may_have_landed=landed
    ),
    reasons,
    st.sampled_from("abc"),
    st.none() | st.floats(0, 400),
    st.booleans(),
)
outcomes = st.lists(failures, max_size=12).map(lambda made: [*made, "value"])
declared = st.tuples(st.sampled_from(Effects), st.sampled_from([True, False, None]), st.booleans())


def unit(effects: Effects, landed: bool | None, repairs: bool) -> Unit:
    given: list[int] = []

    def repair(_request: Any) -> dict[str, int]:
        given.append(len(given))
        return {"repaired": len(given)}

    return Unit("unit", effects=effects, landed=lambda: landed, repair=repair if repairs else None)


def untimed(decision: Decision) -> Decision:
    """Leave out the wall clock, which starts at 0 in a simulation."""
    return attrs.evolve(decision, resume_at_s=None) if isinstance(decision, Pause) else decision


def story(loop: Loop, outcome: Outcome[Any]) -> tuple[Any, ...]:
    """What a run did, without ids and times."""
    events = [(event.name, event.attempt) for event in loop.tools.ledger.events()]
    decided = [(record.classification.reason, record.decision, record.balance) for record in outcome.history]
    return (
        type(outcome).__name__,
        outcome.attempts,
        decided,
        events,
        loop.tools.clock.slept_s,  # type: ignore[attr-defined]  # the manual clock's
        loop.tools.ledger.balances(),
    )


@settings(max_examples=150, deadline=None)
@given(outcomes, declared)
def test_the_blocking_and_the_awaiting_driver_agree(made: list[object], how: tuple[Effects, bool | None, bool]) -> None:
    blocking, names = named_loop()
    first = blocking.run(unit(*how), Script(made, names))
    awaiting, names = named_loop()
    second = asyncio.run(awaiting.arun(unit(*how), Script(made, names).awaited))
    assert story(blocking, first) == story(awaiting, second)


@settings(max_examples=150, deadline=None)
@given(outcomes, declared)
def test_what_is_granted_never_exceeds_the_budget_and_a_run_ends_once(
    made: list[object], how: tuple[Effects, bool | None, bool]
) -> None:
    loop, names = named_loop()
    script = Script(made, names)
    outcome = loop.run(unit(*how), script)
    for balance in loop.tools.ledger.balances():
        assert balance.spent <= BUILT_IN.budget(balance.class_)
    finished = [event for event in loop.tools.ledger.events() if event.name == "unit.finished"]
    assert len(finished) == (1 if outcome.history else 0)
    for at, (sent, record) in enumerate(zip(script.inputs, outcome.history, strict=False)):
        if record.classification.class_ == "tool-schema":
            assert sent not in script.inputs[at + 1 :]


@settings(max_examples=100, deadline=None)
@given(outcomes, st.sampled_from(Effects), st.sampled_from(Landing))
def test_the_simulated_driver_tells_what_the_real_one_does(
    made: list[object], effects: Effects, landing: Landing
) -> None:
    landed = {Landing.LANDED: True, Landing.ABSENT: False, Landing.UNKNOWN: None}[landing]
    loop, names = named_loop()
    real = loop.run(unit(effects, landed, repairs=True), Script(made, names))
    evidence = tuple(from_exception(one) if isinstance(one, Named) else None for one in made)
    scenario = Scenario(evidence, effects, landing=landing)
    named: dict[Any, Classification] = names._named
    timeline = simulate(scenario, loop.policy, named.__getitem__, draw=lambda: 0.0)
    if any(record.classification.action == "heal" for record in real.history):
        return  # a loop without a root heals nothing; the scenario's heal succeeds
    assert [untimed(record.decision) for record in timeline.failures] == [
        untimed(record.decision) for record in real.history
    ]
    assert list(timeline.waits_s) == loop.tools.clock.slept_s  # type: ignore[attr-defined]
