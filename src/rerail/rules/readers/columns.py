"""What a program that runs others puts before every line of theirs: the name of a service, a worker's number, a time.

A column is taken off a whole stream or not at all, so that a line that only looks as if it had one is left alone. What single
lines have before them is `rerail.rules.readers.prefixes`'s. Source: docker compose, foreman, concurrently, kubectl, gh, syslog,
Vagrant, Packer, Turborepo, pnpm, BuildKit, GitHub Actions, GitLab Runner: observed and documented.
"""

from __future__ import annotations

from rerail.light_typing import TYPE_CHECKING
from rerail.rules.readers.lazy import lazy

if TYPE_CHECKING:
    from collections.abc import Sequence

MOST_COLUMNS = 3
"""One inside the other: a runner's time, a service's name, the service's own time."""
_SHARE = 0.8
"""Of the lines that say something, how many must have a column; the rest is the runner's own."""
_SAMPLE = 40
"""Lines from the start of which two are asked whether there may be a column at all."""

_LEVEL = (
    r"(?:(?i:error|err|fatal|fail|failed|warning|warn|info|debug|note|notice|trace|critical|severe|hint|help|skip|pass|ok)"
    r"\b)"
)
_COLUMN = lazy(
    rf"""(?x)
      (?P<service>(?:\d\d:\d\d:\d\d\ )?[A-Za-z][\w.\-]{{0,60}}[\-.]\d{{1,3}}\ {{1,30}}\|(?:\ |$))      # docker compose, foreman
    | (?P<name>[A-Za-z][\w.@/\-]{{0,60}}\ {{1,30}}\|(?:\ |$))
    | (?P<bracket>\[(?!{_LEVEL})[\w.:@/\-]{{1,60}}\](?:\ |$))                         # concurrently, kubectl logs --prefix
    | (?P<job>[^\t]{{1,80}}\t[^\t]{{1,80}}\t\ufeff?(?=\d{{4}}-\d\d-))                          # gh run view --log
    | (?P<syslog>[A-Z][a-z]{{2}}\ [ \d]\d\ \d\d:\d\d:\d\d\ \S{{1,80}}\ (?!kernel)[\w.\-/@]{{1,60}}(?:\[\d{{1,9}}\])?:(?:\ |$))
    | (?P<machine>(?:==>|\ {{3}})\ (?!{_LEVEL})[\w.\-]{{1,60}}:(?:\ |$))                        # Vagrant, Packer
    | (?P<task>(?!{_LEVEL})[\w@/\-]{{1,60}}:(?!{_LEVEL})[A-Za-z][\w\-:]{{0,40}}:(?:\ |$))        # Turborepo
    | (?P<script>(?:\.|[\w@.\-]{{1,40}}/[\w@/\-]{{1,60}})\ (?!{_LEVEL})[a-z][\w\-:]{{0,40}}:(?:\ |$))  # pnpm run --recursive
    | (?P<step>\#\d{{1,4}}\ \d{{1,6}}\.\d{{1,3}}\ ?)                                             # BuildKit
    | (?P<time>\d{{4}}-\d\d-\d\d[T\ ]\d\d:\d\d:\d\d(?:[.,]\d{{1,9}})?(?:Z|[+\-]\d\d:?\d\d)?(?:\ \d\d[OE](?:\+|\ |$)|\ |$))
    """
)
_HOOK = "\u23bf"
_HUNG = lazy(r"\s{0,8}\u23bf\s{1,4}")
_LEAST = {"service": 1, "job": 1, "syslog": 1, "step": 1, "time": 1}
_LEAST_OF_OTHERS = 3
"""Lines with a column below which it may be chance."""


def without_columns(lines: list[str]) -> list[str]:
    """Return the lines without the columns that all of them have; the same list where there are none."""
    lines = _unhung(lines)
    for _ in range(MOST_COLUMNS):
        ends = _ends(lines)
        if ends is None:
            break
        lines = [line[end:] for line, end in zip(lines, ends, strict=True)]
    return lines


def _unhung(lines: list[str]) -> list[str]:
    """Take off what an agent's terminal interface hangs a tool's answer on: below its sign, every line is indented as far."""
    if not any(_HOOK in line for line in lines):
        return lines
    bare: list[str] = []
    width = 0
    for line in lines:
        if found := _HUNG.match(line):
            width = found.end()
        elif not width or line[:width].strip():
            width = 0
            bare.append(line)
            continue
        bare.append(line[width:])
    return bare


def _ends(lines: Sequence[str]) -> list[int] | None:
    """Return where the first column of each line ends; None if the stream has none."""
    kind = _kind(lines)
    if kind is None:
        return None
    ends: list[int] = []
    said = have = 0
    for line in lines:
        found = _COLUMN.match(line)
        end = found.end() if found and found.lastgroup == kind else 0
        ends.append(end)
        said += bool(end) or not (not line or line.isspace())
        have += bool(end)
    share = 0.0 if kind == "step" else _SHARE  # a builder says much more below its steps
    return ends if have >= max(_LEAST.get(kind, _LEAST_OF_OTHERS), share * said) else None


def _kind(lines: Sequence[str]) -> str | None:
    said = [line for line in lines[:_SAMPLE] if line and not line.isspace()]
    steps = [line for line in said if line[0] == "#"]  # of which a builder says much more below
    for line in (said[len(said) // 2], said[-1], *steps[-1:]) if said else ():
        if found := _COLUMN.match(line):
            return found.lastgroup
    return None
