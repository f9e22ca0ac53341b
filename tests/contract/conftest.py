"""Every store, one suite: a test that takes a `Shop` runs against each."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from tests.ledgers import ME, Living

from rerail.ledger import creation
from rerail.ledger.memory import MemoryLedger
from rerail.ledger.sqlite import SqliteLedger

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

    from rerail.ledger.store import Ledger, Owner


class Store:
    """One store, and a way to hold it as another process would."""

    def __init__(self, open_as: Callable[[Owner], Ledger], living: Living) -> None:
        self._open_as, self.living = open_as, living
        self._opened: list[Ledger] = []
        self.ledger = self.held_by(ME)

    def held_by(self, owner: Owner) -> Ledger:
        """The same state in the hands of *owner*; for a store of one process, the same object."""
        ledger = self._open_as(owner)
        self._opened.append(ledger)
        return ledger

    def close(self) -> None:
        for ledger in self._opened:
            ledger.close()


@pytest.fixture(params=["memory", "sqlite", "sqlite without shared memory"])
def store(request: pytest.FixtureRequest, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Store]:
    living = Living({ME})
    if request.param == "memory":
        memory = MemoryLedger(owner=lambda: ME, alive=living)
        opened = Store(lambda _: memory, living)
    else:
        if request.param == "sqlite without shared memory":
            monkeypatch.setattr(creation, "journal_mode", lambda _: "DELETE")
        path = tmp_path / "state" / "ledger.sqlite3"
        opened = Store(lambda owner: SqliteLedger(path, owner=lambda: owner, alive=living), living)
    yield opened
    opened.close()


@pytest.fixture
def ledger(store: Store) -> Ledger:
    """The store in this process's hands."""
    return store.ledger
