"""What a condition says about a repository."""

from __future__ import annotations

from enum import StrEnum
from typing import TYPE_CHECKING

import attrs

if TYPE_CHECKING:
    from rerail.git.state import Trouble


class Verdict(StrEnum):
    """How a condition came out."""

    HOLDS = "holds"
    FAILS = "fails"
    """A person has to decide."""
    WAITS = "waits"
    """It is somebody else's turn, or a service's: the same command may pass later."""
    UNASKED = "unasked"
    """Only a plan says so: finding out would have asked a remote or written objects."""


@attrs.frozen
class Finding:
    """A verdict and its reason, for people."""

    verdict: Verdict
    text: str
    trouble: Trouble | None = None
    """What the failure is instead, when looking showed another one."""
    is_near: bool = True
    """Whether the state that was looked for is there at all; False: another recipe's reasons tell a person more."""


def holds(text: str) -> Finding:
    """Return the finding that a condition holds."""
    return Finding(Verdict.HOLDS, text)


def fails(text: str, trouble: Trouble | None = None) -> Finding:
    """Return the finding that a person has to decide."""
    return Finding(Verdict.FAILS, text, trouble)


def absent(text: str) -> Finding:
    """Return the finding that the state which was looked for is not there."""
    return Finding(Verdict.FAILS, text, is_near=False)


def waits(text: str, trouble: Trouble | None = None) -> Finding:
    """Return the finding that it is somebody else's turn."""
    return Finding(Verdict.WAITS, text, trouble)


def unasked(text: str) -> Finding:
    """Return the finding that a plan leaves open."""
    return Finding(Verdict.UNASKED, text)
