"""Codes and names of exceptions are known by the words in them, however a vendor joins these."""

from __future__ import annotations

import pytest

from rerail.rules.readers.code_words import LONGEST, MARK, MOST_WORDS, worded
from rerail.rules.readers.model import Fact


def words(kind: str, value: str) -> set[str]:
    """What a rule may ask for after the tilde."""
    return {fact.value.removeprefix(MARK) for fact in worded(Fact(kind, value, None))}


@pytest.mark.parametrize(
    "code",
    [
        "ModelAccountRpmRateLimitExceeded",
        "rate_limit_reached_error",
        "RATE-LIMIT",
        "policies.rate.limit",
        "auth/rate-limit",
    ],
)
def test_one_run_of_words_fits_every_spelling(code: str) -> None:
    assert "rate limit" in words("code", code)


def test_words_are_whole_and_in_their_order() -> None:
    assert words("code", "quota_exceeded") == {"quota", "exceeded", "quota exceeded"}
    assert "limit rate" not in words("code", "rate_limit")
    assert "rate" not in words("code", "operate")


def test_a_word_of_capitals_ends_before_the_next_one() -> None:
    assert {"api", "invalid api key"} <= words("code", "InvalidAPIKey")


@pytest.mark.parametrize(
    "name", ["TimeoutError", "ConnectionResetError", "builtins.PermissionError", "FileNotFoundError", "ValueError"]
)
def test_exceptions_of_the_language_say_nothing_of_a_service(name: str) -> None:
    assert not words("exception", name)


def test_exceptions_of_a_library_are_read_without_their_module() -> None:
    assert "permission denied" in words("exception", "volcengine.timeout.ArkPermissionDeniedError")
    assert "timeout" not in words("exception", "volcengine.timeout.ArkPermissionDeniedError")


def test_what_an_exception_did_not_find_may_be_anything() -> None:
    assert "not found" in words("code", "object_not_found")
    assert "not found" not in words("exception", "acme.ObjectNotFoundError")


@pytest.mark.parametrize("kind", ["status", "errno", "exit_code", "signal"])
def test_other_facts_have_no_words(kind: str) -> None:
    assert not words(kind, "503")


def test_the_whole_code_is_what_is_cited() -> None:
    assert {fact.said for fact in worded(Fact("code", "rate_limit_error", None))} == {"rate_limit_error"}


def test_a_long_code_yields_few_runs() -> None:
    assert len(words("code", "_".join(["word"] * 50 + ["x" * 5000]))) <= MOST_WORDS * LONGEST
