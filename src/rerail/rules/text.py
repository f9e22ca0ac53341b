"""The visible lines of a failure as searchable text, and where a pattern matches in it. Linear, whatever the text is."""

from __future__ import annotations

from bisect import bisect_right

from rerail.light_typing import TYPE_CHECKING, NamedTuple
from rerail.rules.readers.model import searchable

if TYPE_CHECKING:
    import re

    from rerail.rules.compile import RuleSet
    from rerail.rules.readers.model import View

WINDOW = 1_024
"""Characters of a line that a pattern is shown at once; a longer line is shown around what woke the pattern."""
MAX_TRIES, FEW_TRIES = 32, 2
"""Lines that one pattern is tried on per failure, the heaviest first. What fails on so many will not match on the next."""
MANY_TRIES = 800
"""Tries of all patterns together, after which each has only a few: no failure wakes so many rules, but a hostile text does."""

# A caller's message stands for stderr where a failure has no streams of its own.
_SAID, _PRINTED = frozenset({"message", "stderr"}), frozenset({"body", "stdout"})
_CHANNELS = {"text": (_SAID, _PRINTED), "stderr": (_SAID,), "stdout": (_PRINTED,)}


class Hit(NamedTuple):
    """Where a pattern matched."""

    place: int
    """Index into the view's lines."""
    rank: int
    """How many lines of the view count more, or as much and come before it."""
    match: re.Match[str]


class _Channel:
    """The lines of some streams, the heaviest first and each text once, so that what is found first is what counts."""

    def __init__(self, ranked: list[tuple[int, str]]) -> None:
        self.ranks = [rank for rank, _ in ranked]
        self.low, self._starts = searchable([text for _, text in ranked])
        self._found: dict[str, list[tuple[int, int]]] = {}

    def find(self, literal: str, most: int) -> list[tuple[int, int]]:
        """Return the first lines that have a literal, by rank, each with its column; remembered, for many patterns share one.

        *most* of them suffice; it never grows.
        """
        found = self._found.get(literal)
        if found is None:
            found = self._found[literal] = []
            low, starts, ranks = self.low, self._starts, self.ranks
            offset = low.find(literal)
            while offset != -1 and len(found) < most:
                row = bisect_right(starts, offset) - 1
                found.append((ranks[row], offset - starts[row]))
                offset = low.find(literal, starts[row + 1]) if row + 1 < len(starts) else -1
        return found


class Text:
    """The lines of a view behind an index of places; remembers what was searched, for many rules share a pattern."""

    def __init__(self, view: View) -> None:
        self.lines = lines = view.lines
        worth = [(-line.weight, -line.depth) for line in lines]
        # Rank -> place: the heaviest line first, of equals the deepest cause, of those the first.
        self._places = sorted(range(len(lines)), key=worth.__getitem__)
        channels: dict[frozenset[str], _Channel] = {}
        for streams in (_SAID, _PRINTED):
            ranked: dict[str, int] = {}
            for rank, place in enumerate(self._places):
                if lines[place].stream in streams:
                    ranked.setdefault(lines[place].text, rank)
            if ranked:
                channels[streams] = _Channel([(rank, text) for text, rank in ranked.items()])
        self._channels = {
            field: [channels[each] for each in streams if each in channels] for field, streams in _CHANNELS.items()
        }
        self.low = "\n".join(channel.low for channel in channels.values())
        self._hits: dict[tuple[str, str], Hit | None] = {}
        self._live: dict[str, list[str]] | None = None
        self._tries = 0

    def live(self, rules: RuleSet) -> dict[str, list[str]]:
        """Return the patterns that have what they cannot match without, each with the texts that woke it: few of many."""
        if self._live is None:
            present = rules.present(self.low)
            woken: dict[str, list[str]] = {}
            for literal in present:
                for source in rules.wakes[literal]:
                    woken.setdefault(source, []).append(literal)
            self._live = {
                source: literals
                for source, literals in woken.items()
                if True not in map(present.isdisjoint, rules.needs[source])
            }
        return self._live

    def first(self, field: str, source: str, rules: RuleSet) -> Hit | None:
        """Return a pattern's best match: on the heaviest line, of equals the deepest cause, of those the first.

        Args:
            field: ``text``, ``stderr`` or ``stdout``: which streams are searched.
            source: The pattern, one of those that are `live`.
            rules: Holds the pattern compiled, and what it cannot match without.
        """
        key = (field, source)
        if key not in self._hits:
            self._hits[key] = self._search(field, source, rules)
        return self._hits[key]

    def _search(self, field: str, source: str, rules: RuleSet) -> Hit | None:
        most = MAX_TRIES if self._tries < MANY_TRIES else FEW_TRIES
        woken = self._woken(field, self.live(rules)[source], most)
        self._tries += len(woken)
        pattern = rules.pattern(source)
        for rank, column in woken:
            place = self._places[rank]
            text = self.lines[place].text
            if len(text) > WINDOW:
                start = max(0, column - WINDOW // 2)
                text = text[start : start + WINDOW]
            if match := pattern.search(text):
                return Hit(place, rank, match)
        return None

    def _woken(self, field: str, literals: list[str], most: int) -> list[tuple[int, int]]:
        """Return *most* lines that have one of the literals, by rank, with the column of the first in each."""
        found = [channel.find(literal, most) for channel in self._channels[field] for literal in literals]
        if len(found) == 1:
            return found[0][:most]
        columns: dict[int, int] = {}
        for rank, column in sorted(line for lines in found for line in lines):
            columns.setdefault(rank, column)
        return list(columns.items())[:most]
