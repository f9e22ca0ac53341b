"""The questions that pauses ask, made the same way for every store. Storing and answering them is the stores'."""

from __future__ import annotations

from typing import TYPE_CHECKING
from zlib import crc32

from rerail.decisions.because import BECAUSE
from rerail.decisions.model import Answer, Pause, Phase, RunState, Why
from rerail.decisions.start import OpenPause
from rerail.evidence.ansi import printable
from rerail.evidence.clip import clip_line
from rerail.ids import PauseId
from rerail.ledger.store import AlreadyAnsweredError, PauseRecord

if TYPE_CHECKING:
    from rerail.decisions.effects import FailureRecord
    from rerail.rules.model import Classification

_EVIDENCE_CHARS = 400


def ask(
    number: int,
    state: RunState,
    pause: Pause,
    *,
    record: FailureRecord | None,
    at_s: float,
    command: tuple[str, ...] | None,
    cwd: str,
) -> PauseRecord:
    """Return the question of a paused run.

    Args:
        number: Of this pause, counted from 1 within the ledger.
        state: The paused run's.
        pause: The decision to pause.
        record: The failure that ended the run; without one, the state's last classification speaks.
        at_s: Wall clock, seconds since the epoch.
        command: How to run the unit again from another process, or None.
        cwd: Where it ran.
    """
    named = record.classification if record is not None else state.last
    return PauseRecord(
        id=_id(number, state),
        unit=state.unit,
        run=state.run,
        asked_at_s=at_s,
        why=pause.why,
        question=_question(pause, named, record),
        class_=named.class_ if named is not None else "",
        reason=named.reason if named is not None else "",
        rule=named.rule if named is not None else "",
        evidence=clip_line(printable(named.evidence[0].text), _EVIDENCE_CHARS)
        if named is not None and named.evidence
        else "",
        resume_at_s=pause.resume_at_s,
        command=command,
        cwd=cwd,
        answer=None,
        answered_at_s=None,
        note="",
    )


def _question(pause: Pause, named: Classification | None, record: FailureRecord | None) -> str:
    parts = [printable(named.summary)] if named is not None else []
    parts.append(BECAUSE[pause.why])
    if pause.why is Why.NOT_HEALED and record is not None and record.decision == pause:
        parts.append(printable(record.plan))
    return ": ".join(filter(None, parts))


def open_pause(pause: PauseRecord) -> OpenPause:
    """Return a question as the next run of its unit needs to know it."""
    return OpenPause(pause.id, pause.why, pause.resume_at_s, pause.answer, pause.command, pause.cwd)


def lapsed(pause: PauseRecord, phase: Phase, at_s: float | None) -> PauseRecord:
    """Return a question as it stands once its own run is in *phase* again: one that nobody answered is answered by that.

    Args:
        pause: The question.
        phase: Where its run is now.
        at_s: Wall clock, seconds since the epoch; None where the caller has no clock: then when the run was free to go on.
    """
    if pause.answer is not None:
        return pause
    ended = phase in (Phase.STOPPED, Phase.CANCELLED)
    return pause._replace(
        answer=Answer.ABORT if ended else Answer.RETRY,
        answered_at_s=at_s if at_s is not None else pause.resume_at_s or pause.asked_at_s,
        note=f"nobody answered: the run was {phase}" if ended else "nobody answered: the run went on by itself",
    )


def already_answered(pause: PauseRecord) -> AlreadyAnsweredError:
    """Return the error that tells what the answer was."""
    return AlreadyAnsweredError(
        f"pause {pause.id} of unit {pause.unit!r} has its answer: {pause.answer}",
        hint="a pause is answered once; run the unit again, and it asks anew if it must",
    )


def _id(number: int, state: RunState) -> PauseId:
    """Return an id that is short to type and, by its end, hardly that of another repository's question.

    "p3" alone would be some pause in every ledger, and an answer given in the wrong directory would approve the wrong thing.
    """
    return PauseId(
        f"p{number}-{crc32(f'{state.run} {state.unit} {number}'.encode(errors='surrogatepass')) & 0xFFFF:04x}"
    )
