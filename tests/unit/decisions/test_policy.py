"""Policies say at once what they cannot mean."""

from __future__ import annotations

import pytest
from tests.strategies import classification

from rerail.decisions.policy import Backoff, Ceiling, Policy
from rerail.errors import UnknownNameError
from rerail.taxonomy import Action


@pytest.mark.parametrize("class_", ["deterministic-policy", "worktree", "runtime", "unclassified"])
def test_no_policy_can_retry_what_must_never_be_retried(class_: str) -> None:
    reason = next(iter(Policy().taxonomy.reasons(class_)))
    for action in (Action.RETRY, Action.REPAIR, Action.HEAL):
        with pytest.raises(ValueError, match="only pauses or stops"):
            Policy(actions={reason.full_name: action})


def test_no_policy_can_retry_what_another_reading_of_the_failure_would_repair() -> None:
    with pytest.raises(ValueError, match="severity"):
        Policy(actions={"tool-schema/missing-field": Action.RETRY})


def test_a_budget_without_bounds_is_refused() -> None:
    with pytest.raises(ValueError, match="from 0 to 100, got 100000"):
        Policy(budgets={"provider": 100_000})


def test_a_negative_budget_is_refused_and_zero_means_zero() -> None:
    assert Policy(budgets={"provider": 0}).budget("provider") == 0
    with pytest.raises(ValueError, match=r"budgets\.provider.*-1"):
        Policy(budgets={"provider": -1})


def test_an_unknown_class_names_its_neighbours() -> None:
    with pytest.raises(UnknownNameError) as caught:
        Policy(budgets={"providr": 2})
    assert "provider" in (caught.value.hint or "")


def test_an_override_holds_for_its_reason_alone() -> None:
    policy = Policy(actions={"environment/port-in-use": Action.PAUSE})
    assert policy.action(classification("environment/port-in-use")) is Action.PAUSE
    assert policy.action(classification("environment/missing-module")) is Action.HEAL


@pytest.mark.parametrize("field", ["initial_s", "cap_s", "horizon_s", "total_s", "jitter"])
@pytest.mark.parametrize("value", [0.0, -1.0, float("nan")])
def test_a_backoff_of_nothing_is_refused(field: str, value: float) -> None:
    with pytest.raises(ValueError, match=f"Backoff.{field} must be > 0"):
        Backoff(**{field: value})  # type: ignore[arg-type]  # each of these fields takes a number


def test_a_ceiling_allows_at_least_one_attempt() -> None:
    with pytest.raises(ValueError, match=r"Ceiling.attempts must be a whole number >= 1"):
        Ceiling(attempts=0)


def test_what_is_handed_in_cannot_be_changed_behind_a_policy() -> None:
    budgets = {"provider": 2}
    policy = Policy(budgets=budgets)
    budgets["provider"] = 99
    assert policy.budget("provider") == 2


def test_actions_are_known_by_their_names() -> None:
    reason = "provider/overloaded"
    assert Policy(actions={reason: "pause"}).action(classification(reason)) is Action.PAUSE
    with pytest.raises(ValueError, match="zap"):
        Policy(actions={reason: "zap"})
