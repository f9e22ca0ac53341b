"""Questions say why, in one line, and their ids are hard to mistake."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from tests.ledgers import in_phase
from tests.strategies import classification

from rerail.decisions.model import Answer, Pause, Phase, RunState, Why
from rerail.ledger.questions import ask, lapsed

if TYPE_CHECKING:
    from rerail.ledger.store import PauseRecord


def asked(state: RunState, why: Why = Why.CLASS, resume_at_s: float | None = None) -> PauseRecord:
    return ask(1, state, Pause(why, resume_at_s), record=None, at_s=50.0, command=None, cwd="")


@pytest.mark.parametrize("why", Why)
def test_every_reason_to_pause_is_said_in_one_line(why: Why) -> None:
    state = in_phase(Phase.PAUSED, last=classification())
    question = asked(state, why).question
    assert question.startswith("what happened: rate-limit: ")
    assert len(question) > len("what happened: rate-limit: ") + 10
    assert question.isprintable()


def test_the_same_number_in_two_ledgers_is_not_the_same_pause() -> None:
    ids = {
        asked(in_phase(Phase.PAUSED, unit=unit, run=run)).id
        for unit in ("a", "b", "c\udcff")
        for run in ("r1", "r2", "r3")
    }
    assert len(ids) == 9
    assert all(len(found) == len("p1-0000") for found in ids)


@pytest.mark.parametrize(
    ("phase", "answer"),
    [
        (Phase.RUNNING, Answer.RETRY),
        (Phase.SUCCEEDED, Answer.RETRY),
        (Phase.STOPPED, Answer.ABORT),
        (Phase.CANCELLED, Answer.ABORT),
    ],
)
def test_a_question_lapses_with_its_run(phase: Phase, answer: Answer) -> None:
    question = asked(in_phase(Phase.PAUSED), Why.RESUME_LATER, 70.0)
    assert (lapsed(question, phase, 90.0).answer, lapsed(question, phase, 90.0).answered_at_s) == (answer, 90.0)
    assert lapsed(question, phase, None).answered_at_s == 70.0


def test_a_question_that_has_its_answer_keeps_it() -> None:
    answered = asked(in_phase(Phase.PAUSED))._replace(answer=Answer.SKIP, answered_at_s=60.0, note="known")
    assert lapsed(answered, Phase.RUNNING, 90.0) == answered
