"""Reads the stream that a tool's own report was made into: what was checked, and a line for each check that failed.

    tests: 2 of 14 failed
    tests/test_net.py:12 test_limit: assert 30 == 60
    tests/test_net.py:30 test_proxy: ConnectionError: connection refused

Whoever makes it (`rerail.reports`) sees to it that a place and a name hold no ``": "``, so that what follows the first one is the
check's message. A test's message may name what really failed, as in any report of tests; the words of a finding are about
the code.
"""

from __future__ import annotations

from rerail.evidence.model import StreamName
from rerail.light_typing import TYPE_CHECKING
from rerail.rules.readers.judged import conclude
from rerail.rules.readers.model import Weight

if TYPE_CHECKING:
    from collections.abc import Sequence

    from rerail.rules.readers.model import Draft, Scene

KINDS = ("build", "types", "lint", "tests", "security", "diff", "flaky")
"""What a report's first line begins with."""


def read(drafts: Sequence[Draft], scene: Scene) -> None:  # noqa: ARG001  every reader is called so
    """Read the report, where there is one whose first line says what was checked."""
    for draft in drafts:
        if draft.name != StreamName.REPORT or not draft.lines:
            continue
        kind = draft.lines[0].partition(": ")[0]
        if kind == "tests":
            _read_tests(draft)
        elif kind in KINDS:
            _read_findings(draft, kind)


def _read_tests(draft: Draft) -> None:
    ends = [(at, line.partition(": ")[2]) for at, line in enumerate(draft.lines) if at and line]
    conclude(draft, ends, (0,))


def _read_findings(draft: Draft, kind: str) -> None:
    found = [at for at, line in enumerate(draft.lines) if at and line]
    for at in (*found, 0):
        draft.mark(Weight.DECIDING, at)
        draft.shown_as(at, "a finding")
    draft.fact("code", f"report:{kind}", (*found, 0)[0])
