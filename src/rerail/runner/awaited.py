"""The awaiting driver, for asyncio and, where anyio is installed, trio.

Calls, waits and callbacks are awaited. git and a durable ledger block, so their effects run in a thread.
"""

from __future__ import annotations

import sys
from inspect import isawaitable
from typing import TYPE_CHECKING, Any, Protocol, assert_never

from rerail.decisions.effects import AskLanded, Call, MakeRepair, PlanHeal, RunHeal, Sleep
from rerail.observe import contained

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable

    from rerail.decisions.effects import Reply, Tried
    from rerail.runner.perform import BlockingEffect
    from rerail.runner.script import End
    from rerail.runner.session import Session


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
        reply, first = await attempt() if first is None else first, None
        at = await advance(session, reply, sleep)
    return at


async def advance(session: Session, reply: Reply, sleep: AsyncSleeper) -> Call | End:
    """Perform effects until the work is to be called, or the run has ended."""
    script, work = session.script, session.work
    while True:
        try:
            effect = script.send(reply)
        except StopIteration as done:
            end: End = done.value
            return end
        match effect:
            case Call():
                await _perform(effect, session)
                if session.pending is None:
                    return effect
                reply = work.interrupted(session.pending)
            case Sleep() | MakeRepair() | AskLanded() | RunHeal():
                reply = await _act(effect, session, sleep)
            case _:
                reply = await _perform(effect, session)


async def _act(effect: Sleep | MakeRepair | AskLanded | RunHeal, session: Session, sleep: AsyncSleeper) -> Reply:
    """Perform an effect that takes its time, and so may be cancelled."""
    work, performer = session.work, session.performer
    if session.pending is not None:
        return work.interrupted(session.pending)
    try:
        match effect:
            case Sleep():
                performer.emit("wait.started", wait_s=effect.wait_s)
                await sleep(effect.wait_s)
                return None
            case MakeRepair():
                new_input = None
                with contained("repair", but=work.passes_through):
                    new_input = await value_of(work.ask_repairer(performer.request(effect.record)))
                return performer.repaired(new_input)
            case AskLanded():
                answer = None
                with contained("landed", but=work.passes_through):
                    answer = await value_of(work.ask_landed())
                return performer.probed(answer)
            case RunHeal():
                return await _perform(effect, session)
    except BaseException as error:  # noqa: BLE001  it ends the run, and is raised again after it
        return work.interrupted(error)
    assert_never(effect)


async def _perform(effect: BlockingEffect, session: Session) -> Reply:
    """Perform a blocking effect to its end, in a thread where it may wait; a cancellation is kept until it is done."""
    perform = session.performer.perform
    if not (session.performer.blocks or isinstance(effect, (PlanHeal, RunHeal))):
        return perform(effect)
    if _under_trio():
        import anyio

        # trio delivers the cancellation at the next wait or call.
        with anyio.CancelScope(shield=True):
            return await anyio.to_thread.run_sync(perform, effect)
    import asyncio

    running = asyncio.ensure_future(asyncio.to_thread(perform, effect))
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
