"""Evidence JSON: the form in which failures are handed in (`rerail classify`, MCP) and in which they are stored.

    {"id", "command": "str"|[...], "exit_code", "signal", "stdout", "stderr", "message", "http_status", "headers", "body",
     "exception_type", "tool", "tool_input", "cwd", "duration_s"}

All fields are optional, and at least one is present; null counts as absent. The stored form has ``source`` as well, and nothing
of it is inferred: ``exceptions``, ``codes`` and ``notes`` say what was found; a clipped stream is an object with its segments.
"""

from __future__ import annotations

from rerail.errors import EvidenceError
from rerail.evidence.ansi import printable
from rerail.evidence.clip import clip_line, in_order
from rerail.evidence.command import command_of, program_of
from rerail.evidence.fields import distinct_codes
from rerail.evidence.json_facts import dump
from rerail.evidence.messages import body_parts, codes_in, joined_messages
from rerail.evidence.model import Evidence, ExceptionFact, Link, Source, Stream
from rerail.evidence.payload_fields import PUBLIC_FIELDS, STORED_FIELDS, Field
from rerail.evidence.process import ending
from rerail.evidence.redact import redact
from rerail.light_typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Mapping
    from typing import Any

_MAX_SHOWN_CHARS = 100
_HINT = f"the fields are {', '.join(PUBLIC_FIELDS)}"


def from_payload(payload: object) -> Evidence:
    """Return the evidence that evidence JSON, already parsed, says.

    Raises:
        EvidenceError: Naming every fault at once: the field, what was expected, what came.
    """
    if not isinstance(payload, dict):
        raise EvidenceError(f"evidence must be a JSON object, got {_shown(payload)}", hint=_HINT)
    is_stored = payload.get("source") is not None
    fields = STORED_FIELDS if is_stored else PUBLIC_FIELDS
    values: dict[str, Any] = {}
    faults: list[str] = []
    for name, raw in payload.items():
        field = fields.get(name) if isinstance(name, str) else None
        if field is None:
            faults.append(_unknown(name, fields))
        elif raw is not None:
            try:
                values[name] = field.read(raw)
            except (ValueError, OverflowError):
                faults.append(f"{name}: expected {field.expected}, got {_shown(raw)}")
    if not faults and not values.keys() - {"id"}:
        faults.append("at least one field must be present besides id")
    if faults:
        raise EvidenceError("\n".join(("evidence is not usable:", *faults)), hint=_HINT)
    return _stored(values) if is_stored else _handed_in(values)


def to_payload(evidence: Evidence) -> dict[str, object]:
    """Return *evidence* in its stored form, JSON values only.

    `from_payload` makes an equal evidence of it, but for the size in bytes of a stream that was not clipped.
    """
    streams = {stream.name.value: _stream_out(stream) for stream in evidence.streams}
    fields = {
        "source": evidence.source.value,
        "command": list(evidence.command),
        "tool": evidence.tool,
        "exit_code": evidence.exit_code,
        "signal": evidence.signal,
        "http_status": evidence.http_status,
        "headers": [list(pair) for pair in evidence.headers],
        "exceptions": [_exception_out(fact) for fact in evidence.exceptions],
        "codes": list(evidence.codes),
        **streams,
        "cwd": evidence.cwd,
        "duration_s": evidence.duration_s,
        "notes": list(evidence.notes),
    }
    return {name: value for name, value in fields.items() if value is not None and value not in ("", [])}


def _handed_in(values: Mapping[str, Any]) -> Evidence:
    """Return the evidence of the public form: codes are looked up, the source and the tool inferred."""
    command = values.get("command") or _command_in(values.get("tool_input"))
    exit_code, signal = ending(values.get("exit_code"))
    message: Stream | None = values.get("message")
    body, facts = body_parts(values.get("body"), is_error=values.get("http_status", 400) >= 400)
    exceptions: tuple[ExceptionFact, ...] = ()
    if "exception_type" in values:
        exceptions = (ExceptionFact(Link.RAISED, values["exception_type"], message.text if message else ""),)
    return Evidence(
        _source(values),
        command=command,
        tool=values.get("tool") or program_of(command),
        exit_code=exit_code,
        signal=values.get("signal") or signal,
        http_status=values.get("http_status"),
        headers=values.get("headers", ()),
        exceptions=exceptions,
        codes=distinct_codes(codes_in(message) + facts.codes),
        streams=in_order(
            message=joined_messages([message] if message else [], facts.messages),
            report=values.get("report"),
            stderr=values.get("stderr"),
            body=body,
            stdout=values.get("stdout"),
        ),
        cwd=values.get("cwd", ""),
        duration_s=values.get("duration_s"),
    )


def _stored(values: Mapping[str, Any]) -> Evidence:
    """Return the evidence of the stored form, as it was."""
    return Evidence(
        values["source"],
        command=values.get("command", ()),
        tool=values.get("tool", ""),
        exit_code=values.get("exit_code"),
        signal=values.get("signal"),
        http_status=values.get("http_status"),
        headers=values.get("headers", ()),
        exceptions=values.get("exceptions", ()),
        codes=values.get("codes", ()),
        streams=in_order(
            message=values.get("message"),
            report=values.get("report"),
            stderr=values.get("stderr"),
            body=values.get("body"),
            stdout=values.get("stdout"),
        ),
        cwd=values.get("cwd", ""),
        duration_s=values.get("duration_s"),
        notes=values.get("notes", ()),
    )


def _source(values: Mapping[str, object]) -> Source:
    if "exception_type" in values:
        return Source.EXCEPTION
    if "http_status" in values and "exit_code" not in values:
        return Source.HTTP
    if not values.keys().isdisjoint(("command", "exit_code", "signal", "stdout", "stderr", "report")):
        return Source.PROCESS
    return Source.HTTP if "body" in values else Source.TEXT


def _command_in(tool_input: object) -> tuple[str, ...]:
    """Return the command in the input of a shell tool; nothing else of an input is kept."""
    command = tool_input.get("command") if isinstance(tool_input, dict) else None
    return command_of(command) if isinstance(command, str) else ()


def _stream_out(stream: Stream) -> object:
    first, *others = stream.segments
    is_whole = not others and first.first_line == 1 and first.text.count("\n") + 1 == stream.total_lines
    if is_whole and first.text and not first.text.endswith("\n"):
        return first.text
    return {
        "total_lines": stream.total_lines,
        "total_bytes": stream.total_bytes,
        "segments": [segment._asdict() for segment in stream.segments],
    }


def _exception_out(fact: ExceptionFact) -> dict[str, object]:
    fields = {**fact._asdict(), "link": fact.link.value, "types": list(fact.types), "codes": list(fact.codes)}
    return {name: value for name, value in fields.items() if value is not None and value not in ("", [])}


def _unknown(name: object, fields: Mapping[str, Field]) -> str:
    # difflib costs 5 ms to import, and most payloads have no fault.
    from difflib import get_close_matches

    near = get_close_matches(str(name), fields, n=1)
    return f"{_shown(name)}: no such field" + (f", did you mean {near[0]}?" if near else "")


def _shown(value: object) -> str:
    """Return *value* for an error message: short, on one line, without secrets."""
    return printable(clip_line(redact(dump(value)[:4096]), _MAX_SHOWN_CHARS))
