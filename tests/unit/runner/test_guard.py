"""What users of a loop see: outcomes, exceptions, waits, repairs, pauses and their continuation."""

from __future__ import annotations

import asyncio
import os
from typing import TYPE_CHECKING, Any

import attrs
import pytest
from tests.loops import Named, Script, named_loop, scripted

from rerail import (
    Cancelled,
    HandedBack,
    HandedBackError,
    Landing,
    Paused,
    PausedError,
    Policy,
    RepairRequest,
    Stopped,
    StoppedError,
    Succeeded,
    Unit,
    UsageError,
    Why,
)
from rerail.decisions.model import Answer
from rerail.decisions.policy import Backoff
from rerail.ledger.memory import MemoryLedger
from rerail.testing import ManualClock

if TYPE_CHECKING:
    from pathlib import Path

PURE = Unit("unit", effects="none")


def test_a_call_that_succeeds_gives_its_value_and_leaves_no_trace() -> None:
    loop, script = scripted(["value"])
    outcome = loop.run(PURE, script, a=1)
    assert outcome == Succeeded("value")
    assert script.inputs == [{"a": 1}]
    assert list(loop.tools.ledger.events()) == []


def test_a_transient_failure_is_waited_out_and_the_history_tells_it() -> None:
    loop, script = scripted([Named("provider/overloaded"), Named("provider/overloaded"), "value"])
    outcome = loop.run(PURE, script)
    assert isinstance(outcome, Succeeded)
    assert (outcome.value, outcome.attempts) == ("value", 3)
    assert [record.classification.reason for record in outcome.history] == ["overloaded", "overloaded"]
    assert loop.tools.clock.slept_s == [1.0, 2.0]  # type: ignore[attr-defined]  # the manual clock's


def test_the_servers_hint_is_a_floor() -> None:
    loop, script = scripted([Named("provider/rate-limit", retry_after_s=17.0), "value"])
    loop.run(PURE, script)
    assert loop.tools.clock.slept_s == [17.0]  # type: ignore[attr-defined]


def test_any_tenacity_strategy_gives_the_curve() -> None:
    from tenacity import wait_fixed, wait_incrementing

    for strategy, waits in ((wait_fixed(3), [3.0, 3.0]), (wait_incrementing(start=1, increment=4), [1.0, 5.0])):
        policy = Policy(backoff=Backoff(wait=strategy))
        loop, script = scripted([Named("provider/timeout", str(n)) for n in range(2)] + ["value"], policy=policy)
        loop.run(PURE, script)
        assert loop.tools.clock.slept_s == waits  # type: ignore[attr-defined]


def test_a_class_that_is_spent_pauses_with_the_original_error_reachable() -> None:
    loop, script = scripted([Named("provider/timeout")])
    outcome = loop.run(PURE, script)
    assert isinstance(outcome, Paused)
    assert (outcome.why, script.calls) == (Why.BUDGET_SPENT, 6)
    with pytest.raises(PausedError) as caught:
        outcome.unwrap()
    assert isinstance(caught.value.__cause__, Named)
    assert caught.value.outcome is outcome


def test_a_verified_success_resets_the_class_budgets() -> None:
    loop, names = named_loop()
    failing = [Named("provider/timeout")] * 5
    for _ in range(3):
        assert loop.run(PURE, Script([*failing, "value"], names)).ok
    assert [balance.spent for balance in loop.tools.ledger.balances()] == [0]


def test_the_rolling_window_is_not_reset_by_success() -> None:
    loop, names = named_loop()
    outcomes = [loop.run(PURE, Script([*[Named("provider/timeout")] * 5, "value"], names)) for _ in range(5)]
    assert [outcome.ok for outcome in outcomes] == [True, True, True, True, False]
    last = outcomes[-1]
    assert isinstance(last, Paused)
    assert last.why is Why.WINDOW_SPENT


def test_a_denial_pauses_at_once_charges_nothing_and_asks_once() -> None:
    loop, script = scripted([Named("deterministic-policy/hook-denied")])
    first, second = loop.run(PURE, script), loop.run(PURE, script)
    assert isinstance(first, Paused)
    assert isinstance(second, Paused)
    assert (script.calls, second.attempts, second.pause) == (1, 1, first.pause)
    assert loop.tools.ledger.balances() == ()
    assert len(loop.tools.ledger.pauses()) == 1


@pytest.mark.parametrize("answer", [Answer.RETRY, Answer.APPROVE])
def test_an_answered_pause_goes_on_where_it_paused(answer: Answer) -> None:
    loop, script = scripted([Named("deterministic-policy/hook-denied"), "value"])
    paused = loop.run(PURE, script)
    assert isinstance(paused, Paused)
    loop.tools.ledger.answer(paused.pause, answer, note="", at_s=0.0)
    outcome = loop.run(PURE, script)
    assert isinstance(outcome, Succeeded)
    assert outcome.attempts == 2


@pytest.mark.parametrize(("answer", "why"), [(Answer.SKIP, Why.SKIPPED), (Answer.ABORT, Why.ABORTED)])
def test_a_pause_that_is_answered_with_no_stops_without_running(answer: Answer, why: Why) -> None:
    loop, script = scripted([Named("deterministic-policy/hook-denied"), "value"])
    paused = loop.run(PURE, script)
    assert isinstance(paused, Paused)
    loop.tools.ledger.answer(paused.pause, answer, note="", at_s=0.0)
    outcome = loop.run(PURE, script)
    assert isinstance(outcome, Stopped)
    assert (outcome.why, script.calls) == (why, 1)


def test_a_usage_window_is_not_entered_early_and_opens_by_itself() -> None:
    clock = ManualClock()
    loop, names = named_loop(clock=clock)
    script = Script([Named("provider/usage-window", resets_at=clock.wall_s() + 3600), "value"], names)
    assert isinstance(loop.run(PURE, script), Paused)
    clock.advance(3599)
    assert isinstance(loop.run(PURE, script), Paused)
    clock.advance(1)
    assert loop.run(PURE, script).ok
    assert script.calls == 2


def test_a_repairer_changes_the_input_and_the_rejected_one_is_never_sent_again() -> None:
    requests: list[RepairRequest] = []

    def repair(request: RepairRequest) -> dict[str, Any]:
        requests.append(request)
        return {"a": 2}

    loop, script = scripted([Named("tool-schema/wrong-type"), "value"])
    outcome = loop.run(Unit("unit", effects="none", repair=repair), script, a=1)
    assert outcome.ok
    assert script.inputs == [{"a": 1}, {"a": 2}]
    assert requests[0].input == {"a": 1}


def test_a_repair_that_changes_nothing_is_no_attempt() -> None:
    loop, script = scripted([Named("tool-schema/wrong-type"), "value"])
    outcome = loop.run(Unit("unit", effects="none", repair=lambda request: request.input), script, a=1)
    assert isinstance(outcome, Paused)
    assert (outcome.why, script.calls) == (Why.SAME_INPUT, 1)


def test_without_a_repairer_the_unit_is_handed_back_and_runs_again_only_with_another_input() -> None:
    loop, script = scripted([Named("tool-schema/wrong-type"), "value"])
    first = loop.run(PURE, script, a=1)
    assert isinstance(first, HandedBack)
    assert first.request is not None
    with pytest.raises(HandedBackError):
        first.unwrap()
    unchanged = loop.run(PURE, script, a=1)
    assert isinstance(unchanged, HandedBack)
    assert (unchanged.request, script.calls) == (None, 1)
    changed = loop.run(PURE, script, a=2)
    assert isinstance(changed, Succeeded)
    assert changed.attempts == 2


def test_hand_backs_share_one_budget_over_successive_runs() -> None:
    loop, names = named_loop()
    outcomes = []
    for n in range(4):
        script = Script([Named("verification/tests-failed", f"test_{chr(97 + n)}")], names)
        outcomes.append(loop.run(PURE, script, change=n))
    assert [type(outcome) for outcome in outcomes] == [HandedBack, HandedBack, HandedBack, Paused]


def test_a_worktree_failure_stops() -> None:
    loop, script = scripted([Named("worktree/broken-link"), "value"])
    outcome = loop.run(PURE, script)
    assert isinstance(outcome, Stopped)
    with pytest.raises(StoppedError):
        outcome.unwrap()
    assert script.calls == 1


@pytest.mark.parametrize(
    ("answer", "expected", "calls"),
    [(True, Succeeded, 1), (Landing.LANDED, Succeeded, 1), (False, Succeeded, 2), (None, Paused, 1)],
)
def test_an_unsafe_unit_that_was_cut_is_asked_whether_it_landed(answer: object, expected: type, calls: int) -> None:
    loop, script = scripted([Named("provider/stream-cut", may_have_landed=True), "value"])
    outcome = loop.run(Unit("unit", landed=lambda: answer), script)  # type: ignore[arg-type,return-value]  # any answer
    assert isinstance(outcome, expected)
    assert script.calls == calls


def test_an_unsafe_unit_without_a_probe_is_not_run_twice_after_an_unknown_outcome() -> None:
    loop, script = scripted([Named("provider/timeout", may_have_landed=True), "value"])
    outcome = loop.run("unit", script)
    assert isinstance(outcome, Paused)
    assert (outcome.why, script.calls) == (Why.UNKNOWN_OUTCOME, 1)


class Halt(Exception):
    """A harness's control flow."""


@pytest.mark.parametrize("error", [KeyboardInterrupt(), asyncio.CancelledError(), SystemExit(3), Halt()])
def test_a_cancellation_passes_through_as_it_came_and_charges_nothing(error: BaseException) -> None:
    loop, script = scripted([error])
    with pytest.raises(type(error)) as caught:
        loop.run(Unit("unit", effects="none", passes_through=(Halt,)), script)
    assert caught.value is error
    assert loop.tools.ledger.balances() == ()


def test_a_cancelled_wait_ends_the_run_with_what_was_charged_and_no_more() -> None:
    loop, names = named_loop()

    def interrupted(wait_s: float) -> None:
        raise KeyboardInterrupt

    loop.sleep = interrupted
    with pytest.raises(KeyboardInterrupt):
        loop.run(PURE, Script([Named("provider/timeout"), "value"], names))
    events = list(loop.tools.ledger.events())
    assert [event.name for event in events] == ["failure.classified", "unit.finished"]
    assert [balance.spent for balance in loop.tools.ledger.balances()] == [1]


def test_a_value_that_is_a_failure_all_the_same_is_recovered_from() -> None:
    from rerail.evidence import from_text

    answers = iter(["HTTP 503 Service Unavailable", "fine"])

    def failure(value: str) -> Any:
        return from_text(value) if value.startswith("HTTP") else None

    loop, _ = named_loop()
    loop._classify = lambda evidence: __import__("tests.strategies", fromlist=["x"]).classification(
        "provider/overloaded"
    )
    outcome = loop.run(Unit("unit", effects="none", failure=failure), lambda: next(answers))
    assert outcome.unwrap() == "fine"


def test_a_decorated_function_returns_its_value_or_raises_from_the_original_error() -> None:
    loop, names = named_loop()
    good, bad = Script([Named("provider/timeout"), "value"], names), Script([Named("runtime/segfault")], names)
    assert loop.unit("good", effects="none")(good)() == "value"
    with pytest.raises(StoppedError) as caught:
        loop.unit("bad")(bad)()
    assert isinstance(caught.value.__cause__, Named)


def test_an_async_function_is_awaited_and_recovered_from() -> None:
    loop, script = scripted([Named("provider/timeout"), "value"])
    assert asyncio.run(loop.arun(PURE, script.awaited)).unwrap() == "value"


def test_a_coroutine_repairer_is_awaited() -> None:
    async def repair(request: RepairRequest) -> dict[str, Any]:
        await asyncio.sleep(0)
        return {"a": 2}

    loop, script = scripted([Named("tool-schema/wrong-type"), "value"])
    outcome = asyncio.run(loop.arun(Unit("unit", effects="none", repair=repair), script.awaited, a=1))
    assert outcome.ok
    assert script.inputs == [{"a": 1}, {"a": 2}]


def test_attempts_around_a_block_go_on_until_it_succeeds() -> None:
    loop, script = scripted([Named("provider/timeout"), Named("provider/timeout"), "value"])
    seen = []
    for attempt in loop.attempts(PURE):
        with attempt:
            seen.append(attempt.number)
            script()
    assert seen == [1, 2, 3]


def test_attempts_raise_what_the_run_ended_with() -> None:
    loop, script = scripted([Named("runtime/killed")])

    def run() -> None:
        for attempt in loop.attempts(PURE):
            with attempt:
                script()

    with pytest.raises(StoppedError) as caught:
        run()
    assert isinstance(caught.value.__cause__, Named)


def test_attempts_in_async_code_take_a_repaired_input() -> None:
    loop, script = scripted([Named("tool-schema/wrong-type"), "value"])
    unit = Unit("unit", effects="none", repair=lambda request: {"a": 2})

    async def main() -> None:
        async for attempt in loop.attempts(unit, {"a": 1}):
            with attempt:
                await script.awaited(**attempt.input)

    asyncio.run(main())
    assert script.inputs == [{"a": 1}, {"a": 2}]


def test_leaving_the_attempts_early_ends_the_run_as_cancelled() -> None:
    loop, script = scripted([Named("provider/timeout"), "value"])
    attempts = loop.attempts(PURE)
    for attempt in attempts:
        with attempt:
            script()
        break
    assert isinstance(attempts.outcome, Cancelled)
    assert script.calls == 1


def test_an_attempt_that_is_not_used_says_how() -> None:
    loop, _ = scripted(["value"])
    with pytest.raises(UsageError, match="was not used"):
        for _attempt in loop.attempts(PURE):
            pass


def test_every_failed_run_ends_in_exactly_one_terminal_record() -> None:
    for reason in ("provider/timeout", "tool-schema/wrong-type", "git/conflict", "worktree/locked", "runtime/killed"):
        loop, script = scripted([Named(reason)])
        loop.run(PURE, script)
        finished = [event for event in loop.tools.ledger.events() if event.name == "unit.finished"]
        assert len(finished) == 1


def test_a_ledger_that_cannot_be_charged_counts_as_spent() -> None:
    from rerail.errors import LedgerError

    class Broken(MemoryLedger):
        def charge(self, charge: Any) -> Any:
            raise LedgerError("the disk is gone")

    loop, names = named_loop(ledger=Broken())
    script = Script([Named("provider/timeout"), "value"], names)
    outcome = loop.run(PURE, script)
    assert isinstance(outcome, Paused)
    assert (outcome.why, script.calls) == (Why.LEDGER_UNUSABLE, 1)


def test_whose_charge_could_not_be_made_is_told_before_the_failure_is_named(caplog: pytest.LogCaptureFixture) -> None:
    from rerail.errors import LedgerError

    class Broken(MemoryLedger):
        def charge(self, charge: Any) -> Any:
            raise LedgerError("the disk is gone")

    loop, names = named_loop(ledger=Broken())
    loop.run(PURE, Script([Named("provider/timeout"), "value"], names))
    [told] = [record for record in caplog.records if record.event == "ledger.unusable"]  # type: ignore[attr-defined]
    assert (told.unit, told.attempt, getattr(told, "class")) == ("unit", 1, "provider")  # type: ignore[attr-defined]


def test_a_block_is_shown_before_the_second_attempt() -> None:
    order: list[str] = []
    loop, names = named_loop(on_block=lambda block: order.append("block"))
    script = Script([Named("provider/timeout"), "value"], names)

    def call() -> object:
        order.append("call")
        return script()

    loop.run(PURE, call)
    assert order == ["call", "block", "call"]


def test_a_pause_that_a_callback_answers_goes_on_at_once() -> None:
    asked: list[Paused] = []

    def ask(paused: Paused) -> Answer:
        asked.append(paused)
        return Answer.APPROVE

    loop, script = scripted([Named("deterministic-policy/hook-denied"), "value"], on_pause=ask)
    outcome = loop.run(PURE, script)
    assert isinstance(outcome, Succeeded)
    assert [paused.why for paused in asked] == [Why.CLASS]
    assert loop.tools.ledger.pauses() == ()


def test_a_pause_that_a_callback_leaves_open_stays_open() -> None:
    loop, script = scripted([Named("deterministic-policy/hook-denied"), "value"], on_pause=lambda paused: None)
    assert isinstance(loop.run(PURE, script), Paused)
    assert len(loop.tools.ledger.pauses()) == 1


def test_a_coroutine_callback_is_awaited_for_its_answer() -> None:
    async def ask(paused: Paused) -> Answer:
        await asyncio.sleep(0)
        return Answer.RETRY

    loop, script = scripted([Named("deterministic-policy/hook-denied"), "value"], on_pause=ask)
    assert asyncio.run(loop.arun(PURE, script.awaited)).ok


@pytest.mark.parametrize("error", [KeyboardInterrupt(), SystemExit(3)])
def test_a_cancellation_of_the_very_first_call_is_not_run_again(error: BaseException) -> None:
    """Nothing listens here, so the call is made before anything is built: its outcome must not be lost on the way."""
    loop, script = scripted([error, "ran again"])
    with pytest.raises(type(error)):
        loop.run(PURE, script)
    assert script.calls == 1


def test_a_refused_run_writes_no_second_terminal_record() -> None:
    loop, script = scripted([Named("deterministic-policy/hook-denied")])
    for _ in range(3):
        loop.run(PURE, script)
    assert [event.name for event in loop.tools.ledger.events()] == ["failure.classified", "unit.finished"]


def test_the_error_of_an_ended_run_survives_a_process_pool() -> None:
    import pickle

    loop, script = scripted([Named("runtime/killed")])
    with pytest.raises(StoppedError) as caught:
        loop.run(PURE, script).unwrap()
    outcome = caught.value.outcome
    sent = pickle.loads(pickle.dumps(StoppedError(attrs.evolve(outcome, error=None))))
    assert str(sent) == str(caught.value)


def test_forked_processes_share_a_budget_and_not_a_charge(tmp_path: Path) -> None:
    loop, names = named_loop(ledger=tmp_path / "ledger.sqlite3")
    script = Script([Named("provider/timeout")], names)
    children = []
    for _ in range(3):
        child = os.fork()
        if child == 0:
            loop.run(PURE, script)
            os._exit(0)
        children.append(child)
    assert [os.waitpid(child, 0)[1] for child in children] == [0, 0, 0]
    granted = [event for event in loop.tools.ledger.events() if event.name == "failure.classified"]
    retried = [event for event in granted if event.fields["decision"]["kind"] == "retry"]  # type: ignore[index]  # JSON
    assert len(retried) == 5


@pytest.mark.parametrize("broken", ["gitdir: /nowhere/x\n", "garbage", ""])
def test_nothing_is_started_in_a_worktree_that_does_not_resolve(broken: str, tmp_path: Path) -> None:
    (tmp_path / ".git").write_text(broken)
    loop, script = scripted(["value"], root=tmp_path)
    outcome = loop.run(PURE, script)
    assert isinstance(outcome, Stopped)
    assert (outcome.why, script.calls) == (Why.REFUSED_WORKTREE, 0)
