"""The vocabularies are closed and the maps between them total."""

from __future__ import annotations

import re

import pytest

from rerail.errors import UnknownNameError
from rerail.taxonomy import BUILT_IN, CLASSES, PACKS, REASONS, Action, ClassSpec, FailureClass, ReasonSpec, Taxonomy

KEBAB = re.compile(r"[a-z0-9]+(-[a-z0-9]+)*")

THE_TABLE = {
    "provider": (Action.RETRY, 5),
    "tool-schema": (Action.REPAIR, 3),
    "deterministic-policy": (Action.PAUSE, 0),
    "git": (Action.HEAL, 2),
    "worktree": (Action.STOP, 0),
    "runtime": (Action.STOP, 0),
    "unclassified": (Action.PAUSE, 0),
    "verification": (Action.REPAIR, 3),
    "environment": (Action.HEAL, 1),
}


def test_each_class_has_the_action_and_budget_of_the_design() -> None:
    assert {spec.name: (spec.action, spec.budget) for spec in CLASSES} == THE_TABLE


def test_the_enum_and_the_table_name_the_same_classes() -> None:
    assert [spec.name for spec in CLASSES] == [name.value for name in FailureClass]


@pytest.mark.parametrize("spec", CLASSES, ids=lambda spec: spec.name)
def test_a_class_says_everything_about_itself(spec: ClassSpec) -> None:
    assert KEBAB.fullmatch(spec.name)
    assert all((spec.signal, spec.advice, spec.pitfall))
    assert spec.pack in PACKS
    assert BUILT_IN.reasons(spec.name)


@pytest.mark.parametrize("reason", REASONS, ids=lambda reason: reason.full_name)
def test_a_reason_says_everything_about_itself(reason: ReasonSpec) -> None:
    assert KEBAB.fullmatch(reason.name)
    assert all((reason.summary, reason.hint))
    assert BUILT_IN.action(reason.class_, reason.name) is reason.action


def test_only_the_provider_class_has_reasons_that_are_retried_as_they_are() -> None:
    assert {reason.class_ for reason in REASONS if reason.action is Action.RETRY} == {"provider"}


def test_classes_without_a_budget_never_spend() -> None:
    spending = {Action.RETRY, Action.REPAIR, Action.HEAL}
    for reason in REASONS:
        if BUILT_IN.budget(reason.class_) == 0:
            assert reason.action not in spending, reason.full_name


def test_severity_puts_a_broken_root_first_and_a_blind_retry_last() -> None:
    ordered = sorted(CLASSES, key=lambda spec: spec.severity, reverse=True)
    assert ordered[0].name == FailureClass.WORKTREE
    assert [spec.name for spec in ordered[-2:]] == [FailureClass.PROVIDER, FailureClass.UNCLASSIFIED]


def test_without_the_extension_packs_six_classes_and_unclassified_remain() -> None:
    core = BUILT_IN.without_packs(["verification", "environment"])
    assert [spec.name for spec in core] == list(THE_TABLE)[:7]


OWN_CLASS = ClassSpec("quota-desk", "the desk is closed", Action.PAUSE, 0, 75, "ask", "do not knock", "ours")
OWN_REASON = ReasonSpec("quota-desk", "closed", "closed", "come back", Action.PAUSE)


def test_a_projects_own_class_is_as_complete_as_a_built_in_one() -> None:
    extended = BUILT_IN.extended([OWN_CLASS], [OWN_REASON])
    assert extended.action("quota-desk", "closed") is Action.PAUSE
    assert extended.budget("quota-desk") == 0
    assert "quota-desk" not in BUILT_IN


@pytest.mark.parametrize(
    ("classes", "reasons", "fault"),
    [
        ([OWN_CLASS, OWN_CLASS], [OWN_REASON], "declared twice"),
        ([OWN_CLASS], [OWN_REASON, OWN_REASON], "declared twice"),
        ([OWN_CLASS], [], "without a reason"),
        ([], [OWN_REASON], "belongs to no class"),
        ([OWN_CLASS._replace(budget=-1)], [OWN_REASON], "budget must be >= 0, got -1"),
        ([CLASSES[0]], [], "declared twice"),
        ([], [OWN_REASON._replace(class_="deterministic-policy", action=Action.RETRY)], "only pauses or stops"),
        ([], [OWN_REASON._replace(class_="runtime", action=Action.REPAIR)], "only pauses or stops"),
        ([OWN_CLASS], [OWN_REASON._replace(action=Action.RETRY)], "severity of at most 10, got 75"),
    ],
)
def test_an_incomplete_or_doubled_row_cannot_exist(
    classes: list[ClassSpec], reasons: list[ReasonSpec], fault: str
) -> None:
    with pytest.raises(ValueError, match=fault):
        Taxonomy((*CLASSES, *classes), (*REASONS, *reasons))


def test_an_unknown_name_offers_the_near_ones() -> None:
    with pytest.raises(UnknownNameError) as caught:
        BUILT_IN.reason_spec("provider", "rate-limits")
    assert "provider/rate-limit" in caught.value.near
