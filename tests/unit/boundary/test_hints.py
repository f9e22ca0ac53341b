"""The registry of hints: closed, typed, documented, and in step with the recovery table whatever is changed in either."""

from __future__ import annotations

import re
from types import MappingProxyType

import pytest

from rerail.boundary import hints
from rerail.boundary.hints import GENERIC_FLOOR, REGISTRY, Audience, Category, Entry, checked, contradictions
from rerail.boundary.slugs import ERROR_FAILURE_RECOVERY, NEVER_GENERIC, ErrorSlug, Mode

PLACEHOLDERS = {
    name: f"a-{name}"
    for name in (
        "unit",
        "pause",
        "time",
        "failure_class",
        "remedy",
        "root",
        "file",
        "kind",
        "pitfall",
        "path",
        "corpus",
        "backup",
        "backups",
        "entry",
        "to",
        "answer",
        "commands",
        "phases",
    )
} | {"call": "rerail rules list", "check": "rules test"}
VERBS = {
    *(
        "answer",
        "pauses",
        "resume",
        "rules",
        "explain",
        "check",
        "heal",
        "recipes",
        "ledger",
        "doctor",
        "taxonomy",
        "why",
        "eval",
        "mcp",
        "verify",
    )
}
"""Of the stable contract of commands."""

entries = pytest.mark.parametrize("entry", REGISTRY.values(), ids=str)
slugs = pytest.mark.parametrize("slug", ErrorSlug)


def fields_of(entry: Entry[...]) -> dict[str, str]:
    return {name: PLACEHOLDERS[name] for name in entry.fields}


def test_the_registry_is_in_step_with_the_recovery_table() -> None:
    assert list(contradictions(ERROR_FAILURE_RECOVERY, REGISTRY)) == []


def test_every_declared_hint_is_registered_under_its_name() -> None:
    declared = {name: value for name, value in vars(hints).items() if isinstance(value, Entry)}
    assert {name.replace("_", "-") for name in declared} == set(REGISTRY)
    assert all(REGISTRY[entry.id] is entry for entry in declared.values())


@entries
def test_a_hint_is_documented_and_ends_in_a_full_stop(entry: Entry[...]) -> None:
    advice = entry.template(**fields_of(entry))
    assert entry.documentation.endswith(".")
    assert advice.text.endswith(".")
    assert advice.text == " ".join(advice.text.split())


@entries
def test_a_hint_says_every_field_that_it_takes(entry: Entry[...]) -> None:
    advice = entry.template(**fields_of(entry))
    for value in fields_of(entry).values():
        # What is named decides which command lists it; the name of the kind itself says nothing.
        assert value in advice.text.lower() or value == "a-kind"


@entries
def test_the_commands_that_a_hint_quotes_are_rerails(entry: Entry[...]) -> None:
    advice = entry.template(**fields_of(entry))
    for quoted in [*re.findall("`([^`]+)`", advice.text), *([" ".join(advice.command)] if advice.command else [])]:
        program, verb = quoted.split()[:2]
        assert program == "rerail"
        assert verb in VERBS or verb == "--help"


@pytest.mark.parametrize(
    "kind", ["class", "reason", "rule", "recipe", "backup", "tool", "phase", "pause", "unit", "event", "something else"]
)
def test_a_command_that_lists_the_names_of_a_kind_is_quoted_and_ready_to_run(kind: str) -> None:
    advice = hints.list_names.template(kind=kind)
    assert advice.text == f"Use a name that `{' '.join(advice.command)}` shows."


def test_firing_a_hint_keeps_its_fields() -> None:
    fired = hints.resume_at(unit="verify:tests", time="2027-01-15T08:00:00Z")
    assert fired.id == "resume-at"
    assert fired.fields == {"unit": "verify:tests", "time": "2027-01-15T08:00:00Z"}


def test_a_name_that_a_shell_would_read_is_quoted_in_a_command() -> None:
    advice = hints.resume_at.template(unit="a b; rm -rf /", time="t")
    assert advice.command == ("rerail", "resume", "a b; rm -rf /")
    assert "`rerail resume 'a b; rm -rf /'`" in advice.text


def test_who_can_only_be_the_operator_is_never_the_caller() -> None:
    operators = (
        *(ErrorSlug.PAUSED, ErrorSlug.UNCLASSIFIED, ErrorSlug.OUTCOME_UNKNOWN),
        *(ErrorSlug.RECIPE_UNTRUSTED, ErrorSlug.NOT_ALLOWED),
    )
    for slug in operators:
        steps = [entry for entry in REGISTRY.values() if slug in entry.family]
        assert {entry.audience for entry in steps} == {Audience.OPERATOR}


@slugs
def test_a_removed_recovery_is_noticed(slug: ErrorSlug) -> None:
    recoveries = {other: recovery for other, recovery in ERROR_FAILURE_RECOVERY.items() if other is not slug}
    assert f"{slug} has no recovery" in list(contradictions(recoveries, REGISTRY))


@slugs
def test_a_swapped_mode_is_noticed(slug: ErrorSlug) -> None:
    was = ERROR_FAILURE_RECOVERY[slug]
    other = Mode.EVIDENCE if was.mode is Mode.TAILORED else Mode.TAILORED
    found = list(contradictions({**ERROR_FAILURE_RECOVERY, slug: was._replace(mode=other)}, REGISTRY))
    if other is Mode.EVIDENCE:
        assert f"{slug} has a next step of its own, and is not tailored" in found
    else:
        assert f"{slug} is tailored, and no next step is registered for it" in found
    if slug in NEVER_GENERIC:
        assert f"{slug} may never fall back to the generic hint, and is not tailored" in found


@pytest.mark.parametrize(
    "dropped",
    [entry for entry in REGISTRY.values() if entry.category is Category.NEXT_STEP],
    ids=lambda entry: entry.id,
)
def test_a_dropped_next_step_is_noticed(dropped: Entry[...]) -> None:
    registry = {id_: entry for id_, entry in REGISTRY.items() if entry is not dropped}
    found = list(contradictions(ERROR_FAILURE_RECOVERY, registry))
    if dropped.id == GENERIC_FLOOR:
        assert found == ["the generic hint is not a next step of every family"]
    else:
        left = {slug for entry in registry.values() if entry.category is Category.NEXT_STEP for slug in entry.family}
        assert found == [
            f"{slug} is tailored, and no next step is registered for it"
            for slug in ErrorSlug
            if slug in dropped.family - left
        ]


def test_a_registry_that_contradicts_the_table_cannot_be_made() -> None:
    with pytest.raises(ValueError, match="paused is tailored, and no next step is registered for it"):
        checked(ERROR_FAILURE_RECOVERY, {})


def test_the_registry_cannot_be_changed() -> None:
    assert isinstance(REGISTRY, MappingProxyType)


REVIEWED: dict[str, tuple[str, str, set[str]]] = {
    "correct-and-run-again": ("next-step", "caller", set()),
    "correct-call": ("next-step", "caller", set()),
    "check-again": ("next-step", "caller", set()),
    "repair-input": ("next-step", "caller", {"handed-back"}),
    "change-input-first": ("next-step", "caller", {"input-unchanged"}),
    "answer-pause": ("next-step", "operator", {"paused"}),
    "give-answer": ("next-step", "operator", set()),
    "answered-for-another": ("notice", "operator", set()),
    "resume-answered": ("next-step", "caller", set()),
    "resume-at": ("next-step", "caller", {"paused-until"}),
    "check-effect": ("next-step", "operator", {"outcome-unknown"}),
    "name-failure": ("next-step", "operator", {"unclassified"}),
    "remove-cause": ("next-step", "operator", {"not-recovered", "stopped"}),
    "heed-operator": ("next-step", "caller", {"not-recovered", "stopped"}),
    "run-when-wanted": ("next-step", "caller", {"cancelled"}),
    "pass-worktree-check": ("next-step", "caller", {"worktree-refused"}),
    "finish-by-hand": ("next-step", "operator", {"heal-step-refused", "not-healed"}),
    "hand-in-failure": ("next-step", "caller", {"not-healed"}),
    "take-way": ("next-step", "operator", set()),
    "trust-recipe": ("next-step", "operator", {"recipe-untrusted"}),
    "state-phases": ("next-step", "operator", {"phase-unresolved"}),
    "phases-unstated": ("notice", "operator", set()),
    "ask-for-leave": ("next-step", "operator", {"not-allowed"}),
    "trust-then-answer": ("next-step", "operator", {"recipe-untrusted"}),
    "revoke-trust": ("notice", "operator", set()),
    "let-other-run-finish": ("next-step", "caller", {"unit-busy"}),
    "leave-to-other-run": ("next-step", "caller", {"lease-lost"}),
    "mend-wrong-cases": ("next-step", "caller", {"below-threshold"}),
    "keep-first-answer": ("next-step", "caller", {"already-answered"}),
    "list-names": ("next-step", "caller", {"unknown-name"}),
    "restore-ledger": ("next-step", "operator", {"ledger-unusable"}),
    "restore-git": ("next-step", "operator", {"git-unusable"}),
    "look-at-repository": ("next-step", "operator", {"git-failed"}),
    "undo-by-hand": ("next-step", "operator", {"undo-refused"}),
    "undo-later": ("next-step", "caller", {"undo-refused"}),
    "undo-heal": ("notice", "caller", set()),
    "backups-expired": ("notice", "operator", set()),
    "report-bug": ("next-step", "operator", {"git-command-forbidden", "internal"}),
    "act-on-name": ("next-step", "caller", set()),
    "heed-pitfall": ("guardrail", "caller", set()),
    "complete-drafts": ("notice", "operator", set()),
    "draft-rule": ("notice", "operator", set()),
    "explain-rule": ("notice", "caller", set()),
    "ledger-in-project": ("notice", "operator", set()),
}
"""Reviewed by hand: what each hint is for, who can act on it, and which failures it continues."""


def test_the_hints_are_the_reviewed_ones() -> None:
    assert {each.id: (each.category, each.audience, set(each.family)) for each in REGISTRY.values()} == REVIEWED
