"""The questions that await an answer, and the answers: at most one each."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING

from rerail.boundary import hints
from rerail.boundary.result import Result
from rerail.decisions.model import Answer
from rerail.evidence.redact import redact_command
from rerail.ids import PauseId
from rerail.ledger.codec import question_to_json
from rerail.observe import Observer

if TYPE_CHECKING:
    from rerail.app import Project
    from rerail.ledger.store import PauseRecord


def pauses(project: Project, *, include_answered: bool = False) -> Result:
    """Return the questions that are open, oldest first; with *include_answered* also those that have their answer."""
    ledger = project.open_ledger()
    try:
        found = ledger.pauses(include_answered=include_answered)
    finally:
        ledger.close()
    steps = tuple(hints.give_answer(unit=each.unit, pause=each.id) for each in found if each.answer is None)
    message = "" if found else "nothing is paused"
    return Result(True, "pauses", message, {"pauses": [as_data(pause) for pause in found]}, hints=steps)


def answer(project: Project, pause: str, chosen: Answer, note: str = "") -> Result:
    """Write an answer down; it takes effect when the unit runs again.

    Raises:
        UnknownNameError: There is no such pause.
        AlreadyAnsweredError: It has its answer.
    """
    ledger = project.open_ledger()
    try:
        answered = ledger.answer(PauseId(pause), chosen, note=note, at_s=time.time())
    finally:
        ledger.close()
    observer = Observer(log=project.settings.log)
    observer.emit("pause.answered", unit=answered.unit, run=answered.run, pause=pause, answer=chosen.value, note=note)
    message = f"{answered.unit}: {chosen}; it takes effect when the unit runs again"
    runs = answered.command is not None and answered.answer in (Answer.RETRY, Answer.APPROVE)
    steps = (hints.resume_answered(unit=answered.unit),) if runs else ()
    return Result(True, "answer", message, {"pause": as_data(answered)}, hints=steps)


def as_data(pause: PauseRecord) -> dict[str, object]:
    """Return a pause in its public shape; its command is there to be read, with its secrets struck out."""
    asked = question_to_json(pause)
    del asked["run"]
    command = None if pause.command is None else redact_command(pause.command)
    return {**asked, "command": command, "answer": pause.answer, "note": pause.note}
