"""The lines that decided, in their surroundings: what a person looks at to see whether a name is right.

Pure: it reads the evidence again as the engine does, and says of each line whether rules saw it, and which part decided. Where
the rules have changed since a failure was named, the cited lines are still those of then.
"""

from __future__ import annotations

import re
from enum import StrEnum
from typing import TYPE_CHECKING

import attrs

from rerail.rules.compile import TEXT_FIELDS
from rerail.rules.engine import loudness
from rerail.rules.readers import view
from rerail.rules.text import WINDOW

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from rerail.evidence.model import Evidence
    from rerail.rules.compile import RuleSet
    from rerail.rules.model import Classification
    from rerail.rules.readers.model import Line

AROUND_LINES = 3
"""Lines shown before and after one that decided."""
SHOWN_CHARS = 120
"""Characters of a line that are shown: those around what decided."""
_FACTS = ("code", "exception", "errno", "status")
_SPAN_CHARS = 3
"""Shortest text that is marked where it stands: shorter ones stand everywhere."""

Span = tuple[int, int]


class Role(StrEnum):
    """What a line is to the name of a failure."""

    DECIDES = "decides"
    """The rule that won stands on it."""
    AGREES = "agrees"
    """It is cited too: it says in words what a field states, or another rule of the class stands on it."""
    SAYS_MOST = "says-most"
    """No rule has evidence, and this line says most about what went wrong."""
    READ = "read"
    """Rules saw it."""
    MASKED = "masked"
    """No rule sees it: progress, quoted source, test names, blank, or a line beyond those that are read."""


@attrs.frozen
class ShownLine:
    """One line of an excerpt."""

    number: int
    """In its stream, counted from 1."""
    text: str
    """At most `SHOWN_CHARS` characters, those around what decided; ``…`` stands where it was cut."""
    role: Role
    spans: tuple[Span, ...] = ()
    """Which parts of the text decided, as ``(start, stop)``; in order, apart from each other."""


@attrs.frozen
class Excerpt:
    """Consecutive lines of one stream."""

    stream: str
    lines: tuple[ShownLine, ...]
    total_lines: int
    """Lines that the stream has."""


def excerpts(evidence: Evidence, named: Classification, rules: RuleSet) -> tuple[Excerpt, ...]:
    """Return what surrounds the lines that a classification cites; without one, what surrounds the line that says most.

    Args:
        evidence: The failure.
        named: Its name.
        rules: The rules in force, to tell which part of a line decided.
    """
    seen = view(evidence)
    lines: dict[tuple[str, int], list[Line]] = {}
    for line in seen.lines:
        lines.setdefault((line.stream, line.number), []).append(line)
    roles = _roles(named)
    if not roles and not named.rule and (most := max(seen.lines, key=loudness, default=None)):
        roles = {(most.stream, most.number): Role.SAYS_MOST}
    wanted = _Wanted.of(named.rule, rules)
    found: list[Excerpt] = []
    for stream in evidence.streams:
        numbers = sorted(number for name, number in roles if name == stream.name)
        windows = _windows(numbers)
        shown: list[list[ShownLine]] = [[] for _ in windows]
        for number, text in stream.lines():
            at = next((index for index, window in enumerate(windows) if number in window), None)
            if at is not None:
                place = (str(stream.name), number)
                role = roles.get(place) or (Role.READ if place in lines else Role.MASKED)
                spans = wanted.spans(text, lines.get(place, ())) if role in (Role.DECIDES, Role.AGREES) else ()
                shown[at].append(_clipped(number, text, role, spans))
        found += [Excerpt(str(stream.name), tuple(each), stream.total_lines) for each in shown if each]
    return tuple(found)


def _roles(named: Classification) -> dict[tuple[str, int], Role]:
    """Return the cited lines by what they are; fields are no lines."""
    own = [cited for candidate in named.trace[:1] for cited in candidate.evidence if cited.line]
    roles = {(str(cited.stream), cited.line): Role.AGREES for cited in named.evidence if cited.line}
    return roles | {(str(cited.stream), cited.line): Role.DECIDES for cited in own}


def _windows(numbers: Iterable[int]) -> list[range]:
    """Return the lines around each number, those that touch as one."""
    windows: list[range] = []
    for number in numbers:
        start, stop = number - AROUND_LINES, number + AROUND_LINES + 1
        if windows and start <= windows[-1].stop:
            windows[-1] = range(windows[-1].start, stop)
        else:
            windows.append(range(start, stop))
    return windows


@attrs.frozen
class _Wanted:
    """What a rule looks for."""

    patterns: tuple[str, ...]
    values: tuple[str, ...]
    rules: RuleSet

    @classmethod
    def of(cls, slug: str, rules: RuleSet) -> _Wanted:
        matchers = [matcher.when for matcher in rules.matchers_of(slug)]
        patterns = [source for when in matchers for field in TEXT_FIELDS for source in getattr(when, field)]
        values = [str(value) for when in matchers for field in _FACTS for value in getattr(when, field)]
        return cls(tuple(dict.fromkeys(patterns)), tuple(dict.fromkeys(values)), rules)

    def spans(self, raw: str, lines: Iterable[Line]) -> tuple[Span, ...]:
        """Return which parts of a line hold what the rule looks for; the whole line where that cannot be told."""
        found = [span for text in self._matched(lines) if (span := _place(raw, text))]
        if not found:
            found = [span for value in self.values if (span := _place(raw, value, re.IGNORECASE))]
        content = raw.strip()
        whole = raw.find(content)
        return _apart(found) or (((whole, whole + len(content)),) if content else ())

    def _matched(self, lines: Iterable[Line]) -> Iterator[str]:
        for line in lines:
            # As the engine does, no pattern is shown an endless line.
            for start in range(0, len(line.text), WINDOW // 2):
                for source in self.patterns:
                    if match := self.rules.pattern(source).search(line.text[start : start + WINDOW]):
                        yield match[0].strip()


def _place(raw: str, text: str, flags: re.RegexFlag = re.NOFLAG) -> Span | None:
    match = re.search(re.escape(text), raw, flags) if len(text) >= _SPAN_CHARS else None
    return match.span() if match else None


def _apart(spans: Iterable[Span]) -> tuple[Span, ...]:
    """Return spans in order, those that touch as one."""
    joined: list[Span] = []
    for start, stop in sorted(spans):
        if joined and start <= joined[-1][1]:
            joined[-1] = (joined[-1][0], max(stop, joined[-1][1]))
        else:
            joined.append((start, stop))
    return tuple(joined)


def _clipped(number: int, text: str, role: Role, spans: tuple[Span, ...]) -> ShownLine:
    """Return a line cut to what is around its first span."""
    if len(text) <= SHOWN_CHARS:
        return ShownLine(number, text, role, spans)
    first = spans[0][0] if spans else 0
    start = max(0, min(first - SHOWN_CHARS // 4, len(text) - SHOWN_CHARS))
    stop = start + SHOWN_CHARS
    before, after = "…" if start else "", "…" if stop < len(text) else ""
    shift = len(before) - start
    kept = tuple((max(a, start) + shift, min(b, stop) + shift) for a, b in spans if a < stop and b > start)
    return ShownLine(number, f"{before}{text[start:stop]}{after}", role, kept)
