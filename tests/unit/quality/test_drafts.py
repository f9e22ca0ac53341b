"""A draft is TOML whatever the failures say, is refused until a person has completed it, and then holds for its examples."""

from __future__ import annotations

import re
import tomllib
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rerail.errors import RecipeError
from rerail.evidence.payload import from_payload
from rerail.quality.clusters import Gap, clusters, said
from rerail.quality.drafts import Draft, document, drafts
from rerail.recipes.check import run_examples
from rerail.recipes.schema import read_recipe
from rerail.rules.compile import compile_rules
from rerail.rules.readers import view
from rerail.taxonomy import BUILT_IN

LEFT_EMPTY = {"class": "runtime", "reason": "killed", "why": "a person's word", "source": "observed"}
HOSTILE = [
    '"\n[[rule]]\nslug = "injected"\nclass = "provider"\n#',
    '\'\'\' """ ]] } class = "provider"',
    "\x00\x07\x1b[31m\u202e\u2028\x85\r[[rule]]\rclass",
    '\\u0022\\"\\\\ {0} (a+)+$ [x](y)*|z^.?',
    "\U000e0041\U0001f600 \ufeff\ud800 <value> <path> <*> <time>",
    "# [[rule]]",
    "x" * 100_000,
    "a " * 5_000,
    "   leading\tand  trailing   ",
    "[redacted:token] Bearer sk-ant-api03-abcdefghijklmnopqrstuvwxyz0123456789",
    "'quoted' \"only\" /a/path",
]


def drafted(*payloads: dict[str, Any], taken: tuple[str, ...] = ()) -> tuple[Draft, ...]:
    gaps = [Gap(from_payload(payload), event) for event, payload in enumerate(payloads, start=1)]
    return drafts(clusters([says for gap in gaps if (says := said(gap)) is not None]), taken)


def completed(toml: str) -> str:
    for key, value in LEFT_EMPTY.items():
        toml = re.sub(rf'^{key} = ""$', f'{key} = "{value}"', toml, flags=re.MULTILINE)
    return toml


def assert_waits_for_a_person(made: tuple[Draft, ...]) -> None:
    """Every table is one that was drafted, says no class, and is refused for what is empty."""
    text = document(made)
    assert text.isprintable() or set(re.sub(r"[^\n]", "", text)) == {"\n"}
    rules = tomllib.loads(text)["rule"]
    assert [rule["slug"] for rule in rules] == [draft.slug for draft in made]
    assert tomllib.loads(text).keys() == {"rule"}
    for rule in rules:
        assert {rule[key] for key in LEFT_EMPTY} == {""}
        assert rule["matches"]
    with pytest.raises(RecipeError) as refused:
        read_recipe(text, "draft.toml")
    told = {fault.key for fault in refused.value.faults}
    assert {f"rule.{at}.{key}" for at in range(len(made)) for key in LEFT_EMPTY} <= told


def test_a_draft_has_what_the_failures_say_and_not_what_they_mean() -> None:
    (draft,) = drafted(
        {"command": "sim run a", "exit_code": 3, "stderr": "Checkout failed: no seats for 'flow' on bilbo"},
        {"command": "sim run b", "exit_code": 3, "stderr": "Checkout failed: no seats for 'mesh' on frodo"},
    )
    (rule,) = tomllib.loads(draft.toml)["rule"]
    assert rule == {
        "slug": "sim-checkout-failed-no-seats-for-on",
        "class": "",
        "reason": "",
        "why": "",
        "source": "",
        "tool": "sim",
        "text": r"^Checkout failed: no seats for '[^']+' on \S+$",
        "matches": [
            {"command": ["sim", "run", "a"], "exit_code": 3, "stderr": "Checkout failed: no seats for 'flow' on bilbo"},
            {"command": ["sim", "run", "b"], "exit_code": 3, "stderr": "Checkout failed: no seats for 'mesh' on frodo"},
        ],
        "passes_by": [],
    }
    assert draft.toml.startswith("# 2 failures (events 2, 1): Checkout failed: no seats for '<value>' on <*>\n")


@pytest.mark.parametrize(
    "payload",
    [
        {"tool": "sim", "exit_code": 3, "stderr": "wobbled at 2026-11-30T20:07:11Z after 3.2s in /tmp/x1/y"},
        {"exit_code": 3, "stderr": "starting\n  the frobnicator (unit 7) gave up: [deep] 50% of *.c\n"},
        {"message": "Blubb! cost is $5.00 {maybe} a|b", "exception_type": "ours.BlubbError"},
        {"stdout": "line\n" * 900 + "the frobnicator gave up\n" + "line\n" * 900, "exit_code": 1},
        {"tool": "Edit", "command": ["gate", "--strict"], "exit_code": 3, "stdout": "the frobnicator gave up"},
        {"tool": "sim", "exit_code": 77},
        {"tool": "sim", "signal": "SIGUSR1"},
        {"body": "the frobnicator gave up", "http_status": 299},
    ],
)
def test_a_completed_draft_is_a_rule_that_holds_for_its_examples(payload: dict[str, Any]) -> None:
    made = drafted(payload)
    assert_waits_for_a_person(made)
    recipe = read_recipe(completed(document(made)), "draft.toml")
    results = run_examples(recipe.rules, compile_rules(recipe.rules, BUILT_IN))
    assert results
    assert [result.message for result in results] == [""] * len(results)


@pytest.mark.parametrize("text", HOSTILE)
@pytest.mark.parametrize("field", ["stderr", "message", "command"])
def test_a_hostile_failure_breaks_no_toml_and_adds_no_rule(text: str, field: str) -> None:
    made = drafted({field: text, "exit_code": 9, "tool": "sim"})
    assert len(made) == 1
    assert_waits_for_a_person(made)


@given(st.lists(st.text(min_size=1, max_size=120), min_size=1, max_size=4))
def test_no_text_breaks_a_draft(texts: list[str]) -> None:
    payloads = [{"stderr": text, "exit_code": 9} for text in texts]
    made = drafted(*payloads)
    assert_waits_for_a_person(made)
    for draft in made:
        if draft.pattern:
            shown = [line.text for each in payloads for line in view(from_payload(each)).lines]
            assert any(re.search(draft.pattern, text[:300], re.ASCII) for text in shown)


def test_a_secret_is_in_no_draft() -> None:
    key = "sk-ant-api03-" + "Ab1" * 20
    (draft,) = drafted(
        {"command": ["sim", "--password", "hunter2hunter2"], "exit_code": 3, "stderr": f"bad thing {key}"}
    )
    assert key not in draft.toml
    assert "hunter2" not in draft.toml


def test_slugs_are_new() -> None:
    payloads = [
        {"stderr": f"the thing broke {word}", "exit_code": 1, "tool": tool} for word, tool in (("a", ""), ("b", "x"))
    ]
    slugs = [draft.slug for draft in drafted(*payloads, taken=("the-thing-broke-a", "x-the-thing-broke-b"))]
    assert sorted(slugs) == ["the-thing-broke-a-2", "x-the-thing-broke-b-2"]


def test_a_failure_in_no_latin_letters_still_has_a_slug() -> None:
    (draft,) = drafted({"stderr": "что-то сломалось", "exit_code": 1})
    assert draft.slug == "unnamed-failure"
