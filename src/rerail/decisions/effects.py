"""The effects that a recovery asks for, and the replies it gets: the closed vocabulary between the script and its drivers.

The script (`rerail.runner.script`) yields these; a driver performs each and sends back what its docstring says. None of them
does anything by itself. They are named tuples, for a retry makes a dozen; they are told apart by type and never compared.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple, TypeAlias

if TYPE_CHECKING:
    from rerail.budget.model import Balance, Charge, Grant
    from rerail.decisions.model import Decision, Draws, Ending, HealOutcome, Landing, RunState
    from rerail.evidence.model import Evidence
    from rerail.ids import Fingerprint, RunId, UnitName
    from rerail.rules.model import Classification


class Call(NamedTuple):
    """Run the unit. Reply: `Returned`, `Raised` or `Interrupted`."""

    state: RunState


class Returned(NamedTuple):
    """The unit succeeded; the driver keeps its value."""


class Raised(NamedTuple):
    """The unit failed."""

    evidence: Evidence
    at_s: float
    """Wall clock, seconds since the epoch."""


class Interrupted(NamedTuple):
    """The attempt or a wait was cancelled; the driver raises the cancellation again once the run has ended."""


Tried = Returned | Raised | Interrupted
"""What one attempt came to."""


class IdentifyInput(NamedTuple):
    """Fingerprint the input that failed. Reply: a `Fingerprint`. It reads all of the input: asked only where that matters."""


class Spend(NamedTuple):
    """Charge the class's budget. Reply: `Spent`."""

    charge: Charge
    nth: int
    """The failure of this class within the run, counted from 1, where a wait may follow: its backoff is drawn in the same visit
    to what may block. 0: none follows."""


class Spent(NamedTuple):
    """What a charge came to."""

    grant: Grant
    draws: Draws


class DrawWait(NamedTuple):
    """Draw the backoff of a class, charging nothing. Reply: `Draws`."""

    nth: int
    """The failure of this class within the run, counted from 1."""


class FailureRecord(NamedTuple):
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
    """What exactly will be done, where that is known: ``add workspace_id from session context``. Of a heal that could not begin,
    why."""
    balance: Balance | None = None
    """None for a class that is not charged."""


class PlanRepair(NamedTuple):
    """Say what a repair would do, without doing it. Reply: the plan in words, or ``""``."""

    classification: Classification
    evidence: Evidence


class PlanHeal(NamedTuple):
    """Say what a heal would do, without doing it. Reply: a `HealPlanned`."""

    classification: Classification
    evidence: Evidence


class HealPlanned(NamedTuple):
    """What a heal would do, or why it cannot begin."""

    words: str
    not_begun: HealOutcome | None = None
    """How it would end at once, without having begun; None: it would begin."""


class Announce(NamedTuple):
    """Store, log and show a named failure, before anything is done about it. Reply: None."""

    record: FailureRecord
    state: RunState


class Sleep(NamedTuple):
    """Wait. Reply: None, or `Interrupted`."""

    wait_s: float


class MakeRepair(NamedTuple):
    """Change the input. Reply: the fingerprint of the new input, None where nobody can repair it, or `Interrupted`."""

    record: FailureRecord


class RunHeal(NamedTuple):
    """Heal by recipe. Reply: a `HealOutcome`, or `Interrupted`."""

    record: FailureRecord


class AskLanded(NamedTuple):
    """Ask the unit whether the effect landed. Reply: a `Landing`, unknown where the unit has no probe; or `Interrupted`."""


class Finish(NamedTuple):
    """Write the run's one terminal record; nothing follows. The state's phase says which it is."""

    state: RunState
    decision: Ending
    record: FailureRecord | None
    """The failure that ended it, or the last one before success; None when nothing failed."""


TAKES_TIME = (Sleep, MakeRepair, AskLanded, RunHeal)
"""The effects that may take long, and so may be interrupted."""

Reply: TypeAlias = (
    "Returned | Raised | Interrupted | Spent | Draws | Landing | HealPlanned | HealOutcome | Fingerprint | str | None"
)

Effect = (
    Call
    | IdentifyInput
    | Spend
    | DrawWait
    | PlanRepair
    | PlanHeal
    | Announce
    | Sleep
    | MakeRepair
    | RunHeal
    | AskLanded
)
"""What a script yields; the last effect, `Finish`, it returns."""
