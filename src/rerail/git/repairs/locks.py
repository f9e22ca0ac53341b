"""Lock files of a repository: which are there, whether anybody may still own them, and how a dead one's is moved aside.

A lock is touched only with owner-dead evidence: no process has it open, no live git works where it counts, and the file does not
change while it is watched. Age proves nothing. Its path is the exact one from git's message, or one of the names that git uses;
nothing is ever searched for by pattern.
"""

from __future__ import annotations

import os
import re
from typing import TYPE_CHECKING

import attrs

from rerail.git.place import Kind, Place, common_dir_of, is_git_dir
from rerail.git.processes import Worker, git_workers, library_users, openers

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator
    from pathlib import Path

    from rerail.git.state import RepoState

# What git locks by these names, private to a worktree and shared by all.
_PRIVATE = (
    *("index", "HEAD", "config.worktree", "ORIG_HEAD", "FETCH_HEAD", "MERGE_HEAD", "MERGE_RR", "AUTO_MERGE"),
    *("CHERRY_PICK_HEAD", "REVERT_HEAD", "REBASE_HEAD", "BISECT_LOG", "sequencer/todo"),
)
_SHARED = (
    *("config", "packed-refs", "shallow", "refs/stash", "gc.pid", "objects/info/commit-graph"),
    *("objects/info/commit-graphs/commit-graph-chain", "objects/pack/multi-pack-index"),
)

# Owners on other machines cannot be seen from here.
_REMOTE_FILE_SYSTEMS = re.compile(
    r"nfs\d?|cifs|smb\w*|afs|afpfs|webdav|davfs|9p|virtiofs|ceph|lustre|gpfs|glusterfs|beegfs|fuse\.(?:sshfs|grpcfuse|s3fs|gluster\w*)"
)

# Bounded, and begun by a quote: a hostile line of any length is read in linear time.
_NAMED_LOCK = re.compile(r"['\"‘“«„]([^'\"‘’“”«»„\r\n]{1,4096}\.lock)['\"’”»“]")  # noqa: RUF001  quotes of other languages
_NAMED_CONFIG = re.compile(r"^(?:error: |fatal: )?could not lock config file (.{1,4096}): File exists")


@attrs.frozen
class Lock:
    """A lock file that is there, with what tells it from a later one of the same name."""

    path: Path
    home: Place
    """The worktree whose git takes it; any of the repository's when it is shared."""
    is_shared: bool
    device: int
    inode: int
    size_bytes: int
    mtime_ns: int

    @property
    def identity(self) -> tuple[int, ...]:
        """What does not change while nobody writes."""
        return (self.device, self.inode, self.size_bytes, self.mtime_ns)


def present_locks(state: RepoState, lines: Iterable[str] = ()) -> tuple[Lock, ...]:
    """Return the locks that are there: those that the failure names first, then those of known name."""
    place = state.here
    named = (path for line in lines for path in _named(state, line))
    found = (_lock(path, place) for path in dict.fromkeys((*named, *_known(state))))
    return tuple(lock for lock in found if lock is not None)


def named_elsewhere(state: RepoState, lines: Iterable[str]) -> tuple[Path, ...]:
    """Return the existing locks that a failure names outside of the repository: those are not rerail's to judge."""
    paths = (path for line in lines for path in _named(state, line))
    return tuple(path for path in dict.fromkeys(paths) if os.path.lexists(path) and not _is_inside(path, state.here))


def names_a_lock(line: str) -> bool:
    """Return whether a line of git's names a lock file, in any language."""
    return _NAMED_LOCK.search(line) is not None or _NAMED_CONFIG.search(line) is not None


def names(some: Iterable[Lock]) -> str:
    """Return the paths of locks, for people."""
    return ", ".join(str(lock.path) for lock in some)


def owners(lock: Lock) -> tuple[Worker, ...]:
    """Return whoever may own a lock now; empty: nobody that lives."""
    return (
        *openers(lock.path),
        *git_workers(lock.home, all_worktrees=lock.is_shared),
        *library_users(lock.home, lock.path, all_worktrees=lock.is_shared),
    )


def is_unchanged(lock: Lock) -> bool:
    """Return whether the file is still the very one that was looked at."""
    again = _lock(lock.path, lock.home)
    return again is not None and again.identity == lock.identity


def remote_file_system(path: Path) -> str:
    """Return the type of the network or host-shared file system that a path is on, ``""`` when it is local."""
    import psutil

    mounts = [
        part for part in psutil.disk_partitions(all=True) if path.is_relative_to(part.mountpoint) and part.mountpoint
    ]
    if not mounts:
        return ""
    kind = max(mounts, key=lambda part: len(part.mountpoint)).fstype
    return kind if _REMOTE_FILE_SYSTEMS.fullmatch(kind) else ""


def set_aside(lock: Lock, target: Path) -> bool:
    """Move a lock to *target* by one rename; return whether it was the one that had been looked at.

    A lock that came into being since is put back at once, and stays its owner's.
    """
    target.parent.mkdir(parents=True, exist_ok=True)
    lock.path.rename(target)
    moved = target.lstat()
    if (moved.st_dev, moved.st_ino) == (lock.device, lock.inode):
        return True
    os.link(target, lock.path, follow_symlinks=False)
    target.unlink()
    return False


def _named(state: RepoState, line: str) -> Iterator[Path]:
    names = [match.strip() for match in _NAMED_LOCK.findall(line)]
    config = _NAMED_CONFIG.search(line)
    if config:
        names.append(f"{config[1]}.lock")
    place = state.here
    for name in names:
        # git names a path from where it runs: the top of the work tree, or the git directory.
        for base in (place.root, state.cwd, place.git_dir):
            if base is not None and os.path.lexists(base / name):
                yield base / name
                break


def _known(state: RepoState) -> Iterator[Path]:
    place = state.here
    yield from (place.git_dir / f"{name}.lock" for name in _PRIVATE)
    yield from (place.common_dir / f"{name}.lock" for name in _SHARED)
    if state.head.branch:
        yield place.common_dir / f"{state.head.branch}.lock"


def _is_inside(path: Path, place: Place) -> bool:
    """Whether a path is in the repository's own directories, symbolic links on the way resolved."""
    folder = path.parent.resolve()
    return any(folder == own or own in folder.parents for own in (place.git_dir, place.common_dir))


def _lock(path: Path, place: Place) -> Lock | None:
    try:
        facts = path.lstat()
    except OSError:
        return None
    if not _is_inside(path, place):
        return None
    path = path.parent.resolve() / path.name
    home = _home(path, place)
    is_private = path.parent == home.git_dir and path.stem in _PRIVATE
    return Lock(path, home, not is_private, facts.st_dev, facts.st_ino, facts.st_size, facts.st_mtime_ns)


def _home(path: Path, place: Place) -> Place:
    """Return the worktree, or the submodule, whose git directory a lock lies in."""
    for folder in path.parents:
        if folder in (place.git_dir, place.common_dir):
            break
        is_worktree = folder.parent == place.common_dir / "worktrees"
        if is_worktree or (is_git_dir(folder) and (folder / "HEAD").is_file()):
            return Place(folder, None, folder, common_dir_of(folder).resolve(), Kind.BARE)
    if path.parent == place.git_dir:
        return place
    return Place(place.common_dir, None, place.common_dir, place.common_dir, Kind.BARE)
