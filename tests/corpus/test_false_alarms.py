"""Outputs with alarming words that no blind retry may follow: shown files, passing runs, and failures of another kind.

`false_alarms.jsonl` holds what real programs printed, one object a line: evidence JSON and ``may_be``, the right classes.
Programs were run in small projects whose logs, sources, test names and fixtures are full of timeouts, 429s and resets.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from rerail.evidence.payload import from_payload
from rerail.recipes import load
from rerail.rules import Classification, RuleSet, classify

CASES = [json.loads(line) for line in Path(__file__).with_name("false_alarms.jsonl").read_text("utf-8").splitlines()]
ALL = load(None).rules
CORE = load(None, packs=["core"]).rules
OPTIONAL = {"verification", "environment"}


def named(case: dict[str, Any], rules: RuleSet) -> Classification:
    given = {key: case[key] for key in ("command", "exit_code", "stdout", "stderr")}
    return classify(from_payload(given), rules, now=0.0)


def test_there_are_enough_of_them_and_many_failed() -> None:
    assert len(CASES) >= 200
    assert sum(case["exit_code"] != 0 for case in CASES) >= 80


@pytest.mark.parametrize("case", CASES, ids=[f"{case['id']} {case['command'][:50]}" for case in CASES])
def test_alarming_words_are_no_failure_of_a_provider(case: dict[str, Any]) -> None:
    everything, core = named(case, ALL), named(case, CORE)
    assert everything.class_ in case["may_be"]
    assert core.class_ in {"unclassified", *case["may_be"]} - OPTIONAL


@pytest.mark.parametrize("case", CASES, ids=[case["id"] for case in CASES])
def test_what_is_named_is_cited_and_what_is_not_named_is_not(case: dict[str, Any]) -> None:
    for given in (named(case, ALL), named(case, CORE)):
        assert bool(given.evidence) == (given.class_ != "unclassified")
