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
META_PLAIN = ("__mro__", "__name__", "__module__", "__dict__", "__bases__", "__doc__")
META_METHODS = ("__getattribute__", "__getattr__", "__instancecheck__", "__hash__", "__eq__", "__repr__", "mro")


class Halt(BaseException):
    """What some framework ends its tasks with."""


RAISED = (
    RuntimeError("trap"), MemoryError(), RecursionError(), SystemExit(3), GeneratorExit(), Halt(), asyncio.CancelledError(),
)  # fmt: skip


def trapped(name: str, raised: BaseException, base: type[Exception]) -> Exception:
    """Return an exception that raises when *name* is used."""

    def trap(_self: object, *_arguments: object) -> Any:
        raise raised

    made: type[Exception] = type("Trapped", (base,), {name: trap if name in METHODS else property(trap)})
    return made("told")


def trapped_class(name: str, raised: BaseException) -> Exception:
    """Return an exception whose class raises when it is asked for *name*."""
    armed = False

    def trap(cls: type, *arguments: object) -> Any:
        if armed:
            raise raised
        plain = getattr(type, name)
        return plain(cls, *arguments) if name in META_METHODS else plain.__get__(cls)

    meta = type("Meta", (type,), {name: trap if name in META_METHODS else property(trap)})
    error: Exception = meta("Trapped", (Exception,), {})("told")
    armed = True
    return error


def is_named(error: Exception) -> bool:
    """Tell whether a unit that fails with *error* ends as a failed unit does, whichever way it is run."""

    def fail() -> None:
        raise error

    async def fail_async() -> None:
        raise error

    loop = manual_loop()
    blocking = loop.run("blocking", fail)
    awaiting = asyncio.run(loop.arun("awaiting", fail_async))
    assert "Trapped" in repr(blocking)
    return isinstance(blocking, Paused | Stopped) and isinstance(awaiting, Paused | Stopped)


@pytest.mark.parametrize("raised", RAISED, ids=lambda raised: type(raised).__name__)
@pytest.mark.parametrize("name", META_PLAIN + META_METHODS)
def test_a_trap_in_the_class_of_an_exception_does_not_either(name: str, raised: BaseException) -> None:
    assert is_named(trapped_class(name, raised))


@pytest.mark.parametrize("raised", RAISED, ids=lambda raised: type(raised).__name__)
@pytest.mark.parametrize("name", SPECIAL + PLAIN + METHODS)
@pytest.mark.parametrize("base", [Exception, OSError])
def test_a_trap_in_an_exception_does_not_replace_the_failure(
    base: type[Exception], name: str, raised: BaseException
) -> None:
    assert is_named(trapped(name, raised, base))


def test_an_interrupt_while_a_failure_is_read_is_the_user_s_and_leaves_the_unit_free() -> None:
    error = trapped("__str__", KeyboardInterrupt(), Exception)

    def fail() -> None:
        raise error

    loop = manual_loop()
    with pytest.raises(KeyboardInterrupt):
        loop.run("unit", fail)
    assert loop.run("unit", lambda: "value").unwrap() == "value"
