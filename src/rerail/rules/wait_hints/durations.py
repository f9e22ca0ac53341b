"""Lengths of time as people and programs write them.

Owns `17s`, `1h2m3.5s`, `2 minutes and 5 seconds`, `an hour`, `1-2 minutes` (the longer), `PT1M30S`, `00:01:30`, and
plain numbers. Says nothing about where such a text may stand: that is for fields and prose.
"""

from __future__ import annotations

from rerail.rules.wait_hints.model import Reading, compiled, period

_UNITS_S: dict[str, float] = {
    "ns": 1e-9, "nanosecond": 1e-9,
    "us": 1e-6, "µs": 1e-6, "μs": 1e-6, "microsecond": 1e-6,
    "ms": 1e-3, "msec": 1e-3, "milli": 1e-3, "millisecond": 1e-3,
    "s": 1.0, "sec": 1.0, "second": 1.0,
    "m": 60.0, "min": 60.0, "minute": 60.0,
    "h": 3600.0, "hr": 3600.0, "hour": 3600.0,
    "d": 86_400.0, "day": 86_400.0,
    "w": 604_800.0, "wk": 604_800.0, "week": 604_800.0,
    # German, French, Spanish and Portuguese, Chinese and Japanese
    "sekunde": 1.0, "sekunden": 1.0, "minuten": 60.0, "stunde": 3600.0, "stunden": 3600.0,
    "seconde": 1.0, "heure": 3600.0, "segundo": 1.0, "minuto": 60.0, "hora": 3600.0,
    "秒": 1.0, "分钟": 60.0, "分鐘": 60.0, "小时": 3600.0, "小時": 3600.0,
}  # fmt: skip

#: Whole words only: "a few", "a couple of" and "a moment" name no length.
_COUNTS: dict[str, float] = {
    "half an": 0.5, "half a": 0.5, "an": 1, "a": 1, "one": 1, "two": 2, "three": 3, "four": 4, "five": 5, "six": 6,
    "seven": 7, "eight": 8, "nine": 9, "ten": 10, "twelve": 12, "fifteen": 15, "twenty": 20, "thirty": 30, "sixty": 60,
}  # fmt: skip

# 16 digits before the point are enough for epoch microseconds; a longer run of digits is no number of anything here.
_NUMBER = r"(?:\d{1,3}(?:,\d{3}){1,3}(?![\d,])(?:\.\d{1,24})?|\d{1,16}(?:[.,]\d{1,24})?)"
_UNIT = "|".join(sorted(_UNITS_S, key=len, reverse=True))
_COUNT = "|".join(_COUNTS)
_PART = (
    rf"(?:(?P<low>{_NUMBER})(?:\s?(?:-|\u2013|to)\s?(?P<high>{_NUMBER}))?\s{{0,2}}|(?P<count>{_COUNT})\s{{1,2}})"
    rf"(?P<unit>{_UNIT})(?:\(s\)|s)?(?![a-zµμ_])"
)
_JOIN = r"\s{0,2}(?:,\s{0,2})?(?:and\s{1,2})?"
_BARE = rf"({_NUMBER})(e[+-]?\d{{1,4}})?(?![\w:/%-]|[.,]\d)"
_ISO = (
    rf"P(?=[\dT])(?:({_NUMBER})W)?(?:({_NUMBER})D)?"
    rf"(?:T(?=\d)(?:({_NUMBER})H)?(?:({_NUMBER})M)?(?:({_NUMBER})S)?)?(?!\w)"
)
_ISO_UNITS_S = (604_800.0, 86_400.0, 3600.0, 60.0, 1.0)
_COLONS = r"(?:(\d{1,3})\.)?(\d{1,2}):([0-5]\d):([0-5]\d(?:\.\d{1,9})?)(?![\w:])"


def read_number(text: str, pos: int) -> tuple[float, int] | None:
    """Return the plain, unsigned number at *pos* and its end; it may be infinite (`1e400`)."""
    found = compiled(_BARE).match(text, pos)
    return (float(_plain(found[1]) + (found[2] or "")), found.end()) if found else None


def read_duration(text: str, pos: int) -> Reading | None:
    """Return the length of time with units that starts at *pos*, largest unit first, or None."""
    total_s, unit_s, end = 0.0, float("inf"), pos
    while part := compiled(_PART).match(text, end if unit_s == float("inf") else _after_join(text, end)):
        size_s = _UNITS_S[part["unit"].lower()]
        # "a s" is no second, and "5 minutes, 3 hours" is two statements.
        if size_s >= unit_s or (part["count"] and len(part["unit"]) < 3):
            break
        amount = _COUNTS[part["count"].lower()] if part["count"] else float(_plain(part["high"] or part["low"]))
        total_s, unit_s, end = total_s + amount * size_s, size_s, part.end()
    if end > pos:
        # "30s5" and "30s/5" are names and rates.
        after = text[end : end + 1]
        goes_on = after == "/" or (after.isascii() and after.isalnum())
        return None if goes_on else period(total_s, "duration", end)
    return _read_iso(text, pos)


def read_colons(text: str, pos: int) -> Reading | None:
    """Return the length of time written as `[days.]hours:minutes:seconds` at *pos*, or None."""
    found = compiled(_COLONS).match(text, pos)
    if not found:
        return None
    days, hours, minutes, seconds = (float(group or 0) for group in found.groups())
    return period(((days * 24 + hours) * 60 + minutes) * 60 + seconds, "colons", found.end())


def _read_iso(text: str, pos: int) -> Reading | None:
    found = compiled(_ISO).match(text, pos)
    if not found or not any(found.groups()):
        return None
    amounts = (float(_plain(group)) if group else 0.0 for group in found.groups())
    total_s = sum(amount * unit_s for amount, unit_s in zip(amounts, _ISO_UNITS_S, strict=True))
    return period(total_s, "iso-duration", found.end())


def _after_join(text: str, pos: int) -> int:
    joined = compiled(_JOIN).match(text, pos)
    return joined.end() if joined else pos


def _plain(number: str) -> str:
    """Drop thousands separators; a single comma that parts no thousands is a decimal comma."""
    head, comma, tail = number.partition(",")
    if comma and (len(tail) != 3 or head == "0") and "." not in tail and "," not in tail:
        return f"{head}.{tail}"
    return number.replace(",", "")
