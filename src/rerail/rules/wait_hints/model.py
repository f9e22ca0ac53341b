"""The values that wait-hint readers pass on, and the limits they all keep.

Owns `WaitHint` (the public result), `Reading` (what one value reader found), and the bounds of what is believed.
Leaves reading to durations, instants, values, fields and prose.
"""

from __future__ import annotations

from functools import cache

from rerail import regex
from rerail.light_typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    import re

#: A hint further away than this is no hint: nobody waits 400 days, so the number meant something else.
MAX_WAIT_S = 400 * 86_400.0

#: A time of day that passed this short a while ago is "now"; one that passed earlier is tomorrow's.
GRACE_S = 300.0

#: Longest `WaitHint.text`.
TEXT_CHARS = 200


class WaitHint(NamedTuple):
    """A wait that the other side asked for.

    Attributes:
        wait_s: Seconds from now, finite, 0 <= wait_s <= `MAX_WAIT_S`. 0 is a hint ("at once"), not an absence.
        resets_at: UTC epoch seconds when the hint named a point in time, else None.
        form: Slug of the table row, then of the value's form: `retry-after-seconds`, `prose-resets-clock-time-zoned`.
        text: What was read, on one line, at most `TEXT_CHARS` characters.
    """

    wait_s: float
    resets_at: float | None
    form: str
    text: str


class Reading(NamedTuple):
    """One value read from a text.

    Attributes:
        wait_s: Seconds to wait.
        at: UTC epoch seconds when the text named a point in time, else None.
        kind: Slug of the value's form: `seconds`, `ms`, `duration`, `epoch`, `date`, `clock-time`, ...
        end: Offset of the first character after the value.
    """

    wait_s: float
    at: float | None
    kind: str
    end: int


def period(wait_s: float, kind: str, end: int) -> Reading | None:
    """Return a reading of a length of time, or None when it is not believed (negative, nan, too long)."""
    return Reading(wait_s, None, kind, end) if 0 <= wait_s <= MAX_WAIT_S else None


def moment(at: float, clock: float | None, kind: str, end: int) -> Reading | None:
    """Return a reading of a point in time, or None without a clock or when it is too far ahead.

    A point that has passed is a wait of 0: the other side said when, and that is over.
    """
    if clock is None or not at - clock <= MAX_WAIT_S:
        return None
    return Reading(max(0.0, at - clock), at, kind, end)


def hint(reading: Reading, row: str, text: str) -> WaitHint:
    """Return the public form of a reading made through the table row *row*."""
    return WaitHint(reading.wait_s, reading.at, f"{row}-{reading.kind}", " ".join(text.split())[:TEXT_CHARS])


@cache
def compiled(pattern: str) -> re.Pattern[str]:
    """Return the pattern compiled on first use: a hook that meets no hint compiles none of the tables.

    Letters match in either case, classes such as the digits match ASCII only.
    """
    return regex.compiled(pattern, regex.IGNORECASE | regex.ASCII)
