"""Time zones named in failure texts.

Owns what a zone looks like and what it means. A text that is shaped like a zone but is not known is told apart from
no zone at all: the first makes a point in time unreadable (no hint beats a wrong early wake), the second means UTC.
"""

from __future__ import annotations

from datetime import UTC, timedelta, timezone, tzinfo

from rerail import regex
from rerail.light_typing import TYPE_CHECKING, NamedTuple
from rerail.rules.wait_hints.model import compiled

if TYPE_CHECKING:
    import re

#: Hours east of UTC. An abbreviation with several meanings has the one most seen in such texts (IST India, CST and
#: AST American); they are written in capitals, because `est`, `art` and `cat` are words.
_OFFSETS_H: dict[str, float] = {
    "UTC": 0, "GMT": 0, "WET": 0, "WEST": 1, "BST": 1, "CET": 1, "CEST": 2, "EET": 2, "EEST": 3, "MSK": 3, "TRT": 3,
    "SAST": 2, "WAT": 1, "CAT": 2, "EAT": 3, "GST": 4, "PKT": 5, "IST": 5.5, "NPT": 5.75, "ICT": 7, "WIB": 7,
    "SGT": 8, "HKT": 8, "PHT": 8, "AWST": 8, "JST": 9, "KST": 9, "ACST": 9.5, "ACDT": 10.5, "AEST": 10, "AEDT": 11,
    "NZST": 12, "NZDT": 13, "BRT": -3, "ART": -3, "CLT": -4, "AST": -4, "ADT": -3, "NST": -3.5, "NDT": -2.5,
    "EST": -5, "EDT": -4, "CST": -6, "CDT": -5, "MST": -7, "MDT": -6, "PST": -8, "PDT": -7, "AKST": -9, "AKDT": -8,
    "HST": -10,
}  # fmt: skip

#: Names that say neither standard nor summer time: the region's own rules decide.
_REGIONS: dict[str, str] = {
    "ET": "America/New_York", "EASTERN": "America/New_York",
    "CT": "America/Chicago", "CENTRAL": "America/Chicago",
    "MT": "America/Denver", "MOUNTAIN": "America/Denver",
    "PT": "America/Los_Angeles", "PACIFIC": "America/Los_Angeles",
}  # fmt: skip

_OFFSET = r"(?:(?:UTC|GMT)\s?)?(?P<sign>[+-])(?P<hours>\d{1,2})(?::?(?P<minutes>[0-5]\d))?(?![\d:])"
_UNIVERSAL = r"(?:UTC|GMT|coordinated universal time)(?!\w)"
_AMERICAN = r"(?P<name>eastern|central|mountain|pacific)(?:\s(?:standard|daylight))?\s?time\b"
_HERE = r"(?:your\s)?(?:local|server|system|your)\s?time\b"
# The next two are case-sensitive: outside brackets, capitals are what makes a word a zone.
_IANA = regex.compiled(r"(?:(?<=\()[a-z]|[A-Z])[A-Za-z_]{1,30}(?:/[A-Za-z0-9_+-]{0,30}){1,2}(?![\w/])", regex.ASCII)
_ABBREVIATION = regex.compiled(r"[A-Z]{2,5}(?![\w/-])", regex.ASCII)


class Zone(NamedTuple):
    """A zone read from a text: `info` is None when it is shaped like a zone but not known."""

    info: tzinfo | None
    end: int


def read_zone(text: str, pos: int) -> Zone | None:
    """Return the zone that starts at *pos*, or None when nothing there looks like one."""
    if found := compiled(_OFFSET).match(text, pos):
        return Zone(_offset(found), found.end())
    if found := compiled(_UNIVERSAL).match(text, pos):
        return Zone(UTC, found.end())
    if text[pos : pos + 1] in {"Z", "z"} and text[pos - 1 : pos].isdigit() and not text[pos + 1 : pos + 2].isalnum():
        return Zone(UTC, pos + 1)
    if found := compiled(_AMERICAN).match(text, pos):
        return Zone(_region(_REGIONS[found["name"].upper()]), found.end())
    if found := compiled(_HERE).match(text, pos):
        return Zone(None, found.end())
    if found := _IANA.match(text, pos):
        return Zone(_region(found[0]), found.end())
    return _read_abbreviation(text, pos)


def _read_abbreviation(text: str, pos: int) -> Zone | None:
    found = _ABBREVIATION.match(text, pos)
    if not found:
        return None
    name = found[0]
    if name in _OFFSETS_H:
        return Zone(timezone(timedelta(hours=_OFFSETS_H[name])), found.end())
    if name in _REGIONS:
        return Zone(_region(_REGIONS[name]), found.end())
    # Capitals in brackets, or ending in T as abbreviations do, stand for a zone nobody told us about.
    bracketed = text[pos - 1 : pos] == "(" and text[found.end() : found.end() + 1] == ")"
    return Zone(None, found.end()) if bracketed or name.endswith("T") else None


def _offset(found: re.Match[str]) -> tzinfo | None:
    shift = timedelta(hours=int(found["hours"]), minutes=int(found["minutes"] or 0))
    if shift > timedelta(hours=14):  # the largest offset in use
        return None
    return timezone(-shift if found["sign"] == "-" else shift)


def _region(name: str) -> tzinfo | None:
    # Late: few texts name a region, and the module reads the system's zone files.
    from zoneinfo import ZoneInfo

    try:
        return ZoneInfo(name)
    except (KeyError, ValueError, OSError):  # unknown, not a zone file, or a directory of zones
        return None
