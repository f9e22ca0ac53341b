"""A call that its client gives up: the command that it ran is ended, and the run is in the ledger."""

from __future__ import annotations

from typing import TYPE_CHECKING

import anyio
import psutil
from tests.mcp.envelopes import checked

if TYPE_CHECKING:
    from tests.mcp.conftest import Place

    from mcp import Client

# Renamed into its place, so that whoever sees it can read all of it.
_LONG = "echo $$ > shell.new; mv shell.new shell; sleep 600"


async def cancelled_midway(client: Client, place: Place) -> None:
    """Run a long command, leave it, and hold the server to what follows; `place` must allow ``sh ...``."""
    shell = place.project / "shell"
    async with anyio.create_task_group() as group:
        group.start_soon(client.call_tool, "run", {"command": ["sh", "-c", _LONG], "unit": "long"})
        with anyio.fail_after(30):
            while not shell.exists():
                await anyio.sleep(0.02)
        group.cancel_scope.cancel()
    with anyio.fail_after(30):
        while not checked(await client.call_tool("ledger", {"unit": "long"}))["data"]["events"]:
            await anyio.sleep(0.05)
    assert not psutil.pid_exists(int(shell.read_text()))
