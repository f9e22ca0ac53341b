"""What type checkers see of the public names. mypy and pyright read this file, both strictly; pytest runs it.

A line that must not pass carries an ignore: an ignore that nothing needs is an error of both.
"""

# pyright: reportUnnecessaryTypeIgnoreComment=true

from __future__ import annotations

import asyncio
import sys
from pathlib import Path
from typing import Any, assert_never, assert_type

import pytest

from rerail import (
    Answer,
    Cancelled,
    Effects,
    FailureRecord,
    Finished,
    HandedBack,
    Loop,
    Outcome,
    Paused,
    PauseRecord,
    Policy,
    RepairRequest,
    Stopped,
    Succeeded,
    Unit,
    Why,
)


@pytest.fixture
def loop() -> Loop:
    return Loop(ledger="memory")


def add(a: int, b: int = 0) -> int:
    return a + b


async def fetch(url: str) -> bytes:
    return url.encode()


def test_a_run_keeps_the_functions_parameters_and_value(loop: Loop) -> None:
    assert_type(loop.run("add", add, 1, b=2), Outcome[int])
    assert_type(loop.run(Unit("add", effects="none"), add, 1).unwrap(), int)
    if loop.run("add", lambda: None).ok:
        return
    loop.run("add", add, "1")  # type: ignore[arg-type]
    loop.run("add", add, c=1)  # type: ignore[call-arg]


def test_an_awaited_run_does_too(loop: Loop) -> None:
    async def main() -> None:
        assert_type(await loop.arun("fetch", fetch, "u"), Outcome[bytes])

    asyncio.run(main())


def test_a_command_gives_how_it_finished(loop: Loop) -> None:
    outcome = loop.run_command("true", [Path(sys.executable), "-c", ""])
    assert_type(outcome, Outcome[Finished])
    assert outcome.unwrap().exit_code == 0


def described(outcome: Outcome[int]) -> str:
    match outcome:
        case Succeeded():
            assert_type(outcome.value, int)
            return "landed" if outcome.landed else f"{outcome.value} after {outcome.attempts}"
        case HandedBack():
            assert_type(outcome.request, RepairRequest | None)
            return "change the input"
        case Paused():
            assert_type(outcome.why, Why)
            assert_type(outcome.resume_at_s, float | None)
            return f"answer {outcome.pause}"
        case Stopped():
            assert_type(outcome.history, tuple[FailureRecord, ...])
            return outcome.why
        case Cancelled():
            assert_type(outcome.error, BaseException | None)
            return "cancelled"
    assert_never(outcome)


def test_an_outcome_is_one_of_five(loop: Loop) -> None:
    assert described(loop.run("add", add, 1, 2)) == "3 after 1"


def test_a_decorated_function_is_what_it_was(loop: Loop) -> None:
    @loop.unit("add", effects="none", marks_starts=True)
    def plain(a: int, b: int = 0) -> int:
        return a + b

    @loop.unit("fetch", effects=Effects.IDEMPOTENT, policy=Policy(budgets={"provider": 1}))
    async def later(url: str) -> bytes:
        return await fetch(url)

    assert_type(plain(1, b=2), int)

    async def main() -> None:
        assert_type(await later("u"), bytes)

    asyncio.run(main())


def repaired(request: RepairRequest) -> dict[str, Any]:
    return {**request.input, "a": 1, "asked": request.prompt()}


async def has_landed() -> bool:
    return False


def test_callbacks_of_both_kinds_fit(loop: Loop) -> None:
    Unit("unit", landed=lambda: True, repair=repaired)
    Unit("unit", landed=has_landed, passes_through=(KeyError, OSError))
    declared = loop.unit("unit", landed=has_landed, repair=repaired, schema={"type": "object"}, context={"id": 1})
    assert declared(add)(1) == 1


def test_a_misspelt_or_misplaced_declaration_does_not_pass(loop: Loop) -> None:
    with pytest.raises(TypeError):
        loop.unit("unit", efects="none")  # type: ignore[call-arg]
    with pytest.raises(TypeError):
        loop.attempts("unit", efects="none")  # type: ignore[call-arg]
    with pytest.raises(ValueError, match="harmless"):
        loop.unit("unit", effects="harmless")  # type: ignore[arg-type]
    with pytest.raises(TypeError):
        loop.unit("unit", repair=True)  # type: ignore[arg-type]


def test_attempts_are_entered_both_ways(loop: Loop) -> None:
    for attempt in loop.attempts("unit", {"a": 1}, effects="none"):
        with attempt:
            assert_type(attempt.number, int)
            assert attempt.input["a"] == 1

    async def main() -> None:
        async for attempt in loop.attempts("unit"):
            async with attempt:
                await fetch("u")

    asyncio.run(main())


def test_pauses_are_listed_and_answered(loop: Loop) -> None:
    assert_type(loop.pauses(), tuple[PauseRecord, ...])
    for pause in loop.pauses():
        loop.answer(pause.id, "retry", note="seen")
        loop.answer(pause.id, Answer.SKIP)
        loop.answer(pause.id, "perhaps")  # type: ignore[arg-type]


def on_pause(paused: Paused) -> Answer | None:
    return Answer.APPROVE if paused.why is Why.CLASS else None


async def on_pause_later(paused: Paused) -> Answer | None:
    return on_pause(paused)


def test_a_loop_takes_callbacks_of_both_kinds() -> None:
    shown: list[str] = []
    Loop(Path(), ledger="memory", on_block=shown.append, on_pause=on_pause, log="off")
    Loop(ledger="memory", on_pause=on_pause_later, on_event=lambda name, fields: shown.append(f"{name} {fields}"))
