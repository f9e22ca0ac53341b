"""Failures that no rule names, put together by what they say: one cluster per template, whatever order they came in.

A template is the line that says most, word by word, with what varies replaced: first what varies between two runs of any failure
(`rerail.evidence.volatile`), quoted values, paths and addresses; then each word in which similar lines differ. This is the idea
of Drain (He et al., ICWS 2017): group by the number of words and the first of them, then compare word by word. Own code rather
than drain3, which pins two libraries to releases of 2021 (jsonpickle 1.5.1, cachetools 4.2.1) that could not be installed beside
a program's own, and whose clusters depend on the order of its input.
"""

from __future__ import annotations

import re
from operator import eq
from typing import TYPE_CHECKING

import attrs

from rerail.evidence.volatile import normalised
from rerail.rules.engine import loudness
from rerail.rules.readers import view

if TYPE_CHECKING:
    from collections.abc import Iterable

    from rerail.evidence.model import Evidence

ANY = "<*>"
"""A word in which the lines of a cluster differ."""
MARK = re.compile(r"<(?:[a-z]{2,9}|\*)>")
"""What stands for something that varies."""
MOST_WORDS = 24
LINE_CHARS = 300
"""Characters of a line that count."""

_SAME = 0.7
"""The share of equal words from which two lines are of one template."""
_CODE = re.compile(r"\W*(?:[A-Z]{1,8}[-_]?[0-9]{2,6}|[A-Z][A-Z_]{3,40}|[1-5][0-9]{2})\W*", re.ASCII)
"""``E404``, ``TS2304``, ``ENOENT``, ``DEADLINE_EXCEEDED``, ``(403)``."""
_SHELLS = frozenset({"sh", "bash", "dash", "zsh", "ksh", "fish", "env", "sudo", "xargs", "timeout", "nice", "time"})
"""Programs that only run others: their name says nothing about who failed."""
_VALUES = re.compile(r"(?<!\w)(?:'[^'\n]{1,200}'|\"[^\"\n]{1,200}\"|`[^`\n]{1,200}`)(?!\w)")
_ADDRESS = re.compile(r"\b[A-Za-z][A-Za-z0-9+.-]{1,20}://[^\s'\"<>()\[\]]{1,300}")
_PATH = re.compile(r"(?<![\w<>/.~])(?:~|\.{1,2}|[A-Za-z]:)?[/\\][^\s'\"<>():,;\[\]]{2,300}")


@attrs.frozen
class Gap:
    """A failure that no rule names."""

    evidence: Evidence
    event: int | None = None
    """Its number in the ledger; None where it came from elsewhere."""
    unit: str = ""


@attrs.frozen
class Said:
    """What one failure says."""

    gap: Gap
    line: str
    """The line that says most, as patterns see it; ``""`` where nothing is said."""
    stream: str
    number: int
    """Of the line, counted from 1."""
    words: tuple[str, ...]
    """The template of that line alone."""
    tool: str
    exception: str
    """The exception's qualified class name."""

    @property
    def group(self) -> tuple[str, ...]:
        """What failures of one cluster have in common whatever they say."""
        if self.words:
            return (self.tool, self.exception, str(len(self.words)), self.words[0])
        evidence = self.gap.evidence
        ending = (evidence.exit_code, evidence.signal, evidence.http_status, *evidence.codes)
        return (self.tool, self.exception, *map(str, ending))


@attrs.frozen
class Cluster:
    """Failures of one template."""

    words: tuple[str, ...]
    """The template; empty where the failures say nothing."""
    members: tuple[Said, ...]
    """At least one, in the order of their lines."""

    @property
    def template(self) -> str:
        """The template as text."""
        return " ".join(self.words)

    @property
    def tool(self) -> str:
        """The tool that failed; ``""`` where it is not known."""
        return self.members[0].tool

    @property
    def exception(self) -> str:
        """The exception's qualified class name; ``""`` where there was none."""
        return self.members[0].exception


def said(gap: Gap) -> Said | None:
    """Return what a failure says; None where it is none: exit status 0 and no structured error."""
    seen = view(gap.evidence)
    if seen.succeeded:
        return None
    line = max(seen.lines, key=loudness, default=None)
    text = line.text[:LINE_CHARS] if line else ""
    exceptions = gap.evidence.exceptions
    tool = gap.evidence.tool.lower()
    return Said(
        gap=gap,
        line=text,
        stream=line.stream if line else "",
        number=line.number if line else 0,
        words=words_of(text),
        tool="" if tool in _SHELLS else tool,
        exception=exceptions[0].types[0] if exceptions else "",
    )


def words_of(line: str) -> tuple[str, ...]:
    """Return the template of one line."""
    line = normalised(_ADDRESS.sub("<address>", _VALUES.sub(_value, line)))
    return tuple(_PATH.sub("<path>", line).split()[:MOST_WORDS])


def _value(match: re.Match[str]) -> str:
    """Return what stands for a quoted value; the keys of an object are the tool's own words and stay."""
    before, after = match.string[: match.start()].rstrip()[-1:], match.string[match.end() : match.end() + 1]
    if after == ":" and before and before in "{,":
        return match[0]
    # The quotes stay: they are what the tool prints, and where the value ends.
    return f"{match[0][0]}<value>{match[0][0]}"


def clusters(failures: Iterable[Said]) -> tuple[Cluster, ...]:
    """Return the clusters of what failures say, the largest first; equal failures in any order make equal clusters."""
    groups: dict[tuple[str, ...], list[Said]] = {}
    for each in sorted(failures, key=lambda said: (said.words, said.line, said.gap.event or 0, said.gap.unit)):
        groups.setdefault(each.group, []).append(each)
    found = [cluster for group in groups.values() for cluster in _within(group)]
    return tuple(sorted(found, key=lambda each: (-len(each.members), each.tool, each.exception, each.words)))


def _within(group: list[Said]) -> list[Cluster]:
    """Return the clusters of a group, whose lines have the same number of words."""
    by_words: dict[tuple[str, ...], list[Said]] = {}
    for each in group:
        by_words.setdefault(each.words, []).append(each)
    found: list[tuple[tuple[str, ...], list[Said]]] = []
    for words, members in by_words.items():
        shares = [_likeness(words, template) for template, _ in found]
        best = max(range(len(found)), key=lambda at: shares[at], default=-1)
        if best >= 0 and shares[best] > 0:
            template, others = found[best]
            found[best] = (_merged(template, words), [*others, *members])
        else:
            found.append((words, members))
    return [Cluster(words, tuple(members)) for words, members in found]


def _likeness(one: tuple[str, ...], other: tuple[str, ...]) -> float:
    """Return the share of equal words; 0 where it is too small, or where codes differ, for they say which failure it is."""
    share = sum(map(eq, one, other)) / len(one) if one else 1.0
    # The dear question is asked of the few that the cheap one leaves.
    if share < _SAME or any(
        a != b and (_CODE.fullmatch(a) or _CODE.fullmatch(b)) for a, b in zip(one, other, strict=True)
    ):
        return 0.0
    return share


def _merged(one: tuple[str, ...], other: tuple[str, ...]) -> tuple[str, ...]:
    return tuple(a if a == b else ANY for a, b in zip(one, other, strict=True))
