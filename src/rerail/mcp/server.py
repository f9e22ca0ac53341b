"""The server: what its tools and resources are, and how a call becomes an envelope, whatever happens in it.

The SDK's own ``Server`` and not its decorators: a tool's failure, and arguments that it does not take, must come back as the
envelope, and the decorators answer both with words of their own.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

import mcp_types as types
from anyio import to_thread
from mcp.server import Server
from mcp.shared.exceptions import MCPError

from rerail._version import __version__
from rerail.boundary.result import failed
from rerail.boundary.schemas import envelope_of
from rerail.boundary.serialize import RefusedResultError, serialize_result, to_json
from rerail.errors import RerailError, UnknownNameError
from rerail.mcp import acting, reading, resources
from rerail.mcp.policy import allowed_in
from rerail.mcp.tool import NOT_AN_OBJECT, Call
from rerail.mcp.worker import Worker
from rerail.paths import find_root
from rerail.verbs.failed import of_bug, of_error

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from pathlib import Path

    from mcp.server.context import CallNext, HandlerResult, ServerRequestContext

    from rerail.boundary.result import Result
    from rerail.mcp.tool import Tool
    from rerail.process import EndRequest

TOOLS: Mapping[str, Tool] = {tool.name: tool for tool in (*reading.TOOLS, *acting.TOOLS)}

_INSTRUCTIONS = """\
rerail names a failure before the first retry and lets the name choose what happens. After a failed tool call or command, call
classify before you try again, and do what the action says: retry (wait first), repair (change the input, never the same again),
heal (call heal), pause (ask the operator), stop. Before you report work as done, call verify. Every result is one envelope; a
failed one has a hint of category next-step."""


class RerailServer:
    """The tools and resources of one directory.

    Args:
        cwd: The directory that they work in; absolute.

    Raises:
        SettingsError: What the operator allows agents cannot be read.
    """

    def __init__(self, cwd: Path) -> None:
        self.cwd = cwd
        # Read once: what an agent may do does not change under it while the server runs.
        self.allowed = allowed_in(find_root(cwd))
        self.worker = Worker()
        self.sdk: Server[Any] = Server(
            "rerail",
            version=__version__,
            title="rerail",
            instructions=_INSTRUCTIONS,
            on_list_tools=self._list_tools,
            on_call_tool=self._call_tool,
            on_list_resources=self._list_resources,
            on_read_resource=self._read_resource,
        )
        self.sdk.middleware.append(_with_arguments_as_object)

    async def _list_tools(self, _context: ServerRequestContext[Any], _params: object) -> types.ListToolsResult:
        return types.ListToolsResult(tools=[_listed(tool) for tool in TOOLS.values()])

    async def _call_tool(
        self, context: ServerRequestContext[Any], params: types.CallToolRequestParams
    ) -> types.CallToolResult:
        tool, arguments = TOOLS.get(params.name), params.arguments or {}

        async def report(count: float, message: str) -> None:
            await context.session.report_progress(count, message=message)

        def work(end: EndRequest, tell: Callable[[str], None]) -> Result:
            if tool is None:
                return failed("mcp", UnknownNameError("tool", params.name, TOOLS))
            return performed(tool, Call(self.cwd, self.allowed, end, tell), arguments)

        return left(await self.worker.run(work, report))

    async def _list_resources(self, _context: ServerRequestContext[Any], _params: object) -> types.ListResourcesResult:
        found = await to_thread.run_sync(lambda: list(resources.listed(self.cwd)))
        return types.ListResourcesResult(
            resources=[
                types.Resource(
                    name=each.uri.removeprefix("rerail://"),
                    uri=each.uri,
                    description=each.description,
                    mime_type=each.mime_type,
                )
                for each in found
            ]
        )

    async def _read_resource(
        self, _context: ServerRequestContext[Any], params: types.ReadResourceRequestParams
    ) -> types.ReadResourceResult:
        uri = str(params.uri)
        found = await to_thread.run_sync(lambda: resources.text_of(self.cwd, uri))
        if found is None:
            raise MCPError(code=types.INVALID_PARAMS, message=f"there is no resource {uri!r:.200}")
        text, mime_type = found
        return types.ReadResourceResult(contents=[types.TextResourceContents(uri=uri, mime_type=mime_type, text=text)])


def performed(tool: Tool, call: Call, arguments: Mapping[str, Any]) -> Result:
    """Return what a tool comes to; what it raises becomes a result, as on the command line."""
    try:
        return tool.perform(call, arguments)
    except RerailError as error:
        return of_error(tool.verb, error)
    except Exception as bug:  # noqa: BLE001  a bug is told as one, and the server lives on
        return of_bug(tool.verb, bug)


def left(result: Result) -> types.CallToolResult:
    """Let a result out."""
    try:
        envelope = serialize_result(result)
    except RefusedResultError as bug:
        envelope = serialize_result(of_bug(result.verb, bug))
    return types.CallToolResult(
        content=[types.TextContent(text=to_json(envelope))],
        structured_content=envelope,
        is_error=not envelope["ok"],
    )


def _listed(tool: Tool) -> types.Tool:
    return types.Tool(
        name=tool.name,
        title=tool.title,
        description=tool.description,
        input_schema=tool.schema(),
        output_schema=envelope_of(tool.verb),
        annotations=types.ToolAnnotations(
            read_only_hint=tool.read_only,
            destructive_hint=tool.destructive,
            idempotent_hint=tool.idempotent,
            open_world_hint=False,
        ),
    )


async def _with_arguments_as_object(ctx: ServerRequestContext[Any], call_next: CallNext) -> HandlerResult:
    """Let arguments through that are no object, which the SDK would answer with a protocol error: the tool says what it takes."""
    params = ctx.params
    if ctx.method == "tools/call" and params and not isinstance(params.get("arguments", {}), dict | None):
        ctx = replace(ctx, params={**params, "arguments": {NOT_AN_OBJECT: params["arguments"]}})
    return await call_next(ctx)
