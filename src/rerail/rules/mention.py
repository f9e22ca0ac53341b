"""Whether words are only spoken of: quoted as a name, or told in somebody's prose. Asked before a blind retry.

Messages of services are quoted too, but after punctuation (``'message': '...'``, ``Error('...')``) and hardly ever after a plain
word; and no machine says "I". Whoever tells what they could not do reports a failure, though.
"""

from __future__ import annotations

from rerail.regex import compiled

_LOOKED_BACK = 300
_QUOTES = {"'": "'", '"': '"', "`": "`", "\u2018": "\u2019", "\u201c": "\u201d"}
_PROSE = compiled(r"(?:^|[\s(\"'])I(?:'(?:ve|ll|m|d))? (?:[a-z]{2,})\b")

_TOLD = compiled(
    r"\bI(?:'ve| have)? (?:tried|could(?: not|n't)|cannot|can't|was (?:unable|not able)|failed|kept getting|keep getting"
    r"|(?:got|received|hit) an?\b|lost|never got|ran into)"
)
"""How somebody tells of a failure of their own, and not of what they did about one."""

_TITLE = compiled(r"(?:^|: )(?:docs|feat|fix|chore|refactor|style|perf|revert)(?:\([\w-]{1,40}\))?!?: [a-z]")
"""How the title of a commit begins (Conventional Commits 1.0.0): it tells of a change, not of a failure."""

_SAYING = compiled(r"(?i)\b(?:returned|said|says|answered|replied|responded|reported|got|message|msg|reason)$")
"""Words after which a quotation is what the other side said."""

_SPOKEN_OF = compiled(
    r" (?:is|are|was|were) (?:handled|expected|retried|covered|reported|caught|simulated|mapped|tolerated)\b"
)


def only_mentioned(line: str, start: int, end: int) -> bool:
    """Tell whether the words from *start* to *end* of a line are quoted as a name, or the line is prose."""
    return (
        _is_quoted(line, start, end)
        or (_PROSE.search(line) is not None and _TOLD.search(line) is None)
        or _TITLE.search(line) is not None
        or _SPOKEN_OF.match(line[end:]) is not None
    )


def _is_quoted(line: str, start: int, end: int) -> bool:
    """Tell whether a quotation that a plain word introduces (``chapter 'Rate limits'``) holds the words."""
    for place in range(start - 1, max(0, start - _LOOKED_BACK) - 1, -1):
        closing = _QUOTES.get(line[place])
        if closing is None or not _introduced(line, place):
            continue
        stop = line.find(closing, place + 1)
        while stop != -1 and line[stop + 1 : stop + 2].isalnum():  # an apostrophe
            stop = line.find(closing, stop + 1)
        return stop >= end
    return False


def _introduced(line: str, place: int) -> bool:
    before = line[:place].rstrip(" ")
    return len(before) < place and before[-1:].isalpha() and not _SAYING.search(before)
