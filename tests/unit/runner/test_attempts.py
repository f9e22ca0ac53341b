"""Recovery around a block of code: with what the block may be entered by, and how its loop may be left."""

from __future__ import annotations

import asyncio
import subprocess
from typing import TYPE_CHECKING, Any

import pytest
from tests.loops import Named, Names, Script, scripted

from rerail import Cancelled, Loop, PausedError, StoppedError, Succeeded, Unit, UsageError
from rerail.ledger.owner import current_owner
from rerail.testing import manual_loop

if TYPE_CHECKING:
    from pathlib import Path

PURE = Unit("unit", effects="none")


def test_a_block_may_be_entered_asynchronously() -> None:
    loop, script = scripted([Named("provider/timeout"), "value"])
    attempts = loop.attempts(PURE)

    async def main() -> list[int]:
        seen = []
        async for attempt in attempts:
            async with attempt:
                seen.append(attempt.number)
                await script.awaited()
        return seen

    assert asyncio.run(main()) == [1, 2]
    assert isinstance(attempts.outcome, Succeeded)


def test_the_end_is_on_disk_when_an_asynchronous_block_is_left(tmp_path: Path) -> None:
    names = Names()
    loop = manual_loop(ledger=tmp_path / "ledger.sqlite3")
    loop._classify = names
    script = Script([Named("provider/timeout"), "value"], names)

    async def main() -> str:
        async for attempt in loop.attempts(PURE):
            async with attempt:
                await script.awaited()
            if attempt.failure is None:
                return [event.name for event in loop.tools.ledger.events()][-1]
        raise AssertionError

    assert asyncio.run(main()) == "unit.finished"


@pytest.mark.parametrize("error", [asyncio.CancelledError(), KeyboardInterrupt()])
def test_a_cancellation_leaves_an_asynchronous_block_as_it_came(error: BaseException) -> None:
    loop, script = scripted([Named("provider/timeout"), error])
    attempts = loop.attempts(PURE)

    async def main() -> None:
        async for attempt in attempts:
            async with attempt:
                await script.awaited()

    with pytest.raises(type(error)):
        asyncio.run(main())
    assert isinstance(attempts.outcome, Cancelled)


def test_an_asynchronous_block_raises_what_its_run_ended_with() -> None:
    loop, script = scripted([Named("runtime/killed")])

    async def main() -> None:
        async for attempt in loop.attempts(PURE):
            async with attempt:
                await script.awaited()

    with pytest.raises(StoppedError):
        asyncio.run(main())


def blocks(loop: Loop, name: str | Unit, script: Script, **declared: Any) -> None:
    for attempt in loop.attempts(name, **declared):
        with attempt:
            script()


def test_a_unit_is_declared_where_its_attempts_are_made() -> None:
    cut = Named("provider/stream-cut", may_have_landed=True)
    loop, script = scripted([cut, "value"])
    with pytest.raises(PausedError):
        blocks(loop, "unsafe", script)
    loop, script = scripted([cut, "value"])
    blocks(loop, "pure", script, effects="none")
    assert script.calls == 2


def test_what_is_declared_there_goes_before_what_the_unit_says() -> None:
    cut = Named("provider/stream-cut", may_have_landed=True)
    loop, script = scripted([cut, "value"])
    blocks(loop, Unit("unit", effects="unsafe"), script, effects="none")
    assert script.calls == 2
    loop, script = scripted([cut, "value"])
    assert loop.unit(Unit("unit", effects="unsafe"), effects="none")(script)() == "value"


def test_a_repair_is_declared_there_too() -> None:
    loop, script = scripted([Named("tool-schema/wrong-type"), "value"])
    for attempt in loop.attempts("unit", {"a": 1}, repair=lambda request: {"a": 2}):
        with attempt:
            script(**attempt.input)
    assert script.inputs == [{"a": 1}, {"a": 2}]


def test_a_unit_that_marks_its_starts_holds_its_lease_within_the_block(tmp_path: Path) -> None:
    subprocess.run(["git", "init", "-q", tmp_path / "repo"], check=True)
    loop = Loop(root=tmp_path / "repo", ledger=tmp_path / "ledger.sqlite3")
    root = str(tmp_path / "repo")
    for attempt in loop.attempts("agent", marks_starts=True):
        with attempt:
            (lease,) = loop.tools.ledger.leases(root)
            assert (lease.unit, lease.owner) == ("agent", current_owner())
    assert loop.tools.ledger.leases(root) == ()


def test_attempts_are_of_one_run() -> None:
    loop, script = scripted(["value"])
    attempts = loop.attempts(PURE)
    for attempt in attempts:
        with attempt:
            script()
    with pytest.raises(UsageError, match="iterated once"):
        next(iter(attempts))


@pytest.mark.parametrize("outcomes", [["value"], [Named("provider/timeout"), "value"]], ids=["succeeded", "failed"])
def test_an_attempt_is_entered_once(outcomes: list[object]) -> None:
    """Entered again, its block would run without a budget, and after the end of its run."""
    loop, script = scripted(outcomes)
    attempts = loop.attempts(PURE)
    first = next(iterator := iter(attempts))
    with first:
        script()
    with pytest.raises(UsageError, match="attempt 1 is over"), first:
        pytest.fail("the block must not run")
    for attempt in iterator:
        with attempt:
            script()
    assert attempts.outcome is not None
    assert attempts.outcome.ok


def test_an_attempt_of_a_run_that_was_left_is_entered_no_more() -> None:
    loop, _ = scripted(["value"])
    iterator = iter(loop.attempts(PURE))
    kept = next(iterator)
    iterator.close()  # type: ignore[attr-defined]  # as below
    with pytest.raises(UsageError, match="attempt 1 is over"), kept:
        pytest.fail("the block must not run")


def test_an_attempt_that_is_not_used_is_told_inside_an_except_clause_too() -> None:
    loop, _ = scripted(["value"])
    try:
        raise KeyError("handled")
    except KeyError:
        with pytest.raises(UsageError, match="was not used"):
            for _attempt in loop.attempts(PURE):
                pass


def test_leaving_between_two_blocks_ends_the_run_as_cancelled() -> None:
    loop, script = scripted([Named("provider/timeout"), "value"])
    attempts = loop.attempts(PURE)
    iterator = iter(attempts)
    with next(iterator):
        script()
    iterator.close()  # type: ignore[attr-defined]  # a generator's: as when the frame that iterates is left
    assert isinstance(attempts.outcome, Cancelled)
    assert loop.tools.ledger.balances() == ()
