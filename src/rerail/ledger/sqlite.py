"""The ledger in one SQLite file: it outlives its process, and every process of a user that works in one repository shares it.

Each method is one transaction. The file itself is `rerail.ledger.database`'s; the rows of runs and their questions are
`rerail.ledger.rows`', imported late: the way to a charge or an event needs the standard library only.
"""

from __future__ import annotations

from rerail.budget.account import binding_limit
from rerail.budget.model import Balance, Grant
from rerail.errors import UnknownNameError
from rerail.ids import EventId, RunId, UnitName
from rerail.ledger import sql
from rerail.ledger.columns import count, from_json, from_text, mapping, number, read, to_json, to_text
from rerail.ledger.database import BUSY_TIMEOUT_S, Database
from rerail.ledger.named import is_gap
from rerail.ledger.owner import current_owner, is_alive
from rerail.ledger.store import MOST_GAPS, EventRow, Gap, Refusal
from rerail.light_typing import TYPE_CHECKING

if TYPE_CHECKING:
    import os
    from collections.abc import Callable, Iterator, Mapping

    from rerail.budget.model import Charge
    from rerail.decisions.effects import FailureRecord
    from rerail.decisions.model import Answer, Ending, RunState
    from rerail.decisions.start import Standing
    from rerail.ids import PauseId
    from rerail.ledger.store import Lease, Owner, PauseRecord

_PAGE_ROWS = 200
"""Events read at once: a history is long, and no transaction stays open while its reader thinks."""


class SqliteLedger:
    """A ledger in one SQLite file. Nothing is opened before the first call, and nothing created before the first write.

    Every method raises `LedgerError` when the file cannot be used.

    Args:
        path: Where it is, or will be.
        owner: Says which process this is.
        alive: Says whether another one lives.
        timeout_s: How long to wait for another process's transaction.
    """

    durable = True

    def __init__(
        self,
        path: str | os.PathLike[str],
        *,
        owner: Callable[[], Owner] = current_owner,
        alive: Callable[[Owner], bool] = is_alive,
        timeout_s: float = BUSY_TIMEOUT_S,
    ) -> None:
        self._owner, self._alive = owner, alive
        self._database = Database(path, timeout_s=timeout_s)

    def standing(self, unit: UnitName) -> Standing | None:
        """See `Ledger.standing`."""
        found = self._rows(sql.FIND_STANDING, to_text(unit))
        if not found:
            return None
        from rerail.ledger import rows

        return rows.standing(found[0], self._alive)

    def begin(self, state: RunState, owner: Owner, *, alive: Callable[[Owner], bool], root: str = "") -> None:
        """See `Ledger.begin`."""
        from rerail.ledger import rows

        with self._database.writing() as connection:
            rows.begin(connection, state, owner, alive, root)

    def release(self, unit: UnitName, *, seen: Callable[[Owner], bool]) -> Owner | None:
        """See `Ledger.release`."""
        if not self._rows(sql.FIND_UNIT, to_text(unit)):
            return None
        from rerail.ledger import rows

        with self._database.writing() as connection:
            return rows.release(connection, unit, seen)

    def charge(self, charge: Charge) -> Grant:
        """See `Ledger.charge`."""
        unit, class_ = to_text(charge.unit), to_text(charge.class_)
        attempt = (to_text(charge.run), unit, charge.attempt)
        window_start_s = charge.at_s - charge.window.length_s
        with self._database.writing() as connection:
            # The write lock is held from here on: what is read is what is changed.
            made = connection.execute(sql.FIND_CHARGE, attempt).fetchone()
            if made is not None:
                return Grant(None, read("charge", _balance, made))
            spent = read("balance", _spent, connection.execute(sql.FIND_SPENT, (unit, class_)).fetchone())
            (in_window,) = connection.execute(sql.COUNT_CHARGES_SINCE, (unit, class_, window_start_s)).fetchone()
            limit = binding_limit(charge, spent=spent, spent_in_window=in_window)
            if limit is not None:
                return Grant(limit, Balance(charge.unit, charge.class_, charge.budget, spent))
            connection.execute(sql.SPEND, (unit, class_, charge.budget))
            connection.execute(sql.ADD_CHARGE, (*attempt, class_, charge.at_s, charge.budget, spent + 1))
        return Grant(None, Balance(charge.unit, charge.class_, charge.budget, spent + 1))

    def record(self, record: FailureRecord, state: RunState) -> EventId:
        """See `Ledger.record`."""
        from rerail.ledger import rows

        with self._database.writing() as connection:
            return rows.record(connection, record, state, self._owner())

    def finish(
        self,
        state: RunState,
        decision: Ending,
        *,
        record: FailureRecord | None,
        at_s: float,
        command: tuple[str, ...] | None = None,
        cwd: str = "",
    ) -> PauseId | None:
        """See `Ledger.finish`."""
        from rerail.ledger import rows

        with self._database.writing() as connection:
            return rows.finish(
                connection, state, decision, record=record, at_s=at_s, command=command, cwd=cwd, owner=self._owner()
            )

    def append(
        self, name: str, *, run: RunId, unit: UnitName, attempt: int, at_s: float, fields: Mapping[str, object]
    ) -> EventId:
        """See `Ledger.append`."""
        stored = (to_text(name), int(is_gap(name, fields)), to_json(dict(fields)))
        event = (at_s, to_text(run), to_text(unit), attempt, *stored)
        with self._database.writing() as connection:
            return EventId(count(connection.execute(sql.ADD_EVENT, event).lastrowid))

    def balances(self, unit: UnitName | None = None) -> tuple[Balance, ...]:
        """See `Ledger.balances`."""
        of_unit = () if unit is None else (to_text(unit),)
        found = self._rows(sql.LIST_BALANCES_OF_UNIT if of_unit else sql.LIST_BALANCES, *of_unit)
        return tuple(sorted(read("balance", _balance, row) for row in found))

    def events(
        self, *, unit: UnitName | None = None, run: RunId | None = None, after: EventId | None = None
    ) -> Iterator[EventRow]:
        """See `Ledger.events`."""
        last = 0 if after is None else after
        of_run = () if run is None else (to_text(run),)
        of_unit = () if unit is None else (to_text(unit),)
        statement = _LIST_EVENTS[run is not None, unit is not None]
        while page := self._rows(statement, *of_run, *of_unit, last, _PAGE_ROWS):
            for row in page:
                event = read("event", _event, row)
                yield event
                last = event.id

    def event(self, event_id: EventId) -> EventRow:
        """See `Ledger.event`."""
        found = self._rows(sql.FIND_EVENT, event_id)
        if not found:
            raise UnknownNameError("event", str(event_id))
        return read("event", _event, found[0])

    def pauses(self, *, include_answered: bool = False) -> tuple[PauseRecord, ...]:
        """See `Ledger.pauses`."""
        found = self._rows(sql.LIST_PAUSES if include_answered else sql.LIST_OPEN_PAUSES)
        if not found:
            return ()
        from rerail.ledger import rows

        return tuple(map(rows.pause, found))

    def pause(self, pause_id: PauseId) -> PauseRecord:
        """See `Ledger.pause`."""
        found = self._rows(sql.FIND_PAUSE, to_text(pause_id))
        if not found:
            raise self._unknown_pause(pause_id)
        from rerail.ledger import rows

        return rows.pause(found[0])

    def answer(self, pause_id: PauseId, answer: Answer, *, note: str, at_s: float) -> PauseRecord:
        """See `Ledger.answer`."""
        from rerail.ledger import rows

        # Looked up first: an unknown id must not create a ledger.
        self.pause(pause_id)
        with self._database.writing() as connection:
            return rows.answer(connection, pause_id, answer, note=note, at_s=at_s)

    def refuse(self, refusal: Refusal) -> None:
        """See `Ledger.refuse`."""
        root, since_s, reason, detail = refusal
        with self._database.writing() as connection:
            connection.execute(sql.REFUSE, (to_text(root), since_s, to_text(reason), to_text(detail)))

    def refusal(self, root: str) -> Refusal | None:
        """See `Ledger.refusal`."""
        found = self._rows(sql.FIND_REFUSAL, to_text(root))
        return read("refusal", _refusal, found[0]) if found else None

    def readmit(self, root: str) -> None:
        """See `Ledger.readmit`."""
        if self.refusal(root) is not None:
            with self._database.writing() as connection:
                connection.execute(sql.READMIT, (to_text(root),))

    def leases(self, root: str) -> tuple[Lease, ...]:
        """See `Ledger.leases`."""
        found = self._rows(sql.LIST_LEASES, to_text(root))
        if not found:
            return ()
        from rerail.ledger.leases import lease_of

        return tuple(read("lease", lease_of, row) for row in found)

    def gaps(self, *, last: int = MOST_GAPS) -> tuple[Gap, ...]:
        """See `Ledger.gaps`."""
        return tuple(read("event", _gap, row) for row in self._rows(sql.LIST_GAPS, last))

    def close(self) -> None:
        """See `Ledger.close`."""
        self._database.close()

    def _rows(self, statement: str, *parameters: object) -> list[tuple[object, ...]]:
        with self._database.reading() as connection:
            return [] if connection is None else connection.execute(statement, parameters).fetchall()

    def _unknown_pause(self, pause_id: PauseId) -> UnknownNameError:
        known = [read("pause", lambda row: from_text(row[0]), row) for row in self._rows(sql.LIST_PAUSE_IDS)]
        return UnknownNameError("pause", pause_id, known)


_LIST_EVENTS = {
    (False, False): sql.LIST_EVENTS,
    (False, True): sql.LIST_EVENTS_OF_UNIT,
    (True, False): sql.LIST_EVENTS_OF_RUN,
    (True, True): sql.LIST_EVENTS_OF_RUN_OF_UNIT,
}
"""By whether a run and whether a unit is asked for."""


def _spent(row: tuple[object, ...] | None) -> int:
    return 0 if row is None else count(row[0])


def _balance(row: tuple[object, ...]) -> Balance:
    unit, class_, budget, spent = row
    return Balance(UnitName(from_text(unit)), from_text(class_), count(budget), count(spent))


def _event(row: tuple[object, ...]) -> EventRow:
    event_id, at_s, run, unit, attempt, name, stored = row
    return EventRow(
        id=EventId(count(event_id)),
        at_s=number(at_s),
        run=RunId(from_text(run)),
        unit=UnitName(from_text(unit)),
        attempt=count(attempt),
        name=from_text(name),
        fields=mapping(from_json(stored)),
    )


def _gap(row: tuple[object, ...]) -> Gap:
    event_id, at_s, unit, stored = row
    evidence = mapping(mapping(from_json(stored))["evidence"])
    return Gap(EventId(count(event_id)), number(at_s), UnitName(from_text(unit)), evidence)


def _refusal(row: tuple[object, ...]) -> Refusal:
    root, since_s, reason, detail = row
    return Refusal(from_text(root), number(since_s), from_text(reason), from_text(detail))
