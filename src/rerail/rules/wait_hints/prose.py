"""Sentences that ask for a wait.

Owns how a phrase of `phrases` and the time it leads to are read together. Digits count only where a phrase leads to them:
"took 17s", "after 3 retries" and "10 requests per 60 seconds" are not read. Leaves the time itself to `durations` and
`instants`.

A phrase about somebody's own schedule ("Retrying in 5 s", "backing off 2 s") is another layer's plan and not what the
server asked for; the caller asks for those last. Within one text the last statement wins: a log ends with the failure.
"""

from __future__ import annotations

from functools import cache

from rerail.light_typing import TYPE_CHECKING
from rerail.rules.wait_hints.durations import read_colons, read_duration, read_number
from rerail.rules.wait_hints.instants import read_instant
from rerail.rules.wait_hints.model import Reading, WaitHint, compiled, hint, period
from rerail.rules.wait_hints.phrases import JOINS, PHRASES, Phrase

if TYPE_CHECKING:
    import re
    from collections.abc import Iterable, Iterator

_GAP = r"(?:[\s,:(|·∙]|-\s){0,4}"
_HEDGE = (
    r"\s{0,3}[:=]?\s{0,3}(?:(?:about|around|approximately|approx\.?|roughly|nearly|at least|less than|under|another"
    r"|an additional|the next|~|≈)\s{0,2})?[\s\"'`*(\[]{0,3}"
)
_NO_WAIT = r"\s{0,2}(?:ago|old|elapsed|exceeded|passed|time-?outs?|timed out|windows?|intervals?|per)\b"
_PHRASE_END = r"\s{0,3}(?:[.,;!)\]}\"'\n]|$)"
_LOOK_BACK_CHARS = 80


def read_prose(regions: Iterable[str], clock: float | None, *, own: bool) -> WaitHint | None:
    """Return the last wait that the sentences ask for.

    Args:
        regions: The parts of one text that are worth reading, in order.
        clock: UTC epoch seconds of "now"; None reads no points in time.
        own: Read what a layer says of its own schedule, and only that.
    """
    last: WaitHint | None = None
    for region in regions:
        lowered = region.lower()
        phrases = (one for one in PHRASES if one.own == own and any(stem in lowered for stem in one.stems))
        said = [one for phrase in phrases for one in _statements(phrase, region, clock)]
        last = max(said, key=lambda one: one[0])[1] if said else last
    return last


def _statements(phrase: Phrase, region: str, clock: float | None) -> Iterator[tuple[int, WaitHint]]:
    """Yield what *phrase* leads to, each time with the offset where it ends."""
    optional = "?" if phrase.alone else ""
    lead = rf"(?<!\w)(?:{phrase.lead})(?![a-z]){_GAP}(?:(?P<how>{phrase.joins})\b){optional}"
    for found in _spaced(lead).finditer(region):
        before = region[max(0, found.start() - _LOOK_BACK_CHARS) : found.start()]
        if phrase.unless and _spaced(phrase.unless).search(before):
            continue
        if phrase.needs and not _spaced(phrase.needs).search(before):
            continue
        reading = _time(phrase, found, region, clock)
        if not reading or _spaced(_NO_WAIT).match(region, reading.end):
            continue
        if phrase.then and not _spaced(phrase.then).match(region, reading.end):
            continue
        yield reading.end, hint(reading, f"prose-{phrase.slug}", region[found.start() : reading.end])


def _time(phrase: Phrase, found: re.Match[str], region: str, clock: float | None) -> Reading | None:
    how = (found["how"] or "").lower()
    hedge = _spaced(_HEDGE).match(region, found.end())
    start = hedge.end() if hedge else found.end()
    follows = JOINS[how] if how else (phrase.alone,)
    reading: Reading | None = None
    if "length" in follows:
        # "after 12:30:00" is a time of day, "after 00:00:30" is half a minute.
        colons = how != "after" or region.startswith("00:", start)
        reading = read_duration(region, start) or (read_colons(region, start) if colons else None)
    if not reading and "point" in follows:
        reading = read_instant(region, start, clock)
    if not reading and ("seconds" in follows or (phrase.bare_seconds and "length" in follows)):
        reading = _bare_seconds(region, start)
    return reading


def _bare_seconds(region: str, start: int) -> Reading | None:
    number = read_number(region, start)
    # "retry after 3 attempts" goes on, and "retry after 503" speaks of a status.
    if not number or 400 <= number[0] < 600 or not compiled(_PHRASE_END).match(region, number[1]):
        return None
    return period(number[0], "seconds", number[1])


@cache
def _spaced(pattern: str) -> re.Pattern[str]:
    return compiled(pattern.replace(" ", r"\s{1,3}"))
