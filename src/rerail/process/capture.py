"""Capped capture of a byte stream: the head and a larger tail are kept, the middle is counted and forgotten.

Memory is bounded by construction: the head never grows past its cap, and the tail's buffer never past twice its cap
and one chunk, whatever the stream's length and however it is cut into chunks. Bytes stay bytes: decoding, redaction
and clipping of lines belong to `rerail.evidence`.
"""

from __future__ import annotations

import attrs

KIB = 1024


@attrs.frozen
class CaptureCaps:
    """How much of one stream is kept."""

    head_bytes: int = attrs.field(default=256 * KIB, validator=attrs.validators.ge(0))
    tail_bytes: int = attrs.field(default=768 * KIB, validator=attrs.validators.ge(0))
    """Larger than the head: a failure is told at the end."""


DEFAULT_CAPS = CaptureCaps()


@attrs.frozen
class Captured:
    """What is left of one stream after the run."""

    head: bytes
    """The first bytes; the whole stream when nothing was dropped. It may end inside a line."""
    tail: bytes
    """The last bytes; ``b""`` when nothing was dropped. It may begin inside a line."""
    tail_first_line: int
    """The true number, counted from 1, of the first line that begins in *tail* (without a tail: that would come next).

    When *tail* begins inside a line, the rest of that line has the number before.
    """
    total_bytes: int
    total_lines: int
    """Newlines, plus one when the last line has none."""

    @property
    def dropped_bytes(self) -> int:
        """How many bytes between head and tail were let go."""
        return self.total_bytes - len(self.head) - len(self.tail)


class Capture:
    """Takes a stream chunk by chunk; the result does not depend on where the chunks were cut."""

    def __init__(self, caps: CaptureCaps = DEFAULT_CAPS) -> None:
        self._caps = caps
        self._head = bytearray()
        self._rest = bytearray()
        # One byte more than the tail, to know whether the tail begins a line.
        self._kept_bytes = caps.tail_bytes + 1
        self._total_bytes = 0
        self._newlines = 0
        self._ends_line = True

    def feed(self, chunk: bytes) -> None:
        """Take the next bytes of the stream."""
        if not chunk:
            return
        self._total_bytes += len(chunk)
        self._newlines += chunk.count(b"\n")
        self._ends_line = chunk.endswith(b"\n")
        room = self._caps.head_bytes - len(self._head)
        if room > 0:
            self._head += chunk[:room]
            chunk = chunk[room:]
        self._rest += chunk
        # Cut only when the buffer is twice too long: each byte is then moved once on average.
        if len(self._rest) > 2 * self._kept_bytes:
            del self._rest[: -self._kept_bytes]

    @property
    def buffered_bytes(self) -> int:
        """How many bytes are held now."""
        return len(self._head) + len(self._rest)

    def captured(self) -> Captured:
        """Return what was kept so far."""
        total_lines = self._newlines + (not self._ends_line)
        if self._total_bytes <= self._caps.head_bytes + self._caps.tail_bytes:
            head, tail, tail_first_line = bytes(self._head + self._rest), b"", total_lines + 1
        else:
            before, tail = self._split_rest()
            head = bytes(self._head)
            inside_a_line = before != b"\n"
            tail_first_line = self._newlines - tail.count(b"\n") + 1 + inside_a_line
        return Captured(
            head=head,
            tail=tail,
            tail_first_line=tail_first_line,
            total_bytes=self._total_bytes,
            total_lines=total_lines,
        )

    def _split_rest(self) -> tuple[bytes, bytes]:
        """Return the byte before the tail, and the tail."""
        kept = bytes(self._rest[-self._kept_bytes :])
        return kept[:1], kept[1:]
