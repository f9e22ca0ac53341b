"""``rerail mcp``: the verbs as tools of an MCP server."""

from __future__ import annotations

import os
from importlib.util import find_spec
from pathlib import Path

import click

from rerail.cli.here import directory_named
from rerail.errors import UsageError

_DEFAULT_PORT = 8377

_HELP = """\
Serve the verbs to an agent as MCP tools: over stdin and stdout, or with --http over streamable HTTP on 127.0.0.1.

Tools: classify, explain, why, taxonomy, check, pauses, ledger, heal_plan, heal, run, verify, answer.

Which commands an agent may run, and which pauses it may answer, is said by mcp.toml in your own configuration directory;
by default none.
"""


@click.command("mcp", help=_HELP, short_help="Serve the verbs to an agent as MCP tools.")
@click.option("--http", is_flag=True, help="Serve over HTTP instead of stdin and stdout.")
@click.option(
    "--port",
    type=click.IntRange(0, 65535),
    default=_DEFAULT_PORT,
    show_default=True,
    help="With --http; 0 takes any free one.",
)
@click.option(
    "--token-file",
    type=click.Path(path_type=Path, dir_okay=False),
    help="With --http: holds the clients' token; made if it is missing. Default: RERAIL_MCP_TOKEN, else a new one on stderr.",
)
@click.option("--repo", metavar="DIR", default=".", show_default=True, help="The worktree that the tools work in.")
def command(http: bool, port: int, token_file: Path | None, repo: str) -> int:
    """Serve until the client has gone."""
    if token_file is not None and not http:
        raise UsageError("--token-file goes with --http", hint="over stdin and stdout there is nobody to keep out")
    cwd = directory_named(repo)
    if not cwd.is_dir():
        raise UsageError(f"--repo must be a directory that exists, got {repo!r}")
    if find_spec("mcp") is None:
        raise UsageError("rerail mcp needs the MCP SDK", hint="install it with: pip install 'rerail[mcp]'")
    import anyio

    from rerail.mcp.server import RerailServer

    server = RerailServer(cwd)
    if http:
        from rerail.mcp import http as over_http

        token, is_new = over_http.token(token_file, os.environ)
        anyio.run(lambda: over_http.serve(server, port=port, token=token, is_new=is_new))
    else:
        from rerail.mcp import stdio

        anyio.run(stdio.serve, server)
    return 0
