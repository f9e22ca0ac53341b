"""Where a directory's repository is, found by reading files: no process starts, nothing is written.

This is what git's own discovery does, with one difference that is the point of it: a ``.git`` that is there but broken ends the
search. git walks on and silently works in an outer repository; for an agent that is the wrong tree.

What is in the repository is for `rerail.git.probe` to say, and whether it may be worked in for `rerail.git.safety`.
"""

from __future__ import annotations

import os
from enum import StrEnum
from pathlib import Path

import attrs

from rerail.plain_file import open_plain, read_plain


class Kind(StrEnum):
    """What the ``.git`` entry is."""

    DIRECTORY = "directory"
    FILE = "file"
    """A linked worktree's or a submodule's pointer."""
    BARE = "bare"
    """The directory is a git directory itself."""


@attrs.frozen
class Place:
    """A repository that a directory belongs to. All paths are absolute, with symbolic links resolved."""

    cwd: Path
    root: Path | None
    """The top of the work tree; None in a bare repository or inside a git directory."""
    git_dir: Path
    """Private to this worktree: HEAD, the index, operations in progress."""
    common_dir: Path
    """Shared by all worktrees: objects, branches, configuration."""
    kind: Kind

    @property
    def is_linked(self) -> bool:
        """Whether it is a linked worktree."""
        return self.git_dir != self.common_dir


@attrs.frozen
class NoPlace:
    """Why a directory belongs to no repository that could be worked in."""

    reason: str
    """A reason of class worktree: ``cwd-gone``, ``not-a-repository``, ``missing-git-dir``, ``broken-link``."""
    detail: str


def locate(cwd: Path) -> Place | NoPlace:
    """Return the repository of a directory, or why there is none. Honours ``GIT_CEILING_DIRECTORIES``."""
    try:
        here = cwd.resolve(strict=True)
    except (OSError, RuntimeError) as error:
        return NoPlace("cwd-gone", f"{cwd}: {getattr(error, 'strerror', None) or error}")
    if not here.is_dir():
        return NoPlace("cwd-gone", f"{cwd} is not a directory")
    ceilings = _ceilings()
    for directory in (here, *here.parents):
        if directory != here and directory in ceilings:
            break
        entry = directory / ".git"
        if entry.is_dir():
            return _in_directory(here, directory, entry)
        if entry.is_file() or entry.is_symlink():
            return _in_pointer(here, directory, entry)
        if is_git_dir(directory):
            return Place(here, None, directory, common_dir_of(directory), Kind.BARE)
    return NoPlace("not-a-repository", f"neither {here} nor a directory above it has a .git")


def own_dir(place: Place) -> Path:
    """Return where rerail keeps its files of a worktree: out of git's sight, and out of the work tree."""
    return place.git_dir / "rerail"


def is_git_dir(directory: Path) -> bool:
    """Return whether a directory is a git directory, judged without its HEAD, which may be the thing that broke."""
    return (directory / "objects").is_dir() and (directory / "refs").is_dir()


def common_dir_of(git_dir: Path) -> Path:
    """Return the shared git directory behind a private one; the same one in a main worktree."""
    try:
        pointer = read_plain(git_dir / "commondir").strip()
    except OSError:
        return git_dir
    return Path(os.path.normpath(git_dir / os.fsdecode(pointer))) if pointer else git_dir


def pointer_target(entry: Path) -> Path | None:
    """Return where a ``.git`` file points, or None when it does not say ``gitdir: ...``."""
    try:
        with open_plain(entry) as file:
            text = file.read(65_536)
    except OSError:
        return None
    head, sep, target = text.partition(b"gitdir:")
    if head.strip() or not sep or not target.strip():
        return None
    return Path(os.path.normpath(entry.parent / os.fsdecode(target.strip())))


def _in_directory(here: Path, root: Path, entry: Path) -> Place | NoPlace:
    git_dir = entry.resolve()
    if not is_git_dir(git_dir):
        return NoPlace("missing-git-dir", f"{entry} is there, but it has no objects and refs")
    if here == git_dir or git_dir in here.parents:
        return Place(here, None, git_dir, git_dir, Kind.BARE)
    return Place(here, root, git_dir, git_dir, Kind.DIRECTORY)


def _in_pointer(here: Path, root: Path, entry: Path) -> Place | NoPlace:
    target = pointer_target(entry)
    if target is None:
        return NoPlace("broken-link", f"{entry} does not point to a git directory")
    if not target.is_dir():
        return NoPlace("broken-link", f"{entry} points to {target}, which does not exist")
    git_dir = target.resolve()
    common = common_dir_of(git_dir)
    if not is_git_dir(common):
        return NoPlace("broken-link", f"{entry} points to {target}, which leads to no repository")
    return Place(here, root, git_dir, common.resolve(), Kind.FILE)


def _ceilings() -> frozenset[Path]:
    """Directories that the search does not enter; relative entries are ignored, as git does."""
    entries = os.environ.get("GIT_CEILING_DIRECTORIES", "").split(os.pathsep)
    return frozenset(Path(entry).resolve() for entry in entries if entry and Path(entry).is_absolute())
