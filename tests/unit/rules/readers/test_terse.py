from __future__ import annotations

import pytest

from rerail.rules.readers.terse import MOST_CHARS, told
from rerail.rules.readers.unwrap import lone_status


@pytest.mark.parametrize(
    ("sentence", "code"),
    [
        ("key revoked", "told:login"),
        ("the key was revoked by its owner", "told:login"),
        ("no seat on the plan for this user", "told:money"),
        ("our rules block direct deployments", "told:right"),
        ("two required fields were left out", "told:lacking"),
        ("enum mismatch: got `urgent`", "told:wrong"),
        ("prompt no longer fits", "told:context"),
        ("GPU memory ran out", "told:memory"),
        ("the registry went away", "told:gone"),
        ("gateway timed out after 60s", "told:late"),
        ("request queue at the provider is full", "told:busy"),
    ],
)
def test_a_sentence_means_what_a_thing_and_its_fate_mean_together(sentence: str, code: str) -> None:
    assert told(sentence) == code


@pytest.mark.parametrize(
    "sentence",
    [
        "the key is a number",
        "everything was revoked",
        "the tests of the gateway timed out",
        "provider outage handled by the fallback",
        "keyboard revoked",
        "",
    ],
)
def test_a_sentence_without_a_thing_or_a_fate_or_with_another_story_means_nothing(sentence: str) -> None:
    assert told(sentence) is None


def test_a_long_text_is_no_sentence() -> None:
    assert told("key revoked ".ljust(MOST_CHARS + 1, "x")) is None


@pytest.mark.parametrize(
    ("message", "status"),
    [
        ("502", "502"),
        ("HTTP 401", "401"),
        ("403: not yours", "403"),
        ("each attempt ended with a 502 response", "502"),
        ("503 from upstream", "503"),
        ("npm registry 504'd", "504"),
        ("429 files checked", None),
        ("got 404 rows", None),
        ("500 lines", None),
        ("version 1.502", None),
        ("exit 4040", None),
    ],
)
def test_a_message_of_one_line_tells_a_status_by_itself_or_in_prose(message: str, status: str | None) -> None:
    assert lone_status(message) == status
