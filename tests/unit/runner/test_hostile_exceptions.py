"""An exception whose every attribute is a trap is one more failure: it is named, and never replaced by what the trap raises."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest

from rerail import Paused, Stopped
from rerail.testing import manual_loop

SPECIAL = ("__cause__", "__context__", "__class__", "__dict__", "__traceback__", "__notes__", "__suppress_context__")
PLAIN = (
    "args", "body", "cmd", "code", "errno", "exceptions", "filename", "headers", "message", "response", "result",
    "retry_after", "returncode", "status_code", "stderr",
)  # fmt: skip
METHODS = ("__str__", "__repr__", "__getattribute__", "__getattr__", "__eq__", "__hash__", "__bool__", "__reduce__")
RAISED = (RuntimeError("trap"), MemoryError(), RecursionError(), SystemExit(3), GeneratorExit())


def trapped(name: str, raised: BaseException, base: type[Exception]) -> Exception:
    """Return an exception that raises when *name* is used."""

    def trap(_self: object, *_arguments: object) -> Any:
        raise raised

    made: type[Exception] = type("Trapped", (base,), {name: trap if name in METHODS else property(trap)})
    return made("told")


@pytest.mark.parametrize("raised", RAISED, ids=lambda raised: type(raised).__name__)
@pytest.mark.parametrize("name", SPECIAL + PLAIN + METHODS)
@pytest.mark.parametrize("base", [Exception, OSError])
def test_a_trap_in_an_exception_does_not_replace_the_failure(
    base: type[Exception], name: str, raised: BaseException
) -> None:
    error = trapped(name, raised, base)

    def fail() -> None:
        raise error

    async def fail_async() -> None:
        raise error

    loop = manual_loop()
    assert isinstance(loop.run("blocking", fail), Paused | Stopped)
    assert isinstance(asyncio.run(loop.arun("awaiting", fail_async)), Paused | Stopped)


def test_an_interrupt_while_a_failure_is_read_is_the_user_s_and_leaves_the_unit_free() -> None:
    error = trapped("__str__", KeyboardInterrupt(), Exception)

    def fail() -> None:
        raise error

    loop = manual_loop()
    with pytest.raises(KeyboardInterrupt):
        loop.run("unit", fail)
    assert loop.run("unit", lambda: "value").unwrap() == "value"
