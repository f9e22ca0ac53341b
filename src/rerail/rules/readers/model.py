"""What a reader makes of a failure: lines by how much they may decide, and facts with the line they stand on.

A reader knows what one tool prints. It is handed the drafts of all streams and says of the lines it knows what they are;
whatever no reader knows is left to `rerail.rules.readers.generic`. Which reader looks is decided in ``rerail.rules.readers``.
"""

from __future__ import annotations

from bisect import bisect_right
from enum import IntEnum

from rerail.evidence.secret_pairs import lower
from rerail.light_typing import TYPE_CHECKING, NamedTuple
from rerail.rules.readers.columns import without_columns
from rerail.rules.readers.prefixes import prefix_chars

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from rerail.evidence.model import Evidence


BARE_CHARS = 600
"""Characters of a line that tell a reader what it is."""


class Weight(IntEnum):
    """How much a line may decide. Rules see every line but the masked ones, and the heaviest line that matches counts."""

    MASKED = 0
    """Never seen by a rule: test names, assertion diffs, quoted source, progress, another tool's data."""
    WENT_ON = 1
    """Trouble that the run outlived: retry notices and warnings. Decides only where nothing heavier speaks."""
    PLAIN = 2
    """Output that no reader knows."""
    ERROR = 3
    """A line that says that something failed."""
    DECIDING = 4
    """The tool's own last word on why it failed."""


class Line(NamedTuple):
    """A line that rules may see."""

    stream: str
    number: int
    """Counted from 1 in the stream as it was."""
    text: str
    """What patterns see: the line without a log prefix, or a message unwrapped from it."""
    raw: str
    """What is cited."""
    weight: Weight
    depth: int
    """How deep in a chain of causes it stands; a deeper one is nearer the root."""


class Fact(NamedTuple):
    """Something that is known, not just said: a code, a status, a type."""

    kind: str
    """``code``, ``exception``, ``errno``, ``status``, ``signal`` or ``exit_code``."""
    value: str
    line: Line | None
    """Where it stands; None for a field of the evidence."""
    field: str = ""
    """The field of the evidence that says it."""
    depth: int = 0
    place: int = -1
    """Index of its line among the view's lines; -1 for a field."""
    said: str = ""
    """What is cited, where the value is only a part of it."""

    @property
    def weight(self) -> Weight:
        """How much it may decide: what its line may, and all for a field."""
        return Weight.DECIDING if self.line is None else self.line.weight


class View(NamedTuple):
    """A failure as the engine sees it."""

    lines: tuple[Line, ...]
    facts: tuple[Fact, ...]
    tools: frozenset[str]
    """Lower-case names: the tool an agent called, and every program of the command behind its wrappers."""
    command: str
    """The argument list joined by spaces."""
    headers: tuple[tuple[str, str], ...]
    """Lower-case names."""
    succeeded: bool
    """The failure says of itself that it is none: exit status 0 and no structured error."""


class Scene(NamedTuple):
    """What a reader may know beside the text."""

    tools: frozenset[str]
    command: str
    evidence: Evidence


def searchable(lines: Sequence[str]) -> tuple[str, list[int]]:
    """Return lines as one lower-case text of the same length, joined by newlines, and where in it each starts."""
    low = lower("\n".join(lines))
    starts: list[int] = []
    place = 0
    for line in lines:
        starts.append(place)
        place += len(line) + 1
    return low, starts


class Draft:
    """One stream while readers look at it. The first reader to mark a line wins, so tools come before general knowledge.

    Attributes:
        name: The stream's name.
        raws: Its lines, without a trailing carriage return; they are what is cited.
        lines: The same without what stands before every one of them; indexes below count from 0 in this list.
        numbers: The true number of each line, counted from 1.
        low: The text in lower case, for a quick look whether a tool's words occur at all.
        starts: Where in it each line starts.
        guessed: Lines that are errors only by their words, not by the knowledge of a reader.
        seen: Line -> what patterns see in its place.
    """

    def __init__(self, name: str, numbered: Iterable[tuple[int, str]]) -> None:
        pairs = list(numbered)
        self.name = name
        self.numbers = [number for number, _ in pairs]
        self.raws = [line.rstrip("\r") for _, line in pairs]
        self.lines = without_columns(self.raws)
        self.low, self.starts = searchable(self.lines)
        self.weights: list[Weight | None] = [None] * len(pairs)
        self.guessed: list[int] = []
        self.depths = [0] * len(pairs)
        self.facts: list[tuple[str, str, int]] = []
        self.messages: list[tuple[str, int]] = []
        self.seen: dict[int, str] = {}
        self._bare: list[str] | None = None

    def __len__(self) -> int:
        return len(self.lines)

    @property
    def bare(self) -> list[str]:
        """The lines without what a logger, a builder or a terminal put before them, clipped: enough to know a line's shape."""
        if self._bare is None:
            self._bare = [line[prefix_chars(line) : BARE_CHARS] for line in self.lines]
        return self._bare

    def lines_with(self, words: Iterable[str]) -> list[int]:
        """Return the lines that have one of the lower-case words: far cheaper than asking every line, and most have none."""
        starts = self.starts
        found: set[int] = set()
        for word in words:
            place = self.low.find(word)
            while place != -1:
                index = bisect_right(starts, place) - 1
                found.add(index)
                if index + 1 == len(starts):
                    break
                place = self.low.find(word, starts[index + 1])
        return sorted(found)

    def mark(self, weight: Weight, *indexes: int) -> None:
        """Say what lines are; a line that is marked already keeps its weight, but what decides is never hidden."""
        for index in indexes:
            if self.weights[index] is None or weight is Weight.DECIDING:
                self.weights[index] = weight

    def mask(self, *indexes: int) -> None:
        """Hide lines from every rule."""
        self.mark(Weight.MASKED, *indexes)

    def mask_rest(self, start: int = 0, stop: int | None = None) -> None:
        """Hide all lines from *start* up to, not including, *stop* that nothing has marked."""
        self.mask(
            *(index for index in range(start, len(self) if stop is None else stop) if self.weights[index] is None)
        )

    def shown_as(self, index: int, text: str) -> None:
        """Let patterns see only *text* of a line, which is cited whole: a test's name or a compared value decides nothing."""
        self.seen[index] = text

    def fact(self, kind: str, value: str, index: int) -> None:
        """Say that a line states a fact; see `Fact.kind`."""
        self.facts.append((kind, value, index))

    def message(self, text: str, index: int) -> None:
        """Say that a line carries a message inside quotes or data; patterns see its lines beside the line itself."""
        self.messages.append((text, index))
