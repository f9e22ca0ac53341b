"""Rules as the engine runs them: plain tuples behind indexes, so that only rules with something to see are looked at.

`compile_rules` does once what every classification would do again; `RuleSet.data` survives in a cache as JSON or marshal data.
Reading recipe files and keeping that cache is the work of `rerail.recipes`.
"""

from __future__ import annotations

import re
from collections import Counter
from typing import TYPE_CHECKING, Any, NamedTuple

from rerail.rules.model import Matcher, Trust

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from rerail.rules.model import Rule
    from rerail.taxonomy.model import Taxonomy

TEXT_FIELDS = ("text", "stderr", "stdout")
FACT_FIELDS = ("code", "exception", "errno", "status", "signal", "exit_code")
"""Facts that can wake a rule, in the order in which they are preferred for it: rarer ones first."""


GRAM = 3
"""Characters under which a text is filed; no text that wakes a rule is shorter: see `rerail.rules.patterns.MIN_LITERAL`."""

FLAGS = re.ASCII
"""Every pattern is compiled with these: digits, word characters and case folding are ASCII, whatever the text is written in."""


class Compiled(NamedTuple):
    """A rule as the engine runs it."""

    slug: str
    class_: str
    reason: str
    summary: str
    action: str
    severity: int
    priority: int
    general: bool
    may_have_landed: bool


class CompiledMatcher(NamedTuple):
    """One way in which a rule can hold."""

    rule: int
    """Index for `RuleSet.rule`."""
    when: Matcher
    trust: Trust


class RuleSet:
    """Rules of all recipes in force, indexed. Immutable; equal rules in any order make equal rule sets.

    Args:
        data: What `compile_rules` made, or what came back from a cache: see `RuleSet.data`.
    """

    def __init__(self, data: Sequence[Any]) -> None:
        self._rules, self._matchers, literal_index, fact_index, always, needs, gram_index = data
        self.literals: dict[str, Sequence[int]] = dict(literal_index)
        """Lower-case text -> indexes of the matchers it may wake."""
        self.facts: dict[tuple[str, str], Sequence[int]] = {(kind, value): ids for kind, value, ids in fact_index}
        """(kind of fact, value) -> indexes of the matchers it may wake."""
        self.always: Sequence[int] = always
        """Matchers that neither a text nor a fact can wake: by command, tool or header alone."""
        self.needs: dict[str, Sequence[str]] = dict(needs)
        """Text pattern -> lower-case texts of which it needs one; see `rerail.rules.patterns.literals`."""
        self._grams: dict[str, Sequence[str]] = dict(gram_index)
        self.data = data
        self._patterns: dict[str, re.Pattern[str]] = {}
        self._made: dict[int, CompiledMatcher] = {}

    @property
    def rules(self) -> tuple[Compiled, ...]:
        """All rules, by slug."""
        return tuple(Compiled(*row) for row in self._rules)

    def present(self, low: str) -> set[str]:
        """Return which of the texts in `needs` stand somewhere in *low*, a lower-case text.

        Every text is filed under three characters in a row of it, the rarest. Only those whose three characters occur are
        looked for: a few hundred of some thousand, whatever the text, and the cost is one pass over it. Measured: 3,500
        texts in 2 KB take 0.2 ms, and 1.4 ms one after the other. What replaces this for speed must return the same set.
        """
        occurring = {low[place : place + GRAM] for place in range(len(low) - GRAM + 1)}
        grams = self._grams
        return {text for gram in grams.keys() & occurring for text in grams[gram] if text in low}

    def rule(self, index: int) -> Compiled:
        """Return one rule."""
        return Compiled(*self._rules[index])

    def matcher(self, index: int) -> CompiledMatcher:
        """Return one matcher; made when it is first asked for, because a failure wakes few of many."""
        matcher = self._made.get(index)
        if matcher is None:
            rule, when, trust = self._matchers[index]
            matcher = CompiledMatcher(rule, Matcher(*(_thawed(field) for field in when)), Trust(trust))
            self._made[index] = matcher
        return matcher

    def pattern(self, source: str) -> re.Pattern[str]:
        """Return *source* compiled; done once, when a text first has what it needs."""
        pattern = self._patterns.get(source)
        if pattern is None:
            pattern = self._patterns[source] = re.compile(source, FLAGS)
        return pattern


def compile_rules(rules: Iterable[Rule], taxonomy: Taxonomy) -> RuleSet:
    """Index *rules*; their order does not matter.

    Args:
        rules: Rules whose patterns passed `rerail.rules.patterns.fault`.
        taxonomy: Gives each rule's action and severity. Rules of classes that it lacks are left out: a pack that is switched off
            takes its rules along.

    Raises:
        UnknownNameError: A rule names a reason that its class lacks.
    """
    from rerail.rules.patterns import literals  # what comes from a cache was asked for them before

    rows: list[tuple[Any, ...]] = []
    matchers: list[tuple[int, tuple[Any, ...], int]] = []
    by_literal: dict[str, set[int]] = {}
    by_fact: dict[tuple[str, str], set[int]] = {}
    always: list[int] = []
    needs: dict[str, tuple[str, ...]] = {}
    for rule in sorted(rules, key=lambda each: each.slug):
        if rule.class_ not in taxonomy:
            continue
        action = taxonomy.action(rule.class_, rule.reason)
        severity = taxonomy.class_spec(rule.class_).severity
        general = rule.general or all(_is_bare_status(matcher) for matcher in rule.when)
        rows.append(
            (
                rule.slug,
                rule.class_,
                rule.reason,
                rule.summary,
                action.value,
                severity,
                rule.priority,
                general,
                rule.may_have_landed,
            )
        )
        for matcher in rule.when:
            index = len(matchers)
            matchers.append((len(rows) - 1, tuple(matcher), int(trust_of(matcher))))
            needs |= {
                source: literals(source) for field in (*TEXT_FIELDS, "not_text") for source in getattr(matcher, field)
            }
            _place(matcher, index, needs, by_literal, by_fact, always)
    return RuleSet(
        (
            tuple(rows),
            tuple(matchers),
            tuple((text, tuple(sorted(ids))) for text, ids in sorted(by_literal.items())),
            tuple((kind, value, tuple(sorted(ids))) for (kind, value), ids in sorted(by_fact.items())),
            tuple(always),
            tuple(sorted(needs.items())),
            _filed_by_gram({text for texts in needs.values() for text in texts}),
        )
    )


def _filed_by_gram(texts: set[str]) -> tuple[tuple[str, tuple[str, ...]], ...]:
    """File every text under the three characters in a row of it that fewest others have."""
    grams = {text: {text[place : place + GRAM] for place in range(len(text) - GRAM + 1)} for text in texts}
    common = Counter(gram for each in grams.values() for gram in each)
    filed: dict[str, list[str]] = {}
    for text in sorted(texts):
        filed.setdefault(min(grams[text], key=lambda gram: (common[gram], gram)), []).append(text)
    return tuple((gram, tuple(each)) for gram, each in sorted(filed.items()))


def trust_of(matcher: Matcher) -> Trust:
    """Return what a match of *matcher* is worth: its strongest kind of fact."""
    if matcher.code or matcher.exception or matcher.errno:
        return Trust.CODE
    if matcher.status or matcher.header:
        return Trust.STATUS
    if _texts(matcher):
        return Trust.TEXT
    return Trust.EXIT if matcher.exit_code or matcher.signal else Trust.TEXT


def _place(
    matcher: Matcher,
    index: int,
    needs: dict[str, tuple[str, ...]],
    by_literal: dict[str, set[int]],
    by_fact: dict[tuple[str, str], set[int]],
    always: list[int],
) -> None:
    """File a matcher under the one condition that is checked first."""
    for field in FACT_FIELDS:
        values = getattr(matcher, field)
        if values:
            for value in values:
                by_fact.setdefault((field, fact_key(field, value)), set()).add(index)
            return
    for field in TEXT_FIELDS:
        patterns = getattr(matcher, field)
        if patterns:
            for pattern in patterns:
                for text in needs[pattern]:
                    by_literal.setdefault(text, set()).add(index)
            return
    always.append(index)


def fact_key(kind: str, value: object) -> str:
    """Return how a fact is filed: codes and exception names without case, exception names without their module."""
    text = str(value)
    if kind == "exception":
        return text.rpartition(".")[2].lower()
    return text.lower()


def _is_bare_status(matcher: Matcher) -> bool:
    others = [
        field
        for field in matcher._fields
        if field not in ("status", "tool", "command", "not_text") and getattr(matcher, field)
    ]
    return bool(matcher.status) and not others


def _texts(matcher: Matcher) -> bool:
    return bool(matcher.text or matcher.stderr or matcher.stdout)


def _thawed(field: Any) -> tuple[Any, ...]:
    # JSON has no tuples: header pairs come back as lists.
    return tuple(tuple(each) if isinstance(each, list) else each for each in field)
