"""What a verb reads: a file that is named, or standard input for ``-``. Nothing is waited for, or read, without end."""

from __future__ import annotations

import sys

from rerail.errors import UsageError
from rerail.light_typing import TYPE_CHECKING
from rerail.plain_file import open_plain, read_all

if TYPE_CHECKING:
    from collections.abc import Iterator
    from typing import BinaryIO

MOST_BYTES = 64 * 1024 * 1024
"""Of what is read whole: a file, standard input, or one line of a batch."""

_HANDED_IN = ("/dev/fd/", "/proc/self/fd/", "/dev/stdin")
"""What is open already, as where a shell substitutes ``<(command)``: a pipe there has somebody who writes to it."""


def read_bytes(file: str) -> bytes:
    """Return what a file holds, or standard input for ``-``.

    Raises:
        UsageError: It cannot be read, is no plain file, or holds more than `MOST_BYTES`.
    """
    try:
        with _opened(file) as stream:
            return read_all(stream, file, MOST_BYTES)
    except OSError as error:
        raise _unreadable(file, error) from None


def read_text(file: str) -> str:
    """Return the same as text; what is not UTF-8 is replaced.

    Raises:
        UsageError: It cannot be read, is no plain file, or holds more than `MOST_BYTES`.
    """
    return read_bytes(file).decode("utf-8", "replace")


def read_lines(file: str) -> Iterator[bytes]:
    r"""Yield the lines of a file, or of standard input for ``-``, as they come: they end at ``\n`` alone.

    Raises:
        UsageError: It cannot be read, is no plain file, or one line holds more than `MOST_BYTES`.
    """
    try:
        with _opened(file) as stream:
            while line := stream.readline(MOST_BYTES + 1):
                if len(line) > MOST_BYTES:
                    raise UsageError(f"{_called(file)}: a line has {MOST_BYTES >> 20} MB at most")
                yield line
    except OSError as error:
        raise _unreadable(file, error) from None


def _opened(file: str) -> BinaryIO:
    if file == "-":
        if sys.stdin is None:
            raise UsageError("standard input is closed, and nothing else was named to read")
        return open(sys.stdin.fileno(), "rb", closefd=False)
    if file.startswith(_HANDED_IN):
        return open(file, "rb")  # noqa: PTH123  pathlib costs a hook 5 ms
    return open_plain(file)


def _unreadable(file: str, error: OSError) -> UsageError:
    return UsageError(f"{_called(file)}: cannot be read: {error.strerror or error}")


def _called(file: str) -> str:
    return "standard input" if file == "-" else file
