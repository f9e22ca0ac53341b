"""The ledger of one process: live objects behind one lock, nothing encoded until somebody asks for it.

The default of the library, and on its hot path: a unit that never failed costs one look into a dictionary. Balances, windows,
pauses and refusals are kept as long as the process lives; of the history only the end is, for a harness runs for weeks.
"""

from __future__ import annotations

from bisect import bisect_right, insort
from collections import defaultdict, deque
from threading import RLock
from typing import TYPE_CHECKING, NamedTuple, TypeAlias

from rerail.budget.account import binding_limit
from rerail.budget.model import Balance, Grant
from rerail.decisions.effects import FailureRecord
from rerail.decisions.model import Pause, Phase, RunState
from rerail.decisions.start import Standing
from rerail.errors import UnknownNameError
from rerail.ids import EventId, PauseId, RunId, UnitName
from rerail.ledger import codec
from rerail.ledger.columns import from_json, mapping, to_json
from rerail.ledger.named import FAILURE_NAMED, is_gap
from rerail.ledger.owner import current_owner, is_alive
from rerail.ledger.progress import (
    OVER,
    PAUSE_ANSWERED,
    RUN_FINISHED,
    UNDER_WAY,
    busy,
    is_fenced,
    lost,
)
from rerail.ledger.questions import already_answered, ask, lapsed, open_pause
from rerail.ledger.store import MOST_GAPS, EventRow, Gap, Lease, Owner, PauseRecord, Refusal

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping

    from rerail.budget.model import Charge, Limit
    from rerail.decisions.model import Answer, Ending
    from rerail.ids import ClassName

_REMEMBERED_GRANTS = 10_000
"""A redelivered attempt is told from a new one as long as its grant is among the last so many, at least."""
_KEPT_TIMES = 1_000
"""Charges whose times are kept per (unit, class), or as many as the largest window allows."""


class _Unit(NamedTuple):
    state: RunState
    owner: Owner | None
    pause: PauseId | None = None


_Ended: TypeAlias = "tuple[RunState, Ending, PauseId | None]"
_What: TypeAlias = "FailureRecord | _Ended | str"
"""What happened: a failure, an end, or other fields as JSON text."""
_Entry: TypeAlias = "tuple[EventId, float, RunId, UnitName, int, str, _What]"
"""An event as it happened, in the order of `EventRow`, which is made of it when it is read: making one costs 0.5 us."""


class _Account:
    """What one (unit, class) has spent."""

    __slots__ = ("budget", "spent", "times")

    def __init__(self) -> None:
        self.budget = self.spent = 0
        self.times: list[float] = []
        """Of its charges, sorted: a clock that was set back keeps no charge out of the window. Empty where none was granted."""

    def charge(self, charge: Charge) -> Limit | None:
        """Spend one recovery, or return the limit that refuses it."""
        window, times, at_s = charge.window, self.times, charge.at_s
        recent = len(times) - bisect_right(times, at_s - window.length_s)
        limit = binding_limit(charge, spent=self.spent, spent_in_window=recent)
        if limit is None:
            self.budget = charge.budget
            self.spent += 1
            insort(times, at_s)
            if len(times) > _KEPT_TIMES and len(times) > window.charges:
                # Whether a window is full shows in the newest as many as it allows; older ones say nothing.
                del times[0]
        return limit


def _new_accounts() -> defaultdict[ClassName, _Account]:
    return defaultdict(_Account)


class MemoryLedger:
    """A ledger that lives and ends with its process.

    Args:
        history: How many events are kept; older ones are forgotten, and with them their gaps.
        owner: Says which process this is.
        alive: Says whether another one lives.
    """

    durable = False

    def __init__(
        self,
        *,
        history: int = 1_000,
        owner: Callable[[], Owner] = current_owner,
        alive: Callable[[Owner], bool] = is_alive,
    ) -> None:
        self._owner, self._alive = owner, alive
        # Re-entrant: a signal handler may call in the middle of a call.
        self._lock = RLock()
        self._units: dict[UnitName, _Unit] = {}
        self._accounts: defaultdict[UnitName, defaultdict[ClassName, _Account]] = defaultdict(_new_accounts)
        self._grants: dict[tuple[RunId, UnitName, int], Grant] = {}
        self._older_grants = self._grants
        self._events: deque[_Entry] = deque(maxlen=history)
        self._last_event = 0
        self._pauses: dict[PauseId, PauseRecord] = {}
        self._refusals: dict[str, Refusal] = {}
        self._leases: list[Lease] = []
        self._last_token = 0

    def standing(self, unit: UnitName) -> Standing | None:
        """See `Ledger.standing`."""
        kept = self._units.get(unit)
        if kept is None:
            return None
        phase = kept.state.phase
        if phase in OVER or (phase in UNDER_WAY and kept.owner is not None and self._alive(kept.owner)):
            return None
        if kept.pause is None:
            return Standing(kept.state)
        pause = self._pauses[kept.pause]
        return Standing(kept.state, open_pause(pause))

    def begin(self, state: RunState, owner: Owner, *, alive: Callable[[Owner], bool], root: str = "") -> None:
        """See `Ledger.begin`."""
        with self._lock:
            kept = self._units.get(state.unit)
            if kept is not None and kept.state.phase in UNDER_WAY and kept.owner not in (None, owner):
                assert kept.owner is not None
                if alive(kept.owner):
                    raise busy(state.unit, kept.owner)
            if root:
                self._take(root, state, owner)
            self._move(state, owner, None, at_s=None)

    def release(self, unit: UnitName, *, seen: Callable[[Owner], bool]) -> Owner | None:
        """See `Ledger.release`."""
        with self._lock:
            kept = self._units.get(unit)
            if kept is None or kept.owner is None:
                return None
            if seen(kept.owner):
                raise busy(unit, kept.owner)
            self._units[unit] = kept._replace(owner=None)
            self._leases = [lease for lease in self._leases if lease.unit != unit]
            return kept.owner

    def charge(self, charge: Charge) -> Grant:
        """See `Ledger.charge`."""
        run, unit, attempt, class_, budget, _, _ = charge
        key = (run, unit, attempt)
        with self._lock:
            made = self._grants.get(key) or self._older_grants.get(key)
            if made is not None:
                return made
            account = self._accounts[unit][class_]
            limit = account.charge(charge)
            grant = Grant(limit, Balance(unit, class_, budget, account.spent))
            if limit is not None:
                return grant
            if len(self._grants) >= _REMEMBERED_GRANTS:
                self._older_grants, self._grants = self._grants, {}
            self._grants[key] = grant
            return grant

    def record(self, record: FailureRecord, state: RunState) -> EventId:
        """See `Ledger.record`."""
        with self._lock:
            if self._leases:
                self._hold(state)
            self._move(state, self._owner(), None, at_s=record.at_s)
            return self._happened(record.at_s, record.run, record.unit, record.attempt, FAILURE_NAMED, record)

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
        with self._lock:
            if self._leases:
                self._hold(state)
                self._leases = [lease for lease in self._leases if (lease.unit, lease.run) != (state.unit, state.run)]
            pause: PauseId | None = None
            if isinstance(decision, Pause):
                pause = self._open_question(state.unit)
                if pause is None:
                    number = len(self._pauses) + 1
                    asked = ask(number, state, decision, record=record, at_s=at_s, command=command, cwd=cwd)
                    self._pauses[asked.id] = asked
                    pause = asked.id
            self._move(state, None, pause, at_s=at_s)
            if state.phase is Phase.SUCCEEDED:
                for account in self._accounts.get(state.unit, {}).values():
                    account.spent = 0
            self._happened(at_s, state.run, state.unit, state.attempt, RUN_FINISHED, (state, decision, pause))
            return pause

    def append(
        self, name: str, *, run: RunId, unit: UnitName, attempt: int, at_s: float, fields: Mapping[str, object]
    ) -> EventId:
        """See `Ledger.append`."""
        text = to_json(dict(fields))
        with self._lock:
            return self._happened(at_s, run, unit, attempt, name, text)

    def balances(self, unit: UnitName | None = None) -> tuple[Balance, ...]:
        """See `Ledger.balances`."""
        with self._lock:
            return tuple(
                sorted(
                    Balance(owner, class_, account.budget, account.spent)
                    for owner, accounts in self._accounts.items()
                    if unit in (None, owner)
                    for class_, account in accounts.items()
                    if account.times
                )
            )

    def events(
        self, *, unit: UnitName | None = None, run: RunId | None = None, after: EventId | None = None
    ) -> Iterator[EventRow]:
        """See `Ledger.events`."""
        with self._lock:
            entries = list(self._events)
        for entry in entries:
            event_id, _, of_run, of_unit, *_ = entry
            if unit in (None, of_unit) and run in (None, of_run) and (after is None or event_id > after):
                yield _row(entry)

    def event(self, event_id: EventId) -> EventRow:
        """See `Ledger.event`."""
        with self._lock:
            entries = list(self._events)
        for entry in entries:
            if entry[0] == event_id:
                return _row(entry)
        raise UnknownNameError("event", str(event_id))

    def pauses(self, *, include_answered: bool = False) -> tuple[PauseRecord, ...]:
        """See `Ledger.pauses`."""
        with self._lock:
            pauses = tuple(self._pauses.values())
        return pauses if include_answered else tuple(pause for pause in pauses if pause.answer is None)

    def pause(self, pause_id: PauseId) -> PauseRecord:
        """See `Ledger.pause`."""
        with self._lock:
            pause = self._pauses.get(pause_id)
            if pause is None:
                raise UnknownNameError("pause", pause_id, self._pauses)
            return pause

    def answer(self, pause_id: PauseId, answer: Answer, *, note: str, at_s: float) -> PauseRecord:
        """See `Ledger.answer`."""
        with self._lock:
            pause = self._pauses.get(pause_id)
            if pause is None:
                raise UnknownNameError("pause", pause_id, self._pauses)
            if pause.answer is not None:
                raise already_answered(pause)
            answered = pause._replace(answer=answer, answered_at_s=at_s, note=note)
            self._pauses[pause_id] = answered
            self._happened(at_s, pause.run, pause.unit, 0, PAUSE_ANSWERED, to_json(codec.answer_to_json(answered)))
            return answered

    def refuse(self, refusal: Refusal) -> None:
        """See `Ledger.refuse`."""
        with self._lock:
            self._refusals[refusal.root] = refusal

    def refusal(self, root: str) -> Refusal | None:
        """See `Ledger.refusal`."""
        return self._refusals.get(root)

    def readmit(self, root: str) -> None:
        """See `Ledger.readmit`."""
        with self._lock:
            self._refusals.pop(root, None)

    def leases(self, root: str) -> tuple[Lease, ...]:
        """See `Ledger.leases`."""
        with self._lock:
            return tuple(lease for lease in self._leases if lease.root == root)

    def gaps(self, *, last: int = MOST_GAPS) -> tuple[Gap, ...]:
        """See `Ledger.gaps`."""
        with self._lock:
            entries = list(self._events)
        rows = [row for row in map(_row, entries) if is_gap(row.name, row.fields)]
        return tuple(
            Gap(row.id, row.at_s, row.unit, mapping(row.fields["evidence"])) for row in rows[max(0, len(rows) - last) :]
        )

    def close(self) -> None:
        """See `Ledger.close`; there is nothing to release."""

    def _happened(
        self,
        at_s: float,
        run: RunId,
        unit: UnitName,
        attempt: int,
        name: str,
        what: _What,
    ) -> EventId:
        self._last_event = event_id = EventId(self._last_event + 1)
        self._events.append((event_id, at_s, run, unit, attempt, name, what))
        return event_id

    def _take(self, root: str, state: RunState, owner: Owner) -> None:
        held = next((lease for lease in self._leases if (lease.root, lease.unit) == (root, state.unit)), None)
        if held is not None:
            if (held.run, held.owner) == (state.run, owner):
                return
            self._leases.remove(held)
        self._last_token += 1
        self._leases.append(Lease(root, state.unit, self._last_token, state.run, owner, state.started_at_s))

    def _hold(self, state: RunState) -> None:
        """Make sure that no other owner has taken the unit over."""
        held = [lease for lease in self._leases if lease.unit == state.unit]
        if held and all(lease.run != state.run and lease.owner != self._owner() for lease in held):
            raise lost(state.run, held[-1])

    def _open_question(self, unit: UnitName) -> PauseId | None:
        kept = self._units.get(unit)
        if kept is None or kept.pause is None or self._pauses[kept.pause].answer is not None:
            return None
        return kept.pause

    def _move(self, state: RunState, owner: Owner | None, pause: PauseId | None, *, at_s: float | None) -> None:
        """Store where a unit stands now; the open question of a run that goes on lapses."""
        kept = self._units.get(state.unit)
        if kept is not None and (kept.pause is not None or kept.state.run != state.run):
            if is_fenced(kept.state.phase, kept.state.run, against=state.run):
                return
            if kept.pause is not None and kept.pause != pause:
                self._pauses[kept.pause] = lapsed(self._pauses[kept.pause], state.phase, at_s)
        if state.phase in OVER:
            self._units.pop(state.unit, None)
        else:
            self._units[state.unit] = _Unit(state, owner, pause)


def _row(entry: _Entry) -> EventRow:
    event_id, at_s, run, unit, attempt, name, what = entry
    if isinstance(what, FailureRecord):
        fields = to_json(codec.record_to_json(what))
    elif isinstance(what, tuple):
        fields = to_json(codec.ending_to_json(*what))
    else:
        fields = what
    # Through text and back, as every store gives them: no live object leaves.
    return EventRow(event_id, at_s, run, unit, attempt, name, from_json(fields))
