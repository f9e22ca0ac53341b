"""The error codes and messages of JSON bodies, whatever vendor's shape they have.

Only structure is read: a field whose name says "code" or "message", on the few paths where APIs put errors. Prose is not mined
for codes, and strings that hold JSON again are left to the rules.
"""

from __future__ import annotations

from enum import Enum

from rerail.light_typing import TYPE_CHECKING, NamedTuple
from rerail.plain_json import parse

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

# Where errors are nested: {"error": {...}}, {"errors": [...]}, {"detail": [...]}, Azure's innererror, GraphQL's extensions.
_NESTED = (
    "error",
    "errors",
    "detail",
    "details",
    "Error",
    "Errors",
    "innererror",
    "extensions",
    "fault",
    "cause",
    "response",
)
_CODES = ("code", "type", "status", "error_code", "errorCode", "reason", "error", "__type", "Code", "kind", "errorType")
_MESSAGES = ("message", "msg", "error_description", "errorMessage", "Message", "description")
# These hold a code in one API and a sentence in the next.
_CODE_OR_MESSAGE = ("title", "detail", "error", "reason")
# A body that has one of these, not null, is an error's, whatever it came with.
_ERROR_MARKS = (
    "error",
    "errors",
    "Error",
    "Errors",
    "fault",
    "innererror",
    "__type",
    "error_code",
    "errorCode",
    "errorMessage",
)

_MAX_DEPTH = 6
_MAX_NODES = 100
_MAX_ITEMS = 20
_MAX_FACTS = 32
_MAX_CODE_CHARS = 80
_MAX_JSON_CHARS = 4 * 1024 * 1024
_BRACKETS = (("{", "}"), ("[", "]"), (b"{", b"}"), (b"[", b"]"))
_CODE_PUNCTUATION = frozenset("_-.:/#")


class JsonFacts(NamedTuple):
    """What a JSON body says about an error."""

    codes: tuple[str, ...] = ()
    """In the order found, outermost first, without repeats; numbers as digits: ``("insufficient_quota", "-32602")``."""
    messages: tuple[str, ...] = ()
    """Raw: neither redacted nor clipped."""


def facts_of(value: object, *, is_error: bool = False) -> JsonFacts:
    """Return the codes and messages of a JSON value that was already parsed.

    Args:
        value: The body.
        is_error: It came with a failure (a status of 400, ``isError``), so its own fields are the error's. Otherwise they are
            only where the body says itself that it is an error: ``{"code": 0, "status": "done"}`` is none.
    """
    codes: dict[str, None] = {}
    messages: dict[str, None] = {}
    for node in _error_nodes(value, is_error=is_error):
        for key in _CODES:
            code = code_of(node.get(key))
            if code:
                codes.setdefault(code)
        for key in (*_MESSAGES, *_CODE_OR_MESSAGE):
            message = node.get(key)
            if isinstance(message, str) and message.strip() and (key in _MESSAGES or code_of(message) is None):
                messages.setdefault(message)
    if isinstance(value, dict) and isinstance(value.get("error"), str) and not messages:
        messages.setdefault(value["error"])
    return JsonFacts(tuple(codes)[:_MAX_FACTS], tuple(messages)[:_MAX_FACTS])


def facts_of_text(text: str | bytes, *, is_error: bool = False) -> JsonFacts:
    """Return the facts of a text that is JSON as a whole; of any other text, none."""
    return facts_of(parse_whole(text), is_error=is_error)


def parse_whole(text: str | bytes) -> object:
    """Return the object or array that *text* is as a whole, or None."""
    edges = text.strip()
    if (edges[:1], edges[-1:]) not in _BRACKETS or len(edges) > _MAX_JSON_CHARS:
        return None
    try:
        value: object = parse(edges) if isinstance(edges, str) else _parse_bytes(edges)
    except (ValueError, RecursionError):
        return None
    return value


def _parse_bytes(data: bytes) -> object:
    import json  # which knows the encodings

    return json.loads(data)


def dump(value: object) -> str:
    """Return *value* as JSON; what JSON cannot hold is told by its type, and nothing raises."""
    import json

    try:
        return json.dumps(value, ensure_ascii=False, skipkeys=True, default=lambda other: f"<{type(other).__name__}>")
    except (TypeError, ValueError, RecursionError):
        return f"<{type(value).__name__}>"


def code_of(value: object) -> str | None:
    """Return *value* as an error code if it can be one: an identifier, or a whole number, also as an enumeration's member."""
    if isinstance(value, Enum):
        value = value.value
    if isinstance(value, bool) or value is None:
        return None
    if isinstance(value, int):
        # Enumerations of integers (HTTPStatus) included; a longer number is no code.
        return str(int(value)) if -(10**12) < value < 10**12 else None
    if not isinstance(value, str) or not 0 < len(value) <= _MAX_CODE_CHARS or not value.isascii():
        return None
    if value.isdigit() or value.removeprefix("-").isdigit():
        return value
    plain = "".join(character for character in value if character not in _CODE_PUNCTUATION)
    if not plain.isalnum() or "://" in value or value.endswith((".", ":")):
        return None
    # {"type": "error", "error": {...}}: the word says nothing.
    return None if value.lower() in ("error", "errors", "unknown", "about:blank") else value


def _error_nodes(value: object, *, is_error: bool) -> Iterator[Mapping[str, object]]:
    """Yield the objects that describe an error, outermost first; *is_error*: the value itself does."""
    queue = [(value, is_error, 0)]
    seen = 0
    while queue and seen < _MAX_NODES:
        node, is_error, depth = queue.pop(0)
        seen += 1
        if depth > _MAX_DEPTH:
            continue
        if isinstance(node, list):
            queue += [(item, is_error, depth + 1) for item in node[:_MAX_ITEMS]]
        elif isinstance(node, dict):
            is_error = is_error or node.get("type") == "error" or any(node.get(mark) for mark in _ERROR_MARKS)
            if is_error:
                yield node
            queue += [(node[key], is_error, depth + 1) for key in _NESTED if isinstance(node.get(key), (dict, list))]
