"""Files of a project that rerail reads by itself: whoever can write there could also leave a pipe, a device or gigabytes.

Standard library only, and nothing slow: a hook reads the project's files at every tool call.
"""

from __future__ import annotations

import errno
import os
import stat
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from os import PathLike

MOST_BYTES = 16 * 1024 * 1024
"""No file that people write is larger."""


def read_plain(path: str | PathLike[str]) -> bytes:
    """Return what a plain file holds, without ever waiting for one that is none.

    Raises:
        OSError: It cannot be read, is no plain file, or holds more than `MOST_BYTES`.
    """
    # Without O_NONBLOCK the opening alone of a pipe waits until somebody writes to it.
    descriptor = os.open(path, os.O_RDONLY | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_BINARY", 0))
    try:
        if stat.S_ISDIR(mode := os.fstat(descriptor).st_mode):
            raise IsADirectoryError(errno.EISDIR, os.strerror(errno.EISDIR), os.fspath(path))
        if not stat.S_ISREG(mode):
            raise OSError(errno.EINVAL, "is no plain file", os.fspath(path))
        with open(descriptor, "rb", closefd=False) as file:
            content = file.read(MOST_BYTES + 1)
    finally:
        os.close(descriptor)
    if len(content) > MOST_BYTES:
        raise OSError(errno.EFBIG, os.strerror(errno.EFBIG), os.fspath(path))
    return content
