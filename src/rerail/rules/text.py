"""The visible lines of a failure as one searchable text, and where a pattern matches in it. Linear, whatever the text is."""

from __future__ import annotations

from bisect import bisect_right
from typing import TYPE_CHECKING, NamedTuple

from rerail.rules.readers.model import searchable

if TYPE_CHECKING:
    import re
    from collections.abc import Iterable

    from rerail.rules.compile import RuleSet
    from rerail.rules.readers.model import View

WINDOW = 1_024
"""Characters of a line that a pattern is shown at once; a longer line is shown around what woke the pattern."""
MAX_TRIES = 64
"""Lines that one pattern is tried on per failure, the heaviest first. What fails on so many will not match on the next."""

_STREAMS = {
    # A caller's message stands for stderr where a failure has no streams of its own.
    "text": frozenset({"message", "stderr", "body", "stdout"}),
    "stderr": frozenset({"message", "stderr"}),
    "stdout": frozenset({"stdout", "body"}),
}


class Hit(NamedTuple):
    """Where a pattern matched."""

    place: int
    """Index into the view's lines."""
    match: re.Match[str]


class Text:
    """The lines of a view behind an index of places; remembers what was searched, for many rules share a pattern."""

    def __init__(self, view: View) -> None:
        self.lines = view.lines
        self.low, self._starts = searchable([line.text for line in self.lines])
        self._hits: dict[tuple[str, str], Hit | None] = {}
        self._present: set[str] | None = None
        self._places: dict[str, list[tuple[int, int]]] = {}

    def present(self, rules: RuleSet) -> set[str]:
        """Return which of the texts that patterns need stand somewhere in these lines."""
        if self._present is None:
            self._present = rules.present(self.low)
        return self._present

    def possible(self, sources: Iterable[str], rules: RuleSet) -> list[str]:
        """Return those patterns that have what they cannot match without: few of many, and most of the time ends here."""
        absent, needs = self.present(rules).isdisjoint, rules.needs
        return [source for source in sources if not absent(needs[source])]

    def first(self, field: str, source: str, rules: RuleSet) -> Hit | None:
        """Return a pattern's best match: on the heaviest line, of equals the deepest cause, of those the first.

        Args:
            field: ``text``, ``stderr`` or ``stdout``: which streams are searched.
            source: The pattern.
            rules: Holds the pattern compiled, and what it cannot match without.
        """
        key = (field, source)
        if key not in self._hits:
            self._hits[key] = self._search(field, source, rules)
        return self._hits[key]

    def worth(self, place: int) -> tuple[int, int, int]:
        """Return what orders the lines that match: a larger one counts more."""
        line = self.lines[place]
        return (line.weight, line.depth, -place)

    def _search(self, field: str, source: str, rules: RuleSet) -> Hit | None:
        streams = _STREAMS[field]
        columns = self._woken(self.present(rules).intersection(rules.needs[source]))
        places = [place for place in columns if self.lines[place].stream in streams]
        if len(places) > 1:
            places.sort(key=self.worth, reverse=True)
        tried: set[str] = set()
        for place in places:
            text = self.lines[place].text
            if len(text) > WINDOW:
                start = max(0, columns[place] - WINDOW // 2)
                text = text[start : start + WINDOW]
            if text in tried:
                continue
            tried.add(text)
            if match := rules.pattern(source).search(text):
                return Hit(place, match)
            if len(tried) >= MAX_TRIES:
                break
        return None

    def _woken(self, literals: Iterable[str]) -> dict[int, int]:
        """Return the lines that have one of the literals, with the column of the first in each."""
        columns: dict[int, int] = {}
        for literal in literals:
            found = self._places.get(literal)
            if found is None:
                found = self._places[literal] = self._places_of(literal)
            for place, column in found:
                columns.setdefault(place, column)
        return columns

    def _places_of(self, literal: str) -> list[tuple[int, int]]:
        """Return the lines that have a literal, each with the column of the first; remembered, for many patterns share one."""
        found: list[tuple[int, int]] = []
        offset = self.low.find(literal)
        while offset != -1:
            place = bisect_right(self._starts, offset) - 1
            found.append((place, offset - self._starts[place]))
            if place + 1 == len(self._starts):
                break
            offset = self.low.find(literal, self._starts[place + 1])
        return found
