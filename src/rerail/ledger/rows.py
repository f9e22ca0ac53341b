"""The rows of runs and their questions in a durable store: what `progress` and `questions` beside it say, kept in tables.

Every function runs within a transaction that its caller opened, and the writing ones hold its write lock.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from rerail.decisions.model import Answer, Pause, Phase
from rerail.decisions.start import Standing
from rerail.errors import LedgerError, UnknownNameError
from rerail.ids import EventId, PauseId, RunId
from rerail.ledger import codec, leases, sql
from rerail.ledger.columns import count, from_json, from_text, maybe, number, read, text, to_json, to_text
from rerail.ledger.named import FAILURE_NAMED, is_gap
from rerail.ledger.progress import OVER, PAUSE_ANSWERED, RUN_FINISHED, UNDER_WAY, busy, is_fenced
from rerail.ledger.questions import already_answered, ask, lapsed, open_pause

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from sqlite3 import Connection

    from rerail.decisions.effects import FailureRecord
    from rerail.decisions.model import Ending, RunState
    from rerail.ids import UnitName
    from rerail.ledger.store import Owner, PauseRecord

Row = tuple[object, ...]


class _Unit(NamedTuple):
    run: RunId
    phase: Phase
    owner: Owner | None
    pause: PauseId | None


def standing(row: Row, alive: Callable[[Owner], bool]) -> Standing | None:
    """Return what a row of ``FIND_STANDING`` says; None when the unit's run is under way in a living process."""
    unit, phase, stored, owner, question, answer = row
    state = codec.state_from_json(read("run state", from_json, stored))
    if (to_text(state.unit), state.phase) != (unit, phase):
        raise LedgerError(
            f"the ledger has the state of unit {state.unit!r}, {state.phase}, where that of {unit!r}, {phase!r}, should be; "
            "it counts as spent",
            hint="restore the ledger from a backup, or move it away yourself to begin with an empty one",
        )
    held_by = _owner(owner)
    if state.phase in OVER or (state.phase in UNDER_WAY and held_by is not None and alive(held_by)):
        return None
    if question is None:
        return Standing(state)
    asked = pause((question, answer, None, ""))
    return Standing(state, open_pause(asked))


def begin(
    connection: Connection, state: RunState, owner: Owner, alive: Callable[[Owner], bool], root: str = ""
) -> None:
    """Do `Ledger.begin`."""
    kept = _find_unit(connection, state.unit)
    if (
        kept is not None
        and kept.phase in UNDER_WAY
        and kept.owner is not None
        and kept.owner != owner
        and alive(kept.owner)
    ):
        raise busy(state.unit, kept.owner)
    if root:
        leases.take(connection, root, state.unit, state.run, owner, state.started_at_s)
    _move(connection, kept, state, owner, None, at_s=None)


def release(connection: Connection, unit: UnitName, seen: Callable[[Owner], bool]) -> Owner | None:
    """Do `Ledger.release`."""
    kept = _find_unit(connection, unit)
    if kept is None or kept.owner is None:
        return None
    if seen(kept.owner):
        raise busy(unit, kept.owner)
    connection.execute(sql.RELEASE_UNIT, (to_text(unit),))
    connection.execute(sql.FREE_LEASES, (to_text(unit),))
    return kept.owner


def record(connection: Connection, failure: FailureRecord, state: RunState, owner: Owner) -> EventId:
    """Do `Ledger.record`."""
    leases.hold(connection, state.unit, state.run, owner)
    _move(connection, _find_unit(connection, state.unit), state, owner, None, at_s=failure.at_s)
    return _append(
        connection,
        (failure.at_s, failure.run, failure.unit, failure.attempt),
        FAILURE_NAMED,
        codec.record_to_json(failure),
    )


def finish(
    connection: Connection,
    state: RunState,
    decision: Ending,
    *,
    record: FailureRecord | None,
    at_s: float,
    command: tuple[str, ...] | None,
    cwd: str,
    owner: Owner,
) -> PauseId | None:
    """Do `Ledger.finish`."""
    leases.hold(connection, state.unit, state.run, owner)
    leases.end(connection, state.unit, state.run)
    kept = _find_unit(connection, state.unit)
    asked: PauseId | None = None
    if isinstance(decision, Pause):
        asked = _open_question(connection, kept)
        if asked is None:
            number = connection.execute(sql.NEXT_PAUSE).fetchone()[0]
            question = ask(number, state, decision, record=record, at_s=at_s, command=command, cwd=cwd)
            connection.execute(sql.ADD_PAUSE, (number, question.id, to_json(codec.question_to_json(question))))
            asked = question.id
    _move(connection, kept, state, None, asked, at_s=at_s)
    if state.phase is Phase.SUCCEEDED:
        connection.execute(sql.RESET_BALANCES, (to_text(state.unit),))
    _append(
        connection,
        (at_s, state.run, state.unit, state.attempt),
        RUN_FINISHED,
        codec.ending_to_json(state, decision, asked),
    )
    return asked


def pause(row: Row) -> PauseRecord:
    """Return the pause of a row of ``FIND_PAUSE``."""
    question, answer, answered_at_s, note = row
    asked = codec.question_from_json(read("pause", from_json, question))
    return asked._replace(
        answer=read("answer", lambda word: maybe(_answer, word), answer),
        answered_at_s=read("answer's time", lambda at_s: maybe(number, at_s), answered_at_s),
        note=read("note", from_text, note),
    )


def answer(connection: Connection, pause_id: PauseId, given: Answer, *, note: str, at_s: float) -> PauseRecord:
    """Do `Ledger.answer`, for a pause that exists."""
    answered = connection.execute(sql.ANSWER_PAUSE, (given.value, at_s, to_text(note), to_text(pause_id))).rowcount
    said = _find_pause(connection, pause_id)
    if not answered:
        raise already_answered(said)
    _append(connection, (at_s, said.run, said.unit, 0), PAUSE_ANSWERED, codec.answer_to_json(said))
    return said


def _move(
    connection: Connection,
    kept: _Unit | None,
    state: RunState,
    owner: Owner | None,
    asked: PauseId | None,
    *,
    at_s: float | None,
) -> None:
    """Store where a unit stands now; the open question of a run that goes on lapses."""
    unit = to_text(state.unit)
    if kept is not None:
        if is_fenced(kept.phase, kept.run, against=state.run):
            return
        if kept.pause is not None and kept.pause != asked:
            said = lapsed(_find_pause(connection, kept.pause), state.phase, at_s)
            connection.execute(
                sql.ANSWER_PAUSE, (said.answer, said.answered_at_s, to_text(said.note), to_text(said.id))
            )
    if state.phase in OVER:
        connection.execute(sql.FORGET_UNIT, (unit,))
        return
    connection.execute(
        sql.KEEP_UNIT,
        (
            unit,
            to_text(state.run),
            state.phase.value,
            to_json(codec.state_to_json(state)),
            None if owner is None else to_json(codec.owner_to_json(owner)),
            asked,
        ),
    )


def _append(
    connection: Connection,
    attempt: tuple[float, RunId, UnitName, int],
    name: str,
    fields: Mapping[str, object],
) -> EventId:
    at_s, run, unit, number = attempt
    inserted = connection.execute(
        sql.ADD_EVENT, (at_s, to_text(run), to_text(unit), number, name, int(is_gap(name, fields)), to_json(fields))
    )
    return EventId(count(inserted.lastrowid))


def _find_unit(connection: Connection, unit: UnitName) -> _Unit | None:
    row = connection.execute(sql.FIND_UNIT, (to_text(unit),)).fetchone()
    return None if row is None else read("unit", _unit, row)


def _find_pause(connection: Connection, pause_id: PauseId) -> PauseRecord:
    row = connection.execute(sql.FIND_PAUSE, (to_text(pause_id),)).fetchone()
    if row is None:
        raise UnknownNameError("pause", pause_id)
    return pause(row)


def _open_question(connection: Connection, kept: _Unit | None) -> PauseId | None:
    if kept is None or kept.pause is None or _find_pause(connection, kept.pause).answer is not None:
        return None
    return kept.pause


def _unit(row: Row) -> _Unit:
    run, phase, owner, asked = row
    return _Unit(
        RunId(from_text(run)),
        Phase(text(phase)),
        _owner(owner),
        maybe(lambda stored: PauseId(from_text(stored)), asked),
    )


def _answer(word: object) -> Answer:
    return Answer(text(word))


def _owner(stored: object) -> Owner | None:
    return maybe(lambda value: codec.owner_from_json(read("owner", from_json, value)), stored)
