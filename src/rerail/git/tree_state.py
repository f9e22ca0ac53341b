"""Tells one state of the files that a command works on from another, for a handed-back command runs again only when they changed.

In a work tree, git says which files differ from HEAD and only those are read; elsewhere sizes and times are compared. Nothing is
written.
"""

from __future__ import annotations

import os
from hashlib import blake2b
from pathlib import Path
from typing import TYPE_CHECKING

from rerail.errors import GitError
from rerail.git.command import run_git
from rerail.plain_file import read_plain

if TYPE_CHECKING:
    from collections.abc import Iterator

_READ_BYTES = 4 * 1024 * 1024
"""Of a larger file, size and time stand for the content."""
_WALKED_FILES = 20_000
_NEVER_INPUT = frozenset(
    {".git", ".rerail", "__pycache__", ".pytest_cache", ".mypy_cache", ".ruff_cache", "node_modules"}
)
"""Directories that a check itself writes to, or that are only ever derived; they would make each run look like a change."""


def tree_state(cwd: str) -> str:
    """Return a text that differs whenever a tracked or untracked file at *cwd* does. Ignored files do not count."""
    digest = blake2b(digest_size=16)
    for part in _of_work_tree(Path(cwd)) or _of_directory(Path(cwd)):
        digest.update(part)
        digest.update(b"\0")
    return digest.hexdigest()


def _of_work_tree(cwd: Path) -> list[bytes]:
    """Return what stands for the state of a git work tree; nothing where git does not answer."""
    try:
        root = run_git(cwd, "rev-parse", "--show-toplevel").text
        head = run_git(cwd, "rev-parse", "--verify", "--quiet", "HEAD", check=False).out
        status = run_git(Path(root), "status", "--porcelain=v2", "-z", "--untracked-files=all", "--no-renames")
    except GitError:
        return []
    # Each record ends in its path: "1 .M N... 100644 100644 100644 <id> <id> path", "u ... path", "? path".
    changed = [record.split(" ", {"1": 8, "u": 10}.get(record[:1], 1))[-1] for record in status.records()]
    return [b"git", head, *(_content(Path(root, path)) for path in sorted(changed)), status.out]


def _of_directory(cwd: Path) -> Iterator[bytes]:
    """Yield what stands for the files below a directory that is in no repository."""
    yield b"files"
    seen = 0
    for directory, names, files in os.walk(cwd):
        names[:] = sorted(set(names) - _NEVER_INPUT)
        for name in sorted(files):
            path = Path(directory, name)
            yield os.fsencode(path) + b" " + _size_and_time(path)
            seen += 1
            if seen >= _WALKED_FILES:
                return


def _content(path: Path) -> bytes:
    try:
        if path.is_symlink():
            return os.fsencode(path) + b" -> " + os.fsencode(path.readlink())
        if path.is_dir() or path.stat().st_size > _READ_BYTES:
            return os.fsencode(path) + b" " + _size_and_time(path)
        return os.fsencode(path) + b" " + blake2b(read_plain(path, None)).digest()
    except OSError as error:
        return os.fsencode(path) + b" " + type(error).__name__.encode()


def _size_and_time(path: Path) -> bytes:
    try:
        status = path.lstat()
    except OSError as error:
        return type(error).__name__.encode()
    return f"{status.st_size} {status.st_mtime_ns}".encode()
