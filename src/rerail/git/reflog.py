"""Reflogs read from their files: the last word on where HEAD and a branch were when the ref itself broke."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

import attrs

from rerail.plain_file import read_plain

if TYPE_CHECKING:
    from pathlib import Path

_LINE = re.compile(rb"([0-9a-f]{40,64}) ([0-9a-f]{40,64}) [^\n\t]*(?:\t([^\n]*))?")
_MOVES = (
    re.compile(r"checkout: moving from (?P<source>.+) to (?P<target>\S+)$"),
    re.compile(r".*\(finish\): returning to (?P<target>refs/heads/\S+)$"),
    re.compile(r"Branch: renamed (?P<source>refs/heads/\S+) to (?P<target>refs/heads/\S+)$"),
)


@attrs.frozen
class LogEntry:
    """One move of a ref."""

    old: str
    new: str
    message: str


@attrs.frozen
class HeadMove:
    """HEAD went from one place to another; a place is a branch, a tag or a commit, as it was named then."""

    source: str
    target: str
    landed: str
    """The commit that HEAD was at then."""


def read(path: Path) -> tuple[LogEntry, ...]:
    """Return the entries of a reflog, oldest first."""
    try:
        return parse(read_plain(path, None))
    except OSError:
        return ()


def parse(data: bytes) -> tuple[LogEntry, ...]:
    """Return the entries of a reflog's content; lines that a crash tore are left out."""
    matches = (_LINE.fullmatch(line) for line in data.split(b"\n"))
    return tuple(
        LogEntry(match[1].decode(), match[2].decode(), (match[3] or b"").decode(errors="replace"))
        for match in matches
        if match
    )


def last_head_move(entries: tuple[LogEntry, ...]) -> HeadMove | None:
    """Return the last entry of HEAD's reflog that says where HEAD went."""
    for entry in reversed(entries):
        for pattern in _MOVES:
            match = pattern.match(entry.message)
            if match:
                groups = match.groupdict()
                return HeadMove(groups.get("source") or "", groups["target"], entry.new)
    return None
