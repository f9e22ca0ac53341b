"""Where in a text to look for a hint.

Owns the cut that keeps every later search short: only the surroundings of a few tell-tale syllables are read, and of a
long text only its head and its larger tail. Hostile text of any size costs a bounded search.
"""

from __future__ import annotations

from rerail.rules.wait_hints.phrases import PHRASES

_HEAD_CHARS, _TAIL_CHARS = 32_768, 229_376
_BEFORE_CHARS, _AFTER_CHARS = 100, 280
_TOTAL_CHARS = 32_768

_DATE_STEMS = ("date:", "date'", 'date"')
#: What occurs in every text that holds the name of a field. Here, because a text without any needs nothing else of `fields`.
_FIELD_STEMS = ("retry", "reset", "ratelimit", "rate-limit", "rate_limit", "beforenext", "wait", "until", *_DATE_STEMS)
_ALL_STEMS = {*_FIELD_STEMS, *(stem for phrase in PHRASES for stem in phrase.stems)}
_STEMS = tuple(stem for stem in _ALL_STEMS if not any(other in stem for other in _ALL_STEMS - {stem}))

#: Typography that stands for plain characters; one for one, so that nothing moves. The last grows when lowered.
_PLAIN = str.maketrans({"\u00a0": " ", "\u2009": " ", "\u202f": " ", "\u2019": "'", "\u2026": ".", "\u0130": "I"})


def regions(text: str) -> list[str]:
    """Return the parts of *text* around tell-tale syllables, in order, the last `_TOTAL_CHARS` of them."""
    if len(text) > _HEAD_CHARS + _TAIL_CHARS:
        return regions(text[:_HEAD_CHARS]) + regions(text[-_TAIL_CHARS:])
    plain = text.translate(_PLAIN)
    parts: list[str] = []
    left = _TOTAL_CHARS
    for start, end in reversed(_spans(plain.lower())):
        if left <= 0:
            break
        parts.append(plain[max(start, end - left) : end])
        left -= len(parts[-1])
    return parts[::-1]


def _spans(lowered: str) -> list[tuple[int, int]]:
    # One search per syllable: an alternation of them all was ten times slower on a text that has none.
    found = sorted(pos for stem in _STEMS for pos in _positions(stem, lowered))
    spans: list[tuple[int, int]] = []
    for pos in found:
        start, end = max(0, pos - _BEFORE_CHARS), min(pos + _AFTER_CHARS, len(lowered))
        if spans and start <= spans[-1][1]:
            spans[-1] = spans[-1][0], end
        else:
            spans.append((start, end))
    return spans


def _positions(stem: str, lowered: str) -> list[int]:
    positions: list[int] = []
    pos = lowered.find(stem)
    while pos >= 0:
        positions.append(pos)
        # Nearer ones lie in the same region anyway.
        pos = lowered.find(stem, pos + _BEFORE_CHARS)
    return positions
