"""What cannot be used says so, says what to do next, is left as it is, and is never taken for a fresh start."""

from __future__ import annotations

import os
import random
import shutil
import sqlite3
import tempfile
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from tests.ledgers import charge, files, finished, in_phase, python, without_rights
from tests.strategies import RUN, UNIT

from rerail.budget.model import Balance
from rerail.decisions.model import HandBack, Phase
from rerail.errors import LedgerError
from rerail.ledger import creation  # noqa: F401  a child under another user could not import it any more
from rerail.ledger.database import APPLICATION_ID
from rerail.ledger.sql import SCHEMA_VERSION
from rerail.ledger.sqlite import SqliteLedger

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

PAGE = 4096
HANDED_BACK = in_phase(Phase.HANDED_BACK)


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "ledger.sqlite3"


@pytest.fixture
def shared_directory() -> Iterator[Path]:
    """A directory that another user can reach; pytest's own are private."""
    directory = Path(tempfile.mkdtemp())
    directory.chmod(0o755)
    yield directory
    shutil.rmtree(directory)


def filled(path: Path, charges: int = 3) -> Path:
    """A ledger that has spent, and holds a unit that was handed back."""
    ledger = SqliteLedger(path)
    for attempt in range(1, charges + 1):
        ledger.charge(charge(attempt))
        ledger.append("e", run=RUN, unit=UNIT, attempt=attempt, at_s=0.0, fields={"text": "x" * 500})
    ledger.finish(HANDED_BACK, HandBack(), record=None, at_s=1.0)
    ledger.close()
    return path


CALLS: dict[str, Callable[[SqliteLedger], object]] = {
    "standing": lambda ledger: ledger.standing(UNIT),
    "balances": lambda ledger: ledger.balances(),
    "events": lambda ledger: list(ledger.events()),
    "pauses": lambda ledger: ledger.pauses(),
    "refusal": lambda ledger: ledger.refusal("/w"),
    "charge": lambda ledger: ledger.charge(charge(9)),
    "append": lambda ledger: ledger.append("e", run=RUN, unit=UNIT, attempt=1, at_s=0.0, fields={}),
    "finish": lambda ledger: ledger.finish(HANDED_BACK, HandBack(), record=None, at_s=2.0),
}


def refusals(path: Path) -> set[str]:
    """Every call must be refused, with a hint; return what the refusals say."""
    said = set()
    for name, call in CALLS.items():
        ledger = SqliteLedger(path)
        with pytest.raises(LedgerError) as raised:
            call(ledger)
        assert raised.value.hint, name
        assert repr(str(path)) in raised.value.message
        said.add(raised.value.message)
        ledger.close()
    return said


class TestDamage:
    @pytest.mark.parametrize(
        "content",
        [b"garbage", b"\0" * 4096, b"x" * 100_000, b"SQLite format 3\0", b"SQLite format 3\0" + b"\xff" * 5000],
        ids=["text", "zeros", "much text", "a head only", "a head and noise"],
    )
    def test_a_file_of_something_else_is_refused_and_left_as_it_is(self, path: Path, content: bytes) -> None:
        path.write_bytes(content)
        (said,) = refusals(path)
        assert "is damaged; it was left as it is" in said or "another program" in said
        assert files(path.parent) == {path.name: content}

    def test_an_emptied_file_is_damage_not_a_fresh_start(self, path: Path) -> None:
        path.touch()
        (said,) = refusals(path)
        assert "is empty: something emptied it" in said
        assert files(path.parent) == {path.name: b""}

    def test_a_database_of_another_program_is_refused_and_left_as_it_is(self, path: Path) -> None:
        with sqlite3.connect(path) as connection:
            connection.execute("CREATE TABLE moz_places (id INTEGER)")
        connection.close()
        before = files(path.parent)
        (said,) = refusals(path)
        assert "is a database of another program" in said
        assert files(path.parent) == before

    def test_a_newer_schema_is_refused_with_the_way_out(self, path: Path) -> None:
        with sqlite3.connect(filled(path)) as connection:
            connection.execute(f"PRAGMA user_version = {SCHEMA_VERSION + 1}")
        connection.close()
        (said,) = refusals(path)
        assert f"has schema {SCHEMA_VERSION + 1}; this rerail knows schemas up to {SCHEMA_VERSION}" in said

    @pytest.mark.parametrize("version", [0, -1])
    def test_a_schema_that_never_was_is_damage(self, path: Path, version: int) -> None:
        with sqlite3.connect(filled(path)) as connection:
            connection.execute(f"PRAGMA user_version = {version}")
        connection.close()
        (said,) = refusals(path)
        assert "is damaged" in said

    def test_a_table_that_is_gone_is_refused(self, path: Path) -> None:
        with sqlite3.connect(filled(path)) as connection:
            connection.execute("DROP TABLE charges")
        connection.close()
        ledger = SqliteLedger(path)
        with pytest.raises(LedgerError, match="no such table: charges"):
            ledger.charge(charge(9))
        ledger.close()

    def test_a_truncated_file_is_refused_or_says_what_it_said_before(self, path: Path) -> None:
        """At whatever length: never an empty ledger, never a fresh budget."""
        whole = filled(path).read_bytes()
        lengths = [*range(1, len(whole), len(whole) // 40), len(whole) - 1]
        assert sum(self._is_refused(path, whole[:length]) for length in lengths) > len(lengths) / 2

    @pytest.mark.parametrize(
        "noise", [bytes(PAGE), b"\xff" * PAGE, random.Random(7).randbytes(PAGE)], ids=["0", "255", "?"]
    )
    def test_a_page_of_noise_is_refused_or_changes_nothing(self, path: Path, noise: bytes) -> None:
        whole = filled(path).read_bytes()
        starts = range(0, len(whole), PAGE)
        assert sum(self._is_refused(path, whole[:at] + noise + whole[at + PAGE :]) for at in starts) > 3

    def test_a_name_that_rots_in_one_place_hides_nothing(self, path: Path) -> None:
        """Each name stands in a table and in its index; where they differ the row would not be found any more."""
        whole = filled(path).read_bytes()
        name = UNIT.encode()
        refused, at = 0, -1
        while (at := whole.find(name, at + 1)) >= 0:
            refused += self._is_refused(path, whole[:at] + b"#" + whole[at + 1 :])
        assert refused >= 4

    @staticmethod
    def _is_refused(path: Path, content: bytes) -> bool:
        path.write_bytes(content)
        ledger = SqliteLedger(path)
        try:
            standing = ledger.standing(UNIT)
            grant = ledger.charge(charge(9))
        except LedgerError:
            assert path.read_bytes() == content
            return True
        finally:
            ledger.close()
        assert standing is not None
        assert grant.balance == Balance(UNIT, "provider", 5, 4)
        return False

    def test_a_stored_value_of_another_kind_counts_as_spent(self, path: Path) -> None:
        changes = {
            "UPDATE units SET state = '{}'": "standing",
            "UPDATE units SET state = 'x'": "standing",
            "UPDATE units SET phase = 'succeeded'": "standing",
            "UPDATE balances SET spent = 'few'": "charge",
            "UPDATE balances SET unit = '\"open', spent = 0": "balances",
            "UPDATE units SET owner = '[]', phase = 'handed-back'": "finish",
        }
        for change, call in changes.items():
            path.unlink(missing_ok=True)
            with sqlite3.connect(filled(path)) as connection:
                connection.execute("PRAGMA ignore_check_constraints = ON")
                connection.execute(change)
            connection.close()
            ledger = SqliteLedger(path)
            with pytest.raises(LedgerError, match="counts as spent"):
                CALLS[call](ledger)
            ledger.close()


class TestPlaces:
    def test_nothing_is_created_before_the_first_write(self, tmp_path: Path) -> None:
        ledger = SqliteLedger(tmp_path / "not" / "yet" / "ledger.sqlite3")
        assert ledger.standing(UNIT) is None
        assert [*ledger.balances(), *ledger.pauses(), *ledger.gaps(), *ledger.events()] == []
        assert ledger.refusal("/w") is None
        ledger.readmit("/w")
        ledger.close()
        assert list(tmp_path.iterdir()) == []

    def test_a_directory_in_its_place_is_refused(self, path: Path) -> None:
        path.mkdir()
        (said,) = refusals(path)
        assert "is not a regular file" in said

    def test_a_pipe_in_its_place_is_refused_without_waiting_for_a_writer(self, path: Path) -> None:
        os.mkfifo(path)
        (said,) = refusals(path)
        assert "is not a regular file" in said

    def test_a_file_in_the_place_of_its_directory_is_refused(self, tmp_path: Path) -> None:
        (tmp_path / "file").touch()
        (said,) = refusals(tmp_path / "file" / "ledger.sqlite3")
        assert "Not a directory" in said

    def test_a_link_is_followed_also_to_what_is_not_there_yet(self, tmp_path: Path) -> None:
        (tmp_path / "link").symlink_to(tmp_path / "real" / "ledger.sqlite3")
        ledger = SqliteLedger(tmp_path / "link")
        assert ledger.charge(charge()).granted
        ledger.close()
        assert (tmp_path / "link").is_symlink()
        assert (tmp_path / "real" / "ledger.sqlite3").is_file()

    def test_any_name_will_do(self, tmp_path: Path) -> None:
        for name in (os.fsdecode(b"nicht-utf8-\xff"), "a?mode=memory", "a#b%20c", "with blank\nand line", "n" * 250):
            path = tmp_path / name
            ledger = SqliteLedger(path)
            ledger.charge(charge())
            ledger.close()
            assert path.is_file()
            again = SqliteLedger(path)
            assert again.balances() == (Balance(UNIT, "provider", 5, 1),)
            again.close()

    def test_a_changed_directory_changes_nothing(self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        (tmp_path / "elsewhere").mkdir()
        monkeypatch.chdir(tmp_path)
        ledger = SqliteLedger("ledger.sqlite3")
        monkeypatch.chdir(tmp_path / "elsewhere")
        ledger.charge(charge())
        ledger.close()
        assert (tmp_path / "ledger.sqlite3").is_file()

    def test_a_file_that_is_removed_in_use_is_missed_for_good(self, path: Path) -> None:
        ledger = SqliteLedger(filled(path))
        ledger.balances()
        path.unlink()
        for call in CALLS.values():
            with pytest.raises(LedgerError, match="was removed while it was in use"):
                call(ledger)
        ledger.close()
        with pytest.raises(LedgerError, match="was removed while it was in use"):
            ledger.charge(charge(9))
        assert not path.exists()

    def test_a_file_that_is_replaced_in_use_is_not_taken_for_the_old_one(self, path: Path) -> None:
        ledger = SqliteLedger(filled(path))
        ledger.balances()
        filled(path.with_name("other"), charges=1).replace(path)
        with pytest.raises(LedgerError, match="was replaced by another file"):
            ledger.charge(charge(9))
        ledger.close()


class TestPermissions:
    def test_a_directory_that_may_not_be_written_is_refused(self, shared_directory: Path) -> None:
        path = shared_directory / "sub" / "ledger.sqlite3"
        path.parent.mkdir(mode=0o755)
        said = without_rights(lambda: refusal(path, "charge"))
        assert "cannot be used: Permission denied" in said
        assert "-> make the file and its directory readable" in said
        assert without_rights(lambda: outcome(SqliteLedger(path).standing(UNIT))) == "None"
        assert list(path.parent.iterdir()) == []

    def test_a_file_that_may_not_be_read_is_refused(self, shared_directory: Path) -> None:
        path = filled(shared_directory / "ledger.sqlite3")
        for call in ("standing", "charge"):
            assert "unable to open database file" in without_rights(partial(refusal, path, call))

    def test_a_directory_that_may_not_be_entered_is_refused(self, shared_directory: Path) -> None:
        path = filled(shared_directory / "private" / "ledger.sqlite3")
        for call in ("standing", "charge"):
            assert "Permission denied" in without_rights(partial(refusal, path, call))

    def test_a_file_that_may_only_be_read_is_refused_a_charge(self, shared_directory: Path) -> None:
        path = filled(shared_directory / "ledger.sqlite3")
        path.chmod(0o444)
        said = without_rights(lambda: refusal(path, "charge"))
        assert "cannot be used" in said


def refusal(path: Path, call: str) -> str:
    try:
        CALLS[call](SqliteLedger(path))
    except LedgerError as error:
        return f"{error.message} -> {error.hint}"
    return "was not refused"


def outcome(value: object) -> str:
    return repr(value)


class TestOthers:
    def test_a_database_that_stays_locked_is_refused_after_the_timeout(self, path: Path) -> None:
        holder = sqlite3.connect(filled(path), isolation_level=None)
        holder.execute("BEGIN IMMEDIATE")
        ledger = SqliteLedger(path, timeout_s=0.05)
        with pytest.raises(LedgerError, match=r"stayed locked by another process for 0\.05 s") as raised:
            ledger.charge(charge(9))
        assert raised.value.hint
        assert ledger.balances() == (Balance(UNIT, "provider", 5, 3),)
        holder.execute("ROLLBACK")
        assert ledger.charge(charge(9)).balance.spent == 4
        holder.close()
        ledger.close()

    def test_a_full_disk_is_refused_and_nothing_is_half_written(self, path: Path) -> None:
        code = """
import resource, signal, sys
from pathlib import Path
from rerail.errors import LedgerError
from rerail.ledger.sqlite import SqliteLedger
signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
resource.setrlimit(resource.RLIMIT_FSIZE, ({limit}, {limit}))
ledger = SqliteLedger(sys.argv[1])
written = 0
try:
    while True:
        ledger.append("e", run="r", unit="u", attempt=1, at_s=0.0, fields={{"text": "x" * 5000}})
        written += 1
except LedgerError as error:
    assert error.hint
    print(written, error.message)
"""
        out = finished(python(code.format(limit=200_000), path))
        written, _, said = out.partition(" ")
        assert "cannot be" in said
        ledger = SqliteLedger(path)
        assert len(list(ledger.events())) == int(written) > 0
        assert ledger.charge(charge()).granted
        ledger.close()

    def test_a_disk_that_is_full_from_the_start_leaves_nothing_behind(self, tmp_path: Path) -> None:
        code = """
import resource, signal, sys
from rerail.errors import LedgerError
from rerail.budget.model import Charge, Window
from rerail.ledger.sqlite import SqliteLedger
signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
resource.setrlimit(resource.RLIMIT_FSIZE, (5000, 5000))
try:
    SqliteLedger(sys.argv[1]).charge(Charge("r", "u", 1, "git", 2, Window(2, 1.0), 0.0))
except LedgerError as error:
    print(error.message)
"""
        assert "cannot be" in finished(python(code, tmp_path / "ledger.sqlite3"))
        assert list(tmp_path.iterdir()) == []

    def test_the_history_cannot_be_rewritten(self, path: Path) -> None:
        connection = sqlite3.connect(filled(path), isolation_level=None)
        before = connection.execute("SELECT * FROM events").fetchall()
        for change in (
            "UPDATE events SET name = 'x'",
            "DELETE FROM events",
            "DELETE FROM events WHERE id = 1",
            "INSERT OR REPLACE INTO events SELECT * FROM events",
            "REPLACE INTO events (id, at_s, run, unit, attempt, name, fields) VALUES (1, 0, '', '', 1, '', '')",
            "UPDATE OR REPLACE events SET id = 2 WHERE id = 1",
        ):
            with pytest.raises(sqlite3.IntegrityError, match="only ever appended"):
                connection.execute(change)
        assert connection.execute("SELECT * FROM events").fetchall() == before
        connection.close()

    def test_the_file_says_what_it_is(self, path: Path) -> None:
        connection = sqlite3.connect(filled(path))
        assert connection.execute("PRAGMA application_id").fetchone() == (APPLICATION_ID,)
        assert connection.execute("PRAGMA journal_mode").fetchone() == ("wal",)
        connection.close()

    def test_every_commit_is_on_disk_before_the_call_returns(self, path: Path) -> None:
        ledger = SqliteLedger(filled(path))
        ledger.balances()
        connection = ledger._database._connection
        assert connection is not None
        assert connection.execute("PRAGMA synchronous").fetchone() == (3,)  # EXTRA, which is more than FULL
        assert connection.execute("PRAGMA fullfsync").fetchone() == (1,)
        ledger.close()


LIGHT = """
import sys
from rerail.budget.model import Charge, Window
from rerail.ledger.sqlite import SqliteLedger
ledger = SqliteLedger(sys.argv[1])
ledger.standing("unknown")
ledger.charge(Charge("r", "u", 1, "git", 2, Window(2, 1.0), 0.0))
ledger.append("e", run="r", unit="u", attempt=1, at_s=0.0, fields={})
ledger.refusal("/w")
list(ledger.events()), ledger.balances(), ledger.pauses(), ledger.gaps()
ledger.close()
heavy = {"attr", "attrs", "dataclasses", "inspect", "asyncio", "pydantic", "structlog", "tomllib", "subprocess", "psutil"}
print(sorted(heavy & sys.modules.keys()))
"""


def test_the_way_to_a_charge_imports_nothing_heavy(path: Path) -> None:
    assert finished(python(LIGHT, filled(path))) == "[]\n"
