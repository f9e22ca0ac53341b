"""Makes a new SQLite ledger, and brings an older one up to date. Needed once in a ledger's life; opening it is `database`'s."""

from __future__ import annotations

import os
import sqlite3
from contextlib import closing, suppress

from rerail.ledger.database import APPLICATION_ID, immediate
from rerail.ledger.location import PROJECT_DIRECTORY
from rerail.ledger.migrations import MIGRATIONS
from rerail.light_typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable
    from pathlib import Path

_IGNORED = "*\n!/recipes/\n!/recipes/**\n"
"""Everything, but not the project's own recipes, which belong under version control."""

_NETWORK = {"9p", "afs", "beegfs", "ceph", "cifs", "fuse.sshfs", "glusterfs", "gpfs", "lustre", "nfs", "nfs4", "smb3"}
_VIRTUAL = {"fuse.grpcfuse", "fuse.vmhgfs-fuse", "prl_fs", "vboxsf", "virtiofs", "vmhgfs"}
"""File systems that several hosts, or a host and its virtual machines, may share. SQLite's write-ahead log needs memory that all
its users share, and nothing tells it when they do not."""


def create(path: Path) -> None:
    """Make a new ledger at *path*, private to this user, whole or not at all; one that is there already is left alone.

    Raises:
        OSError: The directory cannot be made or written.
        sqlite3.Error: The database cannot be written.
    """
    _make_private(path.parent)
    if path.parent.name == PROJECT_DIRECTORY:
        _keep_out_of_version_control(path.parent)
    draft = path.with_name(f".new-{os.urandom(8).hex()}")
    try:
        try:
            _build(draft, journal_mode(path.parent))
        except sqlite3.OperationalError:
            # Shared memory can be missing on a local file system too, and shows only when it is used.
            _remove(draft)
            _build(draft, "DELETE")
        _publish(draft, path)
    finally:
        _remove(draft)
    _sync(path.parent)


def migrate(connection: sqlite3.Connection, migrations: tuple[tuple[str, ...], ...] = MIGRATIONS) -> None:
    """Apply the migrations that the database does not have yet, in one transaction: all of them or none."""
    with immediate(connection):
        (version,) = connection.execute("PRAGMA user_version").fetchone()
        for statements in migrations[version:]:
            for statement in statements:
                connection.execute(statement)
        # Pragmas take no parameters; both are numbers of ours.
        connection.execute(f"PRAGMA user_version = {max(version, len(migrations))}")
        connection.execute(f"PRAGMA application_id = {APPLICATION_ID}")


def journal_mode(directory: Path) -> str:
    """Return the journal that a new database in *directory* gets: a write-ahead log on a local file system."""
    # psutil costs 15 ms to import; a ledger is made once.
    import psutil

    try:
        mounts = [(mount.mountpoint, mount.fstype) for mount in psutil.disk_partitions(all=True)]
    except (OSError, psutil.Error):
        mounts = []
    return "DELETE" if _file_system(directory, mounts) in _NETWORK | _VIRTUAL | {""} else "WAL"


def _file_system(directory: Path, mounts: Iterable[tuple[str, str]]) -> str:
    """Return the type of the file system that holds *directory*, or ``""``; the last of several at one place hides the others."""
    deepest, found = -1, ""
    for place, kind in mounts:
        if directory.is_relative_to(place) and len(place) >= deepest:
            deepest, found = len(place), kind
    return found


def _build(draft: Path, journal: str) -> None:
    os.close(os.open(draft, os.O_CREAT | os.O_EXCL | os.O_RDWR, 0o600))
    _chmod(draft, 0o600)
    with closing(sqlite3.connect(draft, isolation_level=None)) as connection:
        connection.execute(f"PRAGMA journal_mode = {journal}")
        connection.execute("PRAGMA synchronous = EXTRA")
        connection.execute("PRAGMA fullfsync = ON")
        migrate(connection)


def _remove(draft: Path) -> None:
    for suffix in ("", "-wal", "-shm", "-journal"):
        draft.with_name(draft.name + suffix).unlink(missing_ok=True)


def _publish(draft: Path, path: Path) -> None:
    """Put the draft in its place unless something is there: another process may have been faster."""
    try:
        os.link(draft, path)
    except FileExistsError:
        return
    except OSError:
        # Some file systems have no links.
        _copy(draft, path)


def _copy(draft: Path, path: Path) -> None:
    """Write a new file unless something is there; who looks before it is whole is refused, as with any damaged file."""
    try:
        descriptor = os.open(path, os.O_CREAT | os.O_EXCL | os.O_WRONLY, 0o600)
    except FileExistsError:
        return
    try:
        with os.fdopen(descriptor, "wb") as copy:
            copy.write(draft.read_bytes())
            copy.flush()
            os.fsync(descriptor)
        _chmod(path, 0o600)
    except BaseException:
        path.unlink()
        raise


def _make_private(directory: Path) -> None:
    missing = []
    while not directory.exists():
        missing.append(directory)
        directory = directory.parent
    for made in reversed(missing):
        with suppress(FileExistsError):
            made.mkdir(mode=0o700)
            _chmod(made, 0o700)
            _sync(made.parent)


def _keep_out_of_version_control(directory: Path) -> None:
    with suppress(FileExistsError), (directory / ".gitignore").open("x", encoding="ascii") as ignore:
        ignore.write(_IGNORED)


def _chmod(path: Path, mode: int) -> None:
    # A umask may have taken bits away; a file system without modes has none to give.
    with suppress(OSError):
        path.chmod(mode)


def _sync(directory: Path) -> None:
    """Make a new name in *directory* outlive a power cut, where directories can be synced."""
    with suppress(OSError):
        descriptor = os.open(directory, os.O_RDONLY)
        try:
            os.fsync(descriptor)
        finally:
            os.close(descriptor)
