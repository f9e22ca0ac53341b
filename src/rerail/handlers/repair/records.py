"""The error records of validators: dicts with a place, a code and a message.

Read: pydantic's and FastAPI's ``errors()``, ajv's ``errors``, zod's issues, OpenAI's and JSON:API's error objects, GitHub's and
Google's field violations, and the ``{field: [messages]}`` of marshmallow, cerberus, Django REST and Laravel. What a message says
in words is `phrases`' business; echoes of the rejected input are never read.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from rerail.handlers.repair import phrases
from rerail.handlers.repair.model import Complaint, Kind
from rerail.handlers.repair.places import place_of

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from rerail.handlers.repair.tree import Place

MAX_DEPTH = 12
"""Containers of a document that are looked into."""

_MAX_MESSAGE = 4_000

_MESSAGES = frozenset(
    {
        "body",
        "content",
        "description",
        "detail",
        "details",
        "error",
        "errors",
        "message",
        "messages",
        "msg",
        "raw",
        "reason",
        "text",
        "title",
    }
)
"""The keys whose strings are somebody's words about the input, and may hold further records."""

_NO_FIELDS = frozenset({"detail", "details", "error", "errors", "message", "messages"})
"""The keys under which a list of strings is about the whole, not about a field of that name."""

_ECHOES = frozenset({"input", "input_value", "instance", "parentSchema", "schema", "tool_input", "url", "value"})

_PYDANTIC = {
    "missing": Kind.MISSING,
    "missing_argument": Kind.MISSING,
    "missing_keyword_only_argument": Kind.MISSING,
    "missing_positional_only_argument": Kind.MISSING,
    "extra_forbidden": Kind.UNKNOWN,
    "unexpected_keyword_argument": Kind.UNKNOWN,
    "unexpected_positional_argument": Kind.UNKNOWN,
}
_AJV = {
    "required": "missingProperty",
    "dependentRequired": "missingProperty",
    "additionalProperties": "additionalProperty",
}
_PLACES = ("path", "field", "param", "property", "parameter", "pointer", "attribute")
_WORDS = ("message", "msg", "detail", "description", "reason")


def read(document: Any, depth: int = MAX_DEPTH) -> Iterator[Complaint | str]:
    """Yield what a parsed error document complains about, and the strings in it that may hold more, in order."""
    if depth < 0:
        return
    if isinstance(document, list):
        for item in document:
            yield from read(item, depth - 1)
    elif isinstance(document, dict):
        known = _record(document)
        if known is not None:
            yield from known
            return
        for key, value in document.items():
            if key in _ECHOES:
                continue
            if isinstance(value, str) and key in _MESSAGES:
                yield value
            elif key in _MESSAGES and isinstance(value, list) and all(isinstance(item, str) for item in value):
                yield from value
            else:
                yield from read(value, depth - 1)


def of_pydantic(errors: Sequence[Mapping[str, Any]]) -> Iterator[Complaint]:
    """Yield the complaints of a ``ValidationError.errors()``."""
    for error in errors:
        yield from _pydantic(dict(error))


def _record(record: dict[str, Any]) -> Iterator[Complaint] | None:
    """Return the complaints of one record; None when it is none that is known."""
    if isinstance(record.get("loc"), list | tuple) and ("msg" in record or "type" in record):
        return _pydantic(record)
    if isinstance(record.get("keyword"), str) and ("instancePath" in record or "dataPath" in record):
        return _ajv(record)
    if isinstance(record.get("path"), list) and isinstance(record.get("code"), str):
        return _zod(record, _place(record["path"]))
    if isinstance(record.get("field"), str) and record.get("code") in {"missing_field", "missing"}:
        return iter([Complaint(Kind.MISSING, place_of(record["field"]), rooted=False)])
    place = _stated_place(record)
    message = next((record[key] for key in _WORDS if isinstance(record.get(key), str)), None)
    if place and message:
        return phrases.read(message[:_MAX_MESSAGE], place)
    if record and all(_is_messages(value) for value in record.values()) and not _NO_FIELDS & record.keys():
        return _by_field(record)
    return None


def _pydantic(record: dict[str, Any]) -> Iterator[Complaint]:
    place = _place(record["loc"])
    kind = _PYDANTIC.get(str(record.get("type")))
    if kind is not None:
        yield Complaint(kind, place, tagged=True)
    else:
        yield from phrases.read(str(record.get("msg", ""))[:_MAX_MESSAGE], place, tagged=True)


def _ajv(record: dict[str, Any]) -> Iterator[Complaint]:
    place = place_of(str(record.get("instancePath") or record.get("dataPath") or ""))
    keyword, params = record["keyword"], record.get("params")
    if place is None or not isinstance(params, dict):
        return
    if keyword in _AJV and isinstance(name := params.get(_AJV[keyword]), str):
        kind = Kind.UNKNOWN if keyword == "additionalProperties" else Kind.MISSING
        yield Complaint(kind, (*place, name))
    elif keyword == "type":
        yield Complaint(Kind.TYPE, place, expected=phrases.types_in(str(params.get("type"))))
    elif keyword == "enum" and isinstance(values := params.get("allowedValues"), list):
        yield Complaint(Kind.VALUE, place, allowed=tuple(values))
    elif keyword == "const" and "allowedValue" in params:
        yield Complaint(Kind.VALUE, place, allowed=(params["allowedValue"],))


def _zod(issue: dict[str, Any], place: Place) -> Iterator[Complaint]:
    code, message = issue["code"], str(issue.get("message", ""))[:_MAX_MESSAGE]
    options = issue.get("options") or issue.get("values") or issue.get("keys")
    if code == "invalid_type":
        # zod 4 says what came in the message only.
        if issue.get("received") == "undefined" or message.endswith("received undefined"):
            yield Complaint(Kind.MISSING, place)
        else:
            yield Complaint(Kind.TYPE, place, expected=phrases.types_in(str(issue.get("expected"))))
    elif code == "unrecognized_keys" and isinstance(options, list):
        for name in filter(lambda option: isinstance(option, str), options):
            yield Complaint(Kind.UNKNOWN, (*place, name))
    elif code in {"invalid_enum_value", "invalid_value", "invalid_union_discriminator"} and isinstance(options, list):
        yield Complaint(Kind.VALUE, place, allowed=tuple(options))
    elif code == "invalid_literal":
        yield Complaint(Kind.VALUE, place, allowed=(issue.get("expected"),))
    elif code == "invalid_union":
        yield from _zod_union(issue, place)
    else:
        yield from phrases.read(message, place)


def _zod_union(issue: dict[str, Any], place: Place) -> Iterator[Complaint]:
    """Yield the types any of which would do; what a member says about its own fields holds for that member only."""
    members = issue.get("errors") or [
        member.get("issues") for member in issue.get("unionErrors", ()) if isinstance(member, dict)
    ]
    types: list[str] = []
    for member in members if isinstance(members, list) else ():
        for inner in member if isinstance(member, list) else ():
            if (
                not isinstance(inner, dict)
                or inner.get("code") != "invalid_type"
                or len(inner.get("path") or ()) not in {0, len(place)}
            ):
                return
            types += phrases.types_in(str(inner.get("expected")))
    if types:
        yield Complaint(Kind.TYPE, place, expected=tuple(dict.fromkeys(types)))


def _by_field(record: dict[str, Any]) -> Iterator[Complaint]:
    for field, messages in record.items():
        place = place_of(field)
        for message in [messages] if isinstance(messages, str) else messages:
            if place:
                yield from phrases.read(message[:_MAX_MESSAGE], place)


def _is_messages(value: object) -> bool:
    return isinstance(value, list) and bool(value) and all(isinstance(item, str) for item in value)


def _stated_place(record: dict[str, Any]) -> Place | None:
    source = record.get("source")
    fields = {**record, **source} if isinstance(source, dict) else record
    for key in _PLACES:
        value = fields.get(key)
        if isinstance(value, list) and value:
            return _place(value)
        if isinstance(value, str) and value:
            place = place_of(value)
            # JSON:API points into its own envelope.
            return place[2:] if place and place[:2] == ("data", "attributes") else place
    return None


def _place(steps: Sequence[object]) -> Place:
    return tuple(step if isinstance(step, int) else str(step) for step in steps)
