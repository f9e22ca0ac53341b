"""A callback that fails ends no recovery: what it raises is told as a warning, and the run goes on as if it had said nothing."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, Any

import pytest
from tests.loops import Named, Script, scripted

from rerail import Answer, HandedBack, Loop, Outcome, Paused, Succeeded, Unit, Why

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

PURE = Unit("unit", effects="none")


class BrokenCallbackError(Exception):
    """A bug of whoever wrote the callback."""


def broken(*_given: object) -> Any:
    raise BrokenCallbackError("of the author's own")


async def broken_later(*_given: object) -> Any:
    await asyncio.sleep(0)
    raise BrokenCallbackError("of the author's own")


def blocking(loop: Loop, unit: Unit, script: Script) -> Outcome[object]:
    return loop.run(unit, script, a=1)


def awaiting(loop: Loop, unit: Unit, script: Script) -> Outcome[object]:
    return asyncio.run(loop.arun(unit, script.awaited, a=1))


both = pytest.mark.parametrize("run", [blocking, awaiting])


@both
@pytest.mark.parametrize("name", ["on_block", "on_failure", "on_event"])
def test_a_listener_that_raises_does_not_keep_the_unit_from_its_retry(run: Callable[..., Any], name: str) -> None:
    loop, script = scripted([Named("provider/timeout"), "value"], **{name: broken})
    with pytest.warns(RuntimeWarning, match=f"{name} raised .*BrokenCallbackError: of the author's own"):
        outcome = run(loop, PURE, script)
    assert isinstance(outcome, Succeeded)
    assert (outcome.value, outcome.attempts) == ("value", 2)
    assert [event.name for event in loop.tools.ledger.events()] == ["failure.classified", "unit.finished"]


def test_one_that_raises_takes_nothing_from_another() -> None:
    records: list[object] = []
    loop, script = scripted([Named("provider/timeout"), "value"], on_block=broken, on_failure=records.append)
    with pytest.warns(RuntimeWarning, match="on_block"):
        loop.run(PURE, script)
    assert len(records) == 1


@both
@pytest.mark.parametrize("name", ["on_block", "on_failure", "on_event"])
def test_a_cancellation_that_a_listener_raises_passes(run: Callable[..., Any], name: str) -> None:
    def stop(*_given: object) -> None:
        raise KeyboardInterrupt

    loop, script = scripted([Named("provider/timeout"), "value"], **{name: stop})
    with pytest.raises(KeyboardInterrupt):
        run(loop, PURE, script)


@pytest.mark.parametrize(
    ("run", "ask"), [(blocking, broken), (awaiting, broken), (awaiting, broken_later), (blocking, broken_later)]
)
def test_a_pause_whose_callback_raises_stays_open(run: Callable[..., Any], ask: Callable[..., Any]) -> None:
    loop, script = scripted([Named("deterministic-policy/hook-denied"), "value"], on_pause=ask)
    with pytest.warns(RuntimeWarning, match="on_pause"):
        outcome = run(loop, PURE, script)
    assert isinstance(outcome, Paused)
    assert (script.calls, len(loop.pauses())) == (1, 1)


@both
@pytest.mark.parametrize("answer", ["yes", 3, True])
def test_what_is_no_answer_answers_nothing(run: Callable[..., Any], answer: object) -> None:
    loop, script = scripted([Named("deterministic-policy/hook-denied"), "value"], on_pause=lambda paused: answer)
    with pytest.warns(RuntimeWarning, match="on_pause must return an Answer or None"):
        assert isinstance(run(loop, PURE, script), Paused)


@both
def test_the_name_of_an_answer_is_one(run: Callable[..., Any]) -> None:
    loop, script = scripted([Named("deterministic-policy/hook-denied"), "value"], on_pause=lambda paused: "approve")
    assert run(loop, PURE, script).ok


@both
def test_an_answer_that_somebody_gave_meanwhile_is_the_one_that_counts(run: Callable[..., Any]) -> None:
    def slow(paused: Paused) -> Answer:
        loop.answer(paused.pause, Answer.APPROVE)
        return Answer.SKIP

    loop, script = scripted([Named("deterministic-policy/hook-denied"), "value"], on_pause=slow)
    assert run(loop, PURE, script).ok


def test_answering_a_thousand_times_needs_no_deeper_stack() -> None:
    from rerail.decisions.policy import Ceiling, Policy

    denials = [Named("deterministic-policy/hook-denied")] * 1500
    policy = Policy(ceiling=Ceiling(attempts=2000))
    loop, script = scripted([*denials, "value"], on_pause=lambda paused: Answer.APPROVE, policy=policy)
    assert loop.run(PURE, script).ok


@pytest.mark.parametrize(
    ("run", "repair"), [(blocking, broken), (awaiting, broken), (awaiting, broken_later), (blocking, broken_later)]
)
def test_a_repairer_that_raises_has_nothing_to_offer(run: Callable[..., Any], repair: Callable[..., Any]) -> None:
    loop, script = scripted([Named("tool-schema/wrong-type"), "value"])
    with pytest.warns(RuntimeWarning, match="repair"):
        outcome = run(loop, Unit("unit", effects="none", repair=repair), script)
    assert isinstance(outcome, HandedBack)
    assert (script.calls, outcome.request is not None) == (1, True)


@pytest.mark.parametrize(
    ("run", "landed"), [(blocking, broken), (awaiting, broken), (awaiting, broken_later), (blocking, broken_later)]
)
def test_a_probe_that_raises_does_not_know(run: Callable[..., Any], landed: Callable[..., Any]) -> None:
    loop, script = scripted([Named("provider/stream-cut", may_have_landed=True), "value"])
    with pytest.warns(RuntimeWarning, match="landed"):
        outcome = run(loop, Unit("unit", landed=landed), script)
    assert isinstance(outcome, Paused)
    assert (outcome.why, script.calls) == (Why.UNKNOWN_OUTCOME, 1)


class Halt(Exception):
    """A harness's control flow."""


@both
def test_control_flow_leaves_a_repairer(run: Callable[..., Any]) -> None:
    def halt(request: object) -> Any:
        raise Halt

    loop, script = scripted([Named("tool-schema/wrong-type"), "value"])
    with pytest.raises(Halt):
        run(loop, Unit("unit", effects="none", repair=halt, passes_through=(Halt,)), script)
    assert [event.name for event in loop.tools.ledger.events()][-1] == "unit.finished"


def test_around_a_block_of_code_a_listener_that_raises_ends_nothing_either() -> None:
    loop, script = scripted([Named("provider/timeout"), "value"], on_failure=broken)
    attempts = loop.attempts(PURE)

    def run() -> None:
        for attempt in attempts:
            with attempt:
                script()

    with pytest.warns(RuntimeWarning, match="on_failure"):
        run()
    assert isinstance(attempts.outcome, Succeeded)


@both
@pytest.mark.parametrize("on_disk", [False, True], ids=["memory", "disk"])
@pytest.mark.parametrize(
    ("answer", "expected", "calls"), [(True, Succeeded, 1), (False, Succeeded, 2), (None, Paused, 1)]
)
def test_a_probe_that_is_cut_off_is_asked_again_by_the_next_run_before_anything_runs_twice(
    run: Callable[..., Any], tmp_path: Path, *, on_disk: bool, answer: bool | None, expected: type, calls: int
) -> None:
    """Ctrl-C while a unit is asked whether its effect landed says nothing of the effect."""

    def cut_off() -> bool:
        raise KeyboardInterrupt

    ledger = tmp_path / "ledger.sqlite3" if on_disk else "memory"
    loop, script = scripted([Named("provider/stream-cut", may_have_landed=True), "value"], ledger=ledger)
    with pytest.raises(KeyboardInterrupt):
        run(loop, Unit("unit", landed=cut_off), script)
    *_, end = loop.tools.ledger.events()
    assert (end.name, end.fields["outcome"]) == ("unit.finished", "cancelled")

    outcome = run(loop, Unit("unit", landed=lambda: answer), script)
    assert isinstance(outcome, expected)
    assert script.calls == calls
