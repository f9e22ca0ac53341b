"""Private files that keep what takes long to make and can be made again: compiled recipes, a scanner's database, patterns.

A file says of what it was made. A missing, foreign, damaged or outdated one is as good as none: its content is made again, and
nobody hears of it. It is marshal data, which loads ten times as fast as JSON and can make nothing but plain values; because
damaged marshal data may crash the interpreter, it is read only where its check sum is right.
"""

from __future__ import annotations

import marshal
import os
from typing import TYPE_CHECKING

try:
    from _blake2 import blake2b  # what hashlib hands out; hashlib itself loads OpenSSL, 5 ms
except ImportError:
    from hashlib import blake2b

if TYPE_CHECKING:
    from collections.abc import Mapping

Parts = dict[str, bytes]
"""Marshal data by name: each part is unpacked when it is needed."""

MARSHAL_FORMAT = 4
"""Written whatever the Python, so that one wheel serves all: the newest format that Python 3.11 reads."""

_DIGEST_BYTES = 16


def digest(*parts: bytes | memoryview) -> bytes:
    """Return a digest of *parts*; equal ones cut in other places have another."""
    made = blake2b(digest_size=_DIGEST_BYTES)
    for part in parts:
        made.update(b"%d:" % len(part))
        made.update(part)
    return made.digest()


def read(path: str, key: bytes, *, private: bool = True) -> Parts | None:
    """Return what *path* keeps under *key*; None for anything else, whatever is wrong with it.

    Args:
        path: The file.
        key: What it was written under.
        private: Whether a file that somebody else could have written is refused; False for what was installed with the code.
    """
    try:
        with open(path, "rb") as file:  # noqa: PTH123  pathlib costs a hook 5 ms
            if private and not _is_own(file.fileno()):
                return None
            content = memoryview(file.read())
        body = content[2 * _DIGEST_BYTES :]
        if content[: 2 * _DIGEST_BYTES] != key + digest(body):
            return None
        parts: Parts = marshal.loads(body)  # noqa: S302
    except (OSError, ValueError, EOFError, TypeError):
        return None
    return parts


def write(path: str, key: bytes, parts: Mapping[str, bytes]) -> None:
    """Keep *parts* under *key*, whole or not at all; where they cannot be kept, only time is lost."""
    scratch = f"{path}.{os.getpid()}"
    try:
        os.makedirs(os.path.dirname(path), mode=0o700, exist_ok=True)  # noqa: PTH103, PTH120  see read
        descriptor = os.open(scratch, os.O_WRONLY | os.O_CREAT | os.O_EXCL | getattr(os, "O_BINARY", 0), 0o600)
    except OSError:
        return
    try:
        with os.fdopen(descriptor, "wb") as file:
            file.write(content(key, parts))
        os.replace(scratch, path)  # noqa: PTH105
    except OSError:
        os.unlink(scratch)  # noqa: PTH108


def content(key: bytes, parts: Mapping[str, bytes]) -> bytes:
    """Return the bytes of a file that keeps *parts* under *key*."""
    body = marshal.dumps(dict(parts), MARSHAL_FORMAT)
    return key + digest(body) + body


def _is_own(descriptor: int) -> bool:
    status = os.fstat(descriptor)
    return not hasattr(os, "getuid") or (status.st_uid == os.getuid() and not status.st_mode & 0o022)
