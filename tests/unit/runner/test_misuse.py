"""Calls that cannot be what their author meant are told at once, and are never taken for failures of the unit."""

from __future__ import annotations

import asyncio
import functools
import shlex
import traceback
import warnings
from typing import TYPE_CHECKING, Any

import pytest
from tests.loops import Named, scripted

from rerail import Unit, UsageError
from rerail.testing import manual_loop

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Callable, Iterator

    from rerail import Loop


async def coroutine_function() -> str:
    return "value"


class Awaited:
    async def __call__(self) -> str:
        return "value"


HEARD: dict[str, dict[str, Any]] = {"plain": {}, "heard": {"on_event": lambda name, fields: None}}
"""A loop that nobody listens to takes a shorter path than one that somebody does."""


@pytest.fixture(params=HEARD)
def loop(request: pytest.FixtureRequest) -> Loop:
    return manual_loop(**HEARD[request.param])


COROUTINES = [coroutine_function, functools.partial(coroutine_function), lambda: coroutine_function(), Awaited()]


@pytest.mark.parametrize("function", COROUTINES, ids=["function", "partial", "lambda", "object"])
def test_a_coroutine_function_is_not_run_by_the_blocking_driver(loop: Loop, function: Callable[[], Any]) -> None:
    with pytest.raises(UsageError, match="coroutine") as caught:
        loop.run("unit", function)
    assert "arun" in str(caught.value.hint)
    assert loop.tools.ledger.balances() == ()


@pytest.mark.parametrize("function", COROUTINES, ids=["function", "partial", "lambda", "object"])
def test_the_same_is_awaited_by_the_awaiting_driver(loop: Loop, function: Callable[[], Any]) -> None:
    assert asyncio.run(loop.arun("unit", function)).unwrap() == "value"


def test_a_plain_function_is_not_awaited(loop: Loop) -> None:
    with pytest.raises(UsageError, match="must be awaitable, got str") as caught:
        asyncio.run(loop.arun("unit", lambda: "value"))  # type: ignore[arg-type,return-value]  # the mistake
    assert "run" in str(caught.value.hint)
    assert loop.tools.ledger.balances() == ()


def test_what_fails_first_and_gives_a_coroutine_then_ends_with_the_same_error() -> None:
    loop, script = scripted([Named("provider/timeout"), "value"])

    def sometimes() -> Any:
        script()
        return coroutine_function()

    with pytest.raises(UsageError, match="coroutine"):
        loop.run(Unit("unit", effects="none"), sometimes)
    assert [event.name for event in loop.tools.ledger.events()] == ["failure.classified", "unit.finished"]


@pytest.mark.parametrize("function", ["ls -l", None, 3, ["ls"]])
def test_what_cannot_be_called_is_no_unit(loop: Loop, function: Any) -> None:
    with pytest.raises(UsageError, match="a unit is a function"):
        loop.run("unit", function)
    with pytest.raises(UsageError, match="a unit is a function"):
        asyncio.run(loop.arun("unit", function))
    with pytest.raises(UsageError, match="a unit is a function"):
        loop.unit("unit")(function)
    assert list(loop.tools.ledger.events()) == []


@pytest.mark.parametrize("name", [print, 3, None, ["unit"], b"unit"])
def test_a_unit_that_is_not_named_says_where_the_name_goes(loop: Loop, name: Any) -> None:
    with pytest.raises(UsageError, match="named by a text or a Unit"):
        loop.run(name, print)
    with pytest.raises(UsageError, match="named by a text or a Unit"):
        asyncio.run(loop.arun(name, coroutine_function))
    for made in (loop.unit, loop.attempts):
        with pytest.raises(UsageError, match="named by a text or a Unit"):
            made(name)
    with pytest.raises(UsageError, match="named by a text or a Unit"):
        loop.run_command(name, ["true"])


def test_a_bare_decorator_says_that_it_needs_a_name(loop: Loop) -> None:
    with pytest.raises(UsageError) as caught:

        @loop.unit  # type: ignore[arg-type]  # the mistake
        def function() -> None: ...

    assert '@loop.unit("name")' in str(caught.value.hint)


def test_effects_that_do_not_exist_are_told_with_those_that_do() -> None:
    with pytest.raises(ValueError, match=r"^effects must be 'none', 'idempotent' or 'unsafe', got 'safe'$"):
        Unit("push", effects="safe")


def test_a_traceback_shows_what_to_do_instead(loop: Loop) -> None:
    with pytest.raises(UsageError) as raised:
        loop.run("call", coroutine_function)
    assert traceback.format_exception_only(raised.value)[-1] == "await `loop.arun(unit, function)` instead\n"


def test_a_misspelt_field_is_told_where_it_is_written(loop: Loop) -> None:
    with pytest.raises(TypeError, match="efects"):
        loop.unit("unit", efects="none")  # type: ignore[call-arg]  # the mistake
    with pytest.raises(TypeError, match="efects"):
        loop.attempts("unit", efects="none")  # type: ignore[call-arg]  # the mistake


@pytest.mark.parametrize("field", ["landed", "repair", "failure"])
def test_a_callback_that_cannot_be_called_is_told_before_it_is_needed(field: str) -> None:
    with pytest.raises(TypeError, match=field):
        Unit("unit", **{field: True})  # type: ignore[arg-type]  # the mistake


@pytest.mark.parametrize("classes", [KeyError, [KeyError], ("KeyError",)])
def test_control_flow_is_declared_by_its_classes(classes: Any) -> None:
    with pytest.raises(TypeError, match="passes_through"):
        Unit("unit", passes_through=classes)


def test_a_generator_is_no_unit_for_its_code_runs_after_the_call(loop: Loop) -> None:
    def lines() -> Iterator[str]:
        yield "line"

    async def events() -> AsyncIterator[str]:
        yield "event"

    for function in (lines, events):
        with pytest.raises(UsageError, match="generator"):
            loop.unit("unit")(function)


@pytest.mark.parametrize("argv", ["ls -l", b"ls", None, 3])
def test_a_command_is_words_and_not_a_line(loop: Loop, argv: Any) -> None:
    with pytest.raises(UsageError, match="a list of words") as caught:
        loop.run_command("unit", argv)
    assert "shlex.split" in str(caught.value.hint)


@pytest.mark.parametrize("argv", [[], ["ls", 3], [None], [b"ls"]])
def test_a_command_has_a_program_and_every_word_is_text(loop: Loop, argv: Any) -> None:
    with pytest.raises(UsageError, match="one or more words"):
        loop.run_command("unit", argv)


def test_words_may_be_paths(loop: Loop) -> None:
    import sys
    from pathlib import Path

    outcome = loop.run_command("unit", [Path(sys.executable), *shlex.split("-c pass")])
    assert outcome.ok


def test_a_coroutine_that_is_turned_away_leaves_no_warning(loop: Loop) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        with pytest.raises(UsageError):
            loop.run("unit", coroutine_function)
