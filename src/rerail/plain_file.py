"""Files that rerail reads and others write: whoever can write there could also leave a pipe, a device or gigabytes.

Standard library only, and nothing slow: a hook reads the project's files at every tool call.
"""

from __future__ import annotations

import errno
import os
import stat

from rerail.light_typing import TYPE_CHECKING

if TYPE_CHECKING:
    from io import BufferedReader
    from os import PathLike
    from typing import BinaryIO

MOST_BYTES = 16 * 1024 * 1024
"""No file that people write is larger."""


def read_plain(path: str | PathLike[str], most_bytes: int | None = MOST_BYTES) -> bytes:
    """Return what a plain file holds, without ever waiting for one that is none.

    Args:
        path: The file.
        most_bytes: How much it may hold; None for what a program made, which may be as large as it is.

    Raises:
        OSError: It cannot be read, is no plain file, or holds more.
    """
    with open_plain(path) as file:
        return file.read() if most_bytes is None else read_all(file, path, most_bytes)


def open_plain(path: str | PathLike[str]) -> BufferedReader:
    """Open a plain file for reading.

    Raises:
        OSError: It cannot be opened, or is no plain file.
    """
    return open(path, "rb", opener=_opened)


def _opened(path: str, flags: int) -> int:
    # Without O_NONBLOCK the opening alone of a pipe waits until somebody writes to it.
    descriptor = os.open(path, flags | getattr(os, "O_NONBLOCK", 0))
    mode = os.fstat(descriptor).st_mode
    if stat.S_ISREG(mode) or stat.S_ISDIR(mode):  # directories are refused by whoever called, with the right words
        return descriptor
    os.close(descriptor)
    raise OSError(errno.EINVAL, "is no plain file", path)


def read_all(file: BinaryIO, name: str | PathLike[str], most_bytes: int) -> bytes:
    """Return what is left in an open file, which may be a pipe.

    Raises:
        OSError: It cannot be read, or holds more than *most_bytes*.
    """
    content = file.read(most_bytes + 1)
    if len(content) > most_bytes:
        raise OSError(errno.EFBIG, f"{os.strerror(errno.EFBIG)}, more than {most_bytes >> 20} MB", os.fspath(name))
    return content
