"""What a unit's stored state means to the runs that come after it, and beside it: the same for every store."""

from __future__ import annotations

from typing import TYPE_CHECKING

from rerail.decisions.machine import ENDED
from rerail.decisions.model import Phase
from rerail.ledger.store import LeaseLostError, UnitBusyError

if TYPE_CHECKING:
    from rerail.ids import RunId, UnitName
    from rerail.ledger.store import Lease, Owner

RUN_FINISHED = "unit.finished"
PAUSE_ANSWERED = "pause.answered"
"""The events that the ledger appends by itself, beside those of failures."""

OVER = tuple(ENDED)
"""Nothing is left to go on with. (Tuples: an enum's hash costs more than a few comparisons, and every run asks.)"""
UNDER_WAY = tuple(frozenset(Phase) - ENDED - {Phase.PAUSED, Phase.HANDED_BACK})
"""Somebody works on the unit, or did until it was killed; the owner's liveness tells which."""


def is_fenced(phase: Phase, run: RunId, *, against: RunId) -> bool:
    """Whether a unit's state may not be overwritten by the run *against*.

    A paused state belongs to its run until that run goes on or ends: another run that was under way when the question was asked
    must not make the unit forget it.
    """
    return phase is Phase.PAUSED and run != against


def lost(run: RunId, holder: Lease) -> LeaseLostError:
    """Return the error that tells who has the unit now."""
    return LeaseLostError(
        f"run {run!r} lost its lease on unit {holder.unit!r}: token {holder.token} was given to run {holder.run!r}, "
        f"process {holder.owner.pid} on {holder.owner.host!r}; nothing more was written",
        hint="leave the unit to the run that has it now",
    )


def busy(unit: UnitName, owner: Owner) -> UnitBusyError:
    """Return the error that tells who runs the unit now."""
    return UnitBusyError(
        f"unit {unit!r} is being run by process {owner.pid} on {owner.host!r}; two runs of one unit would undo each other",
        hint="wait until that run has ended, or end it",
    )
