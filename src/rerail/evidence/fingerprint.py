"""Identities: of a failure (did the last action change anything?) and of an input (was this one already rejected?).

Of a failure, what `rerail.evidence.volatile` names is dropped, and so are the order of lines and how often a line came, for
parallel workers shuffle them. But how many places have the same finding counts: of two in one file, mending one is progress.
Headers, working directory, duration and notes are left out: they do not say what failed.
"""

from __future__ import annotations

from rerail.evidence.canonical import canonical
from rerail.evidence.model import StreamName
from rerail.evidence.volatile import PLACE_MARK, normalised
from rerail.ids import Fingerprint
from rerail.light_typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from rerail.evidence.model import Evidence


def evidence_fingerprint(evidence: Evidence) -> Fingerprint:
    """Return the identity of the failure that *evidence* records."""
    parts = [
        evidence.tool,
        *map(normalised, evidence.command),
        f"{evidence.exit_code} {evidence.signal} {evidence.http_status}",
        *[f"{fact.types[0]} {fact.status} {fact.codes} {fact.errno}" for fact in evidence.exceptions],
        *evidence.codes,
    ]
    report = evidence.stream(StreamName.REPORT)
    if report is not None:
        # The set of failing checks is what a repair should change; whatever else was printed with them is no progress.
        parts += (report.name, *_distinct(text for number, text in report.lines() if number > 1))
    else:
        for stream in evidence.streams:
            parts += (stream.name, *_distinct(text for _, text in stream.lines()))
    # No text of an evidence holds a NUL.
    return _digest("\0".join(parts).encode("utf-8", "replace"))


def input_fingerprint(value: object) -> Fingerprint:
    """Return the identity of an input: any value, such as a request's fields or a command with its directory and input.

    See `rerail.evidence.canonical` for what makes two values one input.
    """
    return _digest(canonical(value))


def _digest(data: bytes) -> Fingerprint:
    """Return the BLAKE2b hash of *data*, 128 bits, as hex."""
    try:
        # PERF: hashlib loads OpenSSL, 5 ms; the hash itself is a module of its own in CPython and PyPy.
        from _blake2 import blake2b
    except ImportError:
        from hashlib import blake2b
    return Fingerprint(blake2b(data, digest_size=16).hexdigest())


def _distinct(lines: Iterable[str]) -> Iterator[str]:
    """Yield the different normalised lines in a fixed order; those that name a place, with how many places there are."""
    counts: dict[str, int] = {}
    for line in dict.fromkeys(lines):
        normal = normalised(line)
        if normal:
            counts[normal] = counts.get(normal, 0) + 1
    for normal in sorted(counts):
        yield f"{counts[normal]} {normal}" if PLACE_MARK in normal else normal
