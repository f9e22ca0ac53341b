"""Whatever a failure is made of, it gets a lawful name: no exception, and nothing cited that is not there.

A bounded part of what `benchmarks/fuzz.py` runs a million times, and every kind of text that it found to be slow.
"""

from __future__ import annotations

import json
from random import Random

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.hostile import KINDS, STREAMS, check, name

from rerail.evidence.payload import from_payload
from rerail.recipes.read import load, read_all
from rerail.rules.readers import MAX_LINES, MOST_FACTS, view

RULES = load(None).rules
EXAMPLES = [example for recipe in read_all(None) for rule in recipe.rules for example in rule.matches]
SEEDS = [json.loads(example.input) for example in EXAMPLES]

SLOW = {
    "a word in a line that is searched again for every line": "lefthook said\n" + "a line\n" * 2_000,
    "one fact stated over and over": "- hook id: x\n" * 2_000,
    "thousands of facts": "\n".join(
        f"error code: E_NUMBER_{n}: RateLimit{n}Error status 4{n % 100:02}" for n in range(2_000)
    ),
    "words of secrets far apart on many lines": '{"authorization": 1}\n' * 2_000 + "basic",
    "names of secrets in a row": "password_token_key_" * 2_000,
    "a letter that grows when it is lowered": "\u0130 error: " * 4_000,
    "many short lines": "x\n" * 40_000,
    "one long line": '{"error": {"message": "' + "a" * 300_000 + '"}}',
    "escape codes": "\x1b[31m\x1b]0;" * 40_000,
    "carriage returns": "50%\r" * 40_000,
    "nested arrays": "[" * 100_000,
    "nested objects": '{"error":' * 20_000 + "1" + "}" * 20_000,
    "messages in messages": '{"message": "' * 4_000,
    "causes of causes": "Caused by: " * 8_000,
    "base64": "QUJDREVGR0hJSktMTU5PUFFSU1RVVldYWVo" * 8_000,
    "keys of nobody": "-----BEGIN PRIVATE KEY-----\n" * 4_000,
    "text of every plane": "".join(map(chr, range(0, 0x110000, 37))),
    "counts of failing tests": "1 failed in 0.1s\n" * 2_000,
    "summaries of failing tests": "FAILED a.py::t - assert 1\n" * 2_000 + "=== 2 failed in 1s ===\n",
    "results of failing tests": "test result: FAILED. 0 passed; 1 failed\n" * 2_000,
    "statuses": "status 429 " * 10_000,
    "tracebacks": "Traceback (most recent call last):\n" * 3_000,
    "one line of spaces": "error:" + " " * 200_000 + "x",
}


@given(kind=st.sampled_from(sorted(KINDS)), seed=st.integers(0, 2**64), size=st.integers(1, 3_000))
@settings(max_examples=300, deadline=None)
def test_every_failure_gets_a_lawful_name(kind: str, seed: int, size: int) -> None:
    named = name(KINDS[kind](Random(seed), SEEDS, size), RULES)
    if named is not None:
        check(*named)


@pytest.mark.parametrize("stream", STREAMS)
@pytest.mark.parametrize("text", SLOW.values(), ids=SLOW)
def test_what_once_was_slow_gets_a_lawful_name(text: str, stream: str) -> None:
    named = name({stream: text, "exit_code": 1, "command": "git commit -m x"}, RULES)
    assert named is not None
    check(*named)


@pytest.mark.parametrize("text", SLOW.values(), ids=SLOW)
def test_what_the_engine_looks_at_is_bounded(text: str) -> None:
    seen = view(from_payload({"stderr": text, "exit_code": 1}))
    assert len(seen.facts) <= MOST_FACTS
    assert len({line.number for line in seen.lines}) <= MAX_LINES
