"""The server over HTTP on a real loopback port: who is let in, and that what is let in works as over stdio."""

from __future__ import annotations

import subprocess
import sys
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, NamedTuple

import anyio
import httpx2
import psutil
import pytest
from mcp.client.streamable_http import streamable_http_client
from tests.mcp.cancelling import cancelled_midway
from tests.mcp.envelopes import checked

from mcp import Client
from rerail.errors import UsageError
from rerail.mcp.http import TOKEN_VARIABLE, token
from rerail.mcp.server import TOOLS

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping
    from pathlib import Path

    from tests.mcp.conftest import Place

TOKEN = "t" * 32
CALL = {"jsonrpc": "2.0", "id": 1, "method": "tools/list", "params": {}}


class Served(NamedTuple):
    """A running server."""

    url: str
    process: subprocess.Popen[str]

    @property
    def port(self) -> int:
        """Where it listens."""
        port = httpx2.URL(self.url).port
        assert port is not None
        return port


@contextmanager
def serving(place: Place, environ: Mapping[str, str], *words: str) -> Iterator[Served]:
    process = subprocess.Popen(
        [sys.executable, "-m", "rerail", "mcp", "--http", "--port", "0", *words],
        cwd=place.project,
        env=dict(environ),
        stderr=subprocess.PIPE,
        text=True,
    )
    try:
        assert process.stderr is not None
        line = process.stderr.readline()
        assert line.startswith("rerail mcp: http://127.0.0.1:"), line + process.stderr.read()
        yield Served(line.split(": ", 1)[1].strip(), process)
    finally:
        process.kill()
        process.communicate()


@pytest.fixture
def served(place: Place, environ: dict[str, str]) -> Iterator[Served]:
    place.allow(commands=["sh ..."])
    with serving(place, {**environ, TOKEN_VARIABLE: TOKEN}) as made:
        yield made


def test_a_client_with_the_token_calls_hears_progress_and_cancels(place: Place, served: Served) -> None:
    heard: list[str | None] = []

    async def hear(progress: float, total: float | None, message: str | None) -> None:
        heard.append(message)

    async def main() -> None:
        headers = {"Authorization": f"Bearer {TOKEN}"}
        async with (
            httpx2.AsyncClient(headers=headers, timeout=60) as http,
            Client(streamable_http_client(served.url, http_client=http)) as client,
        ):
            assert {tool.name for tool in (await client.list_tools()).tools} == set(TOOLS)
            said = checked(
                await client.call_tool(
                    "run", {"command": ["sh", "-c", "echo out"], "unit": "u"}, progress_callback=hear
                )
            )
            assert said["data"]["output"] == {"stdout": "out"}
            assert checked(await client.call_tool("explain", {"name": 7}))["error"] == "usage"
            await cancelled_midway(client, place)

    anyio.run(main)
    assert "attempt 1 of u" in heard


@pytest.mark.parametrize(
    ("headers", "status"),
    [
        ({}, 401),
        ({"Authorization": ""}, 401),
        ({"Authorization": "Bearer"}, 401),
        ({"Authorization": f"Bearer {TOKEN}x"}, 401),
        ({"Authorization": f"Bearer {TOKEN[:-1]}"}, 401),
        ({"Authorization": f"bearer {TOKEN}"}, 401),
        ({"Authorization": TOKEN}, 401),
        ({"Authorization": f"Bearer {TOKEN}", "Host": "evil.example:80"}, 421),
        ({"Authorization": f"Bearer {TOKEN}", "Host": "127.0.0.1"}, 421),
        ({"Authorization": f"Bearer {TOKEN}", "Host": "127.0.0.1.evil.example:{port}"}, 421),
        ({"Authorization": f"Bearer {TOKEN}", "Origin": "http://evil.example"}, 403),
        ({"Authorization": f"Bearer {TOKEN}", "Origin": "null"}, 403),
        ({"Authorization": f"Bearer {TOKEN}", "Origin": "http://127.0.0.1:1"}, 403),
        ({"Authorization": f"Bearer {TOKEN}", "Origin": "https://127.0.0.1:{port}"}, 403),
    ],
)
def test_requests_of_others_are_refused(served: Served, headers: dict[str, str], status: int) -> None:
    made = {name: value.format(port=served.port) for name, value in headers.items()}
    for method, path in (("POST", ""), ("GET", ""), ("DELETE", ""), ("POST", "/elsewhere")):
        answer = httpx2.request(method, served.url + path, headers=made, json=CALL if method == "POST" else None)
        assert answer.status_code == status
        assert TOKEN not in answer.text
        assert ("www-authenticate" in answer.headers) is (status == 401)


def test_two_authorizations_are_none(served: Served) -> None:
    both = [("Authorization", f"Bearer {TOKEN}"), ("Authorization", "Bearer other")]
    assert httpx2.post(served.url, headers=both, json=CALL).status_code == 401


def test_a_page_of_the_same_address_and_localhost_are_let_in(served: Served) -> None:
    for name in ("127.0.0.1", "localhost"):
        place = f"{name}:{served.port}"
        headers = {"Authorization": f"Bearer {TOKEN}", "Host": place, "Origin": f"http://{place}"}
        assert httpx2.post(served.url, headers=headers, json=CALL).status_code not in (401, 403, 421)


def test_it_answers_at_one_loopback_address_alone(served: Served) -> None:
    with pytest.raises(httpx2.TransportError):
        httpx2.post(f"http://127.0.0.2:{served.port}/mcp", json=CALL, timeout=5)


def test_garbage_is_answered_and_the_server_lives_on(served: Served) -> None:
    headers = {"Authorization": f"Bearer {TOKEN}", "Content-Type": "application/json"}
    for body in (b"", b"{", b"\xff", b"[" * 10_000, b"x" * 5_000_000, b'{"jsonrpc":"2.0","id":1,"method":7}'):
        assert 400 <= httpx2.post(served.url, headers=headers, content=body).status_code < 500
    assert served.process.poll() is None


def test_a_signal_ends_what_runs_and_then_the_server(place: Place, served: Served) -> None:
    ended: list[dict[str, Any]] = []

    async def main() -> None:
        headers = {"Authorization": f"Bearer {TOKEN}"}
        async with (
            httpx2.AsyncClient(headers=headers, timeout=60) as http,
            Client(streamable_http_client(served.url, http_client=http)) as client,
        ):
            shell = place.project / "shell"
            script = "echo $$ > shell.new; mv shell.new shell; sleep 600"

            async def run() -> None:
                ended.append(checked(await client.call_tool("run", {"command": ["sh", "-c", script], "unit": "long"})))

            async with anyio.create_task_group() as group:
                group.start_soon(run)
                with anyio.fail_after(30):
                    while not shell.exists():
                        await anyio.sleep(0.02)
                served.process.terminate()
                with anyio.fail_after(30):
                    while served.process.poll() is None:
                        await anyio.sleep(0.02)
            assert not psutil.pid_exists(int(shell.read_text()))

    anyio.run(main)
    assert [envelope["error"] for envelope in ended] == ["cancelled"]


def test_a_port_that_is_taken_is_told(place: Place, environ: dict[str, str], served: Served) -> None:
    done = subprocess.run(
        [sys.executable, "-m", "rerail", "mcp", "--http", "--port", str(served.port)],
        cwd=place.project,
        env=environ,
        capture_output=True,
    )
    assert done.returncode == 2
    assert f"--port: {served.port} cannot be had" in done.stderr.decode()


def test_a_new_token_is_shown_once_where_nobody_brought_one(place: Place, environ: dict[str, str]) -> None:
    with serving(place, environ) as made:
        assert made.process.stderr is not None
        shown = made.process.stderr.readline()
        given = shown.removeprefix("rerail mcp: token: ").strip()
        headers = {"Authorization": f"Bearer {given}"}
        assert httpx2.post(made.url, headers=headers, json=CALL).status_code not in (401, 403, 421)


def test_a_token_file_is_made_private_and_read_again(tmp_path: Path) -> None:
    file = tmp_path / "token"
    made, is_new = token(file, {})
    assert (len(made) >= 32, is_new) == (True, False)
    assert file.stat().st_mode & 0o777 == 0o600
    assert token(file, {TOKEN_VARIABLE: "other" * 8}) == (made, False)


def test_every_new_token_is_another() -> None:
    assert len({token(None, {}) for _ in range(50)}) == 50
    assert token(None, {})[1] is True


@pytest.mark.parametrize("value", ["", "short", "with space" * 4, "é" * 30, "a\tb" * 20])
def test_a_token_that_is_none_is_refused(tmp_path: Path, value: str) -> None:
    with pytest.raises(UsageError, match="a token has at least"):
        token(None, {TOKEN_VARIABLE: value})
    file = tmp_path / "token"
    file.write_text(value)
    file.chmod(0o600)
    with pytest.raises(UsageError, match="a token has at least"):
        token(file, {})


def test_a_token_file_that_others_may_read_is_refused(tmp_path: Path) -> None:
    file = tmp_path / "token"
    file.write_text(TOKEN)
    file.chmod(0o640)
    with pytest.raises(UsageError, match="others may read"):
        token(file, {})


def test_a_token_file_that_cannot_be_had_is_told(tmp_path: Path) -> None:
    for place in (tmp_path, tmp_path / "no" / "such"):
        with pytest.raises(UsageError, match="--token-file"):
            token(place, {})
