"""Argument lists: split, named, made safe to keep. What a wrapper such as ``env`` or ``bash -c`` runs is left to the rules."""

from __future__ import annotations

from rerail.evidence.ansi import strip
from rerail.evidence.clip import clip_line
from rerail.evidence.redact import redact_command
from rerail.light_typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence

_MAX_ARGUMENTS = 512
_MAX_ARGUMENT_CHARS = 4 * 1024
# A shell's grammar is read character by character: a longer line is split at spaces.
_MAX_SHELL_CHARS = 16 * 1024
_QUOTING = frozenset("'\"\\")
_PROGRAM_SUFFIXES = (".exe", ".cmd", ".bat", ".com")


def command_of(command: str | Sequence[object]) -> tuple[str, ...]:
    """Return *command* as a redacted, clipped argument list; one string is split as a shell would, unless it cannot be."""
    arguments = split_command(command) if isinstance(command, str) else map(_text, command[:_MAX_ARGUMENTS])
    # Redacted before it is clipped: half a secret is not recognised.
    return tuple([clip_line(argument, _MAX_ARGUMENT_CHARS) for argument in redact_command(list(map(strip, arguments)))])


def split_command(line: str) -> list[str]:
    """Return the arguments of a command line."""
    if line.isascii() and line.isprintable() and _QUOTING.isdisjoint(line):
        return line.split()[:_MAX_ARGUMENTS]  # PERF: a tenth of the time, and as a shell would
    if len(line) <= _MAX_SHELL_CHARS:
        import shlex

        try:
            return shlex.split(line)[:_MAX_ARGUMENTS]
        except ValueError:  # an open quote: no shell would take it either
            pass
    return line.split()[:_MAX_ARGUMENTS]


def program_of(command: Sequence[str]) -> str:
    r"""Return the program's name without directory and Windows suffix: ``C:\Git\git.exe`` is ``git``."""
    if not command:
        return ""
    name = command[0].replace("\\", "/").rstrip("/").rpartition("/")[2]
    for suffix in _PROGRAM_SUFFIXES:
        if name.lower().endswith(suffix):
            return name[: -len(suffix)]
    return name


def _text(argument: object) -> str:
    if isinstance(argument, str):
        return argument
    if isinstance(argument, bytes):
        return argument.decode("utf-8", "replace")
    return str(argument)
