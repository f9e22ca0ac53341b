"""Words of a retryable failure must be said, not only mentioned."""

from __future__ import annotations

import pytest

from rerail.evidence.payload import from_payload
from rerail.recipes import load
from rerail.rules import classify
from rerail.rules.mention import only_mentioned

RULES = load(None).rules

MENTIONED = [
    ("heading 'Connection refused' appears twice", "Connection refused"),
    ("Duplicate key `connection refused` in messages.json", "connection refused"),
    ("entry \u201cFix: handle connection reset by peer\u201d lacks a number", "connection reset by peer"),
    ("I saw a rate limit exceeded error, so I added backoff.", "rate limit exceeded"),
    ("docs: explain connection reset", "connection reset"),
    ("fix(client): retry when a connection reset is seen", "connection reset"),
    ("Yesterday I've met 503 Service Unavailable twice.", "503 Service Unavailable"),
]
SAID = [
    ("You've hit your session limit, it resets at 5pm", "hit your session limit"),
    ("{'message': 'Rate limit reached for gpt-4o'}", "Rate limit reached"),
    ("('Connection aborted.', RemoteDisconnected('Remote end closed connection'))", "Remote end closed connection"),
    ('MCP server "github" connection lost', "connection lost"),
    ("dial tcp 10.0.0.1:443: i/o timeout", "i/o timeout"),
    ("the account's rate limit is spent", "rate limit"),
    ('The app returned "Gateway timeout". We could not finish.', "Gateway timeout"),
]


@pytest.mark.parametrize(("line", "words"), MENTIONED)
def test_words_in_a_name_or_in_prose_are_only_mentioned(line: str, words: str) -> None:
    start = line.index(words)
    assert only_mentioned(line, start, start + len(words))


@pytest.mark.parametrize(("line", "words"), SAID)
def test_words_that_a_program_says_are_not(line: str, words: str) -> None:
    start = line.index(words)
    assert not only_mentioned(line, start, start + len(words))


@pytest.mark.parametrize(("line", "words"), MENTIONED)
def test_what_is_only_mentioned_is_never_retried(line: str, words: str) -> None:
    del words
    evidence = from_payload({"command": "check docs", "exit_code": 1, "stderr": f"error: {line}"})
    assert classify(evidence, RULES).class_ != "provider"


def test_a_retry_notice_beside_an_error_that_no_rule_knows_is_no_reason_to_retry() -> None:
    stderr = "WARN retrying (attempt 2/3): connection reset by peer\nERROR 2 frobs are misaligned"
    assert classify(from_payload({"exit_code": 1, "stderr": stderr}), RULES).class_ == "unclassified"


def test_a_retry_notice_that_stands_alone_still_names_the_failure() -> None:
    stderr = "API Error (Connection error.) \u00b7 Retrying in 39 seconds\u2026 (attempt 8/10)"
    assert classify(from_payload({"exit_code": 1, "stderr": stderr}), RULES).class_ == "provider"
