"""What every store promises. Where a test needs a second process, it holds the same state in other hands."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from typing import TYPE_CHECKING

import pytest
from tests.ledgers import ME, OTHER, Living, charge, in_phase
from tests.strategies import RUN, UNIT, classification, record

from rerail.budget.model import Balance, Grant, Limit, Window
from rerail.decisions.model import (
    Answer,
    HandBack,
    Pause,
    Phase,
    Proceed,
    Retry,
    Stop,
    Why,
)
from rerail.decisions.start import OpenPause, Standing
from rerail.errors import UnknownNameError
from rerail.ids import EventId, PauseId, RunId, UnitName
from rerail.ledger import sqlite
from rerail.ledger.store import AlreadyAnsweredError, Gap, LeaseLostError, PauseRecord, Refusal, UnitBusyError

if TYPE_CHECKING:
    from tests.contract.conftest import Store

    from rerail.ledger.store import Ledger

PAUSED = in_phase(Phase.PAUSED, last=classification("deterministic-policy/hook-denied"))
UNDER_WAY = [Phase.READY, Phase.RUNNING, Phase.WAITING, Phase.REPAIRING, Phase.HEALING, Phase.PROBING]


def pause(ledger: Ledger, *, resume_at_s: float | None = None, run: str = RUN) -> PauseId:
    state = PAUSED._replace(run=RunId(run))
    asked = ledger.finish(state, Pause(Why.CLASS, resume_at_s), record=None, at_s=50.0)
    assert asked is not None
    return asked


class TestCharges:
    def test_a_granted_charge_is_in_its_balance(self, ledger: Ledger) -> None:
        assert ledger.charge(charge(1, budget=2)) == Grant(None, Balance(UNIT, "provider", 2, 1))
        assert ledger.charge(charge(2, budget=2)) == Grant(None, Balance(UNIT, "provider", 2, 2))

    def test_a_spent_class_refuses_and_spends_nothing_more(self, ledger: Ledger) -> None:
        ledger.charge(charge(1, budget=1))
        assert ledger.charge(charge(2, budget=1)) == Grant(Limit.CLASS, Balance(UNIT, "provider", 1, 1))
        assert ledger.balances() == (Balance(UNIT, "provider", 1, 1),)

    def test_zero_means_zero(self, ledger: Ledger) -> None:
        assert ledger.charge(charge(1, budget=0)) == Grant(Limit.CLASS, Balance(UNIT, "provider", 0, 0))
        assert ledger.balances() == ()

    def test_a_redelivered_attempt_is_charged_once_and_told_the_same(self, ledger: Ledger) -> None:
        first = ledger.charge(charge(1))
        ledger.charge(charge(2))
        assert ledger.charge(charge(1)) == first
        assert ledger.balances() == (Balance(UNIT, "provider", 5, 2),)

    def test_a_redelivered_attempt_keeps_its_grant_when_the_budget_is_spent(self, ledger: Ledger) -> None:
        first = ledger.charge(charge(1, budget=1))
        assert ledger.charge(charge(1, budget=0)) == first

    def test_a_refused_attempt_is_asked_anew(self, ledger: Ledger) -> None:
        ledger.charge(charge(1, budget=1))
        assert not ledger.charge(charge(2, budget=1)).granted
        assert ledger.charge(charge(2, budget=2)).granted

    @pytest.mark.parametrize(
        "other",
        [charge(1, unit="other"), charge(1, run="other"), charge(2)],
        ids=["another unit", "another run", "another attempt"],
    )
    def test_only_run_unit_and_attempt_together_are_the_same_attempt(self, ledger: Ledger, other: object) -> None:
        ledger.charge(charge(1))
        ledger.charge(other)  # type: ignore[arg-type]  # a Charge
        assert sum(balance.spent for balance in ledger.balances()) == 2

    def test_classes_have_budgets_of_their_own(self, ledger: Ledger) -> None:
        ledger.charge(charge(1, budget=1))
        assert ledger.charge(charge(2, class_="git", budget=1)).granted
        assert not ledger.charge(charge(3, class_="git", budget=1)).granted

    def test_units_have_budgets_of_their_own(self, ledger: Ledger) -> None:
        ledger.charge(charge(1, budget=1))
        assert ledger.charge(charge(1, unit="other", budget=1)).granted
        assert ledger.balances(UnitName("other")) == (Balance(UnitName("other"), "provider", 1, 1),)
        assert ledger.balances(UnitName("nobody")) == ()

    def test_a_lowered_budget_leaves_nothing_and_never_less(self, ledger: Ledger) -> None:
        for attempt in (1, 2, 3):
            ledger.charge(charge(attempt, budget=3))
        refused = ledger.charge(charge(4, budget=1))
        assert (refused.granted, refused.balance.spent, refused.balance.remaining) == (False, 3, 0)

    def test_the_window_refuses_what_the_budget_would_allow(self, ledger: Ledger) -> None:
        window = Window(charges=2, length_s=100.0)
        for attempt, at_s in ((1, 0.0), (2, 50.0)):
            assert ledger.charge(charge(attempt, window=window, at_s=at_s)).granted
        assert ledger.charge(charge(3, window=window, at_s=99.0)).refused_by is Limit.WINDOW
        assert ledger.charge(charge(3, window=window, at_s=100.0)).granted

    def test_a_success_resets_the_classes_and_leaves_the_windows(self, ledger: Ledger) -> None:
        window = Window(charges=2, length_s=100.0)
        ledger.charge(charge(1, budget=1, window=window))
        ledger.charge(charge(2, budget=1, window=window, class_="git"))
        ledger.charge(charge(1, budget=1, unit="other"))
        ledger.finish(in_phase(Phase.SUCCEEDED), Proceed(), record=None, at_s=1.0)
        assert {(balance.unit, balance.class_): balance.spent for balance in ledger.balances()} == {
            (UNIT, "provider"): 0,
            (UNIT, "git"): 0,
            ("other", "provider"): 1,
        }
        assert ledger.charge(charge(3, budget=1, window=window, at_s=1.0)).granted
        ledger.finish(in_phase(Phase.SUCCEEDED), Proceed(), record=None, at_s=2.0)
        assert ledger.charge(charge(4, budget=1, window=window, at_s=2.0)).refused_by is Limit.WINDOW

    @pytest.mark.parametrize(
        ("phase", "decision"),
        [
            (Phase.PAUSED, Pause(Why.CLASS)),
            (Phase.HANDED_BACK, HandBack()),
            (Phase.STOPPED, Stop(Why.CLASS)),
            (Phase.CANCELLED, Stop(Why.ABORTED)),
        ],
    )
    def test_no_other_end_resets_anything(
        self, ledger: Ledger, phase: Phase, decision: Pause | HandBack | Stop
    ) -> None:
        ledger.charge(charge(1))
        ledger.finish(in_phase(phase), decision, record=None, at_s=1.0)
        assert ledger.balances() == (Balance(UNIT, "provider", 5, 1),)

    def test_a_clock_that_was_set_back_brings_no_charge_back(self, ledger: Ledger) -> None:
        window = Window(charges=1, length_s=100.0)
        ledger.charge(charge(1, window=window, at_s=5000.0))
        assert ledger.charge(charge(2, window=window, at_s=10.0)).refused_by is Limit.WINDOW

    def test_contending_threads_are_granted_exactly_the_budget(self, ledger: Ledger) -> None:
        def attempts(thread: int) -> int:
            return sum(ledger.charge(charge(n, run=f"run-{thread}", budget=10)).granted for n in range(1, 11))

        with ThreadPoolExecutor(8) as pool:
            assert sum(pool.map(attempts, range(8))) == 10
        assert ledger.balances() == (Balance(UNIT, "provider", 10, 10),)


class TestStanding:
    def test_an_unknown_unit_has_none(self, ledger: Ledger) -> None:
        assert ledger.standing(UNIT) is None
        ledger.record(record(Retry(1.0)), in_phase(Phase.WAITING))
        assert ledger.standing(UnitName("another")) is None

    @pytest.mark.parametrize("phase", UNDER_WAY)
    def test_what_a_killed_process_left_is_there_for_the_next(self, store: Store, phase: Phase) -> None:
        left = in_phase(phase, attempt=3, last=classification(), failures=("provider", "git"), waited_s=1.5)
        store.ledger.begin(left, OTHER, alive=store.living)
        assert store.ledger.standing(UNIT) == Standing(left)

    @pytest.mark.parametrize("phase", UNDER_WAY)
    def test_a_run_that_lives_has_left_nothing(self, store: Store, phase: Phase) -> None:
        store.living.add(OTHER)
        store.ledger.begin(in_phase(phase), OTHER, alive=store.living)
        assert store.ledger.standing(UNIT) is None
        store.living.remove(OTHER)
        assert store.ledger.standing(UNIT) is not None

    def test_a_named_failure_belongs_to_the_process_that_named_it(self, store: Store) -> None:
        waiting = in_phase(Phase.WAITING)
        store.ledger.record(record(Retry(1.0)), waiting)
        assert store.ledger.standing(UNIT) is None
        store.living.remove(ME)
        assert store.ledger.standing(UNIT) == Standing(waiting)

    @pytest.mark.parametrize(
        ("phase", "decision"),
        [
            (Phase.SUCCEEDED, Proceed()),
            (Phase.STOPPED, Stop(Why.CLASS)),
            (Phase.CANCELLED, Stop(Why.ABORTED)),
        ],
    )
    def test_a_run_that_ended_leaves_none(self, ledger: Ledger, phase: Phase, decision: Proceed | Stop) -> None:
        ledger.record(record(Retry(1.0)), in_phase(Phase.WAITING))
        assert ledger.finish(in_phase(phase), decision, record=None, at_s=1.0) is None
        assert ledger.standing(UNIT) is None

    def test_a_hand_back_keeps_the_state_for_the_next_run(self, ledger: Ledger) -> None:
        handed_back = in_phase(Phase.HANDED_BACK, rejected=frozenset({"input-1"}), last=classification())
        ledger.finish(handed_back, HandBack(), record=None, at_s=1.0)
        assert ledger.standing(UNIT) == Standing(handed_back)

    def test_a_paused_run_stands_with_its_question_and_then_its_answer(self, ledger: Ledger) -> None:
        asked = pause(ledger, resume_at_s=900.0)
        assert ledger.standing(UNIT) == Standing(PAUSED, OpenPause(asked, Why.CLASS, 900.0, None))
        ledger.answer(asked, Answer.APPROVE, note="", at_s=60.0)
        assert ledger.standing(UNIT) == Standing(PAUSED, OpenPause(asked, Why.CLASS, 900.0, Answer.APPROVE))

    def test_a_state_that_paused_but_was_killed_before_it_asked_stands_without_a_question(self, ledger: Ledger) -> None:
        ledger.record(record(Pause(Why.CLASS)), PAUSED)
        assert ledger.standing(UNIT) == Standing(PAUSED)


class TestBegin:
    def test_a_unit_that_another_living_process_runs_is_busy(self, store: Store) -> None:
        store.living.add(OTHER)
        store.ledger.begin(in_phase(Phase.RUNNING), OTHER, alive=store.living)
        with pytest.raises(UnitBusyError, match=rf"'{UNIT}'.*process 200 on 'here'"):
            store.ledger.begin(in_phase(Phase.RUNNING, run="mine"), ME, alive=store.living)
        store.living.remove(OTHER)
        assert store.ledger.standing(UNIT) == Standing(in_phase(Phase.RUNNING))

    def test_a_unit_is_taken_over_from_a_dead_process(self, store: Store) -> None:
        store.ledger.begin(in_phase(Phase.RUNNING), OTHER, alive=store.living)
        mine = in_phase(Phase.RUNNING, run="mine")
        store.ledger.begin(mine, ME, alive=store.living)
        store.living.remove(ME)
        assert store.ledger.standing(UNIT) == Standing(mine)

    def test_the_same_process_goes_on_with_its_unit(self, store: Store) -> None:
        for attempt in (1, 2):
            store.ledger.begin(in_phase(Phase.RUNNING, attempt=attempt), ME, alive=store.living)
        store.living.remove(ME)
        assert store.ledger.standing(UNIT) == Standing(in_phase(Phase.RUNNING, attempt=2))

    @pytest.mark.parametrize(("phase", "decision"), [(Phase.HANDED_BACK, HandBack()), (Phase.SUCCEEDED, Proceed())])
    def test_a_run_that_ended_keeps_nobody_out(self, store: Store, phase: Phase, decision: HandBack | Proceed) -> None:
        store.living.add(OTHER)
        store.ledger.begin(in_phase(Phase.RUNNING), OTHER, alive=store.living)
        store.ledger.finish(in_phase(phase), decision, record=None, at_s=1.0)
        store.ledger.begin(in_phase(Phase.RUNNING, run="mine"), ME, alive=store.living)

    def test_other_units_are_nobodys_business(self, store: Store) -> None:
        store.living.add(OTHER)
        store.ledger.begin(in_phase(Phase.RUNNING), OTHER, alive=store.living)
        store.ledger.begin(in_phase(Phase.RUNNING, unit="another"), ME, alive=store.living)


class TestRelease:
    def test_a_unit_of_a_process_that_cannot_be_seen_is_let_go_on_the_operators_word(self, store: Store) -> None:
        store.living.add(OTHER)
        store.ledger.begin(in_phase(Phase.RUNNING), OTHER, alive=store.living)
        assert store.ledger.standing(UNIT) is None
        assert store.ledger.release(UNIT, seen=lambda owner: False) == OTHER
        assert store.ledger.standing(UNIT) == Standing(in_phase(Phase.RUNNING))
        store.ledger.begin(in_phase(Phase.RUNNING, run="mine"), ME, alive=store.living)

    def test_a_process_that_is_seen_at_work_keeps_its_unit(self, store: Store) -> None:
        store.living.add(OTHER)
        store.ledger.begin(in_phase(Phase.RUNNING), OTHER, alive=store.living)
        with pytest.raises(UnitBusyError):
            store.ledger.release(UNIT, seen=lambda owner: owner == OTHER)
        assert store.ledger.standing(UNIT) is None

    def test_a_unit_that_nobody_holds_is_nobodys(self, store: Store) -> None:
        assert store.ledger.release(UNIT, seen=lambda owner: True) is None
        store.ledger.record(record(Pause(Why.CLASS)), PAUSED)
        store.ledger.finish(PAUSED, Pause(Why.CLASS), record=None, at_s=50.0)
        assert store.ledger.release(UNIT, seen=lambda owner: True) is None


class TestLeases:
    """Who runs a unit in a worktree. Tokens only ever grow."""

    def test_a_start_takes_the_lease_and_the_end_gives_it_back(self, ledger: Ledger) -> None:
        state = in_phase(Phase.RUNNING)
        ledger.begin(state, ME, alive=Living(), root="/w")
        (lease,) = ledger.leases("/w")
        assert (lease.root, lease.unit, lease.run, lease.owner) == ("/w", UNIT, RUN, ME)
        ledger.record(record(Retry(1.0)), in_phase(Phase.WAITING))
        ledger.begin(in_phase(Phase.RUNNING, attempt=2), ME, alive=Living(), root="/w")
        assert ledger.leases("/w") == (lease,), "the next attempt of a run goes on under its lease"
        ledger.finish(in_phase(Phase.SUCCEEDED), Proceed(), record=None, at_s=9.0)
        assert ledger.leases("/w") == ()

    def test_units_and_worktrees_have_leases_of_their_own(self, ledger: Ledger) -> None:
        ledger.begin(in_phase(Phase.RUNNING), ME, alive=Living(), root="/w")
        ledger.begin(in_phase(Phase.RUNNING, unit="other"), ME, alive=Living(), root="/w")
        ledger.begin(in_phase(Phase.RUNNING, unit="third"), ME, alive=Living(), root="/v")
        assert [lease.unit for lease in ledger.leases("/w")] == [UNIT, "other"]
        assert [lease.unit for lease in ledger.leases("/v")] == ["third"]
        assert ledger.leases("/nowhere") == ()

    def test_a_living_owner_keeps_its_lease_whatever_its_age(self, store: Store) -> None:
        store.ledger.begin(in_phase(Phase.RUNNING, run="r1"), OTHER, alive=Living({OTHER}), root="/w")
        with pytest.raises(UnitBusyError):
            store.ledger.begin(in_phase(Phase.RUNNING, run="r2"), ME, alive=Living({OTHER}), root="/w")
        assert [lease.owner for lease in store.ledger.leases("/w")] == [OTHER]

    def test_whoever_was_taken_for_dead_writes_nothing_more_under_a_lease_that_is_another_s(self, store: Store) -> None:
        ours = store.ledger
        ours.begin(in_phase(Phase.RUNNING, run="r1"), ME, alive=Living(), root="/w")
        (first,) = ours.leases("/w")
        theirs = store.held_by(OTHER)
        theirs.begin(in_phase(Phase.RUNNING, run="r2"), OTHER, alive=Living(), root="/w")
        (second,) = ours.leases("/w")
        assert second.token > first.token
        assert (second.run, second.owner) == ("r2", OTHER)
        written = list(ours.events())
        late = record(Retry(1.0))._replace(run=RunId("r1"))
        with pytest.raises(LeaseLostError, match=f"token {second.token} was given to run 'r2'"):
            ours.record(late, in_phase(Phase.WAITING, run="r1"))
        with pytest.raises(LeaseLostError):
            ours.finish(in_phase(Phase.SUCCEEDED, run="r1"), Proceed(), record=None, at_s=9.0)
        assert list(ours.events()) == written
        assert ours.leases("/w") == (second,)

    def test_a_token_is_never_given_twice(self, ledger: Ledger) -> None:
        tokens = []
        for run in ("r1", "r2", "r3"):
            ledger.begin(in_phase(Phase.RUNNING, run=run), ME, alive=Living(), root="/w")
            tokens += [lease.token for lease in ledger.leases("/w")]
            ledger.finish(in_phase(Phase.SUCCEEDED, run=run), Proceed(), record=None, at_s=9.0)
        assert tokens == sorted(set(tokens))

    def test_a_unit_that_the_operator_frees_has_no_lease(self, ledger: Ledger) -> None:
        ledger.begin(in_phase(Phase.RUNNING), OTHER, alive=Living(), root="/w")
        ledger.release(UNIT, seen=Living())
        assert ledger.leases("/w") == ()


class TestPauses:
    def test_a_pause_asks_what_an_operator_needs_to_know(self, ledger: Ledger) -> None:
        denied = record(Pause(Why.CLASS), "deterministic-policy/hook-denied")
        asked = ledger.finish(
            PAUSED, Pause(Why.CLASS), record=denied, at_s=50.0, command=("git", "push", "\udcff"), cwd="/w/\udcff"
        )
        assert asked is not None
        assert ledger.pause(asked) == PauseRecord(
            id=asked,
            unit=UNIT,
            run=RUN,
            asked_at_s=50.0,
            why=Why.CLASS,
            question="what happened: hook-denied: this kind of failure is the operator's to decide",
            class_="deterministic-policy",
            reason="hook-denied",
            rule="rule-hook-denied",
            evidence="error: hook-denied",
            resume_at_s=None,
            command=("git", "push", "\udcff"),
            cwd="/w/\udcff",
            answer=None,
            answered_at_s=None,
            note="",
        )
        assert ledger.pauses() == (ledger.pause(asked),)

    def test_pauses_are_listed_oldest_first(self, ledger: Ledger) -> None:
        asked = [
            ledger.finish(in_phase(Phase.PAUSED, unit=unit), Pause(Why.CLASS), record=None, at_s=at_s)
            for unit, at_s in (("b", 3.0), ("a", 2.0), ("c", 1.0))
        ]
        assert [found.id for found in ledger.pauses()] == asked
        assert len(set(asked)) == 3

    def test_a_pause_is_answered_once(self, ledger: Ledger) -> None:
        asked = pause(ledger)
        answered = ledger.answer(asked, Answer.RETRY, note="the gate\nis \x1b[31mopen", at_s=60.0)
        assert (answered.answer, answered.answered_at_s, answered.note) == (
            Answer.RETRY,
            60.0,
            "the gate\nis \x1b[31mopen",
        )
        with pytest.raises(AlreadyAnsweredError, match="has its answer: retry"):
            ledger.answer(asked, Answer.ABORT, note="", at_s=61.0)
        assert ledger.pause(asked) == answered
        assert ledger.pauses() == ()
        assert ledger.pauses(include_answered=True) == (answered,)

    def test_an_answer_is_history(self, ledger: Ledger) -> None:
        asked = pause(ledger)
        ledger.answer(asked, Answer.SKIP, note="known", at_s=60.0)
        answered = list(ledger.events())[-1]
        assert (answered.name, answered.unit, answered.run, answered.at_s) == ("pause.answered", UNIT, RUN, 60.0)
        assert answered.fields == {"pause": asked, "answer": "skip", "note": "known"}

    def test_an_unknown_pause_is_named_with_near_ones(self, ledger: Ledger) -> None:
        asked = pause(ledger)
        for unknown in (PauseId(f"{asked}x"), PauseId("\udcff\0")):
            with pytest.raises(UnknownNameError, match="there is no pause named"):
                ledger.pause(unknown)
            with pytest.raises(UnknownNameError):
                ledger.answer(unknown, Answer.RETRY, note="", at_s=1.0)
        with pytest.raises(UnknownNameError) as raised:
            ledger.pause(PauseId(f"{asked}x"))
        assert raised.value.near == (asked,)

    def test_the_same_question_is_not_asked_twice(self, ledger: Ledger) -> None:
        asked = pause(ledger)
        assert pause(ledger, resume_at_s=70.0) == asked
        assert [found.resume_at_s for found in ledger.pauses()] == [None]

    def test_a_run_that_pauses_again_after_its_answer_asks_anew(self, ledger: Ledger) -> None:
        first = pause(ledger)
        ledger.answer(first, Answer.RETRY, note="", at_s=60.0)
        ledger.record(record(Pause(Why.CLASS)), PAUSED)
        second = pause(ledger)
        assert second != first
        assert [found.id for found in ledger.pauses()] == [second]

    def test_a_question_whose_time_came_is_closed_when_its_run_goes_on(self, store: Store) -> None:
        asked = pause(store.ledger, resume_at_s=70.0)
        store.ledger.begin(in_phase(Phase.RUNNING, attempt=2), ME, alive=store.living)
        closed = store.ledger.pause(asked)
        assert (closed.answer, closed.answered_at_s) == (Answer.RETRY, 70.0)
        assert "nobody answered" in closed.note
        with pytest.raises(AlreadyAnsweredError):
            store.ledger.answer(asked, Answer.ABORT, note="", at_s=80.0)

    def test_a_question_of_a_cancelled_run_is_closed(self, ledger: Ledger) -> None:
        asked = pause(ledger)
        ledger.finish(in_phase(Phase.CANCELLED), Stop(Why.ABORTED), record=None, at_s=80.0)
        assert (ledger.pause(asked).answer, ledger.pause(asked).answered_at_s) == (Answer.ABORT, 80.0)
        assert ledger.standing(UNIT) is None

    def test_a_run_beside_the_paused_one_neither_answers_nor_forgets_its_question(self, store: Store) -> None:
        """A thread that was under way when the question was asked must not free the unit."""
        asked = pause(store.ledger)
        beside = in_phase(Phase.RUNNING, run="beside")._replace()
        store.ledger.begin(beside, ME, alive=store.living)
        store.ledger.record(record(Retry(1.0)), beside._replace(phase=Phase.WAITING))
        for phase, decision in ((Phase.CANCELLED, Stop(Why.ABORTED)), (Phase.SUCCEEDED, Proceed())):
            store.ledger.finish(beside._replace(phase=phase), decision, record=None, at_s=90.0)
        assert pause(store.ledger, run="beside") == asked
        assert store.ledger.standing(UNIT) == Standing(PAUSED, OpenPause(asked, Why.CLASS, None, None))

    def test_a_question_without_a_named_failure_still_says_why(self, ledger: Ledger) -> None:
        asked = ledger.finish(in_phase(Phase.PAUSED), Pause(Why.UNKNOWN_OUTCOME), record=None, at_s=1.0)
        assert asked is not None
        assert ledger.pause(asked).question == "it was cut off, and nobody can say whether its effect landed"

    def test_the_cited_line_cannot_upset_a_terminal(self, ledger: Ledger) -> None:
        named = classification("deterministic-policy/hook-denied")
        hostile = named._replace(evidence=(named.evidence[0]._replace(text="a\x1b[2J\r\nb\u202e" + "x" * 9999),))
        asked = ledger.finish(PAUSED._replace(last=hostile), Pause(Why.CLASS), record=None, at_s=1.0)
        assert asked is not None
        shown = ledger.pause(asked).evidence
        assert shown.isprintable()
        assert len(shown) < 1000


class TestEvents:
    def test_a_named_failure_is_stored_whole_with_the_state_that_follows(self, store: Store) -> None:
        failure = record(Retry(2.5), "provider/rate-limit")._replace(at_s=7.0, plan="wait")
        event = store.ledger.event(store.ledger.record(failure, in_phase(Phase.WAITING)))
        assert (event.name, event.at_s, event.run, event.unit, event.attempt) == (
            "failure.classified",
            7.0,
            RUN,
            UNIT,
            1,
        )
        assert event.fields["decision"] == {"kind": "retry", "wait_s": 2.5}
        assert event.fields["plan"] == "wait"
        named = event.fields["classification"]
        assert isinstance(named, dict)
        assert (named["class"], named["reason"], named["rule"]) == ("provider", "rate-limit", "rule-rate-limit")
        assert named["evidence"] == [{"stream": "stderr", "line": 14, "text": "error: rate-limit"}]
        store.living.remove(ME)
        assert store.ledger.standing(UNIT) == Standing(in_phase(Phase.WAITING))

    def test_every_end_is_history(self, ledger: Ledger) -> None:
        ledger.finish(
            in_phase(
                Phase.STOPPED, attempt=2, failures=("provider", "runtime"), last=classification("runtime/out-of-memory")
            ),
            Stop(Why.CLASS),
            record=None,
            at_s=9.0,
        )
        (ended,) = ledger.events()
        assert (ended.name, ended.at_s, ended.attempt) == ("unit.finished", 9.0, 2)
        assert ended.fields == {
            "outcome": "stopped",
            "decision": {"kind": "stop", "why": "class"},
            "attempts": 2,
            "failures": ["provider", "runtime"],
            "started_at_s": 0.0,
            "waited_s": 0.0,
            "class": "runtime",
            "reason": "out-of-memory",
            "pause": None,
        }

    def test_other_events_are_stored_as_json_values(self, ledger: Ledger) -> None:
        fields = {
            "steps": ("a", "b"),
            "nested": {"n": 1, "x": None},
            "text": "\udcff\0\x1b\u2028é",
            "phase": Phase.READY,
        }
        event_id = ledger.append("heal.finished", run=RUN, unit=UNIT, attempt=2, at_s=3.0, fields=fields)
        fields["steps"] = ()
        stored = ledger.event(event_id)
        assert (stored.id, stored.name, stored.attempt) == (event_id, "heal.finished", 2)
        assert stored.fields == {
            "steps": ["a", "b"],
            "nested": {"n": 1, "x": None},
            "text": "\udcff\0\x1b\u2028é",
            "phase": "ready",
        }

    def test_events_come_oldest_first_and_by_unit_run_and_place(self, ledger: Ledger) -> None:
        made = [
            (ledger.append("e", run=RunId(run), unit=UnitName(unit), attempt=1, at_s=0.0, fields={}), run, unit)
            for run in ("r1", "r2")
            for unit in ("a", "b", "a")
        ]
        assert [event.id for event in ledger.events()] == [event_id for event_id, _, _ in made] == [1, 2, 3, 4, 5, 6]
        assert [event.id for event in ledger.events(unit=UnitName("a"))] == [1, 3, 4, 6]
        assert [event.id for event in ledger.events(run=RunId("r2"))] == [4, 5, 6]
        assert [event.id for event in ledger.events(run=RunId("r1"), unit=UnitName("b"))] == [2]
        assert [event.id for event in ledger.events(after=EventId(4))] == [5, 6]
        assert [event.id for event in ledger.events(unit=UnitName("a"), after=EventId(3))] == [4, 6]

    def test_a_long_history_is_read_while_it_grows(self, ledger: Ledger, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr(sqlite, "_PAGE_ROWS", 7)
        for number in range(24):
            ledger.append("e", run=RUN, unit=UNIT, attempt=1, at_s=0.0, fields={"n": number})
        events = ledger.events()
        first = next(events)
        ledger.append("late", run=RUN, unit=UNIT, attempt=1, at_s=0.0, fields={})
        rest = [event.id for event in events if event.name == "e"]
        assert [first.id, *rest] == list(range(1, 25))

    @pytest.mark.parametrize("event_id", [0, 1, 99, -1])
    def test_an_unknown_event_is_named(self, ledger: Ledger, event_id: int) -> None:
        with pytest.raises(UnknownNameError, match=f"there is no event named '{event_id}'"):
            ledger.event(EventId(event_id))

    def test_failures_that_no_rule_could_name_are_gaps(self, ledger: Ledger) -> None:
        ledger.record(record(Retry(1.0), "provider/rate-limit"), in_phase(Phase.WAITING))
        unknown = ledger.record(record(Pause(Why.CLASS), "unclassified/no-evidence")._replace(at_s=4.0), PAUSED)
        (gap,) = ledger.gaps()
        assert (gap.event, gap.at_s, gap.unit) == (unknown, 4.0, UNIT)
        assert gap.evidence == ledger.event(unknown).fields["evidence"]

    def test_a_failure_that_only_a_hook_saw_is_one_too(self, ledger: Ledger) -> None:
        def told(name: str, class_: str) -> EventId:
            fields = {"classification": {"class": class_}, "evidence": {"message": class_}}
            return ledger.append(name, run=RUN, unit=UNIT, attempt=1, at_s=4.0, fields=fields)

        told("failure.classified", "provider")
        gap = told("failure.classified", "unclassified")
        told("heal.finished", "unclassified")
        assert ledger.gaps() == (Gap(gap, 4.0, UNIT, {"message": "unclassified"}),)

    def test_of_many_gaps_the_last_are_returned_oldest_first(self, ledger: Ledger) -> None:
        unknown = record(Pause(Why.CLASS), "unclassified/no-evidence")
        events = [ledger.record(unknown._replace(at_s=float(at)), PAUSED) for at in range(4)]
        assert [gap.event for gap in ledger.gaps(last=2)] == events[2:]
        assert [gap.event for gap in ledger.gaps()] == events
        assert ledger.gaps(last=0) == ()


class TestRefusals:
    def test_a_worktree_stays_refused_until_it_is_readmitted(self, ledger: Ledger) -> None:
        refusal = Refusal("/w/broken \udcff", 5.0, "missing-git", "no .git\nat all")
        assert ledger.refusal(refusal.root) is None
        ledger.refuse(refusal)
        assert ledger.refusal(refusal.root) == refusal
        assert ledger.refusal("/w") is None
        ledger.readmit(refusal.root)
        ledger.readmit(refusal.root)
        assert ledger.refusal(refusal.root) is None

    def test_a_later_refusal_says_what_is_wrong_now(self, ledger: Ledger) -> None:
        ledger.refuse(Refusal("/w", 5.0, "missing-git", ""))
        ledger.refuse(Refusal("/w", 6.0, "lease-lost", "by 7"))
        assert ledger.refusal("/w") == Refusal("/w", 6.0, "lease-lost", "by 7")


@pytest.mark.parametrize(
    "name", ['"quoted"', "line\nbreak", "nul\0", "\udcff", "é", "\x1b[31m", "a" * 5000, "'; DROP TABLE events; --"]
)
def test_any_text_is_a_name_of_its_own(ledger: Ledger, name: str) -> None:
    state = in_phase(Phase.HANDED_BACK, unit=name, run=name)
    ledger.charge(charge(1, unit=name, run=name, class_=name))
    ledger.finish(state, HandBack(), record=None, at_s=1.0)
    assert ledger.standing(UnitName(name)) == Standing(state)
    assert ledger.balances(UnitName(name)) == (Balance(UnitName(name), name, 5, 1),)
    assert [event.unit for event in ledger.events(unit=UnitName(name), run=RunId(name))] == [name]
    assert ledger.standing(UnitName(f"{name}x")) is None
