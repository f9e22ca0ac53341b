"""Points in time as people and programs write them.

Owns one reader for all of them: HTTP dates (the three forms of RFC 9110, 5.6.7), ISO 8601, `Jan 5 at 9am`, `Monday`,
`tomorrow at 9am`, `3pm (Europe/Rome)`, `14:30 UTC`, midnight, and epochs. A point is a run of parts (day, time, zone)
in any order; what is missing is filled from the clock that the caller hands in. No zone means UTC.
"""

from __future__ import annotations

from datetime import UTC, date, datetime, timedelta, tzinfo
from datetime import time as time_of_day

from rerail.light_typing import TYPE_CHECKING, NamedTuple
from rerail.rules.wait_hints.durations import read_number
from rerail.rules.wait_hints.model import GRACE_S, Reading, compiled, moment
from rerail.rules.wait_hints.zones import Zone, read_zone

if TYPE_CHECKING:
    import re
    from collections.abc import Iterable, Iterator

_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_LAST_CLOCK_S = 250_000_000_000.0  # the year 9892: a day's roll beyond it still fits a datetime
_MONTHS = ("jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec")
_DAYS = ("mon", "tue", "wed", "thu", "fri", "sat", "sun")

_MONTH = (
    r"(?P<month>jan(?:uary)?|feb(?:ruary)?|mar(?:ch)?|apr(?:il)?|may|june?|july?|aug(?:ust)?|sept?(?:ember)?"
    r"|oct(?:ober)?|nov(?:ember)?|dec(?:ember)?)\b\.?"
)
_NTH = r"(?P<day>\d{1,2})(?:st|nd|rd|th)?"
_YEAR = r"(?P<year>(?:19|20)\d\d)(?![\d:/-])"

#: The slot each part fills, and what it looks like; tried in this order.
_PARTS: tuple[tuple[str, str], ...] = (
    ("date", r"(?P<year>\d{4})[-/](?P<number>\d{1,2})[-/](?P<day>\d{1,2})(?:T(?=\d)|(?![\w-]))"),
    ("date", r"(?P<first>\d{1,2})/(?P<second>\d{1,2})/(?P<year>\d{4})(?!\d)"),
    ("date", rf"(?P<day>\d{{1,2}})-{_MONTH}-(?P<year>\d{{4}}|\d\d)(?!\d)"),
    ("date", rf"{_NTH}(?:\sof)?\s{{1,2}}{_MONTH}(?:,?\s{{1,2}}{_YEAR})?"),
    ("date", rf"{_MONTH}\s{{1,2}}{_NTH}(?![\w:])(?:,?\s{{1,2}}{_YEAR})?"),
    ("weekday", r"(?P<weekday>mon|tue|wed|thu|fri|sat|sun)(?:s|r|rs|nes|ur)?(?:day)?\b\.?"),
    ("near", r"(?P<near>today|tonight|tomorrow)\b"),
    ("time", r"(?P<hour>\d{1,2})(?::(?P<minute>\d\d)(?::(?P<second>\d\d)(?:\.\d{1,9})?)?)?\s?(?P<half>[ap])\.?m\b\.?"),
    ("time", r"(?P<hour>\d{1,2}):(?P<minute>\d\d)(?::(?P<second>\d\d)(?P<fraction>[.,]\d{1,9})?)?(?![\d:])"),
    ("time", r"(?:12\s)?(?P<name>noon|midnight)\b"),
    ("year", _YEAR),
)  # fmt: skip
_BETWEEN = r"[\s,(\[·@]{0,6}(?:(?:at|on|of|the|around|about)\s{1,2})?"
_MOST_PARTS = 6


class _Time(NamedTuple):
    at: time_of_day
    fraction_s: float = 0.0


_MIDNIGHT = _Time(time_of_day(0))


class Point(NamedTuple):
    """A point in time: UTC epoch seconds, the slug of its form, and where it ends."""

    at: float
    kind: str
    end: int


class _Parts(NamedTuple):
    slots: dict[str, re.Match[str]]
    zone: Zone | None
    end: int


def usable_clock(now: float | None) -> float | None:
    """Return *now* when it is an instant that a calendar can hold, else None (also for nan)."""
    return now if now is not None and 0 <= now <= _LAST_CLOCK_S else None


def read_instant(text: str, pos: int, clock: float | None) -> Reading | None:
    """Return the point in time that starts at *pos* as a wait, or None.

    Args:
        text: Where to read.
        pos: Offset of the first character of the point.
        clock: UTC epoch seconds of "now" (see `usable_clock`); None reads nothing.
    """
    if clock is None:
        return None
    point = _epoch(text, pos) or find_point(text, pos, clock)
    return moment(point.at, clock, point.kind, point.end) if point else None


def find_point(text: str, pos: int, clock: float) -> Point | None:
    """Return the calendar's point in time that starts at *pos*, however far away, or None."""
    parts = _read_parts(text, pos)
    if not parts.slots or (parts.zone and parts.zone.info is None):
        return None
    try:
        return _resolve(parts, clock)
    except (ValueError, OverflowError):  # 31 February, 25:00, a day past the calendar
        return None


def _epoch(text: str, pos: int) -> Point | None:
    """Return the point named by epoch seconds or milliseconds of this age."""
    number, end = read_number(text, pos) or (0.0, pos)
    if 1e9 <= number < 1e11:
        return Point(number, "epoch", end)
    return Point(number / 1000, "epoch-ms", end) if 1e12 <= number < 1e14 else None


def _read_parts(text: str, pos: int) -> _Parts:
    slots: dict[str, re.Match[str]] = {}
    zone: Zone | None = None
    end = pos
    for _ in range(_MOST_PARTS):
        between = compiled(_BETWEEN).match(text, end) if slots else None
        start = between.end() if between else end
        if slots and (named := read_zone(text, start) or read_zone(text, end)):
            zone = zone or named  # "+0000 UTC" says it twice
            bracketed = text[start - 1 : start] == "(" and text[named.end : named.end + 1] == ")"
            end = named.end + bracketed
            continue
        for slot, pattern in _PARTS:
            part = compiled(pattern).match(text, start)
            if part and slot not in slots and (slot != "year" or "date" in slots):
                slots[slot] = part
                end = part.end()
                break
        else:
            break
    return _Parts(slots, zone, end)


def _resolve(parts: _Parts, clock: float) -> Point | None:
    """Fill what the text left out. Raises ValueError or OverflowError when there is no such point."""
    slots, end = parts.slots, parts.end
    info = parts.zone.info if parts.zone and parts.zone.info else UTC
    today = (_EPOCH + timedelta(seconds=clock)).astimezone(info).date()
    at = _time(slots["time"]) if "time" in slots else None
    if "date" in slots:
        return Point(_dated(slots, at or _MIDNIGHT, info, today, clock), "date", end)
    if "weekday" in slots:
        ahead = (_DAYS.index(slots["weekday"]["weekday"].lower()) - today.weekday()) % 7
        return Point(_next(today + timedelta(ahead), at or _MIDNIGHT, info, clock, step=7), "day", end)
    if "near" in slots:
        tomorrow = slots["near"]["near"].lower() == "tomorrow"
        if not at and not tomorrow:  # "today" alone says nothing
            return None
        return Point(_epoch_s(today + timedelta(tomorrow), at or _MIDNIGHT, info), "day", end)
    if not at:
        return None
    return Point(_next(today, at, info, clock, step=1), "clock-time-zoned" if parts.zone else "clock-time", end)


def _next(day: date, at: _Time, info: tzinfo, clock: float, *, step: int) -> float:
    """Return the point on *day*, or *step* days later when it passed longer ago than the grace window."""
    point = _epoch_s(day, at, info)
    return point if point >= clock - GRACE_S else _epoch_s(day + timedelta(step), at, info)


def _time(part: re.Match[str]) -> _Time:
    """Raises ValueError for a time that no clock shows."""
    groups = part.groupdict()
    if name := groups.get("name"):
        return _Time(time_of_day(12 if name.lower() == "noon" else 0))
    hour = int(groups["hour"])
    if half := groups.get("half"):
        if not 1 <= hour <= 12:
            raise ValueError(hour)
        hour = hour % 12 + (12 if half.lower() == "p" else 0)
    # A leap second (":60") is read as the second before it.
    second = int(groups["second"] or 0)
    fraction = (groups.get("fraction") or ".0").replace(",", ".")
    return _Time(time_of_day(hour, int(groups["minute"] or 0), 59 if second == 60 else second), float(f"0{fraction}"))


def _dated(slots: dict[str, re.Match[str]], at: _Time, info: tzinfo, today: date, clock: float) -> float:
    """Raises ValueError for a day that is in no calendar, or one that could be two days."""
    groups = slots["date"].groupdict()
    if groups.get("first"):
        first, second = int(groups["first"]), int(groups["second"])
        # 9/27 can only be 27 September; 5/6 is a different day on each side of an ocean.
        if first <= 12 and second <= 12 and first != second:
            raise ValueError(slots["date"][0])
        month, day = (second, first) if first > 12 else (first, second)
    else:
        month = int(groups["number"]) if groups.get("number") else _MONTHS.index(groups["month"][:3].lower()) + 1
        day = int(groups["day"])
    year = groups["year"] or ("year" in slots and slots["year"]["year"])
    if year:
        return _epoch_s(date(_full_year(year, today), month, day), at, info)
    # No year: the nearest such day, so that one just past is over and not a year away.
    days = _days(range(today.year - 1, today.year + 2), month, day)
    return min((_epoch_s(day, at, info) for day in days), key=lambda point: abs(point - clock))


def _full_year(year: str, today: date) -> int:
    if len(year) == 4:
        return int(year)
    # RFC 9110, 5.6.7: a two-digit year that seems more than 50 years ahead is in the past.
    full = today.year // 100 * 100 + int(year)
    return full - 100 if full > today.year + 50 else full


def _days(years: Iterable[int], month: int, day: int) -> Iterator[date]:
    for year in years:
        try:
            yield date(year, month, day)
        except ValueError:  # 29 February
            continue


def _epoch_s(day: date, at: _Time, info: tzinfo) -> float:
    """Return the instant; of a wall time that occurs twice or never (clocks changed), the later reading."""
    wall = datetime.combine(day, at.at, info)
    return max((wall.replace(fold=fold) - _EPOCH).total_seconds() for fold in (0, 1)) + at.fraction_s
