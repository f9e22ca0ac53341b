"""Every decision, and every reason to pause or stop, has its words."""

from __future__ import annotations

import pytest
from tests.strategies import classification, record

from rerail.boundary.words import action_in_words, counted
from rerail.decisions.model import (
    Again,
    Decision,
    HandBack,
    Heal,
    Pause,
    Probe,
    Proceed,
    Repair,
    Retry,
    Stop,
    Why,
)
from rerail.taxonomy import BUILT_IN


@pytest.mark.parametrize(
    ("decision", "reason", "words"),
    [
        (Retry(4.2), "provider/overloaded", "retry in 4.2 s with exponential backoff"),
        (Retry(0.04), "provider/overloaded", "retry in 0.04 s with exponential backoff"),
        (Retry(99.96), "provider/overloaded", "retry in 100 s with exponential backoff"),
        (Retry(4321.9), "provider/overloaded", "retry in 4322 s with exponential backoff"),
        (Repair(), "tool-schema/wrong-type", "repair input, do NOT retry verbatim"),
        (Repair(), "verification/tests-failed", "repair the work, do NOT retry verbatim"),
        (HandBack(), "tool-schema/wrong-type", "hand back: the caller repairs input, do NOT retry verbatim"),
        (HandBack(), "verification/lint", "hand back: the caller repairs the work, do NOT retry verbatim"),
        (Heal(), "git/index-lock", "heal by recipe, else pause"),
        (Probe(), "provider/stream-cut", "ask whether the effect landed, do NOT retry before that is known"),
        (Pause(Why.CLASS), "deterministic-policy/billing", "pause and ask the operator, do NOT retry"),
        (Pause(Why.CLASS), "unclassified/no-evidence", "pause; the taxonomy needs an entry, not a retry"),
        (Pause(Why.CLASS), "git/corrupt-objects", "pause, ask operator (objects are missing or damaged)"),
        (Pause(Why.BUDGET_SPENT), "git/conflict", "pause, ask operator (the budget of this class is spent)"),
        (
            Pause(Why.CLASS, 1_800_000_000.0),
            "provider/usage-window",
            (
                "pause until 2027-01-15T08:00:00Z (the plan's usage window is spent, and its reset time is known),"
                " do NOT retry before"
            ),
        ),
        (
            Pause(Why.RESUME_LATER, 1e300),
            "provider/rate-limit",
            (
                "pause until a time beyond every calendar (the server named a time that is too far off to wait for),"
                " do NOT retry before"
            ),
        ),
        (
            Stop(Why.CLASS),
            "worktree/broken-link",
            "stop; nothing is spawned into a path that does not resolve",
        ),
        (Stop(Why.CLASS), "runtime/segfault", "stop and surface it to the operator"),
        (
            Stop(Why.ABORTED),
            "git/conflict",
            "stop, surface to operator (it was ended by the operator, the caller or a signal)",
        ),
        (Proceed(landed=True), "provider/stream-cut", "proceed: the effect has landed"),
        (Proceed(), "provider/stream-cut", "proceed"),
        (Again(), "provider/stream-cut", "run again"),
    ],
)
def test_a_decision_in_words(decision: Decision, reason: str, words: str) -> None:
    assert action_in_words(record(decision, reason), BUILT_IN) == words


def test_a_plan_stands_in_brackets() -> None:
    plan = "add workspace_id from session context"
    assert action_in_words(record(Repair(), plan=plan), BUILT_IN) == f"repair input ({plan}), do NOT retry verbatim"
    assert action_in_words(record(Heal(), plan="move index.lock aside"), BUILT_IN) == (
        "heal by recipe (move index.lock aside), else pause"
    )


@pytest.mark.parametrize("why", Why)
def test_every_reason_to_pause_or_stop_has_words(why: Why) -> None:
    paused = action_in_words(record(Pause(why), "git/conflict"), BUILT_IN)
    stopped = action_in_words(record(Stop(why), "git/conflict"), BUILT_IN)
    assert paused.startswith("pause, ask operator (")
    assert stopped.startswith("stop, surface to operator (")


def test_what_stood_in_the_way_of_a_heal_is_said_with_the_pause() -> None:
    paused = record(Pause(Why.NOT_HEALED), "git/conflict", plan="the index is locked by process 12")
    assert "the index is locked by process 12" in action_in_words(paused, BUILT_IN)


def test_a_class_that_the_taxonomy_does_not_know_still_has_words() -> None:
    """A record may outlive the recipe that added its class."""
    named = classification("git/conflict")._replace(class_="gone", reason="too")
    assert action_in_words(record(Stop(Why.CLASS), named=named), BUILT_IN) == (
        "stop, surface to operator (this kind of failure is the operator's to decide)"
    )


@pytest.mark.parametrize(("number", "words"), [(0, "0 rules"), (1, "1 rule"), (2, "2 rules")])
def test_what_is_counted_is_said_as_people_say_it(number: int, words: str) -> None:
    assert counted(number, "rule") == words
