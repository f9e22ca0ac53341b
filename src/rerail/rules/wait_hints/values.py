"""The value of a field that is known to speak of a wait.

Owns the ways one value can be written once its name is known: with a unit, as a date, or as a bare number whose
meaning the field decides. Each reader takes the text, the offset of the value, and the clock.
"""

from __future__ import annotations

from rerail.rules.wait_hints.durations import read_colons, read_duration, read_number
from rerail.rules.wait_hints.instants import read_instant
from rerail.rules.wait_hints.model import Reading, compiled, period


def read_seconds(text: str, pos: int, clock: float | None) -> Reading | None:
    """Read a wait whose bare number is in seconds; one of ten digits is an epoch, as some servers send."""
    if reading := read_written(text, pos, clock):
        return reading
    number = read_number(text, pos)
    return period(number[0], "seconds", number[1]) if number else None


def read_milliseconds(text: str, pos: int, clock: float | None) -> Reading | None:
    """Read a wait whose bare number is in milliseconds."""
    number = read_number(text, pos)
    return period(number[0] / 1000, "ms", number[1]) if number else read_written(text, pos, clock)


def read_written(text: str, pos: int, clock: float | None) -> Reading | None:
    """Read a wait that says its own unit: a duration, a date, an epoch; any other bare number is none."""
    return read_duration(text, pos) or read_colons(text, pos) or read_instant(text, pos, clock)


def read_structured(text: str, pos: int, clock: float | None) -> Reading | None:  # noqa: ARG001 - one signature for all
    """Read the `RateLimit` field: the longest wait among its exhausted policies.

    Sources: draft-ietf-httpapi-ratelimit-headers, -10 (`"default";r=0;t=30`) and -05 (`limit=9, remaining=0, reset=30`).
    """
    line = text[pos : pos + 400].split("\n", 1)[0]
    members = [line] if "reset" in line.lower() else line.split(",")
    readings = [reading for member in members if (reading := _read_member(member))]
    longest = max(readings, key=lambda reading: reading.wait_s, default=None)
    return longest._replace(end=pos + len(line)) if longest else None


def _read_member(member: str) -> Reading | None:
    left = compiled(r"\b(?:r|remaining)\s?=\s?(\d{1,16})(?!\d)").search(member)
    wait = compiled(r"\b(?:t|reset)\s?=\s?(?=\d)").search(member)
    number = read_number(member, wait.end()) if wait and not (left and int(left[1])) else None
    return period(number[0], "seconds", number[1]) if number else None
