"""The result of an MCP tool call, or a JSON-RPC error, made `Evidence`. Objects and dicts are read alike; no SDK is imported."""

from __future__ import annotations

from rerail.evidence.clip import clip_stream, in_order
from rerail.evidence.fields import distinct_codes, label
from rerail.evidence.foreign import first, own_values, read
from rerail.evidence.json_facts import code_of, dump, facts_of
from rerail.evidence.messages import codes_in
from rerail.evidence.model import Evidence, Source, StreamName
from rerail.light_typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator

_MAX_BLOCKS = 100


def from_mcp_result(result: object, *, tool: str = "") -> Evidence:
    """Return the evidence that *result* is.

    Text of a result that is an error becomes the message; of one that is not, standard output. Structured content and the data of
    a JSON-RPC error become the body.

    Args:
        result: A tool result, a JSON-RPC response that holds a result or an error, or such an error.
        tool: The tool that was called.
    """
    inner = read(result, "result")
    if inner is not None:
        result = inner
    error = read(result, "error")
    if error is None and isinstance(read(result, "code"), int) and read(result, "message") is not None:
        error = result
    if error is not None:
        return _from_rpc_error(error, tool)
    text = "\n".join(_texts(read(result, "content")))
    structured = first(result, ("structuredContent", "structured_content"))
    is_error = bool(first(result, ("isError", "is_error")))
    stream = clip_stream(StreamName.MESSAGE if is_error else StreamName.STDOUT, text)
    return Evidence(
        Source.MCP,
        tool=label(tool),
        codes=distinct_codes(facts_of(structured, is_error=is_error).codes + codes_in(stream)),
        streams=in_order(
            message=stream if is_error else None,
            body=clip_stream(StreamName.BODY, dump(_plain(structured))) if structured else None,
            stdout=None if is_error else stream,
        ),
    )


def _from_rpc_error(error: object, tool: str) -> Evidence:
    if isinstance(error, str):
        return Evidence(Source.MCP, tool=label(tool), streams=in_order(message=clip_stream(StreamName.MESSAGE, error)))
    code = code_of(read(error, "code"))
    message = read(error, "message")
    data = _plain(read(error, "data"))
    return Evidence(
        Source.MCP,
        tool=label(tool),
        codes=distinct_codes(((code,) if code else ()) + facts_of(data, is_error=True).codes),
        streams=in_order(
            message=clip_stream(StreamName.MESSAGE, message) if isinstance(message, str) else None,
            body=clip_stream(StreamName.BODY, data if isinstance(data, str) else dump(data)) if data else None,
        ),
    )


def _texts(content: object) -> Iterator[str]:
    """Yield the texts of content blocks; images and sounds have none."""
    if isinstance(content, str):
        yield content
    elif isinstance(content, (list, tuple)):
        for block in content[:_MAX_BLOCKS]:
            text = block if isinstance(block, str) else read(block, "text")
            if text is None:
                text = read(read(block, "resource"), "text")
            if isinstance(text, str):
                yield text


def _plain(value: object) -> object:
    """Return a model's fields as a dict, and any other value as it is."""
    return value if isinstance(value, (dict, list, str)) or value is None else dict(own_values(value)) or str(value)
