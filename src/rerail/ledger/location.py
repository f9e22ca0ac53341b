"""Where the ledger of a directory lives. Nothing is created here, and git is not run.

In this order:

1. ``RERAIL_LEDGER``: the path of a file.
2. The user's state directory: ``rerail/KEY.sqlite3``, by platform convention (``XDG_STATE_HOME``, ``~/.local/state``,
   ``~/Library/Application Support``). The key names the repository by its common git directory, so that all its worktrees share
   one ledger; outside of git the project by its root.
3. ``.rerail/ledger.sqlite3`` in the project, where the state directory cannot be written, as in some sandboxes of agents.
"""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from rerail.errors import UsageError
from rerail.paths import find_root, state_dir

if TYPE_CHECKING:
    from collections.abc import Mapping

    from rerail.ledger.store import Ledger

VARIABLE = "RERAIL_LEDGER"

PROJECT_DIRECTORY = ".rerail"
"""Where a project keeps what is rerail's."""

_NAME_CHARS = 40


class Location(NamedTuple):
    """Where a ledger is, or will be once something is written."""

    path: Path
    note: str
    """Why it is not in the user's state directory, in a sentence; ``""`` when it is, or when the user chose the place."""
    key: str
    """Names the repository or project: the same for all its worktrees and directories."""
    shared: Path
    """What the key is made of: the git directory that all worktrees share, or the project's root."""


def locate(cwd: Path, environ: Mapping[str, str]) -> Location:
    """Return where the ledger of a directory is.

    Args:
        cwd: The directory that is worked in.
        environ: ``RERAIL_LEDGER`` and ``XDG_STATE_HOME`` are read from it; the home directory is the process's.

    Raises:
        UsageError: ``RERAIL_LEDGER`` is not a path.
    """
    cwd = Path(os.path.realpath(cwd))
    root = find_root(cwd)
    shared = _shared(cwd) or root
    key = _key(shared)
    if chosen := environ.get(VARIABLE):
        return Location(_chosen(chosen, cwd), "", key, shared)
    state = state_dir(environ)
    if state is not None and _is_writable(path := state / f"{key}.sqlite3"):
        return Location(path, "", key, shared)
    where = "there is no home directory" if state is None else f"{str(state)!a} cannot be written"
    path = root / PROJECT_DIRECTORY / "ledger.sqlite3"
    return Location(path, f"the ledger is kept in {str(path)!a}, because {where}", key, shared)


def open_ledger(location: Location) -> Ledger:
    """Return the ledger there. It opens its file when it is first used, and makes it when something is first written."""
    from rerail.ledger.sqlite import SqliteLedger

    return SqliteLedger(location.path)


def _chosen(value: str, cwd: Path) -> Path:
    scheme, is_url, _ = value.partition("://")
    if not is_url:
        return cwd / os.path.expanduser(value)  # noqa: PTH111  pathlib's raises where there is no home
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


def is_usable(path: Path) -> bool:
    """Whether a ledger could be written there, now or once it is made. Nothing is left behind."""
    return _is_writable(path, for_certain=True)


def _is_writable(path: Path, *, for_certain: bool = False) -> bool:
    """Whether the file could be written now, tried without leaving a trace; *for_certain* may make a file and remove it."""
    try:
        if path.exists():
            return _allows(path, os.R_OK | os.W_OK) and _allows(path.parent, os.W_OK | os.X_OK)
        directory = path.parent
        while not directory.exists():
            directory = directory.parent
    except OSError:
        return False
    return directory.is_dir() and _allows(directory, os.W_OK | os.X_OK) and _takes_a_file(directory, for_certain)


def _allows(path: Path, mode: int) -> bool:
    return os.access(path, mode, effective_ids=os.access in os.supports_effective_ids)


def _takes_a_file(directory: Path, for_certain: bool) -> bool:
    """Whether a sandbox lets a file be made: Landlock forbids what the permissions still allow."""
    unnamed = getattr(os, "O_TMPFILE", None)
    if unnamed is None:
        return True
    try:
        # A file without a name, gone when it is closed.
        os.close(os.open(directory, unnamed | os.O_WRONLY, 0o600))
    except PermissionError:
        return False
    except OSError:
        # Not every file system has such files; the permissions have said what there is to know, except in those of the kernel.
        return not for_certain or _takes_a_named_file(directory)
    return True


def _takes_a_named_file(directory: Path) -> bool:
    trial = directory / f".new-{os.urandom(8).hex()}"
    try:
        os.close(os.open(trial, os.O_CREAT | os.O_EXCL | os.O_WRONLY, 0o600))
        trial.unlink()
    except OSError:
        return False
    return True


def _shared(cwd: Path) -> Path | None:
    """Return the git directory that all worktrees of the repository share; None outside of git."""
    for directory in (cwd, *cwd.parents):
        if _is_git_directory(directory):
            return _common(directory)
        marker = directory / ".git"
        if os.path.lexists(marker):
            # Also when it is broken: what was counted while it was whole is not forgotten.
            return _common(_linked(marker))
    return None


def _is_git_directory(directory: Path) -> bool:
    # os.path's answer False for what may not be looked at; pathlib's raise.
    return os.path.isfile(directory / "HEAD") and (  # noqa: PTH113
        os.path.isdir(directory / "objects") or os.path.isfile(directory / "commondir")  # noqa: PTH112, PTH113
    )


def _linked(marker: Path) -> Path:
    """Return the git directory that a ``.git`` is or names; ``gitrepository-layout(5)``."""
    said = _first_line(marker)
    if said is None or not said.startswith("gitdir:"):
        return marker
    return Path(os.path.realpath(marker.parent / said.removeprefix("gitdir:").strip()))


def _common(git_directory: Path) -> Path:
    """Return the directory that all worktrees of the repository share."""
    said = _first_line(git_directory / "commondir")
    if said:
        return Path(os.path.realpath(git_directory / said))
    if git_directory.parent.name == "worktrees" and not _is_git_directory(git_directory):
        # A linked worktree whose entry is gone. It must not get a ledger of its own, with fresh budgets.
        return Path(os.path.realpath(git_directory.parent.parent))
    return Path(os.path.realpath(git_directory))


def _first_line(path: Path) -> str | None:
    """Return a small file's first line, or None where there is no such file; a pipe is none, and would be waited for."""
    if not os.path.isfile(path):  # noqa: PTH113  as above
        return None
    try:
        with path.open("rb") as file:
            return os.fsdecode(file.readline(8192)).rstrip("\r\n")
    except OSError:
        return None


def _key(shared: Path) -> str:
    """Return a file name that people recognise and no other repository has."""
    # 5 ms to import; nothing else here needs it.
    from hashlib import sha256

    named = shared.parent if shared.name == ".git" else shared
    name = "".join(char if char.isascii() and char.isalnum() else "-" for char in named.name[:_NAME_CHARS]).strip("-")
    digest = sha256(os.fsencode(shared)).hexdigest()[:16]
    return f"{name}-{digest}" if name else digest
