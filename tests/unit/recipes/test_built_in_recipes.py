"""Every built-in rule is held to its own examples, with all rules in force."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from rerail.recipes import load, read_all
from rerail.recipes.check import run_examples

if TYPE_CHECKING:
    from rerail.rules.model import Rule

RULES = [rule for recipe in read_all(None) for rule in recipe.rules]
LOADED = load(None)


@pytest.mark.parametrize("rule", RULES, ids=[f"{rule.pack}:{rule.slug}" for rule in RULES])
def test_a_rule_matches_what_it_must_and_passes_by_what_it_must_not(rule: Rule) -> None:
    failed = [result.message for result in run_examples([rule], LOADED.rules) if not result.ok]
    assert not failed


def test_every_rule_says_why_and_from_which_source() -> None:
    assert all(LOADED.texts[rule.slug].why and LOADED.texts[rule.slug].source for rule in RULES)
