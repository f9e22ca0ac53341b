"""The MCP inspector's command line, which shares no code with the SDK. Only where npx has it already: nothing is downloaded."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from rerail.mcp.server import TOOLS

if TYPE_CHECKING:
    from tests.mcp.conftest import Place

NPX = shutil.which("npx")
HOME = str(Path.home())
"""Where npx keeps what it has; the fixtures give this process another one."""
INSPECTOR = ("--offline", "--yes", "@modelcontextprotocol/inspector", "--cli")


@pytest.fixture
def inspected(place: Place, environ: dict[str, str]) -> Any:
    """Asks the server something through the inspector, and returns what it prints."""
    if NPX is None:
        pytest.skip("there is no npx")
    npx = NPX
    home = {"HOME": HOME}
    if subprocess.run([npx, *INSPECTOR, "--help"], env={**os.environ, **home}, capture_output=True).returncode:
        pytest.skip("npx has no inspector at hand")

    def ask(*words: str) -> Any:
        passed = [part for name, value in environ.items() for part in ("-e", f"{name}={value}")]
        server = (sys.executable, "-m", "rerail", "mcp", "--repo", str(place.project))
        done = subprocess.run(
            [npx, *INSPECTOR, *passed, *server, *words], env={**os.environ, **home}, capture_output=True, timeout=120
        )
        assert done.returncode == 0, done.stderr.decode()
        return json.loads(done.stdout)

    return ask


def test_the_inspector_lists_and_calls(inspected: Any) -> None:
    assert {tool["name"] for tool in inspected("--method", "tools/list")["tools"]} == set(TOOLS)
    called = inspected("--method", "tools/call", "--tool-name", "explain", "--tool-arg", "name=git")
    assert called["structuredContent"]["ok"] is True
    refused = inspected("--method", "tools/call", "--tool-name", "explain", "--tool-arg", "nam=git")
    assert (refused["isError"], refused["structuredContent"]["error"]) == (True, "usage")
