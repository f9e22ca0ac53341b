"""Evidence: the normalised, redacted, clipped, frozen record of one failure.

These are values only. Each source has its own normaliser beside this module; `rerail.rules` reads what they make. The values are
named tuples rather than attrs classes because a hook runs at every tool call and attrs alone costs more than the whole
classification (58 ms of import against 2 ms).
"""

from __future__ import annotations

from enum import StrEnum

from rerail.light_typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Iterator


class Source(StrEnum):
    """Where a failure came from."""

    EXCEPTION = "exception"
    PROCESS = "process"
    HTTP = "http"
    MCP = "mcp"
    HOOK = "hook"
    TEXT = "text"


class StreamName(StrEnum):
    """The channel that a line was read from."""

    STDERR = "stderr"
    STDOUT = "stdout"
    MESSAGE = "message"
    """The text of an exception, or what the caller says went wrong."""
    BODY = "body"
    """The body of an HTTP response."""
    REPORT = "report"
    """What a tool's own report says failed: a line that says what was checked, then one for each check."""


class Segment(NamedTuple):
    """Consecutive lines of a stream, joined by newlines."""

    first_line: int
    """The true number of the first line, counted from 1."""
    text: str


class Stream(NamedTuple):
    """One channel's text: free of escape codes, with secrets redacted, and clipped in the middle when it was long."""

    name: StreamName
    segments: tuple[Segment, ...]
    """One segment, or two when lines between the head and the tail were dropped."""
    total_lines: int
    total_bytes: int

    def lines(self) -> Iterator[tuple[int, str]]:
        """Yield ``(number, text)``, the number counted from 1 in the stream as it was before clipping."""
        for segment in self.segments:
            yield from enumerate(segment.text.split("\n"), start=segment.first_line)

    @property
    def text(self) -> str:
        """The kept text; a gap between segments is one newline."""
        return "\n".join(segment.text for segment in self.segments)


class Link(StrEnum):
    """How an exception hangs on the one outside it."""

    RAISED = "raised"
    CAUSE = "cause"
    """``__cause__``: raised *from* it, or an attribute that holds the wrapped error."""
    CONTEXT = "context"
    """``__context__``: raised while it was handled."""
    MEMBER = "member"
    """A leaf of an exception group."""


class ExceptionFact(NamedTuple):
    """One exception of a chain, reduced to facts. Nothing of the live object is kept."""

    link: Link
    types: tuple[str, ...]
    """Qualified names along the MRO, most derived first, without ``object``: ``("openai.RateLimitError", ...)``."""
    message: str
    """Redacted and clipped; also a line of the ``message`` stream."""
    status: int | None = None
    """An HTTP status the object carries, by whatever attribute."""
    codes: tuple[str, ...] = ()
    """Structured error codes the object or its response body carries: ``("insufficient_quota",)``."""
    errno: str | None = None
    """The symbolic name: ``ENOSPC``."""


class Evidence(NamedTuple):
    """One failure, ready to be named. Every field is optional; at least one says something."""

    source: Source
    command: tuple[str, ...] = ()
    """The argument list; a command line that came as one string is split as a shell would, unless it cannot be."""
    tool: str = ""
    """The tool an agent called, or the program of ``command`` without its directory."""
    exit_code: int | None = None
    signal: str | None = None
    """``SIGKILL``; a status of 128+n is left to the rules, for a program may mean it."""
    http_status: int | None = None
    headers: tuple[tuple[str, str], ...] = ()
    """Lower-case names from an allow-list, in the order they came."""
    exceptions: tuple[ExceptionFact, ...] = ()
    """Outermost first."""
    codes: tuple[str, ...] = ()
    """Structured error codes read from bodies and results: JSON ``error.code``, ``error.type``, JSON-RPC numbers."""
    streams: tuple[Stream, ...] = ()
    """In order of trust: message, report, stderr, body, stdout; absent ones are left out."""
    cwd: str = ""
    duration_s: float | None = None
    notes: tuple[str, ...] = ()
    """What the normaliser saw beside the failure: a spent inner retry budget, a truncated body."""

    def stream(self, name: StreamName) -> Stream | None:
        """Return the stream of that name, if the failure has one."""
        return next((stream for stream in self.streams if stream.name == name), None)
