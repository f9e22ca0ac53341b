"""A server of a project of its own, and the SDK's own client on it."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Any, NamedTuple

import anyio
import pytest
from tests.cli.conftest import environ
from tests.mcp.envelopes import checked

from mcp import Client
from rerail.mcp.server import RerailServer

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable
    from pathlib import Path


__all__ = ["environ"]


class Place(NamedTuple):
    """Where a server works, and what the operator says of it."""

    project: Path
    config: Path

    def allow(self, **lists: list[str]) -> None:
        """Write what agents may do here."""
        lines = [f"{name} = {[*values]!r}" for name, values in lists.items()]
        file = self.config / "rerail" / "mcp.toml"
        file.parent.mkdir(exist_ok=True, parents=True)
        file.write_text("\n".join(["[[project]]", f"root = {str(self.project)!r}", *lines]))


@pytest.fixture
def place(tmp_path: Path, environ: dict[str, str], monkeypatch: pytest.MonkeyPatch) -> Place:
    """A project outside of any repository; this process works in it."""
    for name in ("RERAIL_RUN", "RERAIL_LEDGER", "RERAIL_MCP_TOKEN"):
        monkeypatch.delenv(name, raising=False)
    for name, value in environ.items():
        monkeypatch.setenv(name, value)
    project = tmp_path / "project"
    project.mkdir()
    monkeypatch.chdir(project)
    return Place(project, tmp_path / "config")


@pytest.fixture(params=["auto", "legacy"])
def mode(request: pytest.FixtureRequest) -> str:
    """Both generations of the protocol."""
    return str(request.param)


@pytest.fixture
def talk(place: Place, mode: str) -> Callable[[Callable[[Client], Awaitable[Any]]], Any]:
    """Talks to a server in this process and returns what the talk came to."""

    def run(conversation: Callable[[Client], Awaitable[Any]]) -> Any:
        async def main() -> Any:
            async with Client(RerailServer(place.project).sdk, mode=mode) as client:
                return await conversation(client)

        return anyio.run(main)

    return run


@pytest.fixture
def call(talk: Callable[[Callable[[Client], Awaitable[Any]]], Any]) -> Callable[..., dict[str, Any]]:
    """Calls a tool of a server in this process and returns its envelope, checked."""

    async def conversation(client: Client, tool: str, arguments: dict[str, Any]) -> dict[str, Any]:
        return checked(await client.call_tool(tool, arguments))

    return lambda tool, **arguments: talk(partial(conversation, tool=tool, arguments=arguments))
