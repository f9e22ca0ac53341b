"""A finished process made `Evidence`. What a wrapper such as ``env``, ``uv run`` or ``bash -c`` ran is left to the rules."""

from __future__ import annotations

from rerail.evidence import notes
from rerail.evidence.clip import as_stream, in_order
from rerail.evidence.command import command_of, program_of
from rerail.evidence.fields import label
from rerail.evidence.model import Evidence, Source, Stream, StreamName
from rerail.light_typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence

_LARGEST_CODE = 2**63  # what no system can return, a payload may still say


TIMED_OUT = "rerail-timed-out"
"""The code of a process that was ended by whoever waited for it: how it died then says nothing of its own."""


def from_process(
    argv: str | Sequence[str],
    *,
    exit_code: int | None,
    signal: str | None = None,
    stdout: Stream | bytes | str = b"",
    stderr: Stream | bytes | str = b"",
    cwd: str = "",
    duration_s: float | None = None,
    timed_out: bool = False,
) -> Evidence:
    """Return the evidence that a finished process is.

    Args:
        argv: The argument list, or a command line.
        exit_code: Its exit code; a negative one is a signal's number, as `subprocess` counts. None when a signal ended it.
        signal: The name of the signal that ended it.
        stdout: Its standard output, raw or already a stream.
        stderr: Its standard error, raw or already a stream.
        cwd: Where it ran.
        duration_s: How long it ran, in seconds.
        timed_out: Whoever waited for it ended it after a time limit.
    """
    command = command_of(argv)
    code, ended_by = ending(exit_code)
    return Evidence(
        Source.PROCESS,
        command=command,
        tool=program_of(command),
        exit_code=code,
        signal=signal or ended_by,
        streams=in_order(stderr=as_stream(StreamName.STDERR, stderr), stdout=as_stream(StreamName.STDOUT, stdout)),
        cwd=label(cwd, 4096),
        duration_s=duration_s,
        codes=(TIMED_OUT,) if timed_out else (),
        notes=(notes.TIMED_OUT,) if timed_out else (),
    )


def ending(code: int | None) -> tuple[int | None, str | None]:
    """Return exit code and signal: a negative code is a signal's number, as `subprocess` counts; -9 is ``SIGKILL``.

    A negative code that is no signal of this system (Windows has such) stays a code.
    """
    if code is None or abs(code) > _LARGEST_CODE:
        return None, None
    if code >= 0:
        return code, None
    from signal import Signals

    try:
        return None, Signals(-code).name
    except ValueError:
        return code, None
