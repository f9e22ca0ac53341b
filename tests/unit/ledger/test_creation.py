"""A new ledger is whole or not there; a migration is whole or not made; both are private."""

from __future__ import annotations

import errno
import os
import signal
import sqlite3
import stat
from pathlib import Path

import pytest
from tests.ledgers import charge, files, finished, python
from tests.strategies import UNIT

from rerail.budget.model import Balance
from rerail.ledger import creation
from rerail.ledger.creation import create, migrate
from rerail.ledger.migrations import MIGRATIONS
from rerail.ledger.sql import SCHEMA_VERSION
from rerail.ledger.sqlite import SqliteLedger


def modes(directory: Path) -> dict[str, int]:
    return {path.name: stat.S_IMODE(path.stat().st_mode) for path in (directory, *directory.iterdir())}


def test_the_known_schema_is_the_last_migration() -> None:
    assert len(MIGRATIONS) == SCHEMA_VERSION


@pytest.mark.parametrize("umask", [0o000, 0o022, 0o077, 0o777])
def test_only_the_user_can_read_it_whatever_the_umask(tmp_path: Path, umask: int) -> None:
    path = tmp_path / "a" / "b" / "ledger.sqlite3"
    before = os.umask(umask)
    try:
        ledger = SqliteLedger(path)
        ledger.charge(charge())
    finally:
        os.umask(before)
    # While it is open its log and shared memory lie beside it.
    assert modes(path.parent) == {
        "b": 0o700,
        "ledger.sqlite3": 0o600,
        "ledger.sqlite3-wal": 0o600,
        "ledger.sqlite3-shm": 0o600,
    }
    assert stat.S_IMODE((tmp_path / "a").stat().st_mode) == 0o700
    ledger.close()


def test_a_directory_that_was_there_keeps_its_mode(tmp_path: Path) -> None:
    tmp_path.chmod(0o755)
    create(tmp_path / "ledger.sqlite3")
    assert stat.S_IMODE(tmp_path.stat().st_mode) == 0o755


def test_a_ledger_that_is_there_is_left_alone(tmp_path: Path) -> None:
    path = tmp_path / "ledger.sqlite3"
    path.write_bytes(b"somebody else's")
    create(path)
    assert files(tmp_path) == {"ledger.sqlite3": b"somebody else's"}


@pytest.mark.parametrize("error", [errno.EPERM, errno.ENOTSUP, errno.ENOSYS])
def test_a_file_system_without_links_will_do(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, error: int) -> None:
    def refuse(*_: object) -> None:
        raise OSError(error, os.strerror(error))

    monkeypatch.setattr(os, "link", refuse)
    path = tmp_path / "ledger.sqlite3"
    create(path)
    whole = path.read_bytes()
    create(path)
    assert files(tmp_path) == {"ledger.sqlite3": whole}
    ledger = SqliteLedger(path)
    assert ledger.charge(charge()).granted
    ledger.close()


@pytest.mark.parametrize("step", ["_build", "migrate", "_publish", "_remove"])
@pytest.mark.parametrize("when", ["before", "after"])
def test_a_creation_that_is_killed_leaves_a_ledger_or_none(tmp_path: Path, step: str, when: str) -> None:
    code = f"""
import os, signal, sys
from pathlib import Path
from rerail.ledger import creation
def die(*_): os.kill(os.getpid(), signal.SIGKILL)
step = creation.{step}
creation.{step} = die if {when == "before"} else lambda *given: (step(*given), die())
creation.create(Path(sys.argv[1]))
"""
    path = tmp_path / "ledger.sqlite3"
    process = python(code, path)
    process.communicate()
    assert process.returncode == -signal.SIGKILL

    ledger = SqliteLedger(path)
    assert ledger.balances() == ()
    assert ledger.charge(charge()).granted
    ledger.close()


def test_processes_that_create_at_once_share_one(tmp_path: Path) -> None:
    code = """
import sys
from rerail.budget.model import Charge, Window
from rerail.ledger.sqlite import SqliteLedger
ledger = SqliteLedger(sys.argv[1])
print("ready", flush=True)
sys.stdin.read()
ledger.charge(Charge(sys.argv[2], "verify:tests", 1, "provider", 100, Window(100, 10.0), 0.0))
"""
    path = tmp_path / "deep" / "down" / "ledger.sqlite3"
    processes = [python(code, path, n, stdin=-1) for n in range(6)]
    for process in processes:
        assert process.stdout is not None
        assert process.stdout.readline() == "ready\n"
    for process in processes:
        assert process.stdin is not None
        process.stdin.close()
        process.stdin = None
    for process in processes:
        finished(process)
    ledger = SqliteLedger(path)
    assert ledger.balances() == (Balance(UNIT, "provider", 100, 6),)
    ledger.close()
    assert files(path.parent).keys() == {path.name}


ADD_A_TABLE = ("CREATE TABLE more (n INTEGER)", "INSERT INTO more VALUES (1)")


def test_an_older_schema_is_brought_up_to_date_and_keeps_what_it_held(tmp_path: Path) -> None:
    path = tmp_path / "ledger.sqlite3"
    ledger = SqliteLedger(path)
    granted = ledger.charge(charge())
    ledger.close()
    connection = sqlite3.connect(path, isolation_level=None)
    migrate(connection, (*MIGRATIONS, ADD_A_TABLE))
    migrate(connection, (*MIGRATIONS, ADD_A_TABLE))
    assert connection.execute("SELECT n FROM more").fetchall() == [(1,)]
    assert connection.execute("PRAGMA user_version").fetchone() == (SCHEMA_VERSION + 1,)
    connection.execute(f"PRAGMA user_version = {SCHEMA_VERSION}")
    connection.close()
    again = SqliteLedger(path)
    assert again.charge(charge()) == granted
    again.close()


def test_a_migration_that_is_killed_midway_leaves_the_schema_that_was(tmp_path: Path) -> None:
    code = """
import os, signal, sqlite3, sys
from rerail.ledger.creation import migrate
from rerail.ledger.migrations import MIGRATIONS
connection = sqlite3.connect(sys.argv[1], isolation_level=None)
connection.create_function("die", 0, lambda: os.kill(os.getpid(), signal.SIGKILL))
broken = ("DROP TABLE charges", "DELETE FROM balances", "SELECT die()", "CREATE TABLE more (n INTEGER)")
migrate(connection, (*MIGRATIONS, broken))
"""
    path = tmp_path / "ledger.sqlite3"
    ledger = SqliteLedger(path)
    granted = ledger.charge(charge())
    process = python(code, path)
    process.communicate()
    assert process.returncode == -signal.SIGKILL
    assert ledger.charge(charge()) == granted
    assert ledger.charge(charge(2)).balance.spent == 2
    ledger.close()


@pytest.mark.parametrize(
    ("mounts", "journal"),
    [
        ([("/", "ext4")], "WAL"),
        ([("/", "ext4"), ("/home", "nfs4")], "DELETE"),
        ([("/", "nfs"), ("/home/me", "apfs")], "WAL"),
        ([("/", "ext4"), ("/home/me/st", "nfs")], "WAL"),
        ([("/", "ext4"), ("/home", "ext4"), ("/home", "cifs")], "DELETE"),
        ([("/", "overlay"), ("/home/me/state", "virtiofs")], "DELETE"),
        ([], "DELETE"),
    ],
)
def test_a_file_system_that_hosts_may_share_gets_no_shared_memory(
    monkeypatch: pytest.MonkeyPatch, mounts: list[tuple[str, str]], journal: str
) -> None:
    import psutil

    class Mount:
        def __init__(self, place: str, kind: str) -> None:
            self.mountpoint, self.fstype = place, kind

    monkeypatch.setattr(psutil, "disk_partitions", lambda all: [Mount(*mount) for mount in mounts])  # noqa: A006  psutil's name
    assert creation.journal_mode(Path("/home/me/state/rerail")) == journal


def test_mounts_that_cannot_be_listed_give_the_safe_journal(monkeypatch: pytest.MonkeyPatch) -> None:
    import psutil

    def refuse(all: bool) -> None:  # noqa: A002  psutil's name
        raise FileNotFoundError("/proc/filesystems")

    monkeypatch.setattr(psutil, "disk_partitions", refuse)
    assert creation.journal_mode(Path("/home")) == "DELETE"


def test_a_local_disk_gets_a_write_ahead_log_that_falls_back_where_it_does_not_work(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    built = creation._build

    def no_shared_memory(draft: Path, journal: str) -> None:
        built(draft, journal)
        if journal == "WAL":
            raise sqlite3.OperationalError("disk I/O error")

    monkeypatch.setattr(creation, "journal_mode", lambda _: "WAL")
    create(tmp_path / "with.sqlite3")
    monkeypatch.setattr(creation, "_build", no_shared_memory)
    create(tmp_path / "without.sqlite3")
    for name, journal in (("with", "wal"), ("without", "delete")):
        with sqlite3.connect(tmp_path / f"{name}.sqlite3") as connection:
            assert connection.execute("PRAGMA journal_mode").fetchone() == (journal,)
        connection.close()


class TestInAProject:
    def test_git_does_not_see_the_ledger_and_sees_the_recipes(self, tmp_path: Path) -> None:
        import subprocess

        subprocess.run(["git", "init", "-q", tmp_path], check=True)
        create(tmp_path / ".rerail" / "ledger.sqlite3")
        recipe = tmp_path / ".rerail" / "recipes" / "local" / "ours.toml"
        recipe.parent.mkdir(parents=True)
        recipe.touch()
        (tmp_path / ".rerail" / "other").mkdir()
        (tmp_path / ".rerail" / "other" / "recipes").touch()
        status = subprocess.run(
            ["git", "-C", tmp_path, "status", "--porcelain", "-uall"], check=True, capture_output=True, text=True
        )
        assert status.stdout == "?? .rerail/recipes/local/ours.toml\n"

    def test_a_gitignore_that_is_there_stays(self, tmp_path: Path) -> None:
        (tmp_path / ".rerail").mkdir()
        (tmp_path / ".rerail" / ".gitignore").write_text("mine\n")
        create(tmp_path / ".rerail" / "ledger.sqlite3")
        assert (tmp_path / ".rerail" / ".gitignore").read_text() == "mine\n"

    def test_elsewhere_no_gitignore_is_written(self, tmp_path: Path) -> None:
        create(tmp_path / "rerail" / "ledger.sqlite3")
        assert files(tmp_path).keys() == {"rerail/ledger.sqlite3"}
