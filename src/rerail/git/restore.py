"""Bringing a repository back to what a backup holds, byte for byte.

Nothing is deleted. A file that has to go is moved below ``<git dir>/rerail/aside/``; a backup holds its bytes.
"""

from __future__ import annotations

import os
import stat
from typing import TYPE_CHECKING

from rerail.errors import GitError
from rerail.git.backup import Backup, Base, Kind, RefMove, SavedFile
from rerail.git.backups import aside_dir
from rerail.git.case import unheard
from rerail.git.files import free_name, link_over, move_aside, write_locked, write_over
from rerail.git.moves import REFLOG_MARK, move_back
from rerail.git.operation import MARKER_DIRS, marker_files
from rerail.git.place import own_dir

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable
    from pathlib import Path

    from rerail.git.command import Git
    from rerail.git.place import Place


def roll_back(git: Git, place: Place, backup: Backup, moves: Iterable[RefMove]) -> None:
    """Take back a heal that failed, in the same breath: everything is as before, reflogs included. See `bring_back`."""
    bring_back(git, place, backup, moves, under=backup, message=f"{REFLOG_MARK}restore", with_logs=True)


def bring_back(
    git: Git,
    place: Place,
    backup: Backup,
    moves: Iterable[RefMove],
    *,
    under: Backup,
    message: str,
    with_logs: bool,
    mark: Callable[[str], None] = unheard,
) -> None:
    """Bring everything that a backup holds back to what it was.

    Args:
        git: The repository.
        place: The worktree that the backup was made in.
        backup: What to go back to.
        moves: The ref moves of the heal. A ref that somebody else has moved since stays.
        under: The backup that holds what has to go.
        message: What the reflogs shall say.
        with_logs: Whether the heal's own entries go from the reflogs too.
        mark: Called with the name of each moment.

    Raises:
        GitError: A lock is held, or an object of the backup cannot be read; going on is safe, and so is calling it again.
    """
    _clear_new_paths(git, place, backup, under)
    move_back(git, moves, message)
    mark("refs")
    _put_markers_back(place, backup, under)
    mark("markers")
    *others, index, head = _in_order(backup.files)
    for file in others:
        is_log = file.path.startswith("logs/") and file.base is not Base.WORK
        if not is_log:
            _put_back(git, place, backup, under, file)
        elif with_logs or file.path == "logs/refs/stash":  # which is the list of the stash
            _shorten_log(git, place, backup, file)
        mark(file.path)
    _put_back(git, place, backup, under, index)
    mark("index")
    _refill_clean_paths(git, place, backup, under)
    mark("clean paths")
    _put_back(git, place, backup, under, head)
    mark("HEAD")


def _put_back(git: Git, place: Place, backup: Backup, under: Backup, file: SavedFile) -> None:
    """Make one path what it was; one that is so already is not written. What has to go is in the backup *under*."""
    where, link = file.where(place), file.link_above(place)
    if file.kind is Kind.ABSENT:
        if link is None and (where.is_symlink() or where.is_file()):
            _aside(place, under, where)
            if file.base is Base.WORK and place.root is not None:
                _prune_dirs(place.root, where.parent, backup.missing_dirs)
        return
    if link is not None:
        raise GitError(f"{file.path} cannot come back: {link} is a symbolic link now", hint="move the link away")
    data = git("cat-file", "blob", file.oid).out
    if _holds(where, file, data):
        return
    if where.is_dir() and not where.is_symlink():
        _aside(place, under, where)
    if file.kind is Kind.LINK:
        link_over(where, data, scratch=own_dir(place))
    elif file.base is Base.WORK or file.path.startswith("logs/"):
        write_over(where, data, scratch=own_dir(place), mode=file.mode, mtime_ns=file.mtime_ns)
    else:
        write_locked(where, data, scratch=own_dir(place), mode=file.mode, mtime_ns=file.mtime_ns)


def _holds(where: Path, file: SavedFile, data: bytes) -> bool:
    try:
        facts = where.lstat()
        if file.kind is Kind.LINK:
            return stat.S_ISLNK(facts.st_mode) and os.fsencode(os.readlink(where)) == data  # noqa: PTH115
        return stat.S_ISREG(facts.st_mode) and stat.S_IMODE(facts.st_mode) == file.mode and where.read_bytes() == data
    except OSError:
        return False


def _aside(place: Place, backup: Backup, path: Path) -> None:
    move_aside(path, free_name(aside_dir(place, backup.id), path.name))


def _clear_new_paths(git: Git, place: Place, backup: Backup, under: Backup) -> None:
    """Move aside what git has put into the work tree since: tracked now, and neither tracked nor there then.

    Only after steps whose reach is not known path by path: those run hooks or a project's command.
    """
    if place.root is None or not backup.reaches_everything:
        return
    listing = git("ls-files", "-z", check=False)
    known = {*backup.tracked, *(file.path for file in backup.saved(Base.WORK) if file.kind is not Kind.ABSENT)}
    for path in dict.fromkeys(listing.records()):
        where = place.root / path
        if path not in known and not _is_behind_link(place, path) and (where.is_symlink() or where.is_file()):
            _aside(place, under, where)
            _prune_dirs(place.root, where.parent, backup.missing_dirs)


def _is_behind_link(place: Place, path: str) -> bool:
    return SavedFile(Base.WORK, path, Kind.ABSENT).link_above(place) is not None


def _prune_dirs(root: Path, folder: Path, missing: Iterable[str]) -> None:
    """Remove directories that have become empty and were not there when the backup was made."""
    gone = {root / name for name in missing}
    while folder in gone:
        try:
            folder.rmdir()
        except OSError:
            return
        folder = folder.parent


def _shorten_log(git: Git, place: Place, backup: Backup, file: SavedFile) -> None:
    """Take a reflog back to what it was, when the heal alone has added to it, or taken from its end."""
    where = file.where(place)
    saved = git("cat-file", "blob", file.oid).out if file.oid else b""
    try:
        now = where.read_bytes()
    except OSError:
        now = b""
    added = now[len(saved) :].splitlines()
    is_ours = now.startswith(saved) and all(b"\t" + REFLOG_MARK.encode() in line for line in added)
    if is_ours or saved.startswith(now):
        _put_back(git, place, backup, backup, file)


def _put_markers_back(place: Place, backup: Backup, under: Backup) -> None:
    """Remove the operation state that was not there; what was is put back with the other files."""
    saved = {file.path for file in backup.saved(Base.GIT)}
    for name in tuple(marker_files(place.git_dir)):
        if name not in saved:
            _aside(place, under, place.git_dir / name)
    for name in MARKER_DIRS:
        folder = place.git_dir / name
        if folder.is_dir() and not any(path.startswith(f"{name}/") for path in saved):
            _aside(place, under, folder)


def _in_order(files: Iterable[SavedFile]) -> list[SavedFile]:
    """Put the index and HEAD last: git compares everything else with the one, and sees no repository without the other."""
    last = {"index": 1, "HEAD": 2}
    return sorted(files, key=lambda file: last.get(file.path, 0) if file.base is Base.GIT else 0)


def _refill_clean_paths(git: Git, place: Place, backup: Backup, under: Backup) -> None:
    """Check out what was clean and is not so now: its bytes are the index's, and were not saved one by one.

    Only after steps whose reach is not known path by path; of any other step, every path that it changes was saved.
    """
    if place.root is None or not backup.reaches_everything:
        return
    saved = {file.path for file in backup.saved(Base.WORK)}
    listing = git("diff-files", "--name-only", "-z", "--ignore-submodules=all", check=False)
    stale = [path for path in listing.records() if path not in saved]
    contents = [path for path in stale if _differs(git, place.root / path, path)]
    for path in contents:
        if os.path.lexists(place.root / path) and not _is_behind_link(place, path):
            _aside(place, under, place.root / path)
    if contents:
        # Without -u: the index keeps its bytes.
        git("checkout-index", "-z", "--stdin", stdin=b"".join(os.fsencode(path) + b"\0" for path in contents))


def _differs(git: Git, where: Path, path: str) -> bool:
    """Whether a file's content differs from the index; a newer time alone is no difference."""
    if not where.is_file() or where.is_symlink():
        return True
    want = git.line("rev-parse", "-q", "--verify", f":{path}", check=False)
    have = git("hash-object", f"--path={path}", "--stdin", stdin=where.read_bytes(), check=False)
    return not have.ok or have.text != want
