"""Runs rules against their own examples: what a rule must match names its class, what passes it by does not hold for it."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, NamedTuple

from rerail.rules.engine import classify

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from rerail.rules.compile import RuleSet
    from rerail.rules.model import Example, Rule


class ExampleResult(NamedTuple):
    """What one example of one rule showed."""

    rule: str
    pack: str
    kind: str
    """``matches`` or ``passes_by``."""
    position: int
    """Counted from 0 in the rule's list."""
    ok: bool
    message: str
    """Empty when it is as the rule says."""


def run_examples(rules: Iterable[Rule], rule_set: RuleSet) -> list[ExampleResult]:
    """Classify every example of *rules* with *rule_set*, which should hold all rules in force."""
    return [result for rule in rules for result in _of(rule, rule_set)]


def _of(rule: Rule, rule_set: RuleSet) -> Iterator[ExampleResult]:
    for position, example in enumerate(rule.matches):
        message = _must_match(rule, example, rule_set)
        yield ExampleResult(rule.slug, rule.pack, "matches", position, not message, message)
    for position, example in enumerate(rule.passes_by):
        message = _must_pass_by(rule, example, rule_set)
        yield ExampleResult(rule.slug, rule.pack, "passes_by", position, not message, message)


def _must_match(rule: Rule, example: Example, rule_set: RuleSet) -> str:
    from rerail.evidence.payload import from_payload

    named = classify(from_payload(json.loads(example.input)), rule_set, now=0.0)
    held = any(candidate.rule == rule.slug for candidate in named.trace)
    if not held:
        return f"does not hold for {_shown(example)}"
    if named.class_ != rule.class_:
        verdict = next(candidate.verdict for candidate in named.trace if candidate.rule == rule.slug)
        return f"holds, but {_shown(example)} is named {named.class_} by {named.rule}: {verdict}"
    return ""


def _must_pass_by(rule: Rule, example: Example, rule_set: RuleSet) -> str:
    from rerail.evidence.payload import from_payload

    named = classify(from_payload(json.loads(example.input)), rule_set, now=0.0)
    if any(candidate.rule == rule.slug for candidate in named.trace):
        return f"holds for {_shown(example)}"
    return ""


def _shown(example: Example) -> str:
    return example.input if len(example.input) <= 120 else example.input[:117] + "..."
