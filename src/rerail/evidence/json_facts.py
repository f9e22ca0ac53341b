"""The error codes and messages of JSON bodies, whatever vendor's shape they have.

Only structure is read: a field whose name says "code" or "message", on the few paths where APIs put errors. Prose is not mined
for codes, and strings that hold JSON again are left to the rules.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

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
_ERROR_MARKS = frozenset(
    (*_NESTED, "message", "Message", "errorMessage", "title", "__type", "error_code", "errorCode", "code", "reason")
)

_MAX_DEPTH = 6
_MAX_NODES = 100
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


def facts_of(value: object) -> JsonFacts:
    """Return the codes and messages of a JSON value that was already parsed."""
    codes: dict[str, None] = {}
    messages: dict[str, None] = {}
    for node in _error_nodes(value):
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


def facts_of_text(text: str | bytes) -> JsonFacts:
    """Return the facts of a text that is JSON as a whole; of any other text, none."""
    return facts_of(parse_whole(text))


def parse_whole(text: str | bytes) -> object:
    """Return the object or array that *text* is as a whole, or None."""
    edges = text.strip()
    if (edges[:1], edges[-1:]) not in _BRACKETS or len(edges) > _MAX_JSON_CHARS:
        return None
    import json

    try:
        value: object = json.loads(edges)
    except (ValueError, RecursionError):
        return None
    return value


def dump(value: object) -> str:
    """Return *value* as JSON; what JSON cannot hold is told by its type, and nothing raises."""
    import json

    try:
        return json.dumps(value, ensure_ascii=False, skipkeys=True, default=lambda other: f"<{type(other).__name__}>")
    except (TypeError, ValueError, RecursionError):
        return f"<{type(value).__name__}>"


def code_of(value: object) -> str | None:
    """Return *value* as an error code if it can be one: an identifier, or a whole number."""
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


def _error_nodes(value: object) -> Iterator[Mapping[str, object]]:
    """Yield the objects that describe an error, outermost first."""
    queue: list[tuple[object, int]] = [(value, 0)]
    seen = 0
    while queue and seen < _MAX_NODES:
        node, depth = queue.pop(0)
        seen += 1
        if isinstance(node, list):
            queue += [(item, depth + 1) for item in node[:20] if depth < _MAX_DEPTH]
        elif isinstance(node, dict):
            if depth or not _ERROR_MARKS.isdisjoint(node):
                yield node
            if depth < _MAX_DEPTH:
                queue += [(node[key], depth + 1) for key in _NESTED if isinstance(node.get(key), (dict, list))]
