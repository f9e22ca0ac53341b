"""Private files that keep what takes long to make and can be made again: compiled recipes, a scanner's database, patterns.

A file says of what it was made. A missing, foreign, damaged or outdated one is as good as none: its content is made again, and
nobody hears of it. Whoever writes one removes those of its kind that nobody made again for weeks, and the oldest of too many.

Parts are marshal data, which loads ten times as fast as JSON and can make nothing but plain values; because damaged marshal data
may crash the interpreter, a file is read only where its check sum is right. The check sum tells damage alone, and takes a fifth
of the time of a digest: who may write the file is asked of the system.
"""

from __future__ import annotations

import os
from binascii import crc32
from marshal import dumps, loads

from rerail.light_typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Mapping

Parts = dict[str, bytes | memoryview]
"""What is kept, by name: each part is unpacked when it is needed."""

MARSHAL_FORMAT = 4
"""Written whatever the Python, so that one wheel serves all: the newest format that Python 3.11 reads."""

KEY_BYTES = 16
"""How long a key is: that of a `digest`."""
_HEAD_BYTES = KEY_BYTES + 8
"""The key, the check sum of what follows it, and the size of the table of contents: each part's name and size, in their order."""

MOST_FILES = 40
"""Files of one kind that stay: each is about 1 MB, and made again in about 2 s."""
MOST_AGE_S = 30 * 24 * 3600
"""How much older than the newest of its kind a file that stays may be, in seconds."""


def digest(*parts: bytes | memoryview) -> bytes:
    """Return a digest of *parts*; equal ones cut in other places have another."""
    try:
        from _blake2 import blake2b  # what hashlib hands out; hashlib itself loads OpenSSL, 5 ms
    except ImportError:
        from hashlib import blake2b

    made = blake2b(digest_size=KEY_BYTES)
    for part in parts:
        made.update(b"%d:" % len(part))
        made.update(part)
    return made.digest()


def read(path: str, key: bytes | None, *, private: bool = True) -> Parts | None:
    """Return what *path* keeps under *key*; None for anything else, whatever is wrong with it.

    Args:
        path: The file.
        key: What it was written under; None for whatever that was.
        private: Whether a file that somebody else could have written is refused; False for what was installed with the code.
    """
    try:
        with open(path, "rb", buffering=0) as file:  # noqa: PTH123  pathlib costs a hook 5 ms
            if private and not _is_own(file.fileno()):
                return None
            content = memoryview(file.readall())
        if key is not None and content[:KEY_BYTES] != key:
            return None
        checked = content[KEY_BYTES + 4 :]
        if int.from_bytes(content[KEY_BYTES : KEY_BYTES + 4], "little") != crc32(checked):
            return None
        start = _HEAD_BYTES + int.from_bytes(content[KEY_BYTES + 4 : _HEAD_BYTES], "little")
        parts: Parts = {}
        for name, size_bytes in loads(content[_HEAD_BYTES:start]):  # noqa: S302
            parts[name] = content[start : start + size_bytes]
            start += size_bytes
    except (OSError, ValueError, EOFError, TypeError):
        return None
    return parts


def write(path: str, key: bytes, parts: Mapping[str, bytes | memoryview]) -> None:
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
        return
    _prune(path)


def _prune(path: str) -> None:
    """Remove what is old, or too much, of the files beside *path* that are of its kind: named alike up to the first hyphen.

    What a writer that was killed left is of the kind too.
    """
    from contextlib import suppress  # whoever finds what was kept has no use for it

    directory, name = os.path.split(path)
    kind, hyphen, _ = name.partition("-")
    if not hyphen:
        return
    with suppress(OSError), os.scandir(directory) as entries:
        files = [entry for entry in entries if entry.name.startswith(kind + hyphen) and entry.is_file()]
        by_age = sorted([(file.stat(follow_symlinks=False).st_mtime, file.path) for file in files], reverse=True)
        for place, (written_at, each) in enumerate(by_age):
            if each != path and (place >= MOST_FILES or by_age[0][0] - written_at > MOST_AGE_S):
                with suppress(OSError):
                    os.unlink(each)  # noqa: PTH108


def content(key: bytes, parts: Mapping[str, bytes | memoryview]) -> bytes:
    """Return the bytes of a file that keeps *parts* under *key*."""
    table = dumps([(name, len(part)) for name, part in parts.items()], MARSHAL_FORMAT)
    checked = b"".join((len(table).to_bytes(4, "little"), table, *parts.values()))
    return b"".join((key, crc32(checked).to_bytes(4, "little"), checked))


def _is_own(descriptor: int) -> bool:
    status = os.fstat(descriptor)
    return not hasattr(os, "getuid") or (status.st_uid == os.getuid() and not status.st_mode & 0o022)
