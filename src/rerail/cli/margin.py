"""Keeps what rerail says on lines of its own, behind a command's output that may end inside a line."""

from __future__ import annotations

import os
from contextlib import suppress

from rerail.light_typing import TYPE_CHECKING

if TYPE_CHECKING:
    from typing import TextIO

    from rerail.evidence.model import Evidence
    from rerail.process import Finished

_STREAMS = ("stdout", "stderr")


def is_shared(stdout: object, stderr: object) -> bool:
    """Return whether two streams end in the same place: one terminal, or one file or pipe under ``2>&1``."""
    try:
        return os.path.samestat(os.fstat(stdout.fileno()), os.fstat(stderr.fileno()))  # type: ignore[attr-defined]  # or it is caught
    except (AttributeError, OSError, ValueError):
        return False


def ends_inside_a_line(finished: Finished, *, with_stdout: bool) -> bool:
    """Return whether a finished command left the place that is shown on stderr inside a line.

    Args:
        finished: The command; which of its streams came last is not known, so one that ends so is enough.
        with_stdout: Whether its stdout is shown there too.
    """
    shown = (finished.stdout, finished.stderr) if with_stdout else (finished.stderr,)
    ends = (stream.tail or stream.head for stream in shown)
    return any(end and not end.endswith(b"\n") for end in ends)


def may_end_inside_a_line(evidence: Evidence, *, with_stdout: bool) -> bool:
    """Return the same for a failed command, of which only the evidence is left: text, without its last line end.

    Where redaction or escape codes hide whether there was one, it says yes: a blank line too many forges nothing.
    """
    shown = _STREAMS if with_stdout else _STREAMS[1:]
    return any(
        stream.total_bytes > 0 and len(stream.text.encode("utf-8", "surrogatepass")) + 1 != stream.total_bytes
        for stream in evidence.streams
        if stream.name in shown
    )


_SETTLE = "\x18\x0f\x1b[0m"
"""Cancels an escape sequence that was left open, and puts character set and colours back (ECMA-48: CAN, SI, SGR 0)."""


def settle(stream: TextIO | None) -> None:
    """Undo on a terminal what a command's output may have left there: concealed text, a colour, half an escape sequence."""
    if is_terminal(stream):
        assert stream is not None
        with suppress(OSError, ValueError):
            print(_SETTLE, end="", file=stream)


def say(stream: TextIO | None, text: str = "") -> None:
    """Write a line, or end one, on *stream*, where it is there and anybody reads it."""
    # print() takes no stream for stdout, which is a command's own or an envelope's.
    if stream is not None:
        with suppress(OSError, ValueError):
            print(text, file=stream, flush=True)


def is_terminal(stream: TextIO | None) -> bool:
    """Return whether a stream is there and is a terminal."""
    return stream is not None and stream.isatty()
