"""Serving over streamable HTTP, on the loopback interface only, to whoever has the token.

Every user and every web page of this machine can reach a loopback port. So each request must name a loopback host (a page that
rebound its own name to 127.0.0.1 names that one), come from no page of another origin, and carry the token.
"""

from __future__ import annotations

import hmac
import os
import secrets
import signal
import socket
import stat
import sys
import threading
from typing import TYPE_CHECKING

from rerail.errors import UsageError

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

    import uvicorn
    from starlette.types import ASGIApp, Receive, Scope, Send

    from rerail.mcp.server import RerailServer

HOST = "127.0.0.1"
PATH = "/mcp"
TOKEN_VARIABLE = "RERAIL_MCP_TOKEN"  # noqa: S105  the name of a variable
_FEWEST_CHARS = 20
_LARGEST_FILE_BYTES = 4096
_END_S = 5.0


def token(file: Path | None, environ: Mapping[str, str]) -> tuple[str, bool]:
    """Return the token that clients must have, and whether it was made just now with nowhere to be found.

    Args:
        file: Holds it, or will: one is made where there is none, for its owner alone.
        environ: ``RERAIL_MCP_TOKEN`` is read from it where there is no file.

    Raises:
        UsageError: The file cannot be used, others may read it, or the token is too short to be one.
    """
    if file is not None:
        return _from_file(file), False
    if TOKEN_VARIABLE in environ:
        return _checked(environ[TOKEN_VARIABLE], TOKEN_VARIABLE), False
    return secrets.token_urlsafe(32), True


def _from_file(file: Path) -> str:
    made = secrets.token_urlsafe(32)
    try:
        descriptor = os.open(file, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
    except FileExistsError:
        return _read(file)
    except OSError as error:
        raise UsageError(f"--token-file: {file} cannot be written: {error.strerror}") from None
    with os.fdopen(descriptor, "w", encoding="ascii") as opened:
        opened.write(f"{made}\n")
    return made


def _read(file: Path) -> str:
    try:
        with file.open("rb") as opened:
            found = os.fstat(opened.fileno())
            if os.name == "posix" and stat.S_IMODE(found.st_mode) & 0o077:
                raise UsageError(f"--token-file: others may read {file}", hint=f"chmod 600 {file}")
            content = opened.read(_LARGEST_FILE_BYTES)
    except OSError as error:
        raise UsageError(f"--token-file: {file} cannot be read: {error.strerror}") from None
    return _checked(content.decode("ascii", "replace").strip(), str(file))


def _checked(value: str, where: str) -> str:
    if len(value) < _FEWEST_CHARS or not value.isascii() or not value.isprintable() or " " in value:
        raise UsageError(
            f"{where}: a token has at least {_FEWEST_CHARS} printable ASCII characters and no spaces",
            hint="make one, for example with openssl rand -base64 32",
        )
    return value


class Gate:
    """Lets requests through that name a loopback host, come from no foreign origin, and carry the token."""

    def __init__(self, app: ASGIApp, *, port: int, token: str) -> None:
        hosts = [f"{name}:{port}" for name in (HOST, "localhost")]
        self._app = app
        self._hosts = {host.encode() for host in hosts}
        self._origins = {f"http://{host}".encode() for host in hosts}
        self._expected = f"Bearer {token}".encode()

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Serve a request, or refuse it."""
        if scope["type"] == "http" and (refusal := self._refusal(scope)) is not None:
            status, said = refusal
            await _refuse(send, status, said)
        else:
            await self._app(scope, receive, send)

    def _refusal(self, scope: Scope) -> tuple[int, bytes] | None:
        headers: list[tuple[bytes, bytes]] = scope["headers"]
        if not any(name == b"host" and value in self._hosts for name, value in headers):
            return 421, b"this server answers to its loopback address only\n"
        if any(name == b"origin" and value not in self._origins for name, value in headers):
            return 403, b"requests of other origins are refused\n"
        given = [value for name, value in headers if name == b"authorization"]
        # compare_digest takes as long whether the first or the last character differs.
        if len(given) != 1 or not hmac.compare_digest(given[0], self._expected):
            return 401, b"send the token: Authorization: Bearer TOKEN\n"
        return None


async def _refuse(send: Send, status: int, said: bytes) -> None:
    headers = [(b"content-type", b"text/plain; charset=utf-8"), (b"content-length", str(len(said)).encode())]
    if status == 401:
        headers.append((b"www-authenticate", b'Bearer realm="rerail"'))
    await send({"type": "http.response.start", "status": status, "headers": headers})
    await send({"type": "http.response.body", "body": said})


async def serve(server: RerailServer, *, port: int, token: str, is_new: bool) -> None:
    """Serve until a signal says to end; what runs then is ended and recorded first.

    Args:
        server: What is served.
        port: On the loopback interface; 0 for any free one.
        token: What every request must carry.
        is_new: Whether nobody knows the token yet: it is shown, once.

    Raises:
        UsageError: The port cannot be had.
    """
    import uvicorn
    from mcp.server.transport_security import TransportSecuritySettings

    with _listening(port) as listener:
        port = listener.getsockname()[1]
        app = server.sdk.streamable_http_app(
            streamable_http_path=PATH,
            transport_security=TransportSecuritySettings(
                allowed_hosts=[f"{HOST}:{port}", f"localhost:{port}"],
                allowed_origins=[f"http://{HOST}:{port}", f"http://localhost:{port}"],
            ),
        )
        config = uvicorn.Config(
            Gate(app, port=port, token=token),
            log_level="warning",
            access_log=False,
            server_header=False,
            timeout_graceful_shutdown=int(_END_S),
        )
        say = sys.stderr.write
        say(f"rerail mcp: http://{HOST}:{port}{PATH}\n" + (f"rerail mcp: token: {token}\n" if is_new else ""))
        sys.stderr.flush()
        await _ending_calls_first(config, server).serve(sockets=[listener])


def _listening(port: int) -> socket.socket:
    listener = socket.socket(socket.AF_INET, socket.SOCK_STREAM)
    try:
        listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        listener.bind((HOST, port))
    except (OSError, OverflowError) as error:
        listener.close()
        raise UsageError(
            f"--port: {port} cannot be had: {error}", hint="name another port, or 0 for any free one"
        ) from None
    return listener


def _ending_calls_first(config: uvicorn.Config, server: RerailServer) -> uvicorn.Server:
    """Return an HTTP server that ends what runs before it closes its connections."""
    import uvicorn

    class EndingCallsFirst(uvicorn.Server):
        async def shutdown(self, sockets: list[socket.socket] | None = None) -> None:
            await server.worker.end_all()
            await super().shutdown(sockets)

    made = EndingCallsFirst(config)
    if hasattr(signal, "SIGHUP") and threading.current_thread() is threading.main_thread():
        signal.signal(signal.SIGHUP, made.handle_exit)  # the others are uvicorn's own
    return made
