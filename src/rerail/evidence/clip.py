"""Raw output made into a `Stream`: decoded, free of escape codes, redacted, capped, with true line numbers.

The head and a larger tail are kept, for a failure is told at the end; very long lines lose their middle. Caps count characters.
What was captured with its middle already dropped comes through `stream_from_parts`.
"""

from __future__ import annotations

from rerail.evidence.ansi import strip
from rerail.evidence.model import Segment, Stream, StreamName
from rerail.evidence.redact import redact
from rerail.light_typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Sequence


class Caps(NamedTuple):
    """How much of a stream is kept, in characters."""

    head_chars: int = 16 * 1024
    tail_chars: int = 48 * 1024
    line_chars: int = 8 * 1024
    """A longer line is clipped in its middle."""


DEFAULT_CAPS = Caps()

# Escape codes and progress lines shrink, so more than the caps is read; beyond this the middle is dropped unread.
_SLACK = 2
_MARK_CHARS = 48
_BYTE_ORDER_MARK = "\ufeff"
# A secret that the cut went through may stand at the cut's edge, unrecognisable.
_TORN_BYTES = 8 * 1024


def clip_stream(name: StreamName, data: bytes | str, *, caps: Caps = DEFAULT_CAPS) -> Stream:
    """Return *data* as the stream *name*.

    Bytes are decoded as UTF-8 with replacement, or as UTF-16 where they obviously are (Windows tools). ``total_lines`` counts
    newlines, plus one when the last line has none.
    """
    if isinstance(data, str):
        text = data
        total_bytes = len(data) if data.isascii() else len(data.encode("utf-8", "surrogatepass"))
    else:
        total_bytes = len(data)
        encoding = _encoding(data)
        if encoding != "utf-8":
            data = data.decode(encoding, "replace").encode("utf-8")
        if len(data) > _SLACK * (caps.head_chars + caps.tail_chars):
            return _without_middle(name, data, total_bytes, caps)
        text = data.decode("utf-8", "replace")
    if len(text) > _SLACK * (caps.head_chars + caps.tail_chars):
        return _without_middle(name, text.encode("utf-8", "replace"), total_bytes, caps)
    text = strip(text.removeprefix(_BYTE_ORDER_MARK))
    if len(text) > caps.head_chars + caps.tail_chars + caps.line_chars:
        # PERF: redaction takes longer than all else here, so only what is kept is redacted.
        return _without_middle(name, text.encode("utf-8"), total_bytes, caps, slack=1)
    text = redact(text)
    if len(text) <= caps.line_chars:
        # PERF: nothing to clip; this is the way of every short message.
        lines = text.count("\n") + (not text.endswith("\n")) if text else 0
        segments = (Segment(1, text.removesuffix("\n")),) if text else ()
        return Stream(name, segments, lines, total_bytes)
    lines_kept = _lines(text)
    return Stream(name, _segments(lines_kept, caps), len(lines_kept), total_bytes)


def stream_from_parts(
    name: StreamName,
    head: bytes,
    tail: bytes,
    *,
    tail_first_line: int,
    total_lines: int,
    total_bytes: int,
    caps: Caps = DEFAULT_CAPS,
) -> Stream:
    """Return the stream of output whose middle was dropped while it was captured.

    Args:
        name: Which stream it is.
        head: Its first bytes; may end inside a line.
        tail: Its last bytes; may begin inside a line. Empty when nothing was dropped.
        tail_first_line: The number, counted from 1, of the first line that begins in *tail*.
        total_lines: Newlines of the whole output, plus one when the last line has none.
        total_bytes: The size of the whole output.
        caps: How much is kept of what was captured.
    """
    if total_bytes <= len(head) + len(tail):
        return clip_stream(name, head + tail, caps=caps)
    encoding = _encoding(head)
    if encoding.startswith("utf-16") and (total_bytes - len(tail)) % 2:
        tail = tail[1:]
    head_lines = _lines(_plain(_without_torn_end(head.decode(encoding, "replace"))))
    if tail and total_lines - tail.count(b"\n") - (not tail.endswith(b"\n")) + 1 < tail_first_line:
        # The rest of a line that began in the dropped middle: half a secret may be in it.
        _, newline, whole_lines = tail.partition(b"\n")
        if newline:
            tail = whole_lines
        else:
            tail, tail_first_line = tail[_TORN_BYTES:], tail_first_line - 1
        if encoding == "utf-16-le":
            tail = tail.removeprefix(b"\0")  # the other half of the newline
    tail_lines = _lines(_plain(tail.decode(encoding, "replace")))
    segments = (
        Segment(1, "\n".join(_first(_shortened(head_lines, caps), caps.head_chars))),
        _last_segment(_shortened(tail_lines, caps), tail_first_line, caps),
    )
    return Stream(name, tuple(segment for segment in segments if segment.text), total_lines, total_bytes)


def in_order(
    *,
    message: Stream | None = None,
    report: Stream | None = None,
    stderr: Stream | None = None,
    body: Stream | None = None,
    stdout: Stream | None = None,
) -> tuple[Stream, ...]:
    """Return the streams that hold anything, in order of trust."""
    return tuple(
        [stream for stream in (message, report, stderr, body, stdout) if stream is not None and stream.segments]
    )


def as_stream(name: StreamName, data: Stream | bytes | str) -> Stream:
    """Return *data* as a stream, clipping it if it is not one yet."""
    return data if isinstance(data, Stream) else clip_stream(name, data)


def clip_line(text: str, limit_chars: int) -> str:
    """Return *text*, at most *limit_chars* long: its middle replaced by a mark that says how much is gone."""
    if len(text) <= limit_chars:
        return text
    kept_chars = max(limit_chars - _MARK_CHARS, 0)
    head_chars = (kept_chars + 1) // 2
    tail = text[len(text) - (kept_chars - head_chars) :]
    return f"{text[:head_chars]} [... {len(text) - kept_chars} characters clipped ...] {tail}"


def _encoding(data: bytes) -> str:
    """Return the encoding of *data*: UTF-8 unless it obviously is UTF-16, by its mark or by every other byte being zero."""
    if data.startswith(b"\xff\xfe"):
        return "utf-16-le"
    if data.startswith(b"\xfe\xff"):
        return "utf-16-be"
    sample = data[: min(len(data), 512) // 2 * 2]
    if len(sample) >= 4 and b"\0" in sample:
        even, odd = sample[::2], sample[1::2]
        if odd.count(0) * 10 >= len(odd) * 9 and 0 not in even:
            return "utf-16-le"
        if even.count(0) * 10 >= len(even) * 9 and 0 not in odd:
            return "utf-16-be"
    return "utf-8"


def _plain(text: str) -> str:
    return redact(strip(text.removeprefix(_BYTE_ORDER_MARK)))


def _without_middle(name: StreamName, data: bytes, total_bytes: int, caps: Caps, slack: int = _SLACK) -> Stream:
    head = data[: slack * caps.head_chars]
    before, tail = data[: -slack * caps.tail_chars], data[-slack * caps.tail_chars :]
    stream = stream_from_parts(
        name,
        head,
        tail,
        tail_first_line=before.count(b"\n") + 1 + (not before.endswith(b"\n")),
        total_lines=data.count(b"\n") + (not data.endswith(b"\n")),
        total_bytes=len(data),
        caps=caps,
    )
    return stream._replace(total_bytes=total_bytes)


def _without_torn_end(text: str) -> str:
    """Return the head of a stream without the line that it was cut in: half a secret may be in it."""
    whole, newline, torn = text.rpartition("\n")
    return whole + newline if newline else torn[:-_TORN_BYTES]


def _lines(text: str) -> list[str]:
    return text.removesuffix("\n").split("\n") if text else []


def _segments(lines: Sequence[str], caps: Caps) -> tuple[Segment, ...]:
    lines = _shortened(lines, caps)
    if sum(map(len, lines)) + len(lines) <= caps.head_chars + caps.tail_chars:
        return (Segment(1, "\n".join(lines)),)
    head = _first(lines, caps.head_chars)
    rest = lines[len(head) :]
    tail = _last_segment(rest, len(head) + 1, caps)
    return (Segment(1, "\n".join(head)), tail) if head else (tail,)


def _shortened(lines: Sequence[str], caps: Caps) -> list[str]:
    return [clip_line(line, caps.line_chars) for line in lines]


def _first(lines: Sequence[str], limit_chars: int) -> Sequence[str]:
    """Return the first lines that fit."""
    size = 0
    for count, line in enumerate(lines):
        size += len(line) + 1
        if size > limit_chars:
            return lines[:count]
    return lines


def _last_segment(lines: Sequence[str], first_line: int, caps: Caps) -> Segment:
    """Return the last lines that fit, at least one; the first of *lines* has the number *first_line*."""
    kept = len(_first(lines[::-1], caps.tail_chars)) or 1
    return Segment(max(first_line + len(lines) - kept, first_line), "\n".join(lines[-kept:]))
