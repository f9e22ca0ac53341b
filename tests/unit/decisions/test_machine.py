"""The transition table, and the invariants that no sequence of outcomes breaks."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.strategies import RUN, UNIT, classification, failed, grant, reasons, running

from rerail.budget.model import Limit
from rerail.decisions.machine import ENDED, IllegalEventError, spends, step
from rerail.decisions.model import (
    Again,
    Answer,
    Answered,
    Cancelled,
    Decision,
    Draws,
    Effects,
    Event,
    HandBack,
    Heal,
    Healed,
    HealOutcome,
    Landing,
    Pause,
    Phase,
    Probe,
    Probed,
    Proceed,
    Repair,
    Repaired,
    Retry,
    RunState,
    Started,
    Stop,
    Succeeded,
    TimeCame,
    Why,
)
from rerail.decisions.policy import Backoff, Ceiling, Policy
from rerail.ids import Fingerprint
from rerail.taxonomy import REASONS, Action

POLICY = Policy()
DRAWS = Draws(curve_s=2.0, jitter=0.5)


def in_phase(phase: Phase, **fields: object) -> RunState:
    return running(**fields)._replace(phase=phase)  # type: ignore[arg-type]  # fields of RunState


TABLE: list[tuple[Phase, Event, Phase, Decision]] = [
    (Phase.READY, Started(), Phase.RUNNING, Again()),
    (Phase.RUNNING, Succeeded(), Phase.SUCCEEDED, Proceed()),
    (Phase.RUNNING, failed("provider/overloaded"), Phase.WAITING, Retry(2.25)),
    (Phase.RUNNING, failed("tool-schema/missing-field"), Phase.REPAIRING, Repair()),
    (Phase.RUNNING, failed("git/index-lock"), Phase.HEALING, Heal()),
    (Phase.RUNNING, failed("deterministic-policy/hook-denied"), Phase.PAUSED, Pause(Why.CLASS)),
    (Phase.RUNNING, failed("unclassified/no-evidence"), Phase.PAUSED, Pause(Why.CLASS)),
    (Phase.RUNNING, failed("worktree/broken-link"), Phase.STOPPED, Stop(Why.CLASS)),
    (Phase.RUNNING, failed("runtime/killed"), Phase.STOPPED, Stop(Why.CLASS)),
    (Phase.RUNNING, failed("verification/tests-failed"), Phase.REPAIRING, Repair()),
    (Phase.RUNNING, failed("environment/missing-module"), Phase.HEALING, Heal()),
    (Phase.RUNNING, Cancelled(), Phase.CANCELLED, Stop(Why.ABORTED)),
    (Phase.WAITING, Started(), Phase.RUNNING, Again()),
    (Phase.WAITING, Cancelled(), Phase.CANCELLED, Stop(Why.ABORTED)),
    (Phase.PROBING, Cancelled(), Phase.PROBING, Stop(Why.ABORTED)),
    (Phase.PROBING, Probed(Landing.LANDED), Phase.SUCCEEDED, Proceed(landed=True)),
    (Phase.PROBING, Probed(Landing.ABSENT), Phase.WAITING, Retry(2.25)),
    (Phase.PROBING, Probed(Landing.UNKNOWN), Phase.PAUSED, Pause(Why.UNKNOWN_OUTCOME)),
    (Phase.REPAIRING, Repaired(Fingerprint("new")), Phase.READY, Again()),
    (Phase.REPAIRING, Repaired(None), Phase.HANDED_BACK, HandBack()),
    (Phase.HANDED_BACK, Repaired(Fingerprint("new")), Phase.READY, Again()),
    (Phase.HEALING, Healed(HealOutcome.HEALED), Phase.READY, Again()),
    (Phase.HEALING, Healed(HealOutcome.RETRY), Phase.WAITING, Retry(2.25)),
    (Phase.HEALING, Healed(HealOutcome.PAUSED), Phase.PAUSED, Pause(Why.NOT_HEALED)),
    (Phase.HEALING, Healed(HealOutcome.STOPPED), Phase.STOPPED, Stop(Why.NOT_HEALED)),
    (Phase.PAUSED, Answered(Answer.RETRY), Phase.READY, Again()),
    (Phase.PAUSED, Answered(Answer.APPROVE), Phase.READY, Again()),
    (Phase.PAUSED, Answered(Answer.SKIP), Phase.STOPPED, Stop(Why.SKIPPED)),
    (Phase.PAUSED, Answered(Answer.ABORT), Phase.STOPPED, Stop(Why.ABORTED)),
    (Phase.PAUSED, TimeCame(), Phase.READY, Again()),
]


@pytest.mark.parametrize(("phase", "event", "after", "decision"), TABLE)
def test_an_accepted_event_leads_where_the_table_says(
    phase: Phase, event: Event, after: Phase, decision: Decision
) -> None:
    state, decided = step(in_phase(phase), event, POLICY, DRAWS)
    assert (state.phase, decided) == (after, decision)


EVERY_EVENT: list[Event] = [
    Started(),
    Succeeded(),
    failed(),
    Probed(Landing.LANDED),
    Repaired(None),
    Healed(HealOutcome.HEALED),
    Answered(Answer.RETRY),
    TimeCame(),
    Cancelled(),
]


@pytest.mark.parametrize("event", EVERY_EVENT, ids=lambda event: type(event).__name__)
@pytest.mark.parametrize("phase", Phase)
def test_an_event_that_the_table_does_not_list_is_refused(phase: Phase, event: Event) -> None:
    accepted = {(row_phase, type(row_event)) for row_phase, row_event, _, _ in TABLE}
    cancels = isinstance(event, Cancelled) and phase not in ENDED
    if (phase, type(event)) in accepted or cancels:
        step(in_phase(phase), event, POLICY, DRAWS)
    else:
        with pytest.raises(IllegalEventError, match=phase.value):
            step(in_phase(phase), event, POLICY, DRAWS)


@pytest.mark.parametrize("reason", [reason.full_name for reason in REASONS])
def test_every_reason_leads_to_its_one_default_action(reason: str) -> None:
    named = classification(reason)
    given_grant = grant(reason) if spends(named.action) else None
    state = running()
    _, decided = step(state, failed(reason)._replace(grant=given_grant), POLICY, DRAWS)
    expected = {
        Action.RETRY: Retry,
        Action.REPAIR: Repair,
        Action.HEAL: Heal,
        Action.PAUSE: Pause,
        Action.STOP: Stop,
    }[named.action]
    assert isinstance(decided, expected)


@pytest.mark.parametrize("limit", Limit)
@pytest.mark.parametrize("reason", ["provider/timeout", "tool-schema/missing-field", "git/index-lock"])
def test_a_refused_charge_pauses_whatever_the_class_would_do(reason: str, limit: Limit) -> None:
    refused = failed(reason)._replace(grant=grant(reason, refused_by=limit))
    state, decided = step(running(), refused, POLICY, DRAWS)
    assert state.phase is Phase.PAUSED
    assert isinstance(decided, Pause)
    assert decided.why in {Why.BUDGET_SPENT, Why.WINDOW_SPENT, Why.LEDGER_UNUSABLE}


def test_the_same_evidence_after_a_repair_escalates_instead_of_repairing_again() -> None:
    state, _ = step(running(), failed("tool-schema/missing-field", given="a"), POLICY)
    state, _ = step(state, Repaired(Fingerprint("b")), POLICY)
    state, _ = step(state, Started(), POLICY)
    state, decided = step(state, failed("tool-schema/missing-field", given="b"), POLICY)
    assert decided == Pause(Why.SAME_EVIDENCE)


def test_the_same_evidence_after_a_wait_is_what_an_outage_looks_like() -> None:
    state, _ = step(running(), failed("provider/overloaded"), POLICY, DRAWS)
    state, _ = step(state, Started(), POLICY)
    _, decided = step(state, failed("provider/overloaded"), POLICY, DRAWS)
    assert isinstance(decided, Retry)


def test_a_repair_that_gives_a_rejected_input_again_is_refused() -> None:
    state, _ = step(running(), failed("tool-schema/missing-field", given="a"), POLICY)
    _, decided = step(state, Repaired(Fingerprint("a")), POLICY)
    assert decided == Pause(Why.SAME_INPUT)


def test_a_handed_back_unit_run_unchanged_is_handed_back_again_without_running() -> None:
    state, _ = step(running(), failed("verification/tests-failed", given="a"), POLICY)
    state, _ = step(state, Repaired(None), POLICY)
    again, decided = step(state, Repaired(Fingerprint("a")), POLICY)
    assert (again, decided) == (state, HandBack())


def test_a_rejection_that_names_nothing_pauses_where_nobody_can_repair_it() -> None:
    state, _ = step(running(), failed("tool-schema/bad-request"), POLICY)
    _, decided = step(state, Repaired(None), POLICY)
    assert decided == Pause(Why.NO_CORRECTION)


@pytest.mark.parametrize(
    ("effects", "decision"), [(Effects.UNSAFE, Probe()), (Effects.IDEMPOTENT, Retry(2.25)), (Effects.NONE, Retry(2.25))]
)
def test_only_an_unsafe_unit_is_asked_whether_its_effect_landed(effects: Effects, decision: Decision) -> None:
    cut = failed("provider/stream-cut", may_have_landed=True)
    _, decided = step(running(effects=effects), cut, POLICY, DRAWS)
    assert decided == decision


@pytest.mark.parametrize(
    ("landing", "decision"),
    [
        (Landing.LANDED, Proceed(landed=True)),
        (Landing.ABSENT, Stop(Why.CLASS)),
        (Landing.UNKNOWN, Pause(Why.UNKNOWN_OUTCOME)),
    ],
)
def test_what_would_stop_an_unsafe_unit_midway_asks_first_whether_its_effect_landed(
    landing: Landing, decision: Decision
) -> None:
    state, decided = step(
        running(effects=Effects.UNSAFE), failed("runtime/time-limit", may_have_landed=True), POLICY, DRAWS
    )
    assert decided == Probe()
    assert step(state, Probed(landing), POLICY, DRAWS)[1] == decision


def test_an_unsafe_unit_that_certainly_did_not_land_is_simply_retried() -> None:
    _, decided = step(running(effects=Effects.UNSAFE), failed("provider/rate-limit"), POLICY, DRAWS)
    assert isinstance(decided, Retry)


@pytest.mark.parametrize(
    ("hint_s", "curve_s", "wait_s"),
    [
        (None, 2.0, 2.0),
        (0.0, 2.0, 2.0),
        (0.05, 2.0, 2.0),  # our own curve is the floor of a tiny hint
        (17.0, 2.0, 17.0),  # the hint is a floor
        (300.0, 2.0, 300.0),
        (None, 4000.0, 60.0),  # the cap binds our curve, whatever a strategy gives
    ],
)
def test_a_wait_is_the_longer_of_hint_and_curve(hint_s: float | None, curve_s: float, wait_s: float) -> None:
    _, decided = step(running(), failed(retry_after_s=hint_s), POLICY, Draws(curve_s, 0.0))
    assert decided == Retry(wait_s)


@given(st.floats(0, 300), st.floats(0, 1e6), st.floats(0, 1, exclude_max=True))
def test_a_wait_is_never_shorter_than_the_servers_hint_and_jitter_only_adds(
    hint_s: float, curve_s: float, jitter: float
) -> None:
    _, decided = step(running(), failed(retry_after_s=hint_s), POLICY, Draws(curve_s, jitter))
    assert isinstance(decided, Retry)
    assert hint_s <= decided.wait_s <= max(hint_s, POLICY.backoff.cap_s) * (1 + POLICY.backoff.jitter)


def test_a_hint_past_the_horizon_is_a_pause_until_then_and_never_a_sleep_of_days() -> None:
    _, decided = step(running(), failed(retry_after_s=86_400.0, at_s=1000.0), POLICY, DRAWS)
    assert decided == Pause(Why.RESUME_LATER, resume_at_s=87_400.0)


def test_a_usage_window_pauses_until_its_stated_reset() -> None:
    _, decided = step(running(), failed("provider/usage-window", resets_at=5000.0), POLICY, DRAWS)
    assert decided == Pause(Why.CLASS, resume_at_s=5000.0)


def test_a_time_in_a_denial_opens_no_gate() -> None:
    _, decided = step(running(), failed("deterministic-policy/billing", resets_at=5000.0), POLICY, DRAWS)
    assert decided == Pause(Why.CLASS, resume_at_s=None)


def test_waits_are_capped_in_total() -> None:
    policy = Policy(backoff=Backoff(total_s=100.0))
    _, decided = step(running(waited_s=99.0), failed(), policy, DRAWS)
    assert decided == Pause(Why.TOTAL_WAIT)


@pytest.mark.parametrize(
    ("ceiling", "why"),
    [(Ceiling(attempts=3), Why.ATTEMPT_CEILING), (Ceiling(wall_s=50.0), Why.TIME_CEILING)],
)
def test_the_run_ceiling_pauses_although_the_class_has_budget_left(ceiling: Ceiling, why: Why) -> None:
    _, decided = step(running(attempt=3), failed(at_s=60.0), Policy(ceiling=ceiling), DRAWS)
    assert decided == Pause(why)


@given(reasons, st.sampled_from(Effects), st.booleans())
def test_no_class_but_provider_is_ever_retried_as_it_is(reason: str, effects: Effects, landed: bool) -> None:
    named = classification(reason)
    event = failed(reason, may_have_landed=landed)._replace(grant=grant(reason) if spends(named.action) else None)
    state, decided = step(running(effects=effects), event, POLICY, DRAWS)
    if isinstance(decided, Probe):
        _, decided = step(state, Probed(Landing.ABSENT), POLICY, DRAWS)
    if isinstance(decided, Retry):
        assert named.class_ == "provider"


@settings(max_examples=300)
@given(st.lists(st.tuples(reasons, st.integers(0, 3), st.integers(0, 3)), max_size=40))
def test_any_sequence_of_failures_ends_or_goes_on_and_never_runs_a_rejected_input(
    outcomes: list[tuple[str, int, int]],
) -> None:
    """Plays arbitrary failures, repairs and heals: an input that was rejected is never the input of a later attempt."""
    state = RunState(RUN, UNIT, started_at_s=0.0, effects=Effects.NONE)
    decision: Decision = Again()
    current = 0
    spent: dict[str, int] = {}
    for reason, evidence, new_input in outcomes:
        if not isinstance(decision, Again):
            break
        assert Fingerprint(f"input-{current}") not in state.rejected
        state, _ = step(state, Started(), POLICY)
        named = classification(reason)
        charge = None
        if spends(named.action):
            used = spent.get(named.class_, 0)
            refused = Limit.CLASS if used >= POLICY.budget(named.class_) else None
            spent[named.class_] = used + (refused is None)
            charge = grant(reason, refused_by=refused, spent=spent[named.class_])
        event = failed(reason, evidence=f"evidence-{evidence}", given=f"input-{current}")._replace(grant=charge)
        state, decision = step(state, event, POLICY, DRAWS)
        match decision:
            case Retry():
                decision = Again()
            case Repair():
                state, decision = step(state, Repaired(Fingerprint(f"input-{new_input}")), POLICY)
                if isinstance(decision, Again):
                    current = new_input
            case Heal():
                state, decision = step(state, Healed(HealOutcome.HEALED), POLICY)
            case _:
                assert state.phase in {Phase.PAUSED, Phase.STOPPED}
    assert all(count <= POLICY.budget(class_) for class_, count in spent.items())
