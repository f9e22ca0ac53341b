"""The ledger's contract: what outlives a process, and which of it is atomic. The stores beside this module keep it.

Three promises, whatever is killed and whoever else writes:

- a charge that was granted is on disk before the call returns, and the same (run, unit, attempt) is charged once;
- a pause is answered at most once;
- what cannot be read counts as spent: a store raises `LedgerError`, it never starts fresh.

Stores are blocking; the awaiting driver calls durable ones in a thread. Every method is safe to call from several threads and,
for durable stores, from several processes.
"""

from __future__ import annotations

from rerail.errors import RerailError, UsageError
from rerail.light_typing import TYPE_CHECKING, NamedTuple, Protocol

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping

    from rerail.budget.model import Balance, Charge, Grant
    from rerail.decisions.effects import FailureRecord
    from rerail.decisions.model import Answer, Ending, RunState, Why
    from rerail.decisions.start import Standing
    from rerail.ids import ClassName, EventId, PauseId, RunId, UnitName

MOST_GAPS = 1_000
"""Failures without a name that are returned at once; each may have some hundred kilobytes of text."""


class Owner(NamedTuple):
    """A process that holds something, told apart from a later one with the same pid."""

    pid: int
    started: str
    """The process's start time, as its system tells it."""
    boot: str
    """Which boot of the host; a pid of an earlier one is gone."""
    host: str


class UnitBusyError(RerailError):
    """Another live process runs this unit now."""

    slug = "unit-busy"


class LeaseLostError(RerailError):
    """Another process has taken the unit over; the run that comes back writes nothing any more."""

    slug = "lease-lost"


class AlreadyAnsweredError(UsageError):
    """The pause has its answer; a second one changes nothing."""

    slug = "already-answered"


class PauseRecord(NamedTuple):
    """A durable question to the operator."""

    id: PauseId
    unit: UnitName
    run: RunId
    asked_at_s: float
    why: Why
    question: str
    """In one line, for people."""
    class_: ClassName
    reason: str
    rule: str
    evidence: str
    """The cited line, redacted and printable."""
    resume_at_s: float | None
    command: tuple[str, ...] | None
    """How to run the unit again from another process; None for a callable, which only its harness can run."""
    cwd: str
    answer: Answer | None
    answered_at_s: float | None
    note: str


class EventRow(NamedTuple):
    """One row of the append-only history."""

    id: EventId
    at_s: float
    run: RunId
    unit: UnitName
    attempt: int
    name: str
    """A name of `rerail.observe`'s table: ``failure.classified``, ``unit.finished``."""
    fields: Mapping[str, object]
    """JSON values; for a named failure, the whole record with its evidence and trace."""


class Gap(NamedTuple):
    """A failure that no rule could name: an entry that the taxonomy needs."""

    event: EventId
    at_s: float
    unit: UnitName
    evidence: Mapping[str, object]
    """Evidence JSON."""


class Refusal(NamedTuple):
    """A worktree that is refused until a check passes."""

    root: str
    since_s: float
    reason: str
    detail: str


class Lease(NamedTuple):
    """Who runs a unit in a worktree."""

    root: str
    """The worktree's key; see `rerail.paths.worktree_key`."""
    unit: UnitName
    token: int
    """Of this acquisition: larger than that of any before it."""
    run: RunId
    owner: Owner
    since_s: float


class Ledger(Protocol):
    """What every store does. Times are wall clock, seconds since the epoch."""

    durable: bool
    """Whether it outlives the process, and therefore blocks on a disk or network."""

    def standing(self, unit: UnitName) -> Standing | None:
        """Return the unit's state; None when it never failed, its last run succeeded, or a live owner is running it now.

        The hot path: a unit that never failed costs one read and no write.
        """
        ...

    def begin(self, state: RunState, owner: Owner, *, alive: Callable[[Owner], bool], root: str = "") -> None:
        """Mark an attempt as started, so that its never ending is seen; with a *root*, take the unit's lease there.

        Raises:
            UnitBusyError: The unit is being run by another owner that *alive* says is alive.
        """
        ...

    def release(self, unit: UnitName, *, seen: Callable[[Owner], bool]) -> Owner | None:
        """Let go of a unit on the operator's word that its owner is gone; return that owner, or None where nobody holds it.

        A process of another host cannot be seen from here, so it counts as alive for good. The unit's next run then finds an
        attempt that never ended.

        Raises:
            UnitBusyError: *seen* says that the owner is at work.
        """
        ...

    def charge(self, charge: Charge) -> Grant:
        """Spend one recovery, atomically, or say which limit refuses it."""
        ...

    def record(self, record: FailureRecord, state: RunState) -> EventId:
        """Append a named failure and store the state that follows from it, together.

        Raises:
            LeaseLostError: Another process has taken the unit over since the attempt began.
        """
        ...

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
        """Write a run's terminal record, together with what it means, in one transaction.

        A success resets the unit's class balances (windows stay). A pause asks its question, or keeps the open one of the same
        unit. A hand-back keeps the state for the unit's next run. Returns the pause's id when the run is paused.

        Raises:
            LeaseLostError: Another process has taken the unit over since the attempt began.
        """
        ...

    def append(
        self, name: str, *, run: RunId, unit: UnitName, attempt: int, at_s: float, fields: Mapping[str, object]
    ) -> EventId:
        """Append any other event of the path."""
        ...

    def balances(self, unit: UnitName | None = None) -> tuple[Balance, ...]:
        """Return what is spent, for one unit or all; ``budget`` is as it was at the last charge."""
        ...

    def events(
        self, *, unit: UnitName | None = None, run: RunId | None = None, after: EventId | None = None
    ) -> Iterator[EventRow]:
        """Yield events, oldest first."""
        ...

    def event(self, event_id: EventId) -> EventRow:
        """Return one event.

        Raises:
            UnknownNameError: There is none.
        """
        ...

    def pauses(self, *, include_answered: bool = False) -> tuple[PauseRecord, ...]:
        """Return the pauses, oldest first."""
        ...

    def pause(self, pause_id: PauseId) -> PauseRecord:
        """Return one pause.

        Raises:
            UnknownNameError: There is none.
        """
        ...

    def answer(self, pause_id: PauseId, answer: Answer, *, note: str, at_s: float) -> PauseRecord:
        """Answer a pause, once.

        Raises:
            UnknownNameError: There is none.
            AlreadyAnsweredError: It has its answer.
        """
        ...

    def refuse(self, refusal: Refusal) -> None:
        """Refuse a worktree by its root."""
        ...

    def refusal(self, root: str) -> Refusal | None:
        """Return why a root is refused, or None."""
        ...

    def readmit(self, root: str) -> None:
        """Forget a refusal, after a check has passed."""
        ...

    def leases(self, root: str) -> tuple[Lease, ...]:
        """Return the leases that units have on a worktree, oldest first; those of owners that are gone are among them."""
        ...

    def gaps(self, *, last: int = MOST_GAPS) -> tuple[Gap, ...]:
        """Return the failures that no rule could name, oldest first; of many, the *last* that were recorded."""
        ...

    def close(self) -> None:
        """Release what the store holds; it is not used after."""
        ...
