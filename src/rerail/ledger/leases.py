"""Leases in a durable store: who runs a unit in a worktree, each acquisition with a token of its own, larger than all before.

A lease is taken in the transaction that marks an attempt's start. It never ends by age: only when its owner, a process, is gone
may another one take it. Whoever comes back after that finds a token that is not his, and writes nothing any more.

Every function runs within a transaction that its caller opened, and the writing ones hold its write lock.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from rerail.ledger import codec, sql
from rerail.ledger.columns import count, from_json, from_text, number, read, to_json, to_text
from rerail.ledger.progress import lost
from rerail.ledger.store import Lease

if TYPE_CHECKING:
    from sqlite3 import Connection

    from rerail.ids import RunId, UnitName
    from rerail.ledger.store import Owner


def take(connection: Connection, root: str, unit: UnitName, run: RunId, owner: Owner, since_s: float) -> None:
    """Take the lease of a unit in a worktree, unless the run has it; nobody alive but *owner* may hold it."""
    key = (to_text(root), to_text(unit))
    held = next((lease for lease in of_unit(connection, unit) if lease.root == root), None)
    if held is not None and (held.run, held.owner) == (run, owner):
        return
    connection.execute(sql.DROP_LEASE, key)
    connection.execute(sql.ADD_LEASE, (*key, to_text(run), to_json(codec.owner_to_json(owner)), since_s))


def hold(connection: Connection, unit: UnitName, run: RunId, owner: Owner) -> None:
    """Make sure that no other process has taken the unit over.

    Raises:
        LeaseLostError: One has.
    """
    leases = of_unit(connection, unit)
    if leases and all(lease.run != run and lease.owner != owner for lease in leases):
        raise lost(run, leases[-1])


def end(connection: Connection, unit: UnitName, run: RunId) -> None:
    """Give back what a run holds."""
    connection.execute(sql.END_LEASES, (to_text(unit), to_text(run)))


def of_unit(connection: Connection, unit: UnitName) -> tuple[Lease, ...]:
    """Return a unit's leases, the oldest first."""
    rows = connection.execute(sql.LIST_LEASES_OF_UNIT, (to_text(unit),)).fetchall()
    return tuple(read("lease", lease_of, row) for row in rows)


def lease_of(row: tuple[object, ...]) -> Lease:
    """Return the lease of a row."""
    from rerail.ids import RunId, UnitName

    token, root, unit, run, owner, since_s = row
    return Lease(
        from_text(root),
        UnitName(from_text(unit)),
        count(token),
        RunId(from_text(run)),
        codec.owner_from_json(from_json(owner)),
        number(since_s),
    )
