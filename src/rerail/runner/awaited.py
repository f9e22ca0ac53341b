"""The awaiting driver, for asyncio and, where anyio is installed, trio.

Calls, waits and callbacks are awaited. git and a durable ledger block, so their effects run in a thread.
"""

from __future__ import annotations

import sys
from inspect import isawaitable
from typing import TYPE_CHECKING, Any, Protocol, assert_never

from rerail.decisions.effects import TAKES_TIME, AskLanded, Call, Finish, MakeRepair, PlanHeal, RunHeal, Sleep
from rerail.observe import contained

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable

    from rerail.decisions.effects import Reply, Tried
    from rerail.runner.perform import BlockingEffect
    from rerail.runner.session import Session


class AsyncSleeper(Protocol):
    """Waits in an event loop; seconds on the monotonic clock."""

    def __call__(self, wait_s: float, /) -> Awaitable[None]:
        """Return after the wait, or raise what interrupted it."""
        ...


async def drive(session: Session, attempt: Callable[[], Awaitable[Tried]], sleep: AsyncSleeper) -> Finish:
    """Run a session to its end, awaiting each attempt; otherwise as `rerail.runner.blocking.drive`."""
    at = await advance(session, None, sleep)
    while isinstance(at, Call):
        at = await advance(session, await attempt(), sleep)
    return at


async def advance(session: Session, reply: Reply, sleep: AsyncSleeper) -> Call | Finish:
    """Perform effects until the work is to be called, or the run has ended."""
    send, performs, blocks = session.script.send, session.performs, session.blocks
    while True:
        try:
            effect = send(reply)
        except StopIteration as done:
            end: Finish = done.value
            if blocks:
                await _in_thread(end, session)
            else:
                performs[Finish](session, end)
            return end
        if isinstance(effect, TAKES_TIME):
            reply = await _act(effect, session, sleep)
        elif blocks or isinstance(effect, PlanHeal):
            reply = await _in_thread(effect, session)
        else:
            reply = performs[type(effect)](session, effect)
        if isinstance(effect, Call):
            if session.pending is None:
                return effect
            reply = session.work.interrupted(session.pending)


async def _act(effect: Sleep | MakeRepair | AskLanded | RunHeal, session: Session, sleep: AsyncSleeper) -> Reply:
    """Perform an effect that takes its time, and so may be cancelled."""
    work = session.work
    if session.pending is not None:
        return work.interrupted(session.pending)
    try:
        match effect:
            case Sleep():
                session.emit("wait.started", wait_s=effect.wait_s)
                await sleep(effect.wait_s)
                return None
            case MakeRepair():
                new_input = None
                with contained("repair", but=work.passes_through):
                    new_input = await value_of(work.ask_repairer(session.request(effect.record)))
                return session.repaired(new_input)
            case AskLanded():
                answer = None
                with contained("landed", but=work.passes_through):
                    answer = await value_of(work.ask_landed())
                return session.probed(answer)
            case RunHeal():
                return await _in_thread(effect, session)
    except BaseException as error:  # noqa: BLE001  it ends the run, and is raised again after it
        return work.interrupted(error)
    assert_never(effect)


async def _in_thread(effect: BlockingEffect, session: Session) -> Reply:
    """Perform an effect that may block, to its end; a cancellation is kept until it is done."""
    perform = session.performs[type(effect)]
    if _under_trio():
        import anyio

        # trio delivers the cancellation at the next wait or call.
        with anyio.CancelScope(shield=True):
            return await anyio.to_thread.run_sync(perform, session, effect)
    import asyncio

    running = asyncio.ensure_future(asyncio.to_thread(perform, session, effect))
    while True:
        try:
            return await asyncio.shield(running)
        except asyncio.CancelledError as error:
            if running.cancelled():  # the event loop itself is closing
                raise
            session.pending = error


async def value_of(answer: Any) -> Any:
    """Return a callback's answer, awaited where it is awaitable."""
    return await answer if isawaitable(answer) else answer


async def sleep_here(wait_s: float) -> None:
    """Wait under whichever event loop runs this task."""
    if _under_trio():
        import anyio

        await anyio.sleep(wait_s)
    else:
        import asyncio

        await asyncio.sleep(wait_s)


def _under_trio() -> bool:
    """Whether trio runs this task; a program that never imported trio is not asked further."""
    if "trio" not in sys.modules:
        return False
    from trio.lowlevel import in_trio_run

    return in_trio_run()
