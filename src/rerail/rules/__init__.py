"""Rules: how a failure gets its name. Rules are data (`rerail.recipes` reads them); this package runs them."""

from __future__ import annotations

from rerail.rules.compile import RuleSet, compile_rules
from rerail.rules.engine import classify
from rerail.rules.model import Candidate, Citation, Classification, Example, Matcher, Rule, Trust

__all__ = [
    "Candidate",
    "Citation",
    "Classification",
    "Example",
    "Matcher",
    "Rule",
    "RuleSet",
    "Trust",
    "classify",
    "compile_rules",
]
