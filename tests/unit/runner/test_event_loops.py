"""The awaiting driver under both event loops, with a durable ledger and real waits of no length."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, Any

import pytest
import trio
from tests.loops import Named, Names, Script

from rerail import Loop, Policy, Unit
from rerail.decisions.policy import Backoff

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable
    from pathlib import Path

PURE = Unit("unit", effects="none")
QUICK = Policy(backoff=Backoff(initial_s=0.001, cap_s=0.001))


def under_asyncio(main: Callable[[], Awaitable[Any]]) -> Any:
    async def entered() -> Any:
        return await main()

    return asyncio.run(entered())


@pytest.fixture(params=[under_asyncio, trio.run], ids=["asyncio", "trio"])
def run(request: pytest.FixtureRequest) -> Callable[[Callable[[], Awaitable[Any]]], Any]:
    chosen: Callable[[Callable[[], Awaitable[Any]]], Any] = request.param
    return chosen


def loop_with(names: Names, path: Path) -> Loop:
    loop = Loop(ledger=path / "ledger.sqlite3", policy=QUICK, draw=lambda: 0.0)
    loop._classify = names
    return loop


def test_a_failure_is_waited_out_and_written_down(run: Callable[..., Any], tmp_path: Path) -> None:
    names = Names()
    loop = loop_with(names, tmp_path)
    script = Script([Named("provider/timeout"), Named("provider/overloaded"), "value"], names)
    outcome = run(lambda: loop.arun(PURE, script.awaited))
    assert (outcome.unwrap(), outcome.attempts) == ("value", 3)
    assert [event.name for event in loop.tools.ledger.events()][-1] == "unit.finished"


def test_attempts_around_a_block_work_in_both(run: Callable[..., Any], tmp_path: Path) -> None:
    names = Names()
    loop = loop_with(names, tmp_path)
    script = Script([Named("provider/timeout"), "value"], names)

    async def main() -> int:
        async for attempt in loop.attempts(PURE):
            with attempt:
                await script.awaited()
        return script.calls

    assert run(main) == 2


def test_a_cancelled_task_is_recorded_and_its_cancellation_passes_through(tmp_path: Path) -> None:
    names = Names()
    loop = loop_with(names, tmp_path)
    script = Script([Named("provider/timeout"), "value"], names)

    async def forever(wait_s: float) -> None:
        await asyncio.Event().wait()

    loop.asleep = forever

    async def main() -> None:
        task = asyncio.create_task(loop.arun(PURE, script.awaited))
        while not loop.tools.ledger.balances():
            await asyncio.sleep(0)
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task

    asyncio.run(main())
    assert [event.name for event in loop.tools.ledger.events()][-1] == "unit.finished"
    assert [balance.spent for balance in loop.tools.ledger.balances()] == [1]
