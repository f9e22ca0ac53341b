"""The effects that a recovery asks for, and the replies it gets: the closed vocabulary between the script and its drivers.

The script (`rerail.runner.script`) yields these; a driver performs each and sends back what its docstring says. None of them
does anything by itself.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, TypeAlias

import attrs

if TYPE_CHECKING:
    from rerail.budget.model import Balance, Charge, Grant
    from rerail.decisions.model import Decision, Draws, Ending, Heal, HealOutcome, Landing, Repair, RunState
    from rerail.evidence.model import Evidence
    from rerail.ids import Fingerprint, RunId, UnitName
    from rerail.rules.model import Classification


@attrs.frozen
class Call:
    """Run the unit. Reply: `Returned`, `Raised` or `Interrupted`."""

    state: RunState


@attrs.frozen
class Returned:
    """The unit succeeded; the driver keeps its value."""


@attrs.frozen
class Raised:
    """The unit failed."""

    evidence: Evidence
    at_s: float
    """Wall clock, seconds since the epoch."""


@attrs.frozen
class Interrupted:
    """The attempt or a wait was cancelled; the driver raises the cancellation again once the run has ended."""


Tried = Returned | Raised | Interrupted
"""What one attempt came to."""


@attrs.frozen
class IdentifyInput:
    """Fingerprint the input that failed. Reply: a `Fingerprint`. All of the input is read, so it is asked only where it counts."""


@attrs.frozen
class Spend:
    """Charge the class's budget. Reply: a `Grant`."""

    charge: Charge


@attrs.frozen
class DrawWait:
    """Draw the backoff of a class. Reply: `Draws`."""

    nth: int
    """The failure of this class within the run, counted from 1."""


@attrs.frozen
class FailureRecord:
    """One named failure and what follows from it: the block, the event and the stored row are all this object, rendered."""

    run: RunId
    unit: UnitName
    attempt: int
    """Counted from 1."""
    at_s: float
    """Wall clock, seconds since the epoch."""
    evidence: Evidence
    classification: Classification
    decision: Decision
    plan: str = ""
    """What exactly will be done, where that is known: ``add workspace_id from session context``."""
    balance: Balance | None = None
    """None for a class that is not charged."""


@attrs.frozen
class Plan:
    """Say what a repair or heal would do, without doing it. Reply: the plan in words, or ``""``."""

    decision: Repair | Heal
    classification: Classification
    evidence: Evidence


@attrs.frozen
class Announce:
    """Store, log and show a named failure, before anything is done about it. Reply: None."""

    record: FailureRecord
    state: RunState


@attrs.frozen
class Sleep:
    """Wait. Reply: None, or `Interrupted`."""

    wait_s: float


@attrs.frozen
class MakeRepair:
    """Change the input. Reply: the fingerprint of the new input, or None where nobody can repair it."""

    record: FailureRecord


@attrs.frozen
class RunHeal:
    """Heal by recipe. Reply: a `HealOutcome`."""

    record: FailureRecord


@attrs.frozen
class AskLanded:
    """Ask the unit whether the effect landed. Reply: a `Landing`; unknown where the unit has no probe."""


@attrs.frozen
class Finish:
    """Write the run's one terminal record. Reply: None. The state's phase says which."""

    state: RunState
    decision: Ending
    record: FailureRecord | None
    """The failure that ended it, or the last one before success; None when nothing failed."""


Reply: TypeAlias = "Returned | Raised | Interrupted | Grant | Draws | Landing | HealOutcome | Fingerprint | str | None"

Effect = Call | IdentifyInput | Spend | DrawWait | Plan | Announce | Sleep | MakeRepair | RunHeal | AskLanded | Finish
