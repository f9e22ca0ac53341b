"""Serving one client over stdin and stdout."""

from __future__ import annotations

import os
import signal
from typing import TYPE_CHECKING

import anyio
from mcp.server.stdio import stdio_server

if TYPE_CHECKING:
    from rerail.mcp.server import RerailServer

SIGNALS = tuple(getattr(signal, name) for name in ("SIGINT", "SIGTERM", "SIGHUP") if hasattr(signal, name))


async def serve(server: RerailServer) -> None:
    """Serve until the client has gone, or a signal says to end; what runs then is ended and recorded first."""
    async with anyio.create_task_group() as group:
        group.start_soon(_end_on_signal, server)
        async with stdio_server() as (incoming, outgoing):
            await server.sdk.run(incoming, outgoing, server.sdk.create_initialization_options())
        group.cancel_scope.cancel()


async def _end_on_signal(server: RerailServer) -> None:
    with anyio.open_signal_receiver(*SIGNALS) as signals:
        async for number in signals:
            await server.worker.end_all()
            # The thread that reads stdin cannot be woken; everything that must be written has been.
            os._exit(128 + number)
