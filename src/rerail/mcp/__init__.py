"""The MCP server: the verbs as tools, on the official SDK.

Each tool calls the same function of `rerail.verbs` as its verb on the command line, and what that returns leaves through
`rerail.boundary.serialize` alone, so that both say the same. The SDK takes seconds to import: nothing outside this package
imports it, and `rerail mcp` imports this package last.
"""
