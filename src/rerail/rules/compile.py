"""Rules as the engine runs them: plain tuples behind indexes, so that only rules with something to see are looked at.

`compile_rules` does once what every classification would do again; `RuleSet.data` survives in a cache as marshal data. Reading
recipe files and keeping that cache is the work of `rerail.recipes`.

A failure wakes few of many rules, so what belongs to one rule or to a few texts is marshal data inside the data, and is
unpacked when it is first needed: that leaves 1 ms of the 9 that unpacking everything takes.
"""

from __future__ import annotations

import marshal
import re
from typing import TYPE_CHECKING, Any, NamedTuple, Protocol

from rerail.kept import MARSHAL_FORMAT
from rerail.rules.model import Matcher, Trust

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from rerail.rules.model import Rule
    from rerail.taxonomy.model import Taxonomy

TEXT_FIELDS = ("text", "stderr", "stdout")
_PATTERN_FIELDS = (*TEXT_FIELDS, "not_text")
"""The first fields of a matcher. Many rules share a pattern, and many texts wake it: it is kept once, and numbered."""

FACT_FIELDS = ("code", "exception", "errno", "status", "signal", "exit_code")
"""Facts that can wake a rule, in the order in which they are preferred for it: rarer ones first."""


SHADOW = "unclassified"
"""The class of rules whose own class is switched off."""

GRAM = 3
"""Characters under which a text is filed; no text that wakes a rule is shorter: see `rerail.rules.patterns.MIN_LITERAL`."""

_MANY = 600
"""Texts to look for from which on it pays to know more of a text first."""

_PIECE = 5
"""How many characters in a row are known then. Measured: of 4 to 8, the quickest for logs of all kinds."""

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
    facts: tuple[tuple[str, tuple[str | int, ...]], ...]
    """The kinds of facts that it asks for, each with the values of which one suffices."""
    texts: tuple[tuple[str, tuple[str, ...]], ...]
    """The fields of text that it asks for, each with the patterns of which one suffices."""


class Scan(Protocol):
    """A faster way to the answer of `RuleSet.present`; see `rerail.recipes.fast`."""

    def __call__(self, low: str, rules: RuleSet, /) -> set[str] | None:
        """Return the same set as `RuleSet.present`; None where the text is not worth it."""
        ...


class RuleSet:
    """Rules of all recipes in force, indexed. Immutable; equal rules in any order make equal rule sets.

    Args:
        data: What `compile_rules` made, or what came back from a cache: see `RuleSet.data`.
        scan: Does the work of `present` when it wants to; see `Scan`.
    """

    def __init__(self, data: Sequence[Any], scan: Scan | None = None) -> None:
        self._rules, self._matchers, self._sources, self._filed, facts, always = data
        self.facts: dict[tuple[str, str], Sequence[int]] = facts
        """(kind of fact, value) -> indexes of the matchers it may wake."""
        self.always: Sequence[int] = always
        """Matchers that neither a text nor a fact can wake: by command, tool or header alone."""
        self.literals: dict[str, Sequence[int]] = {}
        """Lower-case text -> indexes of the matchers it may wake; has the texts that `present` returned, and others."""
        self.wakes: dict[str, Sequence[str]] = {}
        """Lower-case text -> the patterns that may match where it stands; has what `literals` has."""
        self.data = data
        self._scan = scan
        self._texts: dict[str, Sequence[str]] = {}
        self._patterns: dict[str, re.Pattern[str]] = {}
        self._made: dict[int, CompiledMatcher] = {}
        self._named: dict[int, Compiled] = {}

    @property
    def rules(self) -> tuple[Compiled, ...]:
        """All rules in force, by slug; no shadows."""
        return tuple(rule for rule in (Compiled(*row) for row in self._rules) if rule.class_ != SHADOW)

    def present(self, low: str) -> set[str]:
        """Return which of the texts in `wakes` stand somewhere in *low*, a lower-case text.

        Every text is filed under three characters in a row of it, the rarest. Only those whose three characters occur are
        looked for: a few hundred of some thousand, whatever the text, and the cost is one pass over it. Measured: 3,500
        texts in 2 KB take 0.2 ms, and 1.4 ms one after the other.
        """
        if self._scan is not None and (found := self._scan(low, self)) is not None:
            return found
        occurring = _pieces(low, GRAM)
        texts = [text for gram in self._filed.keys() & occurring for text in self._unfiled(gram)]
        if len(texts) > _MANY:
            # In a long text all that is short occurs somewhere. What begins or ends as nothing in it does is not looked for.
            longer = _pieces(low, _PIECE)
            texts = [
                text for text in texts if len(text) < _PIECE or (text[:_PIECE] in longer and text[-_PIECE:] in longer)
            ]
        return {text for text in texts if text in low}

    def texts(self) -> list[str]:
        """Return every text that `present` looks for."""
        return [text for gram in self._filed for text in self._unfiled(gram)]

    def _unfiled(self, gram: str) -> Sequence[str]:
        """Return the texts that are filed under three characters."""
        texts = self._texts.get(gram)
        if texts is None:
            entries = unpacked(self._filed[gram])
            for text, ids, patterns in entries:
                self.literals[text], self.wakes[text] = ids, self._written_out(patterns)
            # Last, for another thread that finds it looks no further.
            texts = self._texts[gram] = [text for text, _, _ in entries]
        return texts

    def rule(self, index: int) -> Compiled:
        """Return one rule; made when it is first asked for."""
        rule = self._named.get(index)
        if rule is None:
            rule = self._named[index] = Compiled(*self._rules[index])
        return rule

    def matcher(self, index: int) -> CompiledMatcher:
        """Return one matcher; made when it is first asked for, because a failure wakes few of many."""
        matcher = self._made.get(index)
        if matcher is None:
            rule, fields, trust = unpacked(self._matchers[index])
            fields[: len(_PATTERN_FIELDS)] = map(self._written_out, fields[: len(_PATTERN_FIELDS)])
            when = Matcher(*fields)
            facts, texts = (_asked_for(when, fields) for fields in (FACT_FIELDS, TEXT_FIELDS))
            matcher = self._made[index] = CompiledMatcher(rule, when, Trust(trust), facts, texts)
        return matcher

    def _written_out(self, patterns: Iterable[int]) -> tuple[str, ...]:
        return tuple([self._sources[pattern] for pattern in patterns])

    def matchers_of(self, slug: str) -> list[CompiledMatcher]:
        """Return all matchers of one rule, for those who explain it; none where there is no such rule."""
        matchers = map(self.matcher, range(len(self._matchers)))
        return [matcher for matcher in matchers if self.rule(matcher.rule).slug == slug]

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
        taxonomy: Gives each rule's action and severity. Rules of built-in classes that it lacks stay as shadows: what a pack that
            is switched off would have named is named by no other class in its place.

    Raises:
        UnknownNameError: A rule names a reason that its class lacks.
    """
    from rerail.rules.patterns import literals  # what comes from a cache was asked for them before
    from rerail.taxonomy import BUILT_IN

    rows: list[tuple[Any, ...]] = []
    matchers: list[bytes] = []
    by_literal: dict[str, set[int]] = {}
    by_fact: dict[tuple[str, str], set[int]] = {}
    always: list[int] = []
    needs: dict[str, tuple[str, ...]] = {}
    numbers: dict[str, int] = {}
    for rule in sorted(rules, key=lambda each: each.slug):
        class_, reason, known = rule.class_, rule.reason, taxonomy
        if class_ not in taxonomy:
            if class_ not in BUILT_IN:
                continue
            class_, reason, known = SHADOW, "no-evidence", BUILT_IN
        action = taxonomy.action(class_, reason)
        severity = known.class_spec(rule.class_).severity
        general = rule.general or all(_is_bare_status(matcher) for matcher in rule.when)
        rows.append(
            (
                rule.slug,
                class_,
                reason,
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
            for source in (source for field in _PATTERN_FIELDS for source in getattr(matcher, field)):
                needs[source] = literals(source)
                numbers.setdefault(source, len(numbers))
            fields: list[Any] = list(matcher)
            for place in range(len(_PATTERN_FIELDS)):
                fields[place] = tuple(map(numbers.__getitem__, fields[place]))
            matchers.append(packed((len(rows) - 1, fields, int(trust_of(matcher)))))
            _place(matcher, index, needs, by_literal, by_fact, always)
    waking: dict[str, set[int]] = {}
    for source, texts in needs.items():
        for text in texts:
            waking.setdefault(text, set()).add(numbers[source])
    return RuleSet(
        (
            tuple(rows),
            tuple(matchers),
            tuple(numbers),
            {
                gram: packed(
                    tuple(
                        (text, tuple(sorted(by_literal.get(text, ()))), tuple(sorted(waking[text]))) for text in texts
                    )
                )
                for gram, texts in _filed_by_gram(waking)
            },
            {fact: tuple(sorted(ids)) for fact, ids in sorted(by_fact.items())},
            tuple(always),
        )
    )


def _pieces(text: str, length: int) -> set[str]:
    return {text[place : place + length] for place in range(len(text) - length + 1)}


def packed(value: Any) -> bytes:
    """Return plain data as marshal data that every supported Python reads."""
    return marshal.dumps(value, MARSHAL_FORMAT)


def unpacked(data: bytes) -> Any:
    """Return what `packed` was given. Only for data of our own: see `rerail.kept`, which knows it by its check sum."""
    return marshal.loads(data)  # noqa: S302


def _filed_by_gram(texts: Iterable[str]) -> Iterator[tuple[str, list[str]]]:
    """Yield texts under the three characters in a row of each that fewest others have."""
    from collections import Counter  # what comes from a cache was filed before

    grams = {text: {text[place : place + GRAM] for place in range(len(text) - GRAM + 1)} for text in texts}
    common = Counter(gram for each in grams.values() for gram in each)
    filed: dict[str, list[str]] = {}
    for text in sorted(grams):
        filed.setdefault(min(grams[text], key=lambda gram: (common[gram], gram)), []).append(text)
    yield from sorted(filed.items())


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
    """Return how a fact is filed: without case, exception names without their module, codes without what joins their words."""
    text = str(value).lower()
    if kind == "exception":
        return text.rpartition(".")[2]
    if kind == "code" and not text.lstrip("-").isdigit():
        return text.replace("_", "").replace("-", "")
    return text


def _is_bare_status(matcher: Matcher) -> bool:
    others = [
        field
        for field in matcher._fields
        if field not in ("status", "tool", "command", "not_text") and getattr(matcher, field)
    ]
    return bool(matcher.status) and not others


def _texts(matcher: Matcher) -> bool:
    return bool(matcher.text or matcher.stderr or matcher.stdout)


def _asked_for(when: Matcher, fields: Iterable[str]) -> tuple[tuple[str, tuple[Any, ...]], ...]:
    return tuple([(field, values) for field in fields if (values := getattr(when, field))])
