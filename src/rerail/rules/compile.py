"""Rules as the engine runs them: plain tuples behind indexes, so that only rules with something to see are looked at.

`compile_rules` does once what every classification would do again; `RuleSet.data` survives in a cache as marshal data. Reading
recipe files and keeping that cache is the work of `rerail.recipes`.

A failure wakes few of many rules, so the data are rows that are unpacked when they are first needed (see `rerail.rules.packing`):
that leaves 0.3 ms of the 9 that unpacking everything takes.
"""

from __future__ import annotations

from bisect import bisect_left
from struct import pack, unpack, unpack_from

from rerail.light_typing import TYPE_CHECKING, NamedTuple, Protocol
from rerail.regex import ASCII, compiled
from rerail.rules.model import Matcher, Trust
from rerail.rules.packing import Rows, Shelves, pack_rows, pack_shelves, packed, unpacked

if TYPE_CHECKING:
    import re
    from collections.abc import Iterable, Iterator, Mapping, Sequence
    from typing import Any

    from rerail.rules.model import Rule
    from rerail.rules.packing import Packed
    from rerail.taxonomy.model import Taxonomy

TEXT_FIELDS = ("text", "stderr", "stdout")
_PATTERN_FIELDS = (*TEXT_FIELDS, "not_text")
"""The first fields of a matcher. Many rules share a pattern, and many texts wake it: it is kept once, and numbered."""

FACT_FIELDS = ("code", "exception", "errno", "status", "signal", "exit_code")
"""Facts that can wake a rule, in the order in which they are preferred for it: rarer ones first."""


SHADOW = "unclassified"
"""The class of rules whose own class is switched off."""

_GRAM_BYTES = 4
"""Bytes in a row under which a text is filed, as one number: numbers are made in a quarter of the time that slices take."""

_WIDE_BYTES = 8
_MANY = 1000
"""So many likely texts make it worth while to look at wider ends before each is looked for."""

_LETTERS = {_GRAM_BYTES: "I", _WIDE_BYTES: "Q"}
"""What `struct` calls an unsigned number of so many bytes."""

_SHORT = -1
"""Under what the few texts are filed that have fewer bytes."""

FLAGS = ASCII
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
    facts: tuple[tuple[str, tuple[tuple[str, str | int], ...]], ...]
    """The kinds of facts that it asks for, each with the values of which one suffices, and how they are filed."""
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

    def __init__(self, data: Mapping[str, Packed], scan: Scan | None = None) -> None:
        self._rules, self._matchers = Rows(data["rules"]), Rows(data["matchers"])
        self._sources, self._behind = Rows(data["patterns"]), Rows(data["behind"])
        self._filed = Rows(data["filed"])
        self._grams: tuple[int, ...] = unpack(f"<{len(self._filed)}q", data["grams"])
        """Sorted: a dict of them would be a third of what a hook takes to load the rules."""
        self._gram_set: frozenset[int] = frozenset()
        self._was_asked = False
        self._facts = Shelves(data["facts"])
        self.always: Sequence[int] = unpacked(data["always"])
        """Matchers that neither a text nor a fact can wake: by command, tool or header alone."""
        self.wakes: dict[str, Sequence[str]] = {}
        """Lower-case text -> the patterns that may match where it stands; none for a text that they need beside another.

        Has the texts that `present` returned, and others.
        """
        self.needs: dict[str, Sequence[Sequence[str]]] = {}
        """Pattern -> sets of lower-case texts of each of which it needs one more; has the patterns that `wakes` has."""
        self.asked: dict[str, Sequence[int]] = {}
        """Pattern -> indexes of the matchers it may wake; has the patterns that `wakes` has."""
        self.data = data
        self._scan = scan
        self._texts: dict[int, Sequence[tuple[str, int, int]]] = {}
        self._patterns: dict[str, re.Pattern[str]] = {}
        self._made: dict[int, CompiledMatcher] = {}
        self._named: dict[int, Compiled] = {}

    @property
    def rules(self) -> tuple[Compiled, ...]:
        """All rules in force, by slug; no shadows."""
        return tuple(rule for rule in (Compiled(*row) for row in self._rules) if rule.class_ != SHADOW)

    def present(self, low: str) -> set[str]:
        """Return which of the texts in `wakes` stand somewhere in *low*, a lower-case text.

        Every text is filed under four bytes in a row of it, the rarest. Only those whose four bytes occur, and whose first and
        last four do, are looked for: few of some thousand, whatever the text, and the cost is one pass over it.
        """
        if self._scan is not None and (found := self._scan(low, self)) is not None:
            return found
        occurring = _grams(low)
        occurring.add(_SHORT)
        likely = [
            text
            for gram in self._filed_among(occurring)
            for text, first, last in self._unfiled(gram)
            if first in occurring and last in occurring
        ]
        if len(likely) > _MANY:
            likely = _sieved(likely, low)
        return {text for text in likely if text in low}

    def _filed_among(self, occurring: set[int]) -> set[int]:
        """Return those of some grams under which texts are filed; a set of all pays from the second failure on, not in a hook."""
        if not self._was_asked:
            self._was_asked = True
            return occurring.intersection(self._grams)
        if not self._gram_set:
            self._gram_set = frozenset(self._grams)
        return occurring.intersection(self._gram_set)

    def texts(self) -> list[str]:
        """Return every text that `present` looks for."""
        return [text for gram in self._grams for text, *_ in self._unfiled(gram)]

    def stating(self, kind: str, value: str) -> Sequence[int]:
        """Return the indexes of the matchers that a fact may wake, its value as `fact_key` writes it."""
        found: Sequence[int] = self._facts.get(f"{kind} {value}", ())
        return found

    def _unfiled(self, gram: int) -> Sequence[tuple[str, int, int]]:
        """Return the texts that are filed under four bytes, each with its first and last four."""
        texts = self._texts.get(gram)
        if texts is None:
            entries = self._filed[bisect_left(self._grams, gram)]
            for text, _, _, patterns in entries:
                self.wakes[text] = sources = self._written_out(patterns)
                for pattern, source in zip(patterns, sources, strict=True):
                    if source not in self.asked:
                        self.needs[source], self.asked[source] = self._behind[pattern]
            # Last, for another thread that finds it looks no further.
            texts = self._texts[gram] = [(text, first, last) for text, first, last, _ in entries]
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
            rule, fields, trust = self._matchers[index]
            fields[: len(_PATTERN_FIELDS)] = map(self._written_out, fields[: len(_PATTERN_FIELDS)])
            when = Matcher(*fields)
            facts = tuple(
                [
                    (kind, tuple([(fact_key(kind, value), value) for value in values]))
                    for kind in FACT_FIELDS
                    if (values := getattr(when, kind))
                ]
            )
            texts = tuple([(field, patterns) for field in TEXT_FIELDS if (patterns := getattr(when, field))])
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
            pattern = self._patterns[source] = compiled(source, FLAGS)
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
    from rerail.rules.patterns import needs  # what comes from a cache was asked for them before
    from rerail.taxonomy import BUILT_IN

    rows: list[tuple[Any, ...]] = []
    matchers: list[tuple[Any, ...]] = []
    by_pattern: dict[str, set[int]] = {}
    by_fact: dict[tuple[str, str], set[int]] = {}
    always: list[int] = []
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
                numbers.setdefault(source, len(numbers))
            fields: list[Any] = list(matcher)
            for place in range(len(_PATTERN_FIELDS)):
                fields[place] = tuple(map(numbers.__getitem__, fields[place]))
            matchers.append((len(rows) - 1, fields, int(trust_of(matcher))))
            _place(matcher, index, by_pattern, by_fact, always)
    waking: dict[str, list[int]] = {}
    behind: list[tuple[Any, ...]] = []
    for source, number in numbers.items():
        first, *others = needs(source) or ((),)
        for text in first:
            waking.setdefault(text, []).append(number)
        for texts in others:
            for text in texts:
                waking.setdefault(text, [])
        behind.append((tuple(others), tuple(sorted(by_pattern.get(source, ())))))
    filed = list(_filed_by_gram(waking))
    return RuleSet(
        {
            "rules": pack_rows(rows),
            "matchers": pack_rows(matchers),
            "patterns": pack_rows(numbers),
            "behind": pack_rows(behind),
            "grams": pack(f"<{len(filed)}q", *[gram for gram, _ in filed]),
            "filed": pack_rows([[(text, *_ends(text), tuple(waking[text])) for text in texts] for _, texts in filed]),
            "facts": pack_shelves({f"{kind} {value}": tuple(sorted(ids)) for (kind, value), ids in by_fact.items()}),
            "always": packed(tuple(always)),
        }
    )


def _grams(text: str, width: int = _GRAM_BYTES) -> set[int]:
    """Return all *width* bytes in a row of a text, as numbers: the same ones on every machine."""
    data = text.encode("utf-8", "surrogatepass")
    grams: set[int] = set()
    for start in range(min(width, len(data) - width + 1)):
        grams.update(unpack_from(f"<{(len(data) - start) // width}{_LETTERS[width]}", data, start))
    return grams


def _ends(text: str, width: int = _GRAM_BYTES) -> tuple[int, int]:
    data = text.encode("utf-8", "surrogatepass")
    if len(data) < width:
        return _SHORT, _SHORT
    return int.from_bytes(data[:width], "little"), int.from_bytes(data[-width:], "little")


def _sieved(likely: Iterable[str], low: str) -> list[str]:
    """Return those of many texts whose first and last eight bytes occur in *low*: half of what four let through."""
    occurring = _grams(low, _WIDE_BYTES)
    occurring.add(_SHORT)
    return [text for text in likely if occurring.issuperset(_ends(text, _WIDE_BYTES))]


def _filed_by_gram(texts: Iterable[str]) -> Iterator[tuple[int, list[str]]]:
    """Yield texts under the four bytes in a row of each that fewest others have."""
    from collections import Counter  # what comes from a cache was filed before

    grams = {text: _grams(text) or {_SHORT} for text in texts}
    common = Counter(gram for each in grams.values() for gram in each)
    filed: dict[int, list[str]] = {}
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
    by_pattern: dict[str, set[int]],
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
                by_pattern.setdefault(pattern, set()).add(index)
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
