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
from rerail.decisions.start import OpenPause, Standing, host_gone, may_still_run, start
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


@pytest.mark.parametrize(
    ("asked", "answer", "runs", "is_for_another"),
    [
        (("git", "push"), Answer.APPROVE, (("git", "push"), "/w"), False),
        (("git", "push"), Answer.APPROVE, (("git", "push", "--force"), "/w"), True),
        (("git", "push"), Answer.RETRY, (("git", "push"), "/elsewhere"), True),
        (("git", "push"), Answer.SKIP, (("git", "pull"), "/w"), True),
        (("git", "push"), Answer.RETRY, (None, ""), True),
        (("git", "push"), None, (("git", "pull"), "/w"), False),
        (None, Answer.RETRY, (("git", "pull"), "/w"), False),
    ],
)
def test_an_answer_knows_which_command_it_was_given_for(
    asked: tuple[str, ...] | None, answer: Answer | None, runs: tuple[tuple[str, ...] | None, str], is_for_another: bool
) -> None:
    pause = OpenPause(PauseId("p-1"), Why.CLASS, None, answer, asked, "/w")
    assert pause.is_answered_for_another(*runs) is is_for_another


LOST = host_gone()


@pytest.mark.parametrize(
    ("standing", "may"),
    [
        (left(Phase.RUNNING), True),
        (left(Phase.PROBING), False),
        (left(Phase.WAITING, last=LOST), False),
        (left(Phase.PAUSED, last=LOST, pause=question()), False),
        (left(Phase.PAUSED, last=LOST, pause=question(answer=Answer.RETRY)), True),
        (left(Phase.PAUSED, last=LOST, pause=question(answer=Answer.APPROVE)), False),
        (left(Phase.PAUSED, last=LOST, pause=question(answer=Answer.ABORT)), False),
        (left(Phase.PAUSED, last=LOST), False),
        (left(Phase.PAUSED, pause=question(answer=Answer.RETRY)), False),
    ],
)
def test_what_a_lost_attempt_left_is_looked_for_before_the_next_one(standing: Standing, may: bool) -> None:
    assert may_still_run(standing) is may


def test_a_retry_beside_what_still_runs_is_asked_about_anew_and_by_name() -> None:
    answered = left(Phase.PAUSED, last=LOST, pause=question(answer=Answer.RETRY))
    state, decision = start(
        answered,
        run=NEW_RUN,
        unit=UNIT,
        effects=Effects.UNSAFE,
        current=None,
        now_s=100.0,
        policy=Policy(),
        still_running=("7 (sleep)",),
    )
    assert decision == Pause(Why.CLASS)
    assert state.phase is Phase.PAUSED
    assert state.last is not None
    assert "what it started still runs: process 7 (sleep)" in state.last.summary


def test_few_of_many_survivors_are_named() -> None:
    named = host_gone([f"{pid} (sh)" for pid in range(100)])
    assert named.summary.endswith("processes 0 (sh), 1 (sh), 2 (sh), 3 (sh), 4 (sh)")
    assert (named.class_, named.reason) == (LOST.class_, LOST.reason) == ("runtime", "host-gone")


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
