"""One SQLite file: opened late, created whole, private, told apart from anything else. What is in it is `sqlite`'s and `rows`'.

- Nothing is touched until it is needed: a read of a database that is not there yet gives nothing and creates nothing.
- A new database is built beside its place and then linked there, so nobody ever sees a half-made one. That is also why an empty
  file is damage, never a fresh start.
- What was opened once and is gone, replaced, damaged, or not ours raises `LedgerError`; the file is left as it is.
- Threads share one connection behind a lock: SQLite lets one writer in at a time anyway. It is closed before the process forks,
  because a child that inherits SQLite's idea of its locks would write beside its parent.
"""

from __future__ import annotations

import os
import sqlite3
import stat
from _thread import RLock, allocate_lock  # those of threading, which a hook need not import; nor weakref
from _weakrefset import WeakSet
from contextlib import contextmanager, suppress

from rerail.errors import LedgerError
from rerail.ledger.sql import SCHEMA_VERSION
from rerail.light_typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator

APPLICATION_ID = 0x7265_7261
"""In the header of every ledger ("rera" in ASCII), so that another program's database is never taken for one."""

BUSY_TIMEOUT_S = 30.0

_DECISIVE_TABLES = ("units", "balances")
"""Where a row that damage hides would be a fresh budget."""

_DAMAGED = "is damaged; it was left as it is, and what it held counts as spent"
_RESTORE = "restore it from a backup, or move it away yourself to begin with an empty ledger"

_BY_CODE: dict[int, tuple[str, str]] = {
    sqlite3.SQLITE_NOTADB: (f"is not a database, or {_DAMAGED}", _RESTORE),
    sqlite3.SQLITE_CORRUPT: (_DAMAGED, _RESTORE),
    sqlite3.SQLITE_BUSY: (
        "stayed locked by another process for {timeout_s:g} s",
        "find the process that holds it, or try again",
    ),
    sqlite3.SQLITE_FULL: ("cannot be written: the disk is full", "free some space, then run again"),
}
"""What SQLite's primary result codes mean here, and what to do next."""


class Database:
    """One SQLite file, for all threads of a process.

    Args:
        path: Where it is, or will be once something is written.
        timeout_s: How long to wait for another process's transaction.
    """

    def __init__(self, path: str | os.PathLike[str], *, timeout_s: float = BUSY_TIMEOUT_S) -> None:
        # Absolute and without links: the program may change its directory.
        self.path = os.path.realpath(path)
        self._timeout_s = timeout_s
        # Re-entrant: a signal handler that writes in the middle of a write is refused, and does not wait for itself.
        self._lock = RLock()
        self._connection: sqlite3.Connection | None = None
        self._opened: tuple[int, int] | None = None
        """Device and inode of the file that this process saw first; it works with no other."""
        _databases.add(self)

    @contextmanager
    def reading(self) -> Iterator[sqlite3.Connection | None]:
        """Give the connection, or None while there is no database.

        Raises:
            LedgerError: The database cannot be used.
        """
        with self._lock, self._named_errors():
            yield self._connected()

    @contextmanager
    def writing(self) -> Iterator[sqlite3.Connection]:
        """Give a connection that holds the write lock; what is done is kept at the end, on disk, or nothing is.

        Raises:
            LedgerError: The database cannot be used.
        """
        with self._lock, self._named_errors():
            connection = self._connected()
            if connection is None:
                # Costs imports that a process without failures never needs.
                from pathlib import Path

                from rerail.ledger.creation import create

                create(Path(self.path))
                connection = self._connected()
                assert connection is not None
            with immediate(connection):
                yield connection

    def close(self) -> None:
        """Close the connection; whoever uses the database again opens it again."""
        with self._lock:
            self._disconnect()

    def _connected(self) -> sqlite3.Connection | None:
        try:
            found = os.stat(self.path)  # noqa: PTH116  pathlib costs a hook 5 ms, and half as much again at every call
        except FileNotFoundError:
            if self._opened is None:
                return None
            raise LedgerError(
                f"the ledger {_shown(self.path)} was removed while it was in use; what it held counts as spent",
                hint="put it back, or start the program anew to begin with an empty one",
            ) from None
        identity = (found.st_dev, found.st_ino)
        if self._opened not in (None, identity):
            raise LedgerError(
                f"the ledger {_shown(self.path)} was replaced by another file while it was in use",
                hint="start the program anew to work with the file that is there now",
            )
        if self._connection is None:
            _check_is_file(self.path, found)
            self._connection = _connect(self.path, self._timeout_s)
            self._opened = identity
        return self._connection

    def _disconnect(self) -> None:
        connection, self._connection = self._connection, None
        if connection is not None:
            # Everything was committed; what cannot be tidied away now is, by the next one to open it.
            with suppress(sqlite3.Error):
                connection.close()

    @contextmanager
    def _named_errors(self) -> Iterator[None]:
        try:
            yield
        except sqlite3.ProgrammingError:
            raise
        except (sqlite3.Error, OSError) as error:
            raise _named(error, self.path, self._timeout_s) from error


@contextmanager
def immediate(connection: sqlite3.Connection) -> Iterator[None]:
    """Run one transaction that holds the write lock from its start: what it reads is what it changes."""
    connection.execute("BEGIN IMMEDIATE")
    try:
        yield
        connection.execute("COMMIT")
    except BaseException:
        # SQLite has rolled back by itself after some errors (disk full), and not after others.
        if connection.in_transaction:
            with suppress(sqlite3.Error):
                connection.execute("ROLLBACK")
        raise


def _connect(path: str, timeout_s: float) -> sqlite3.Connection:
    # mode=rw: a file that vanished since it was looked for is not made anew.
    connection = sqlite3.connect(
        f"{_uri(path)}?mode=rw", uri=True, timeout=timeout_s, isolation_level=None, check_same_thread=False
    )
    try:
        _prepare(connection)
        _check_is_ledger(connection, path)
        _check_is_whole(connection, path)
    except BaseException:
        connection.close()
        raise
    return connection


def _uri(path: str) -> str:
    if path.startswith("/") and path.isascii() and all(char.isalnum() or char in "/._-" for char in path):
        return f"file://{path}"
    from pathlib import Path  # which knows how to write any other

    return Path(path).as_uri()


def _prepare(connection: sqlite3.Connection) -> None:
    # EXTRA is FULL plus a sync of the directory after a rollback journal is unlinked: a power cut takes back no charge that was
    # granted, in either journal mode. On macOS a sync reaches the disk only with fullfsync.
    connection.execute("PRAGMA synchronous = EXTRA")
    connection.execute("PRAGMA fullfsync = ON")
    # Damage is found when a page is read, not when it has spread.
    connection.execute("PRAGMA cell_size_check = ON")


def _check_is_file(path: str, found: os.stat_result) -> None:
    if not stat.S_ISREG(found.st_mode):
        raise LedgerError(
            f"the ledger {_shown(path)} is not a regular file",
            hint="set RERAIL_LEDGER to the path of a file; it need not exist yet",
        )
    if found.st_size == 0:
        raise LedgerError(
            f"the ledger {_shown(path)} is empty: something emptied it, and what it held counts as spent",
            hint=_RESTORE,
        )


def _check_is_ledger(connection: sqlite3.Connection, path: str) -> None:
    (application_id,) = connection.execute("PRAGMA application_id").fetchone()
    if application_id != APPLICATION_ID:
        raise LedgerError(
            f"{_shown(path)} is a database of another program, not a ledger; it was left as it is",
            hint="set RERAIL_LEDGER to a path of its own",
        )
    (version,) = connection.execute("PRAGMA user_version").fetchone()
    if version < 1:
        raise LedgerError(f"the ledger {_shown(path)} {_DAMAGED}", hint=_RESTORE)
    if version > SCHEMA_VERSION:
        raise LedgerError(
            f"the ledger {_shown(path)} has schema {version}; this rerail knows schemas up to {SCHEMA_VERSION}",
            hint="update rerail to the version that wrote it",
        )
    if version < SCHEMA_VERSION:
        from rerail.ledger.creation import migrate

        migrate(connection)


def _check_is_whole(connection: sqlite3.Connection, path: str) -> None:
    """Find damage that reading would not: a row that its index no longer knows. 30 us, and 0.7 ms more per thousand rows."""
    for table in _DECISIVE_TABLES:
        if connection.execute(f"PRAGMA integrity_check({table})").fetchone() != ("ok",):
            raise LedgerError(f"the ledger {_shown(path)} {_DAMAGED}", hint=_RESTORE)


def _named(error: sqlite3.Error | OSError, path: str, timeout_s: float) -> LedgerError:
    code = getattr(error, "sqlite_errorcode", None)
    if code is not None and code & 0xFF in _BY_CODE:
        what, hint = _BY_CODE[code & 0xFF]
        return LedgerError(f"the ledger {_shown(path)} {what.format(timeout_s=timeout_s)}", hint=hint)
    reason = error.strerror if isinstance(error, OSError) and error.strerror else str(error)
    return LedgerError(
        f"the ledger {_shown(path)} cannot be used: {reason}",
        hint="make the file and its directory readable and writable for this user, or set RERAIL_LEDGER to a path that is",
    )


def _shown(path: str) -> str:
    return ascii(path)


# Threads that fork at once close one after the other; the lock is held over the fork, in the child too.
_databases: WeakSet[Database] = WeakSet()
_fork_lock = allocate_lock()
_locked_for_fork: list[Database] = []


def _before_fork() -> None:
    _fork_lock.acquire()
    for database in list(_databases):
        database._lock.acquire()  # noqa: SLF001  this module's own
        _locked_for_fork.append(database)
        database._disconnect()  # noqa: SLF001


def _after_fork() -> None:
    while _locked_for_fork:
        _locked_for_fork.pop()._lock.release()  # noqa: SLF001
    _fork_lock.release()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(before=_before_fork, after_in_parent=_after_fork, after_in_child=_after_fork)
