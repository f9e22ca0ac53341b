"""Runs a tool in a thread: the client hears how far it is, and may cancel.

A cancellation makes the call's `EndRequest` and then waits for the thread, so that whatever runs has ended, and has been recorded
as cancelled, before the call is forgotten.
"""

from __future__ import annotations

import math
from contextlib import suppress
from typing import TYPE_CHECKING

import anyio
from anyio import from_thread, to_thread

from rerail.process import EndRequest

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable

    from anyio.streams.memory import MemoryObjectReceiveStream

    from rerail.boundary.result import Result

    Tell = Callable[[str], None]
    Report = Callable[[float, str], Awaitable[None]]

HEARTBEAT_S = 10.0
"""A call that says nothing for so long says that it still runs: clients give up on those that are silent."""

MOST_CALLS = 16
"""Calls that run at once; more wait. The threads that read what the client sends are others: that may be a cancellation."""


class Worker:
    """Runs the calls of one server."""

    def __init__(self) -> None:
        self._limiter = anyio.CapacityLimiter(MOST_CALLS)
        self._running: set[EndRequest] = set()

    async def run(self, work: Callable[[EndRequest, Tell], Result], report: Report) -> Result:
        """Run *work* in a thread and return its result.

        Args:
            work: Takes the request that ends it, and how to tell the client how far it is.
            report: Sends progress: how many reports there were, and the words.
        """
        end = EndRequest()
        said, heard = anyio.create_memory_object_stream[str](math.inf)

        def tell(message: str) -> None:
            with suppress(anyio.ClosedResourceError, anyio.BrokenResourceError):
                from_thread.run_sync(said.send_nowait, message)

        self._running.add(end)
        try:
            with said, heard:
                async with anyio.create_task_group() as group:
                    group.start_soon(_pass_on, heard, report)
                    group.start_soon(_ask_for_the_end, end)
                    result = await to_thread.run_sync(lambda: work(end, tell), limiter=self._limiter)
                    group.cancel_scope.cancel()
        finally:
            self._running.discard(end)
        return result

    async def end_all(self) -> None:
        """End every call that runs, and wait for them."""
        for end in list(self._running):
            end.make()
        while self._running:
            await anyio.sleep(0.02)


async def _ask_for_the_end(end: EndRequest) -> None:
    """Make the request when the call is cancelled. After the call's own end it asks nobody."""
    try:
        await anyio.sleep_forever()
    finally:
        end.make()


async def _pass_on(heard: MemoryObjectReceiveStream[str], report: Report) -> None:
    count, started_s = 0, anyio.current_time()
    while True:
        message = None
        with anyio.move_on_after(HEARTBEAT_S):
            message = await heard.receive()
        count += 1
        await report(count, message or f"running for {anyio.current_time() - started_s:.0f} s")
