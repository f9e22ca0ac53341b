"""The only way out: a verb's result becomes the envelope here, for CLI JSON, MCP and hooks alike, or is refused.

Standard library only, for a hook and `rerail classify` come through here; the published schema of what comes out is
`rerail.boundary.envelope`. What only failures and hints need, 3 ms, is imported where they leave. Whether prose sounds
actionable is never asked: only what was fired, registered and filled in.
"""

from __future__ import annotations

from collections.abc import Mapping
from enum import Enum

from rerail.boundary.result import next_steps, speaks
from rerail.evidence.ansi import printable
from rerail.light_typing import TYPE_CHECKING
from rerail.plain_json import text_of

if TYPE_CHECKING:
    from rerail.boundary.hints import Advice, Hint
    from rerail.boundary.result import Diagnostic, Result
    from rerail.plain_json import JsonValue

SCHEMA_VERSION = 1
"""Of the envelope. It stays while fields are only added, and those are optional."""


class RefusedResultError(Exception):
    """A result that may not leave: a bug of the verb that made it, never of its caller."""


def serialize_result(result: Result) -> dict[str, JsonValue]:
    """Return the envelope of a result.

    Text is made printable, data becomes plain JSON values (numbers that JSON cannot carry become null, lone surrogates U+FFFD).

    Raises:
        RefusedResultError: It is ok with an error; a hint is not registered, is filled in wrongly, or belongs to another failure;
            or it failed, and has no next step, not the narrower one that its slug requires, or the generic one with nothing for
            it to point at.
    """
    advice = [_advice(hint) for hint in result.hints]
    data = plain(result.data)
    if not isinstance(data, dict):
        raise RefusedResultError(f"{result.verb}: data are facts by name, got a {type(result.data).__name__}")
    if (fault := _fault(result)) is not None:
        raise RefusedResultError(f"{result.verb}: {fault}")
    return {
        "schema_version": SCHEMA_VERSION,
        "ok": result.ok,
        "verb": _prose(result.verb),
        "message": _prose(result.message),
        "data": data,
        "diagnostics": [_diagnostic(diagnostic) for diagnostic in result.diagnostics],
        "hints": [_hint(hint, said) for hint, said in zip(result.hints, advice, strict=True)],
        "error": None if result.error is None else str(result.error),
    }


def to_json(value: JsonValue) -> str:
    """Return an envelope, or another JSON value, as one line of ASCII in which every control character is escaped."""
    # JSON leaves DEL as it is; it can only stand inside a string.
    return text_of(value).replace("\x7f", "\\u007f")


def _fault(result: Result) -> str | None:
    if result.ok:
        return None if result.error is None else f"it is ok, and its error is {result.error}"
    from rerail.boundary.hints import REGISTRY
    from rerail.boundary.slugs import Mode, recovery_of

    named = "a failure without a slug" if result.error is None else str(result.error)
    for hint in result.hints:
        family = REGISTRY[hint.id].family
        if family and result.error not in family:
            return f"hint {hint.id} belongs to another failure than {named}"
    steps = next_steps(result)
    if not steps:
        return f"{named} carries no next step"
    narrower = any(REGISTRY[hint.id].family for hint in steps)
    if recovery_of(result.error).mode is Mode.TAILORED and not narrower:
        return f"{named} requires its own next step; the generic one would be false"
    if not narrower and not speaks(result):
        return f"{named} has data only: the generic next step points at nothing"
    return None


def _advice(hint: Hint) -> Advice:
    from rerail.boundary.hints import REGISTRY

    entry = REGISTRY.get(hint.id)
    if entry is None:
        raise RefusedResultError(f"hint {hint.id!r} is not registered")
    if hint.fields.keys() != set(entry.fields) or not all(_is_said(value) for value in hint.fields.values()):
        raise RefusedResultError(f"hint {hint.id} takes text for {', '.join(entry.fields)}, got {hint.fields!r:.200}")
    try:
        return entry.template(**hint.fields)
    except ValueError as error:  # a command that no shell would split
        raise RefusedResultError(f"hint {hint.id} cannot be filled in with {hint.fields!r:.200}: {error}") from None


def _is_said(value: object) -> bool:
    return isinstance(value, str) and bool(value.strip())


def _hint(hint: Hint, said: Advice) -> JsonValue:
    from rerail.boundary.hints import REGISTRY

    entry = REGISTRY[hint.id]
    return {
        "id": entry.id,
        "category": str(entry.category),
        "audience": str(entry.audience),
        "text": _prose(said.text),
        "command": [_encodable(word) for word in said.command] or None,
    }


def _diagnostic(diagnostic: Diagnostic) -> JsonValue:
    return {
        "message": _prose(diagnostic.message),
        "where": _prose(diagnostic.where),
        "line": diagnostic.line,
        "key": _prose(diagnostic.key),
        "evidence": _prose(diagnostic.evidence),
    }


def _prose(text: str) -> str:
    """Return text that can be shown as it is; its own line ends are kept, for faults are told one a line."""
    return "\n".join(printable(line) for line in text.split("\n"))


def _encodable(text: str) -> str:
    try:
        text.encode()
    except UnicodeEncodeError:
        return text.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "replace")
    return text


def plain(value: object) -> JsonValue:
    """Return a value as JSON carries it.

    Raises:
        RefusedResultError: It is none that JSON has a form for.
    """
    match value:
        case Enum():
            return plain(value.value)
        case None | bool() | int():
            return value
        case float():
            return value if value - value == 0 else None  # no infinity, and no NaN
        case str():
            return _encodable(value)
        case Mapping():
            return {_encodable(str(key)): plain(item) for key, item in value.items()}
        case list() | tuple() | set() | frozenset():
            return [plain(item) for item in value]
        case _:
            raise RefusedResultError(f"data holds a {type(value).__name__}, which is no JSON value")
