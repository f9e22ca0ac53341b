"""Running a listed command: the client hears how far it is, and may cancel."""

from __future__ import annotations

import os
import signal
import threading
from typing import TYPE_CHECKING, Any

import anyio
import psutil
from tests.mcp.envelopes import checked

from mcp import Client
from rerail.mcp import worker
from rerail.mcp.server import RerailServer

if TYPE_CHECKING:
    from collections.abc import Callable

    import pytest
    from tests.mcp.conftest import Place

    Talk = Callable[[Callable[[Client], Any]], Any]

LONG = ["sh", "-c", "sleep 600 & echo $! > child; echo $$ > shell; sleep 600"]


async def _pids(place: Place) -> list[int]:
    """Wait until the command has started its processes, and return them."""
    files = [place.project / "child", place.project / "shell"]
    with anyio.fail_after(30):
        while not all(file.exists() and file.read_text().strip() for file in files):
            await anyio.sleep(0.02)
    return [int(file.read_text()) for file in files]


async def _gone(pids: list[int]) -> None:
    with anyio.fail_after(10):
        while any(psutil.pid_exists(pid) and psutil.Process(pid).status() != "zombie" for pid in pids):
            await anyio.sleep(0.02)


def test_progress_tells_of_attempts_and_failures(place: Place, talk: Talk) -> None:
    (place.project / "rerail.toml").write_text("[backoff]\ninitial_s = 0.01\n")
    place.allow(commands=["sh ..."])
    flaky = "test -e once && exit 0; touch once; echo 'HTTP 503 Service Unavailable' >&2; exit 22"
    heard: list[tuple[float, str | None]] = []

    async def hear(progress: float, total: float | None, message: str | None) -> None:
        heard.append((progress, message))

    async def run(client: Client) -> dict[str, Any]:
        arguments = {"command": ["sh", "-c", flaky], "unit": "u", "effects": "none"}
        return checked(await client.call_tool("run", arguments, progress_callback=hear))

    envelope = talk(run)
    assert (envelope["ok"], envelope["data"]["attempts"]) == (True, 2)
    assert [progress for progress, _ in heard] == sorted({progress for progress, _ in heard})
    assert [message for _, message in heard if message and message.startswith("attempt 1 failed: provider/")]


def test_a_call_that_says_nothing_says_that_it_still_runs(
    place: Place, talk: Talk, monkeypatch: pytest.MonkeyPatch
) -> None:
    place.allow(commands=["sh ..."])
    monkeypatch.setattr(worker, "HEARTBEAT_S", 0.05)
    beats = 0

    async def hear(progress: float, total: float | None, message: str | None) -> None:
        nonlocal beats
        if message and message.startswith("running for "):
            beats += 1
            (place.project / "heard").touch()

    async def run(client: Client) -> None:
        waits = "while ! test -e heard; do sleep 0.02; done"
        checked(await client.call_tool("run", {"command": ["sh", "-c", waits]}, progress_callback=hear))

    talk(run)
    assert beats >= 1


def test_a_cancelled_run_ends_its_processes_and_is_recorded_as_cancelled(place: Place, talk: Talk) -> None:
    place.allow(commands=["sh ..."])

    async def cancel(client: Client) -> tuple[list[int], dict[str, Any]]:
        async with anyio.create_task_group() as group:
            group.start_soon(client.call_tool, "run", {"command": LONG, "unit": "long"})
            pids = await _pids(place)
            group.cancel_scope.cancel()
        await _gone(pids)
        with anyio.fail_after(20):
            while not (events := checked(await client.call_tool("ledger", {"unit": "long"}))["data"]["events"]):
                await anyio.sleep(0.05)
        return pids, events[-1]

    _, last = talk(cancel)
    assert last["name"] == "unit.finished"
    ended = place_events(place, "long")
    assert [fields["outcome"] for fields in ended] == ["cancelled"]


def test_a_cancelled_wait_ends_at_once(place: Place, talk: Talk) -> None:
    (place.project / "rerail.toml").write_text("[backoff]\ninitial_s = 250.0\ncap_s = 250.0\n")
    place.allow(commands=["sh ..."])
    down = ["sh", "-c", "touch tried; echo 'HTTP 503 Service Unavailable' >&2; exit 22"]
    waiting = anyio.Event

    async def cancel(client: Client) -> None:
        named = waiting()

        async def hear(progress: float, total: float | None, message: str | None) -> None:
            if message and "retry in" in message:
                named.set()

        async def run() -> None:
            await client.call_tool("run", {"command": down, "unit": "w", "effects": "none"}, progress_callback=hear)

        with anyio.fail_after(30):
            async with anyio.create_task_group() as group:
                group.start_soon(run)
                await named.wait()
                group.cancel_scope.cancel()
            while not place_events(place, "w"):
                await anyio.sleep(0.02)

    talk(cancel)
    assert [fields["outcome"] for fields in place_events(place, "w")] == ["cancelled"]


def test_a_server_that_ends_takes_its_commands_with_it(place: Place) -> None:
    place.allow(commands=["sh ..."])
    server = RerailServer(place.project)
    ended: list[dict[str, Any]] = []

    async def main() -> None:
        async with Client(server.sdk) as client, anyio.create_task_group() as group:

            async def run() -> None:
                ended.append(checked(await client.call_tool("run", {"command": LONG, "unit": "long"})))

            group.start_soon(run)
            pids = await _pids(place)
            with anyio.fail_after(20):
                await server.worker.end_all()
            await _gone(pids)

    anyio.run(main)
    assert [envelope["error"] for envelope in ended] == ["cancelled"]


def test_calls_run_side_by_side(place: Place, talk: Talk) -> None:
    """One waits for the other's file, so they would wait for ever if they took turns."""
    place.allow(commands=["sh ..."])
    meet = "touch {mine}; while ! test -e {other}; do sleep 0.02; done"

    async def both(client: Client) -> None:
        async with anyio.create_task_group() as group:
            for mine, other in (("a", "b"), ("b", "a")):
                arguments = {"command": ["sh", "-c", meet.format(mine=mine, other=other)], "timeout_s": 60}
                group.start_soon(client.call_tool, "run", arguments)

    talk(both)
    assert (place.project / "a").exists()
    assert (place.project / "b").exists()


def test_no_thread_and_no_signal_handler_is_left_behind(place: Place, talk: Talk) -> None:
    place.allow(commands=["sh ..."])
    before = signal.getsignal(signal.SIGTERM)

    async def run(client: Client) -> None:
        checked(await client.call_tool("run", {"command": ["sh", "-c", "exit 0"]}))

    talk(run)
    assert signal.getsignal(signal.SIGTERM) is before
    assert not [thread for thread in threading.enumerate() if "rerail" in thread.name]


def place_events(place: Place, unit: str) -> list[dict[str, Any]]:
    """Return the terminal records of a unit, as the ledger has them."""
    from rerail.app import open_project
    from rerail.ids import UnitName

    ledger = open_project(place.project, os.environ).open_ledger()
    try:
        return [dict(row.fields) for row in ledger.events(unit=UnitName(unit)) if row.name == "unit.finished"]
    finally:
        ledger.close()
