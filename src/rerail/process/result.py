"""The record of one command that has ended."""

from __future__ import annotations

from typing import TYPE_CHECKING

import attrs

if TYPE_CHECKING:
    from rerail.process.capture import Captured


@attrs.frozen
class Finished:
    """One command that ran, or could not be started, told as a shell would tell it."""

    argv: tuple[str, ...]
    cwd: str
    """Absolute."""
    exit_code: int | None
    """Never negative; None when a signal ended the command. A code of 128+n is what the command itself reported."""
    signal: str | None
    """The name of the signal that ended it: ``"SIGKILL"``.

    When this and *exit_code* are both None, the end is unknown: someone else collected the status, or the command
    outlived SIGKILL.
    """
    stdout: Captured
    stderr: Captured
    duration_s: float
    """Until its output was read to the end."""
    timed_out: bool = False
    interrupted_by: str | None = None
    """The last of ``"SIGINT"``, ``"SIGTERM"``, ``"SIGHUP"`` that this process received meanwhile.

    The command may have gone on and ended by itself: Ctrl-C at the prompt of an interpreter does not end it.
    """
    core_dumped: bool = False
    closed_sinks: tuple[str, ...] = ()
    """The streams, ``"stdout"`` and ``"stderr"``, that could not be shown to the end because their sink had failed."""
    full_sink: OSError | None = None
    """Why the first of them failed, where it had no room for more: the end of what was to be kept is lost."""
