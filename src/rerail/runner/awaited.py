"""The awaiting driver, for asyncio and, where anyio is installed, trio.

Calls, waits and callbacks are awaited. git and a durable ledger block, so their effects run in a thread.
"""

from __future__ import annotations

import sys
from inspect import isawaitable
from typing import TYPE_CHECKING, Any, Protocol

from rerail.decisions.effects import AskLanded, Call, Interrupted, MakeRepair, RunHeal, Sleep
from rerail.runner.work import landing

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable

    from rerail.decisions.effects import Reply, Tried
    from rerail.runner.perform import BlockingEffect, Performer
    from rerail.runner.script import End
    from rerail.runner.session import Session
    from rerail.runner.work import Work


class AsyncSleeper(Protocol):
    """Waits in an event loop; seconds on the monotonic clock."""

    def __call__(self, wait_s: float, /) -> Awaitable[None]:
        """Return after the wait, or raise what interrupted it."""
        ...


async def drive(
    session: Session,
    attempt: Callable[[], Awaitable[Tried]],
    sleep: AsyncSleeper,
    *,
    first: Tried | None = None,
) -> End:
    """Run a session to its end, awaiting each attempt; otherwise as `rerail.runner.blocking.drive`."""
    at = await advance(session, None, sleep)
    while isinstance(at, Call):
        reply, first = first or await attempt(), None
        at = await advance(session, reply, sleep)
    return at


async def advance(session: Session, reply: Reply, sleep: AsyncSleeper) -> Call | End:
    """Perform effects until the work is to be called, or the run has ended."""
    script, work, performer = session.script, session.work, session.performer
    while True:
        try:
            effect = script.send(reply)
        except StopIteration as done:
            end: End = done.value
            return end
        match effect:
            case Call():
                await _perform(effect, performer)
                return effect
            case Sleep(wait_s):
                performer.emit("wait.started", wait_s=wait_s)
                reply = await _wait(wait_s, work, sleep)
            case MakeRepair(record):
                reply = work.take(await _awaited(work.ask_repairer(performer.request(record))))
                performer.emit("input.repaired", input=reply)
            case AskLanded():
                reply = landing(await _awaited(work.ask_landed()))
                performer.emit("effect.probed", landing=reply)
            case _:
                reply = await _perform(effect, performer)


async def _perform(effect: BlockingEffect, performer: Performer) -> Reply:
    if performer.blocks or isinstance(effect, RunHeal):
        reply: Reply = await _in_thread(performer.perform, effect)
        return reply
    return performer.perform(effect)


async def _wait(wait_s: float, work: Work, sleep: AsyncSleeper) -> Interrupted | None:
    try:
        await sleep(wait_s)
    except BaseException as error:  # noqa: BLE001  an interrupted wait ends the run, and is raised again after it
        work.error = error
        return Interrupted()
    return None


async def _awaited(answer: Any) -> Any:
    return await answer if isawaitable(answer) else answer


async def sleep_here(wait_s: float) -> None:
    """Wait under whichever event loop runs this task."""
    if _under_trio():
        import anyio

        await anyio.sleep(wait_s)
    else:
        import asyncio

        await asyncio.sleep(wait_s)


async def _in_thread(function: Callable[[BlockingEffect], Reply], effect: BlockingEffect) -> Reply:
    if _under_trio():
        from anyio import to_thread

        return await to_thread.run_sync(function, effect)
    import asyncio

    return await asyncio.to_thread(function, effect)


def _under_trio() -> bool:
    """Whether trio runs this task; a program that never imported trio is not asked further."""
    if "trio" not in sys.modules:
        return False
    from trio.lowlevel import in_trio_run

    return in_trio_run()
