"""Whether a rule holds for a failure, on what it stands, and how that is cited."""

from __future__ import annotations

from operator import attrgetter

from rerail.light_typing import TYPE_CHECKING, NamedTuple
from rerail.rules.compile import fact_key
from rerail.rules.model import Citation, Trust
from rerail.rules.readers.model import Weight

if TYPE_CHECKING:
    import re
    from collections.abc import Iterable

    from rerail.rules.compile import Compiled, CompiledMatcher, RuleSet
    from rerail.rules.model import Matcher
    from rerail.rules.readers.model import Fact, Line, View
    from rerail.rules.text import Hit, Text

CITED_CHARS = 300
BLIND_RETRY = "provider"
"""The class whose mistake costs most; its words must be said, not only mentioned."""
_RANK = attrgetter("rank")
_LOOKED_AT = 2_048
"""Characters of a header or a command that a pattern is shown."""


class Found(NamedTuple):
    """A rule that holds, and what it stands on."""

    rule: Compiled
    trust: Trust
    weight: Weight
    depth: int
    """How deep in a chain of causes the evidence lies."""
    place: int
    """Index of the first line it stands on; -1 when it stands on fields alone."""
    groups: tuple[str | None, ...] | None
    """What the text pattern's groups caught; None when the rule stands on facts alone."""
    citations: tuple[Citation, ...]


class Known:
    """The facts of a failure by what they say, each with its strongest statement first.

    Attributes:
        keys: ``(kind, value)`` as `rerail.rules.compile.fact_key` writes them, hundreds of statuses (``5xx``) included.
    """

    def __init__(self, facts: Iterable[Fact]) -> None:
        self._facts: dict[tuple[str, str], list[Fact]] = {}
        for fact in facts:
            self._facts.setdefault((fact.kind, fact_key(fact.kind, fact.value)), []).append(fact)
            if fact.kind == "status":
                self._facts.setdefault(("status", f"{fact.value[0]}xx"), []).append(fact)
        self.keys = self._facts.keys()

    def best(self, kind: str, wanted: Iterable[tuple[str, object]]) -> Fact | None:
        """Return the strongest statement of one of the *wanted* values, as `CompiledMatcher.facts` has them; else None."""
        fitting: list[Fact] = []
        for key, value in wanted:
            stated = self._facts.get((kind, key))
            if stated is None:
                continue
            if kind == "exception":
                name = str(value).lower()
                stated = [fact for fact in stated if f".{fact.value.lower()}".endswith(f".{name}")]
            fitting += stated
        return max(fitting, key=lambda fact: (fact.weight, fact.depth), default=None)


def holds(matcher: CompiledMatcher, view: View, known: Known, text: Text, rules: RuleSet) -> Found | None:
    """Return what a matcher stands on, or None where it does not hold."""
    when = matcher.when
    if not _fits(when, view, rules):
        return None
    blind = rules.rule(matcher.rule).class_ == BLIND_RETRY
    facts: list[Fact] = []
    for kind, wanted in matcher.facts:
        fact = known.best(kind, wanted)
        if fact is None or (blind and fact.line and _only_mentioned(fact.line.text, 0, 0)):
            return None
        facts.append(fact)
    live = text.live(rules)  # PERF: most patterns end here, without a call
    hits: list[Hit] = []
    others: list[Hit] = []
    for field, patterns in matcher.texts:
        matched = [hit for source in patterns if source in live and (hit := text.first(field, source, rules))]
        if blind:
            matched = [hit for hit in matched if not _only_mentioned(hit.match.string, *hit.match.span())]
        if not matched:
            return None
        matched.sort(key=_RANK)
        hits.append(matched[0])
        others += matched[1:]
    headers = _headers(when, view, rules)
    if headers is None or any(source in live and text.first("text", source, rules) for source in when.not_text):
        return None
    return Found(
        rule=rules.rule(matcher.rule),
        trust=matcher.trust,
        weight=_weight(facts, hits, headers, text),
        depth=max([text.lines[hit.place].depth for hit in hits] + [fact.depth for fact in facts], default=0),
        place=min([hit.place for hit in hits] + [fact.place for fact in facts if fact.line], default=-1),
        groups=hits[0].match.groups() if hits else None,
        citations=_citations(facts, [*hits, *others], headers, text),
    )


def _fits(when: Matcher, view: View, rules: RuleSet) -> bool:
    """Tell whether the tool and the command are the wanted ones."""
    if when.tool and view.tools.isdisjoint(when.tool):
        return False
    command = view.command[:_LOOKED_AT]
    return not when.command or any(rules.pattern(pattern).search(command) for pattern in when.command)


def _headers(when: Matcher, view: View, rules: RuleSet) -> list[Citation] | None:
    cited: list[Citation] = []
    for name, pattern in when.header:
        values = [value[:_LOOKED_AT] for key, value in view.headers if key == name]
        fitting = [value for value in values if rules.pattern(pattern).search(value)]
        if not fitting:
            return None
        cited.append(Citation(f"header {name}", 0, fitting[0][:CITED_CHARS]))
    return cited


def _weight(facts: list[Fact], hits: list[Hit], headers: list[Citation], text: Text) -> Weight:
    """Return what the evidence may decide: all that its heaviest line may, and everything when fields alone decide.

    A rule that needs a text decides where its text stands, however strong the exit status is that must go with it.
    """
    weights = [text.lines[hit.place].weight for hit in hits]
    weights += [fact.weight for fact in facts if fact.line or not hits]
    if headers and not hits:
        weights.append(Weight.DECIDING)
    return max(weights, default=Weight.PLAIN)


def _citations(facts: list[Fact], hits: list[Hit], headers: list[Citation], text: Text) -> tuple[Citation, ...]:
    """Return lines before fields, each once."""
    cited = [_cite(text.lines[hit.place], hit.match) for hit in hits]
    cited += [_cite_fact(fact) for fact in sorted(facts, key=lambda fact: fact.line is None)]
    return tuple(dict.fromkeys([*cited, *headers]))


def _only_mentioned(line: str, start: int, end: int) -> bool:
    from rerail.rules.mention import only_mentioned  # which a failure that nobody would blindly retry never asks

    return only_mentioned(line, start, end)


def _cite(line: Line, match: re.Match[str]) -> Citation:
    return Citation(line.stream, line.number, clipped(line.raw, match[0]))


def _cite_fact(fact: Fact) -> Citation:
    said = fact.said or fact.value
    if fact.line is None:
        return Citation(fact.field, 0, said[:CITED_CHARS])
    return Citation(fact.line.stream, fact.line.number, clipped(fact.line.raw, said))


def clipped(raw: str, around: str) -> str:
    """Return a line for citing: whole, or, when it is long, the part around what matched."""
    raw = raw.strip()
    if len(raw) <= CITED_CHARS:
        return raw
    at = max(0, raw.find(around))
    start = max(0, min(at - CITED_CHARS // 4, len(raw) - CITED_CHARS))
    return raw[start : start + CITED_CHARS]
