"""The worktrees that a repository has registered, read from its files."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

import attrs

from rerail.git.place import pointer_target
from rerail.plain_file import open_plain

if TYPE_CHECKING:
    from pathlib import Path


@attrs.frozen
class Worktree:
    """One worktree of a repository."""

    git_dir: Path
    root: Path | None
    """Where its files are; None: a bare main worktree, or a registration that does not say."""
    head: str
    """The content of its HEAD, without the newline; ``""`` when it cannot be read."""
    locked: str | None = None
    """Why it is locked; ``""`` without a stated reason, None when it is not locked."""

    @property
    def branch(self) -> str | None:
        """The full name of the branch that it has checked out."""
        return self.head.removeprefix("ref: ") if self.head.startswith("ref: ") else None

    @property
    def is_missing(self) -> bool:
        """Whether git would prune it: its files are gone, or belong to another registration."""
        if self.root is None:
            return False
        entry = self.root / ".git"
        if entry.is_dir():
            return entry.resolve() != self.git_dir
        target = pointer_target(entry)
        return target is None or not target.is_dir() or target.resolve() != self.git_dir


def registered(common_dir: Path) -> tuple[Worktree, ...]:
    """Return the main worktree and every linked one, in the order of their names."""
    main_root = common_dir.parent if common_dir.name == ".git" else None
    found = [Worktree(common_dir, main_root, read_head(common_dir))]
    try:
        names = sorted(os.listdir(common_dir / "worktrees"))  # noqa: PTH208  names only
    except OSError:
        names = []
    return (*found, *(linked(common_dir / "worktrees" / name) for name in names))


def linked(git_dir: Path) -> Worktree:
    """Return the linked worktree whose private git directory this is."""
    pointer = _read(git_dir / "gitdir")
    root = (git_dir / os.fsdecode(pointer)).parent if pointer else None
    reason = _read(git_dir / "locked")
    locked = None if reason is None else reason.decode(errors="replace")
    resolved = git_dir.resolve()
    return Worktree(resolved, root and root.resolve(), read_head(git_dir), locked)


def read_head(git_dir: Path) -> str:
    """Return the content of a git directory's HEAD, ``""`` when it cannot be read."""
    return os.fsdecode(_read(git_dir / "HEAD") or b"")


def _read(path: Path) -> bytes | None:
    try:
        with open_plain(path) as file:
            return file.read(65_536).strip()
    except OSError:
        return None
