"""Every form of "try again later", read by one parser.

Owns the order of belief between sources: response headers, then named fields of a body, then sentences, and last what
another layer says of its own schedule. The tables are in `fields` and `prose`, the forms of time in `durations`,
`instants` and `zones`. What a hint does to a wait (a floor, never below the own curve, a pause when it is far away) is
for the decisions.

Nothing here raises on any text, waits, or reads a clock.
"""

from __future__ import annotations

from rerail.light_typing import TYPE_CHECKING
from rerail.rules.wait_hints.model import GRACE_S, MAX_WAIT_S, WaitHint
from rerail.rules.wait_hints.regions import regions

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

__all__ = ["GRACE_S", "MAX_WAIT_S", "WaitHint", "read_wait_hint"]


def read_wait_hint(headers: Mapping[str, str], texts: Iterable[str], *, now: float | None) -> WaitHint | None:
    """Return how long the other side asked to wait, or None when it did not say.

    Args:
        headers: Response headers, names in any case. Their `Date`, where there is one, is the clock for points in time:
            both come from the same server, so a wrong local clock does no harm.
        texts: Body, message, error stream, ...: the most trusted first; the first that holds a hint of a kind wins. Each is
            one whole text, because fields that belong together may stand on different lines.
        now: UTC epoch seconds. None (and nan, or a year no calendar holds): points in time are not read.

    A wait beyond `MAX_WAIT_S`, a negative one, inf and nan are no hints; the next best source is read instead. A time of
    day without a zone is UTC; in a zone that is not known it is no hint, because no hint beats a wrong early wake.
    """
    heard = [found for text in texts if (found := regions(text))]
    if not headers and not heard:
        return None
    # PERF: most failures say nothing of time, and these take a hook 4 ms.
    from rerail.rules.wait_hints.fields import read_date, read_date_line, read_fields, read_headers
    from rerail.rules.wait_hints.instants import usable_clock
    from rerail.rules.wait_hints.prose import read_prose

    clock = usable_clock(_first(read_date(headers), now))
    if hint := read_headers(headers, clock):
        return hint
    looked_at = [(found, usable_clock(_first(read_date_line(found), clock))) for found in heard]
    return (
        next((hint for found, then in looked_at if (hint := read_fields(found, then))), None)
        or next((hint for found, then in looked_at if (hint := read_prose(found, then, own=False))), None)
        or next((hint for found, then in looked_at if (hint := read_prose(found, then, own=True))), None)
    )


def _first(date: float | None, clock: float | None) -> float | None:
    return clock if date is None else date
