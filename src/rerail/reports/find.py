"""Where the reports of a run are: those that were written since it began, and no others.

Clocks do not tell: a file is new when it was not there before, or is another one now. So what an earlier run left is never taken
for what this one found.
"""

from __future__ import annotations

import os
import stat
from pathlib import Path
from typing import TYPE_CHECKING

import attrs

from rerail.plain_file import read_plain
from rerail.reports.model import ReportError, joined
from rerail.reports.read import read_report

if TYPE_CHECKING:
    from collections.abc import Iterator

    from rerail.reports.model import Report

MOST_FILES = 2_000
"""Reports of one run that are read; a multi-module build writes one for each class."""
_MOST_LOOKED_AT = 200_000
_NEVER_INSIDE = frozenset({".git", "node_modules", ".venv", "venv", ".tox", ".nox"})


@attrs.frozen
class Before:
    """The reports that were there before a run."""

    root: Path
    pattern: str
    """Relative to the root: ``build/**/TEST-*.xml``."""
    states: dict[str, tuple[int, ...]]

    @classmethod
    def look(cls, root: Path, pattern: str) -> Before:
        """Look before the run."""
        return cls(root, pattern, {str(path): _state(path) for path in _matching(root, pattern)})


@attrs.frozen
class Found:
    """The reports of a run."""

    report: Report | None
    """None: there is none that could be read."""
    notes: tuple[str, ...]
    """What was ignored, and why; for people."""


def find(before: Before, name: str = "") -> Found:
    """Read what was written since.

    Args:
        before: What there was.
        name: The reports' format; ``""`` finds out.
    """
    read, notes, stale = [], [], 0
    fresh = 0
    for path in _matching(before.root, before.pattern):
        if before.states.get(str(path)) == _state(path):
            stale += 1
            continue
        fresh += 1
        if fresh > MOST_FILES:
            continue
        try:
            read.append(read_report(read_plain(path), name))
        except ReportError as error:
            notes.append(f"{_shown(path, before.root)} {error}")
        except OSError as error:
            notes.append(f"{_shown(path, before.root)} cannot be read: {error.strerror}")
    if fresh > MOST_FILES:
        notes.append(f"{fresh - MOST_FILES} more reports are not read")
    if stale and not fresh:
        notes.append(f"{before.pattern}: {stale} left by an earlier run, ignored; this run wrote none")
    elif not fresh:
        notes.append(f"{before.pattern}: this run wrote no report")
    return Found(joined(read), tuple(notes[:20]))


def _shown(path: Path, root: Path) -> str:
    return str(path.relative_to(root)) if path.is_relative_to(root) else path.name


def _state(path: Path) -> tuple[int, ...]:
    try:
        status = path.stat()
    except OSError:
        return ()
    return status.st_mtime_ns, status.st_size, status.st_ino


def _matching(root: Path, pattern: str) -> Iterator[Path]:
    """Yield the plain files that a pattern names, in order; a link out of the project is none."""
    if os.path.isabs(pattern):  # noqa: PTH117
        candidates: list[Path] = [Path(pattern)]
        inside = None
    else:
        candidates, inside = list(_walked(root, pattern)), os.path.realpath(root)
    for path in candidates:
        try:
            is_plain = stat.S_ISREG(path.stat().st_mode)
        except OSError:
            continue
        if is_plain and (inside is None or Path(os.path.realpath(path)).is_relative_to(inside)):
            yield path


def _walked(root: Path, pattern: str) -> Iterator[Path]:
    """Yield what matches; ``**`` stands for any directories, and is never followed into what others installed."""
    parts = Path(pattern).parts
    fixed = 0
    while fixed < len(parts) and not any(char in parts[fixed] for char in "*?["):
        fixed += 1
    start = root.joinpath(*parts[:fixed])
    if fixed == len(parts):
        yield start
        return
    looked_at = 0
    wanted = "/".join(parts[fixed:])
    for directory, names, files in os.walk(start):
        names[:] = sorted(name for name in names if name not in _NEVER_INSIDE)
        if "**" not in parts:
            depth = len(Path(directory).relative_to(start).parts)
            names[:] = names if depth < len(parts) - fixed - 1 else []
        for file in sorted(files):
            looked_at += 1
            if looked_at > _MOST_LOOKED_AT:
                return
            path = Path(directory, file)
            if _fits(path.relative_to(start).parts, tuple(wanted.split("/"))):
                yield path


def _fits(parts: tuple[str, ...], pattern: tuple[str, ...]) -> bool:
    """Tell whether a path matches, part by part: ``**`` is any number of them. Linear in their product, by a table."""
    from fnmatch import fnmatchcase

    row = [True] + [False] * len(parts)
    for piece in pattern:
        if piece == "**":
            for at in range(1, len(parts) + 1):
                row[at] = row[at] or row[at - 1]
        else:
            row = [False, *(row[at] and fnmatchcase(parts[at], piece) for at in range(len(parts)))]
    return row[-1]
