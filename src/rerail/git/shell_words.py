"""Names as words of a shell command: exact, on one line, and never an option, a second command or a pattern."""

from __future__ import annotations

import os
import shlex

from rerail.evidence.ansi import printable

_SPECIAL = frozenset("*?[\\")


def shell_word(text: str) -> str:
    r"""Return a text as one word of a command, for people to copy.

    What does not show as itself (control characters, marks that turn the reading direction, bytes that are no UTF-8) is written
    in octal within ``$'...'``, which bash, zsh, ksh and POSIX 2024 read back to the very bytes.

    Raises:
        ValueError: No command can hold it: it has a NUL byte, or half of a surrogate pair.
    """
    if "\0" in text:
        raise ValueError("a NUL byte")
    if printable(text) == text:
        return shlex.quote(text)
    return "$'" + "".join(map(_escaped, text)) + "'"


def pathspec(path: str) -> str:
    """Return a path within the work tree as git's commands take paths: literally, and never as an option."""
    if path.startswith((":", "-")) or not _SPECIAL.isdisjoint(path):
        return f":(literal){path}"
    return path


def _escaped(character: str) -> str:
    if character in "\\'":
        return f"\\{character}"
    if printable(character) == character:
        return character
    return "".join(f"\\{byte:03o}" for byte in os.fsencode(character))
