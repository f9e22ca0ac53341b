"""What a verb reads: a file that is named, or standard input for ``-``."""

from __future__ import annotations

import sys

from rerail.errors import UsageError


def read_bytes(file: str) -> bytes:
    """Return what a file holds, or standard input for ``-``.

    Raises:
        UsageError: It cannot be read.
    """
    if file == "-":
        return sys.stdin.buffer.read()
    try:
        with open(file, "rb") as stream:  # noqa: PTH123  pathlib costs a hook 5 ms
            return stream.read()
    except OSError as error:
        raise UsageError(f"{file}: cannot be read: {error.strerror}") from None


def read_text(file: str) -> str:
    """Return the same as text; what is not UTF-8 is replaced.

    Raises:
        UsageError: It cannot be read.
    """
    return read_bytes(file).decode("utf-8", "replace")
