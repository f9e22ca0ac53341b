"""The server as a client starts it: a process of its own, spoken to over its stdin and stdout."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from typing import TYPE_CHECKING, Any

import anyio
import psutil
import pytest
from tests.mcp.cancelling import cancelled_midway
from tests.mcp.envelopes import checked

from mcp import Client, StdioServerParameters
from rerail.mcp.server import TOOLS

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

    from tests.mcp.conftest import Place

COMMAND = (sys.executable, "-m", "rerail", "mcp")


def server(place: Place, environ: Mapping[str, str]) -> StdioServerParameters:
    return StdioServerParameters(command=COMMAND[0], args=[*COMMAND[1:]], env=dict(environ), cwd=place.project)


def test_a_client_lists_calls_cancels_and_leaves(place: Place, environ: dict[str, str]) -> None:
    place.allow(commands=["sh ..."])

    async def main() -> None:
        async with Client(server(place, environ)) as client:
            assert {tool.name for tool in (await client.list_tools()).tools} == set(TOOLS)
            said = checked(await client.call_tool("run", {"command": ["sh", "-c", "cat; echo out; echo err >&2"]}))
            assert said["data"]["output"] == {"stdout": "out", "stderr": "err"}
            assert checked(await client.call_tool("explain", {"nam": 1}))["error"] == "usage"
            await cancelled_midway(client, place)

    anyio.run(main)


class Wire:
    """A client that writes whatever it likes."""

    def __init__(self, place: Place, environ: Mapping[str, str]) -> None:
        self.process = subprocess.Popen(
            COMMAND,
            cwd=place.project,
            env=dict(environ),
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
        )
        hello = {"protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": {"name": "t", "version": "0"}}
        self.send({"id": 0, "method": "initialize", "params": hello})
        assert self.answer()["result"]["serverInfo"]["name"] == "rerail"
        self.send({"method": "notifications/initialized"})

    def send(self, message: dict[str, Any]) -> None:
        self.write(json.dumps({"jsonrpc": "2.0", **message}).encode() + b"\n")

    def write(self, data: bytes) -> None:
        assert self.process.stdin is not None
        self.process.stdin.write(data)
        self.process.stdin.flush()

    def answer(self) -> dict[str, Any]:
        """Return the next message; every line on stdout is one."""
        assert self.process.stdout is not None
        value: dict[str, Any] = json.loads(self.process.stdout.readline())
        return value

    def wait_for(self, file: Path) -> None:
        """Wait until the command that runs has written a file."""
        until_s = time.monotonic() + 60
        while not file.exists():
            assert self.process.poll() is None
            assert time.monotonic() < until_s, "the command was not run"
            time.sleep(0.02)

    def close(self) -> None:
        self.process.kill()
        self.process.wait()
        for stream in (self.process.stdin, self.process.stdout, self.process.stderr):
            assert stream is not None
            stream.close()


@pytest.fixture
def wire(place: Place, environ: dict[str, str]) -> Any:
    place.allow(commands=["sh ..."])
    made = Wire(place, environ)
    yield made
    made.close()


def test_garbage_on_the_wire_does_not_end_the_server(wire: Wire) -> None:
    for line in (b"\n", b"{", b"\xff\xfe\x00", b"[]", b'{"jsonrpc": "2.0"}', b"[" * 5000, b'"x"'):
        wire.write(line + b"\n")
    call = {"name": "explain", "arguments": {"name": "git"}}
    wire.send({"id": 7, "method": "tools/call", "params": call})
    while (answer := wire.answer()).get("id") != 7:
        assert "error" in answer
    assert answer["result"]["structuredContent"]["ok"]


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT, signal.SIGHUP])
def test_a_signal_ends_what_runs_records_it_and_then_the_server(
    place: Place, environ: dict[str, str], wire: Wire, number: signal.Signals
) -> None:
    script = "echo $$ > shell.new; mv shell.new shell; sleep 600"
    call = {"name": "run", "arguments": {"command": ["sh", "-c", script], "unit": "long"}}
    wire.send({"id": 1, "method": "tools/call", "params": call})
    shell = place.project / "shell"
    wire.wait_for(shell)
    wire.process.send_signal(number)
    assert wire.process.wait(timeout=30) == 128 + number
    assert not psutil.pid_exists(int(shell.read_text()))
    assert events_of(place, environ, "long") == ["unit.finished"]


def test_a_client_that_leaves_takes_its_command_with_it(place: Place, environ: dict[str, str], wire: Wire) -> None:
    script = "echo $$ > shell.new; mv shell.new shell; sleep 600"
    call = {"name": "run", "arguments": {"command": ["sh", "-c", script], "unit": "long"}}
    wire.send({"id": 1, "method": "tools/call", "params": call})
    shell = place.project / "shell"
    wire.wait_for(shell)
    wire.process.stdin.close()  # type: ignore[union-attr]
    assert wire.process.wait(timeout=30) == 0
    assert not psutil.pid_exists(int(shell.read_text()))
    assert events_of(place, environ, "long") == ["unit.finished"]


def events_of(place: Place, environ: Mapping[str, str], unit: str) -> list[str]:
    shown = subprocess.run(
        [sys.executable, "-m", "rerail", "ledger", "--unit", unit, "--json"],
        cwd=place.project,
        env=environ,
        capture_output=True,
        check=True,
    )
    return [event["name"] for event in json.loads(shown.stdout)["data"]["events"]]


def test_a_faulty_policy_is_told_before_anything_is_served(place: Place, environ: dict[str, str]) -> None:
    place.allow(commands=["..."])
    done = subprocess.run(COMMAND, cwd=place.project, env=environ, stdin=subprocess.DEVNULL, capture_output=True)
    assert done.returncode == 2
    assert b"mcp.toml" in done.stderr
    assert done.stdout == b""


@pytest.mark.parametrize("words", [("--token-file", "t"), ("--repo", "no/such"), ("--port", "70000"), ("extra",)])
def test_a_call_that_cannot_work_is_refused(place: Place, environ: dict[str, str], words: tuple[str, ...]) -> None:
    done = subprocess.run(
        [*COMMAND, *words], cwd=place.project, env=environ, stdin=subprocess.DEVNULL, capture_output=True
    )
    assert (done.returncode, done.stdout) == (2, b"")
    assert words[0].encode() in done.stderr or b"extra" in done.stderr


def test_without_the_sdk_it_says_what_to_install(place: Place, environ: dict[str, str]) -> None:
    blocked = (
        "import sys, importlib.util as u; find = u.find_spec; "
        "u.find_spec = lambda name, *a: None if name == 'mcp' else find(name, *a); "
        "from rerail.cli.main import main; sys.exit(main(['mcp']))"
    )
    done = subprocess.run(
        [sys.executable, "-c", blocked], cwd=place.project, env=environ, stdin=subprocess.DEVNULL, capture_output=True
    )
    assert done.returncode == 2
    assert b"rerail[mcp]" in done.stderr


def test_its_stdout_carries_messages_alone(wire: Wire) -> None:
    call = {"name": "run", "arguments": {"command": ["sh", "-c", "echo noise; exit 3"], "unit": "u"}}
    wire.send({"id": 1, "method": "tools/call", "params": call})
    answer = wire.answer()
    while "id" not in answer:
        answer = wire.answer()
    assert answer["result"]["isError"] is True
    assert answer["result"]["structuredContent"]["data"]["output"] == {"stdout": "noise"}
    assert os.get_blocking(wire.process.stdout.fileno())  # type: ignore[union-attr]
