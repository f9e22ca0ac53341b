"""The fields of evidence JSON: what each must be, and how it is read into what `Evidence` holds.

`rerail.evidence.payload` puts them together.
"""

from __future__ import annotations

from rerail.evidence.ansi import strip
from rerail.evidence.clip import clip_stream
from rerail.evidence.command import command_of
from rerail.evidence.fields import label
from rerail.evidence.model import ExceptionFact, Link, Segment, Source, Stream, StreamName
from rerail.evidence.process import ending
from rerail.evidence.redact import redact, redact_headers
from rerail.light_typing import TYPE_CHECKING, NamedTuple, TypeVar

if TYPE_CHECKING:
    from collections.abc import Callable
    from enum import StrEnum
    from typing import Any

    _Member = TypeVar("_Member", bound=StrEnum)

_MAX_EXCEPTIONS = 200
_MAX_NAME_CHARS = 200
_MAX_PATH_CHARS = 4096
_LARGEST_STATUS = 999


class Field(NamedTuple):
    """One field of evidence JSON."""

    expected: str
    """What it must be, for the message to whoever wrote it."""
    read: Callable[[Any], object]
    """Returns the value as `Evidence` holds it. Raises ValueError or OverflowError when it is not what was expected."""


def _is(kind: type | tuple[type, ...], value: object) -> bool:
    """Return whether *value* is of *kind*; in JSON, true is no number."""
    return isinstance(value, kind) and not isinstance(value, bool)


def _expect(fits: bool) -> None:
    if not fits:
        raise ValueError


def _anything(value: Any) -> object:
    return value


def _identity(value: Any) -> object:
    _expect(_is((str, int), value))
    return value


def _command(value: Any) -> tuple[str, ...]:
    _expect(isinstance(value, str) or (isinstance(value, list) and all(isinstance(part, str) for part in value)))
    return command_of(value)


def _whole_number(value: Any) -> int:
    _expect(_is(int, value) and abs(value) < 2**63)
    return int(value)


def _status(value: Any) -> int:
    _expect(_is(int, value) and 100 <= value <= _LARGEST_STATUS)
    return int(value)


def _signal(value: Any) -> str:
    if _is(int, value):
        name = ending(-value)[1] if value > 0 else None
        _expect(name is not None)
        return str(name)
    _expect(isinstance(value, str) and value.isalnum() and value.isascii() and len(value) <= 16)
    upper = str(value).upper()
    return upper if upper.startswith("SIG") else f"SIG{upper}"


def _seconds(value: Any) -> float:
    _expect(_is((int, float), value) and 0 <= value < float("inf"))
    return float(value)


def _text(value: Any) -> str:
    _expect(isinstance(value, str))
    return label(value, _MAX_PATH_CHARS)


def _stream(name: StreamName) -> Callable[[Any], Stream]:
    def read(value: Any) -> Stream:
        _expect(isinstance(value, str))
        return clip_stream(name, value)

    return read


def _body(value: Any) -> object:
    _expect(isinstance(value, (str, dict, list)))
    return value


def _headers(value: Any) -> tuple[tuple[str, str], ...]:
    pairs = list(value.items()) if isinstance(value, dict) else value
    _expect(isinstance(pairs, list))
    for pair in pairs:
        _expect(isinstance(pair, (list, tuple)) and len(pair) == 2 and isinstance(pair[0], str))
        _expect(isinstance(pair[1], str | int | float) or _is_texts(pair[1]))
    return redact_headers(pairs)


def _exception_type(value: Any) -> tuple[str, ...]:
    _expect(isinstance(value, str) and 0 < len(value) <= _MAX_NAME_CHARS and value.isprintable() and " " not in value)
    import builtins

    name = str(value).removeprefix("builtins.")
    known = getattr(builtins, name, None)
    if isinstance(known, type) and issubclass(known, BaseException):
        return tuple(cls.__name__ for cls in known.__mro__[:-1])
    return (name,)


def _is_texts(value: object) -> bool:
    return isinstance(value, list) and all(isinstance(item, str) for item in value)


def _texts(value: Any) -> tuple[str, ...]:
    _expect(_is_texts(value))
    return tuple(label(text) for text in value)


def _member(kind: type[_Member]) -> Callable[[Any], _Member]:
    def read(value: Any) -> _Member:
        _expect(isinstance(value, str))
        return kind(value)

    return read


def _stored_stream(name: StreamName) -> Callable[[Any], Stream]:
    def read(value: Any) -> Stream:
        if isinstance(value, str):
            return clip_stream(name, value)
        _expect(isinstance(value, dict) and isinstance(value.get("segments"), list))
        segments = []
        for segment in value["segments"]:
            _expect(isinstance(segment, dict) and isinstance(segment.get("text"), str))
            segments.append(Segment(_count(segment.get("first_line"), least=1), redact(strip(segment["text"]))))
        _expect(bool(segments))
        return Stream(name, tuple(segments), _count(value.get("total_lines")), _count(value.get("total_bytes")))

    return read


def _stored_exceptions(value: Any) -> tuple[ExceptionFact, ...]:
    _expect(isinstance(value, list) and len(value) <= _MAX_EXCEPTIONS)
    facts = []
    for fact in value:
        _expect(isinstance(fact, dict) and _is_texts(fact.get("types")) and bool(fact["types"]))
        message, errno, status = fact.get("message", ""), fact.get("errno"), fact.get("status")
        _expect(isinstance(message, str) and (errno is None or isinstance(errno, str)))
        facts.append(
            ExceptionFact(
                _member(Link)(fact.get("link")),
                _texts(fact["types"]),
                redact(strip(message)),
                None if status is None else _status(status),
                _texts(fact.get("codes", [])),
                None if errno is None else label(errno),
            )
        )
    return tuple(facts)


def _count(value: object, *, least: int = 0) -> int:
    _expect(isinstance(value, int) and not isinstance(value, bool) and value >= least)
    return value  # type: ignore[return-value]


PUBLIC_FIELDS: dict[str, Field] = {
    "id": Field("text or a whole number", _identity),
    "command": Field("text or a list of texts", _command),
    "exit_code": Field("a whole number", _whole_number),
    "signal": Field('a signal\'s name or number, such as "SIGKILL"', _signal),
    "stdout": Field("text", _stream(StreamName.STDOUT)),
    "stderr": Field("text", _stream(StreamName.STDERR)),
    "message": Field("text", _stream(StreamName.MESSAGE)),
    "report": Field("text", _stream(StreamName.REPORT)),
    "http_status": Field(f"a whole number from 100 to {_LARGEST_STATUS}", _status),
    "headers": Field("an object of texts", _headers),
    "body": Field("text, an object or a list", _body),
    "exception_type": Field("a qualified class name", _exception_type),
    "tool": Field("text", _text),
    "tool_input": Field("any JSON", _anything),
    "cwd": Field("text", _text),
    "duration_s": Field("a number of seconds, 0 or more", _seconds),
}
STORED_FIELDS: dict[str, Field] = {
    **{name: field for name, field in PUBLIC_FIELDS.items() if name not in ("exception_type", "tool_input")},
    "source": Field(f"one of {', '.join(Source)}", _member(Source)),
    "stdout": Field("text or a clipped stream", _stored_stream(StreamName.STDOUT)),
    "stderr": Field("text or a clipped stream", _stored_stream(StreamName.STDERR)),
    "message": Field("text or a clipped stream", _stored_stream(StreamName.MESSAGE)),
    "report": Field("text or a clipped stream", _stored_stream(StreamName.REPORT)),
    "body": Field("text or a clipped stream", _stored_stream(StreamName.BODY)),
    "exceptions": Field("a list of exceptions, each with link and types", _stored_exceptions),
    "codes": Field("a list of texts", _texts),
    "notes": Field("a list of texts", _texts),
}
