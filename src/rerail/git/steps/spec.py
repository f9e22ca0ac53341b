"""What a step is, and what all steps use."""

from __future__ import annotations

from typing import TYPE_CHECKING, TypeVar

import attrs

from rerail.errors import RerailError
from rerail.git.backup import RefMove
from rerail.git.finding import Finding
from rerail.git.moves import REFLOG_MARK
from rerail.git.snapshot import NO_REACH, Reach

if TYPE_CHECKING:
    from collections.abc import Callable

    from rerail.git.case import Case
    from rerail.recipes.heals import Need

_T = TypeVar("_T")


class StepRefusedError(RerailError):
    """A step found that it must not be taken; everything before it is undone.

    Args:
        message: Why.
        finding: What was found, where it may be another failure than the one to heal.
    """

    slug = "heal-step-refused"

    def __init__(self, message: str, *, finding: Finding | None = None) -> None:
        super().__init__(message)
        self.finding = finding


@attrs.frozen
class StepSpec:
    """One step that rerail knows how to take."""

    guards: tuple[Need, ...]
    """What must hold for it, in the order in which it is asked."""
    plan: str
    """What it will do, as an instruction."""
    reach: Callable[[Case], Reach]
    """What it may change."""
    run: Callable[[Case], tuple[str, ...]]
    """Does it, and returns what was done, for people."""


def sure(value: _T | Finding) -> _T:
    """Return what a condition found; the guards have made sure that it did.

    Raises:
        StepRefusedError: They have not.
    """
    if isinstance(value, Finding):
        raise StepRefusedError(value.text, finding=value)
    return value


def move_ref(case: Case, ref: str, old: str, new: str, why: str) -> None:
    """Move a ref, noted first, if nobody else has moved it; ids of zeros stand for "not there"."""
    if old == new:
        return
    if case.journal is not None:
        case.journal.will_move(RefMove(ref, old, new))
    if new.strip("0"):
        case.state.git("update-ref", "-m", f"{REFLOG_MARK}{why}", ref, new, old)
    else:
        case.state.git("update-ref", "-d", ref, old)
    case.mark(f"moved {ref}")


def reach_nothing(_case: Case) -> Reach:
    """Reach nothing beyond what every backup holds."""
    return NO_REACH


def reach_config(case: Case) -> Reach:
    """Reach the repository's configuration file."""
    return Reach(git_files=frozenset({case.state.here.common_dir / "config"}))
