"""Files that rerail itself writes or moves in a repository: atomically, by git's own lock protocol, and never by deleting.

Everything that has to give way is moved below ``<git dir>/rerail/``, after its bytes have become objects that a backup ref holds.
"""

from __future__ import annotations

import os
import secrets
import shutil
from typing import TYPE_CHECKING

from rerail.errors import GitError

if TYPE_CHECKING:
    from pathlib import Path

_SCRATCH_MARK = ".rerail-"


def write_locked(path: Path, data: bytes, *, scratch: Path, mode: int = 0o644, mtime_ns: int | None = None) -> None:
    """Replace a file of a git directory as git does: through its ``.lock``, in one rename.

    The lock appears whole, as a second name of a file in *scratch*: by that a later call knows one that a kill has left, and
    takes it over. The caller holds the repository's lease.

    Args:
        path: The file.
        data: What it shall hold.
        scratch: A directory of rerail's own, where it is written first.
        mode: Its permissions.
        mtime_ns: Its time of change; an index must get back its own, or git misses edits that came right after it.

    Raises:
        GitError: Somebody holds the lock.
    """
    lock = path.with_name(path.name + ".lock")
    fresh = _scratch_name(path, scratch)
    _fill(_made(fresh, mode), fresh, data, mode, mtime_ns)
    try:
        _drop_own(lock, scratch)
        _take_lock(lock, fresh, mode)
        lock.replace(path)
    finally:
        fresh.unlink(missing_ok=True)


def _drop_own(lock: Path, scratch: Path) -> None:
    """Remove a lock that a killed rerail has left behind, and no other."""
    try:
        facts = lock.lstat()
    except FileNotFoundError:
        return
    if any(os.path.samestat(facts, each.lstat()) for each in scratch.glob(f"{_SCRATCH_MARK}*")):
        lock.unlink()


def _take_lock(lock: Path, fresh: Path, mode: int) -> None:
    try:
        try:
            lock.hardlink_to(fresh)
        except FileExistsError:
            raise
        except OSError:  # a file system without a second name for a file
            os.close(_made(lock, mode))
            fresh.replace(lock)
    except FileExistsError:
        raise GitError(f"{lock} is held by somebody", hint="let the other git process finish") from None


def write_over(path: Path, data: bytes, *, scratch: Path, mode: int, mtime_ns: int | None = None) -> None:
    """Replace a file of the work tree in one rename.

    Args:
        path: The file.
        data: What it shall hold.
        scratch: A directory of rerail's own, where it is written first: a kill leaves nothing in the work tree.
        mode: Its permissions.
        mtime_ns: Its time of change; None: now.
    """
    fresh = _scratch_name(path, scratch)
    _fill(_made(fresh, mode), fresh, data, mode, mtime_ns)
    _take_place(fresh, path)


def link_over(path: Path, target: bytes, *, scratch: Path) -> None:
    """Replace whatever is at *path* by a symbolic link, in one rename."""
    fresh = _scratch_name(path, scratch)
    fresh.symlink_to(os.fsdecode(target))
    _take_place(fresh, path)


def move_aside(path: Path, target: Path) -> None:
    """Move a file, a link or a directory of them out of the way; *target* must not exist."""
    target.parent.mkdir(parents=True, exist_ok=True)
    try:
        path.rename(target)
    except OSError:
        # Another file system: a copy first, and the original goes only when the copy is whole.
        shutil.move(path, target)


def free_name(directory: Path, name: str) -> Path:
    """Return a path below *directory* that nothing occupies yet."""
    candidate, number = directory / name, 1
    while os.path.lexists(candidate):
        number += 1
        candidate = directory / f"{name}~{number}"
    return candidate


def _scratch_name(path: Path, scratch: Path) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    scratch.mkdir(parents=True, exist_ok=True)
    # On another file system a rename would not be one: then beside the file.
    folder = scratch if scratch.stat().st_dev == path.parent.stat().st_dev else path.parent
    return free_name(folder, f"{_SCRATCH_MARK}{secrets.token_hex(6)}")


def _made(path: Path, mode: int) -> int:
    """Make a file that is not there yet, and return it open for writing."""
    return os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL | getattr(os, "O_BINARY", 0), mode)


def _take_place(fresh: Path, path: Path) -> None:
    try:
        fresh.replace(path)
    except BaseException:
        fresh.unlink(missing_ok=True)
        raise


def _fill(descriptor: int, path: Path, data: bytes, mode: int, mtime_ns: int | None) -> None:
    try:
        with os.fdopen(descriptor, "wb") as file:
            file.write(data)
            file.flush()
            os.fsync(file.fileno())
        path.chmod(mode)
        if mtime_ns is not None:
            os.utime(path, ns=(mtime_ns, mtime_ns))
    except BaseException:
        path.unlink(missing_ok=True)
        raise
