"""Where the ledger of a directory lives. Nothing is created here, and git is not run.

In this order:

1. ``RERAIL_LEDGER``: the path of a file.
2. The user's state directory: ``rerail/KEY.sqlite3``, by platform convention (``XDG_STATE_HOME``, ``~/.local/state``,
   ``~/Library/Application Support``). The key names the repository by its common git directory, so that all its worktrees share
   one ledger; outside of git the project by its root.
3. ``.rerail/ledger.sqlite3`` in the project, where the state directory cannot be written: in some sandboxes, on a full disk.

Paths are text here, because a hook asks and `pathlib` costs it 5 ms; `Location` hands them out as the library has them.
"""

from __future__ import annotations

import errno
import os

from rerail import kept
from rerail.errors import UsageError
from rerail.light_typing import TYPE_CHECKING, NamedTuple
from rerail.paths import root_above, state_directory

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

    from rerail.ledger.store import Ledger

    StrPath = str | os.PathLike[str]

VARIABLE = "RERAIL_LEDGER"

PROJECT_DIRECTORY = ".rerail"
"""Where a project keeps what is rerail's."""

_NAME_CHARS = 40

_NEW_LEDGER_BYTES = 256 * 1024
"""More than a new ledger takes with its journal."""

_MAKES_FILES = os.W_OK | os.X_OK
_FORBIDDEN = (errno.EACCES, errno.EPERM, errno.EROFS)
_FULL = (errno.ENOSPC, errno.EDQUOT)


class Location(NamedTuple):
    """Where a ledger is, or will be once something is written."""

    file: str
    note: str
    """Why it is not in the user's state directory, in a sentence; ``""`` when it is, or when the user chose the place."""
    key: str
    """Names the repository or project: the same for all its worktrees and directories."""
    home: str
    """What the key is made of: the git directory that all worktrees share, or the project's root."""

    @property
    def path(self) -> Path:
        """The file."""
        from pathlib import Path

        return Path(self.file)

    @property
    def shared(self) -> Path:
        """The same as `home`."""
        from pathlib import Path

        return Path(self.home)


def locate(cwd: StrPath, environ: Mapping[str, str]) -> Location:
    """Return where the ledger of a directory is.

    Args:
        cwd: The directory that is worked in.
        environ: ``RERAIL_LEDGER`` and ``XDG_STATE_HOME`` are read from it; the home directory is the process's.

    Raises:
        UsageError: ``RERAIL_LEDGER`` is not a path.
    """
    cwd = os.path.realpath(cwd)
    root = root_above(cwd)
    shared = _shared(cwd) or root
    key = _key(shared)
    if chosen := environ.get(VARIABLE):
        return Location(_chosen(chosen, cwd), "", key, shared)
    state = state_directory(environ)
    if state is not None and is_usable(file := os.path.join(state, f"{key}.sqlite3")):
        return Location(file, "", key, shared)
    where = "there is no home directory" if state is None else f"{state!a} cannot be written"
    file = os.path.join(root, PROJECT_DIRECTORY, "ledger.sqlite3")
    return Location(file, f"the ledger is kept in {file!a}, because {where}", key, shared)


def open_ledger(location: Location) -> Ledger:
    """Return the ledger there. It opens its file when it is first used, and makes it when something is first written."""
    from rerail.ledger.sqlite import SqliteLedger

    return SqliteLedger(location.file)


def _chosen(value: str, cwd: str) -> str:
    scheme, is_url, _ = value.partition("://")
    if not is_url:
        return os.path.normpath(os.path.join(cwd, os.path.expanduser(value)))
    if scheme in ("postgres", "postgresql"):
        # The value may hold a password; it is not repeated.
        raise UsageError(
            f"{VARIABLE} names a PostgreSQL database; this version of rerail keeps its ledger in a SQLite file only",
            hint=f"set {VARIABLE} to a path on a disk that all processes share, or unset it",
        )
    raise UsageError(
        f"{VARIABLE} must be the path of a file, got a {scheme!a} URL",
        hint=f"write {VARIABLE}=/path/to/ledger.sqlite3",
    )


def is_usable(path: StrPath) -> bool:
    """Whether a ledger could be written there, now or once it is made: tried, for permissions do not say it all.

    Nothing is left behind. A ledger that is there is not opened: closing any descriptor of it would drop the locks that SQLite
    holds in another thread.
    """
    directory = os.path.dirname(path)
    try:
        if _is_there(path):
            return _allows(path, os.R_OK | os.W_OK) and _allows(directory, _MAKES_FILES) and _lets_in(directory)
        while not _is_there(directory):
            directory = os.path.dirname(directory)
    except OSError:
        return False
    return os.path.isdir(directory) and _allows(directory, _MAKES_FILES) and _takes_a_ledger(directory)


def _is_there(path: StrPath) -> bool:
    """Whether there is something.

    Raises:
        OSError: It may not be looked at.
    """
    try:
        os.stat(path)
    except (FileNotFoundError, NotADirectoryError):
        return False
    return True


def _allows(path: StrPath, mode: int) -> bool:
    return os.access(path, mode, effective_ids=os.access in os.supports_effective_ids)


def _lets_in(directory: str) -> bool:
    """Whether a sandbox lets files be made beside a ledger, as far as can be known without making one.

    A full disk is not asked about: another ledger would begin with budgets that this one has counted as used.
    """
    try:
        os.close(_unnamed_file(directory))
    except OSError as error:
        return error.errno not in _FORBIDDEN
    return True


def _takes_a_ledger(directory: str) -> bool:
    """Whether a new ledger can be made there: not where a sandbox or a kernel's file system forbids it, or the disk is full."""
    try:
        descriptor, trial = _trial_file(directory)
        try:
            return _has_room(descriptor)
        finally:
            os.close(descriptor)
            if trial is not None:
                os.unlink(trial)
    except OSError:
        return False


def _trial_file(directory: str) -> tuple[int, str | None]:
    """Return the descriptor of a new file, and its name; it has one only where the file system has no other files."""
    try:
        return _unnamed_file(directory), None
    except OSError:
        trial = os.path.join(directory, f".new-{os.urandom(8).hex()}")
        return os.open(trial, os.O_CREAT | os.O_EXCL | os.O_WRONLY, 0o600), trial


def _unnamed_file(directory: str) -> int:
    """Make a file that has no name, and is gone when its descriptor is closed.

    Raises:
        OSError: The platform or the file system has no such files, or it takes none at all.
    """
    if not hasattr(os, "O_TMPFILE"):
        raise OSError(errno.EOPNOTSUPP, os.strerror(errno.EOPNOTSUPP))
    return os.open(directory, os.O_TMPFILE | os.O_WRONLY, 0o600)


def _has_room(descriptor: int) -> bool:
    try:
        os.posix_fallocate(descriptor, 0, _NEW_LEDGER_BYTES)
    except AttributeError:
        pass  # Windows and macOS: nothing is known
    except OSError as error:
        return error.errno not in _FULL
    return True


def _shared(cwd: str) -> str | None:
    """Return the git directory that all worktrees of the repository share; None outside of git."""
    directory = cwd
    while True:
        if _is_git_directory(directory):
            return _common(directory)
        marker = os.path.join(directory, ".git")
        if os.path.lexists(marker):
            # Also when it is broken: what was counted while it was whole is not forgotten.
            return _common(_linked(marker))
        above = os.path.dirname(directory)
        if above == directory:
            return None
        directory = above


def _is_git_directory(directory: str) -> bool:
    # os.path's answer False for what may not be looked at; pathlib's raise.
    return os.path.isfile(os.path.join(directory, "HEAD")) and (
        os.path.isdir(os.path.join(directory, "objects")) or os.path.isfile(os.path.join(directory, "commondir"))
    )


def _linked(marker: str) -> str:
    """Return the git directory that a ``.git`` is or names; ``gitrepository-layout(5)``."""
    said = _first_line(marker)
    if said is None or not said.startswith("gitdir:"):
        return marker
    return os.path.realpath(os.path.join(os.path.dirname(marker), said.removeprefix("gitdir:").strip()))


def _common(git_directory: str) -> str:
    """Return the directory that all worktrees of the repository share."""
    said = _first_line(os.path.join(git_directory, "commondir"))
    if said:
        return os.path.realpath(os.path.join(git_directory, said))
    above = os.path.dirname(git_directory)
    if os.path.basename(above) == "worktrees" and not _is_git_directory(git_directory):
        # A linked worktree whose entry is gone. It must not get a ledger of its own, with fresh budgets.
        return os.path.realpath(os.path.dirname(above))
    return os.path.realpath(git_directory)


def _first_line(path: str) -> str | None:
    """Return a small file's first line, or None where there is no such file; a pipe is none, and would be waited for."""
    if not os.path.isfile(path):
        return None
    try:
        with open(path, "rb") as file:
            return os.fsdecode(file.readline(8192)).rstrip("\r\n")
    except OSError:
        return None


def _key(shared: str) -> str:
    """Return a file name that people recognise and no other repository has."""
    named = os.path.dirname(shared) if os.path.basename(shared) == ".git" else shared
    called = os.path.basename(named)[:_NAME_CHARS]
    name = "".join(char if char.isascii() and char.isalnum() else "-" for char in called).strip("-")
    digest = kept.digest(os.fsencode(shared)).hex()[:16]
    return f"{name}-{digest}" if name else digest
