"""A harness answers questions in its own process, whatever the ledger, with no more than the loop in its hand."""

from __future__ import annotations

import io
import traceback
from typing import TYPE_CHECKING, Any

import pytest
from tests.loops import Named, scripted

from rerail import Answer, Paused, PausedError, Stopped, Unit, UsageError
from rerail.ledger.sqlite import SqliteLedger
from rerail.ledger.store import AlreadyAnsweredError

if TYPE_CHECKING:
    from pathlib import Path

    from tests.loops import Script

    from rerail import Loop

PURE = Unit("unit", effects="none")


@pytest.fixture(params=["memory", "sqlite"])
def paused(request: pytest.FixtureRequest, tmp_path: Path) -> tuple[Loop, Script, Paused]:
    options: dict[str, Any] = {}
    if request.param == "sqlite":
        options["ledger"] = SqliteLedger(tmp_path / "ledger.sqlite3")
    loop, script = scripted([Named("deterministic-policy/hook-denied"), "value"], **options)
    outcome = loop.run(PURE, script)
    assert isinstance(outcome, Paused)
    return loop, script, outcome


def test_the_loop_lists_what_it_asks(paused: tuple[Loop, Script, Paused]) -> None:
    loop, _, outcome = paused
    (question,) = loop.pauses()
    assert (question.id, question.unit, question.answer) == (outcome.pause, "unit", None)


@pytest.mark.parametrize("answer", [Answer.RETRY, "retry", "approve"])
def test_an_answer_lets_the_unit_go_on(paused: tuple[Loop, Script, Paused], answer: Any) -> None:
    loop, script, outcome = paused
    answered = loop.answer(outcome.pause, answer, note="looked at it")
    assert (answered.answer, answered.note) == (Answer(answer), "looked at it")
    assert loop.pauses() == ()
    assert script.calls == 1, "answering runs nothing"
    assert loop.run(PURE, script).unwrap() == "value"


@pytest.mark.parametrize("answer", ["skip", "abort"])
def test_an_answer_can_end_it(paused: tuple[Loop, Script, Paused], answer: Any) -> None:
    loop, script, outcome = paused
    loop.answer(outcome.pause, answer)
    assert isinstance(loop.run(PURE, script), Stopped)
    assert script.calls == 1


@pytest.mark.parametrize("answer", ["", "yes", None, 1])
def test_what_is_no_answer_leaves_the_question_open(paused: tuple[Loop, Script, Paused], answer: Any) -> None:
    loop, _, outcome = paused
    with pytest.raises(UsageError, match="retry, approve, skip, abort"):
        loop.answer(outcome.pause, answer)
    assert len(loop.pauses()) == 1


def test_a_question_is_answered_once_and_only_if_it_is_one(paused: tuple[Loop, Script, Paused]) -> None:
    loop, _, outcome = paused
    loop.answer(outcome.pause, "skip")
    with pytest.raises(AlreadyAnsweredError):
        loop.answer(outcome.pause, "retry")
    with pytest.raises(UsageError, match="there is no pause"):
        loop.answer("p0-nowhere", "retry")


def test_a_traceback_alone_says_which_question_it_is(paused: tuple[Loop, Script, Paused]) -> None:
    _, _, outcome = paused
    with pytest.raises(PausedError) as caught:
        outcome.unwrap()
    shown = io.StringIO()
    traceback.print_exception(caught.value, file=shown)
    assert outcome.pause in shown.getvalue()
    assert "loop.answer" in str(caught.value.hint)


def test_an_answer_is_an_event() -> None:
    heard: list[tuple[str, Any]] = []
    loop, script = scripted(
        [Named("deterministic-policy/hook-denied")], on_event=lambda name, fields: heard.append((name, fields))
    )
    outcome = loop.run(PURE, script)
    assert isinstance(outcome, Paused)
    loop.answer(outcome.pause, "skip", note="not today")
    said = {"unit": "unit", "pause": outcome.pause, "answer": "skip", "note": "not today"}
    assert heard[-1] == ("pause.answered", said)
