"""What an earlier run of the same unit left, and what it means for the next one."""

from __future__ import annotations

from typing import Any

import pytest
from tests.strategies import UNIT, running

from rerail.decisions.model import (
    Again,
    Answer,
    Decision,
    Effects,
    HandBack,
    Pause,
    Phase,
    RunState,
    Stop,
    Why,
)
from rerail.decisions.policy import Policy
from rerail.decisions.start import OpenPause, Standing, start
from rerail.ids import Fingerprint, PauseId, RunId

NEW_RUN = RunId("run-2")


def left(phase: Phase, *, pause: OpenPause | None = None, **fields: Any) -> Standing:
    return Standing(running(attempt=3, **fields)._replace(phase=phase), pause)


def question(*, resume_at_s: float | None = None, answer: Answer | None = None) -> OpenPause:
    return OpenPause(PauseId("p-1"), Why.CLASS, resume_at_s, answer)


def begin(standing: Standing | None, *, current: str | None = None, now_s: float = 100.0) -> tuple[RunState, Decision]:
    return start(
        standing,
        run=NEW_RUN,
        unit=UNIT,
        effects=Effects.UNSAFE,
        current=Fingerprint(current) if current else None,
        now_s=now_s,
        policy=Policy(),
    )


def test_a_unit_that_never_failed_starts_fresh() -> None:
    state, decision = begin(None)
    assert state == RunState(NEW_RUN, UNIT, started_at_s=100.0, effects=Effects.UNSAFE)
    assert decision == Again()


@pytest.mark.parametrize("phase", [Phase.SUCCEEDED, Phase.STOPPED, Phase.CANCELLED])
def test_a_run_that_ended_is_followed_by_a_new_one(phase: Phase) -> None:
    state, decision = begin(left(phase))
    assert (state.run, state.attempt, decision) == (NEW_RUN, 0, Again())


@pytest.mark.parametrize("phase", [Phase.READY, Phase.WAITING, Phase.REPAIRING, Phase.HEALING])
def test_a_run_killed_between_two_attempts_goes_on_with_the_next_one(phase: Phase) -> None:
    state, decision = begin(left(phase))
    assert (state.run, state.phase, state.attempt, decision) == (left(phase).state.run, Phase.READY, 3, Again())


@pytest.mark.parametrize("phase", [Phase.RUNNING, Phase.PROBING])
def test_an_attempt_whose_end_nobody_saw_is_left_for_the_script_to_name(phase: Phase) -> None:
    state, _ = begin(left(phase))
    assert (state.phase, state.attempt) == (phase, 3)


@pytest.mark.parametrize(
    ("pause", "decision"),
    [
        (question(), Pause(Why.CLASS)),
        (question(resume_at_s=101.0), Pause(Why.CLASS, 101.0)),
        (question(resume_at_s=100.0), Again()),
        (question(answer=Answer.RETRY), Again()),
        (question(answer=Answer.APPROVE), Again()),
        (question(answer=Answer.SKIP), Stop(Why.SKIPPED)),
        (question(answer=Answer.ABORT), Stop(Why.ABORTED)),
        (None, Pause(Why.CLASS)),  # a damaged ledger is not an answer
    ],
)
def test_a_paused_unit_runs_only_after_its_answer_or_its_time(pause: OpenPause | None, decision: Decision) -> None:
    assert begin(left(Phase.PAUSED, pause=pause))[1] == decision


@pytest.mark.parametrize(("current", "decision"), [("a", HandBack()), ("b", Again())])
def test_a_handed_back_unit_runs_only_with_an_input_that_was_not_rejected(current: str, decision: Decision) -> None:
    standing = left(Phase.HANDED_BACK, rejected=frozenset({Fingerprint("a")}))
    state, decided = begin(standing, current=current)
    assert decided == decision
    assert state.run == standing.state.run, "the same run, and the same budget, go on"


def test_a_run_that_goes_on_takes_the_effects_that_the_unit_declares_now() -> None:
    state, _ = begin(left(Phase.WAITING, effects=Effects.NONE))
    assert state.effects is Effects.UNSAFE
