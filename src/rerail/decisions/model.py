"""What can be decided, what can happen, and the state of one unit run: values only.

A decision is one of a closed set; every reader of one ends in ``assert_never``. The state is a value that is stored, so that
a run goes on in another process; the generator that follows it is made afresh.
"""

from __future__ import annotations

from enum import StrEnum
from typing import TYPE_CHECKING, NamedTuple

import attrs

if TYPE_CHECKING:
    from rerail.budget.model import Grant
    from rerail.ids import ClassName, Fingerprint, RunId, UnitName
    from rerail.rules.model import Classification


class Effects(StrEnum):
    """What running a unit does to the world beside its result."""

    NONE = "none"
    """Nothing; it can run any number of times."""
    IDEMPOTENT = "idempotent"
    """Running it twice is as running it once."""
    UNSAFE = "unsafe"
    """A second run may do harm: after an unknown outcome somebody must look first."""


class Why(StrEnum):
    """Why a unit pauses or stops, beyond what its class says."""

    CLASS = "class"
    """The class's own action."""
    BUDGET_SPENT = "budget-spent"
    WINDOW_SPENT = "window-spent"
    LEDGER_UNUSABLE = "ledger-unusable"
    ATTEMPT_CEILING = "attempt-ceiling"
    TIME_CEILING = "time-ceiling"
    TOTAL_WAIT = "total-wait"
    SAME_EVIDENCE = "same-evidence"
    """The same failure came back after an action that should have changed it."""
    UNKNOWN_OUTCOME = "unknown-outcome"
    """An unsafe unit was cut, and nobody can say whether its effect landed."""
    RESUME_LATER = "resume-later"
    """The server named a time that is too far off to wait for."""
    NO_CORRECTION = "no-correction"
    """The input was rejected, and nothing says what would be accepted."""
    SAME_INPUT = "same-input"
    """The repair gave an input that was already rejected."""
    NOT_HEALED = "not-healed"
    """No recipe fits, or the one that does could not be completed; nothing was changed."""
    REFUSED_WORKTREE = "refused-worktree"
    """The worktree was refused earlier, and no check has passed since."""
    SKIPPED = "skipped"
    """The operator answered: go on without this unit."""
    ABORTED = "aborted"
    """The operator answered: end it."""


@attrs.frozen
class Retry:
    """Run the same input again after a wait."""

    wait_s: float


@attrs.frozen
class Repair:
    """Change the input, then run again."""


@attrs.frozen
class Heal:
    """Bring the repository or environment back by a recipe, then run again."""


@attrs.frozen
class Probe:
    """Ask whether the effect landed, before anything else."""


@attrs.frozen
class Pause:
    """Ask the operator, or wait for a time."""

    why: Why
    resume_at_s: float | None = None
    """Wall clock, seconds since the epoch; the run may go on by itself from then. None: only an answer lets it go on."""


@attrs.frozen
class Stop:
    """End the run and surface it."""

    why: Why


@attrs.frozen
class HandBack:
    """End this run; the caller repairs the input and runs the unit again within the same budget."""


@attrs.frozen
class Proceed:
    """Go on: the unit succeeded."""

    landed: bool = False
    """The attempt failed, but its effect turned out to have landed."""


@attrs.frozen
class Again:
    """Start the next attempt."""


Ending = Pause | Stop | HandBack | Proceed
"""The decisions that end a run."""

Decision = Ending | Retry | Repair | Heal | Probe | Again


class Phase(StrEnum):
    """Where a unit run stands."""

    # An enumeration hashes its name in Python; a phase is looked up at every step.
    __hash__ = str.__hash__

    READY = "ready"
    RUNNING = "running"
    WAITING = "waiting"
    REPAIRING = "repairing"
    HEALING = "healing"
    PROBING = "probing"
    PAUSED = "paused"
    SUCCEEDED = "succeeded"
    HANDED_BACK = "handed-back"
    STOPPED = "stopped"
    CANCELLED = "cancelled"


class RunState(NamedTuple):
    """One unit run so far. A named tuple, for every step makes a new one."""

    run: RunId
    unit: UnitName
    started_at_s: float
    """Wall clock, seconds since the epoch: the first attempt's start, kept over pauses and hand-backs."""
    effects: Effects = Effects.UNSAFE
    phase: Phase = Phase.READY
    attempt: int = 0
    """The attempt that ran last; 0 before the first."""
    failures: tuple[ClassName, ...] = ()
    """The class of every failed attempt, in order."""
    waited_s: float = 0.0
    """Backoff so far, in total."""
    rejected: frozenset[Fingerprint] = frozenset()
    """Inputs that a validator rejected; none of them runs again."""
    seen: frozenset[Fingerprint] = frozenset()
    """Evidence that an action should have changed."""
    last: Classification | None = None

    @property
    def ended_as(self) -> Phase:
        """How the end of its run is told: one that was cut off while it asked whether it landed was cancelled."""
        return Phase.CANCELLED if self.phase is Phase.PROBING else self.phase

    def failures_of(self, class_: ClassName) -> int:
        """How many attempts of this run failed with *class_*."""
        return self.failures.count(class_)

    # By place, and not by `_replace`, which takes four times as long: a failure that is retried moves its run five times.

    def moved_to(self, phase: Phase) -> RunState:
        """Return the same run in another phase."""
        run, unit, at, effects, _, attempt, failures, waited, rejected, seen, last = self
        return _made(RunState, (run, unit, at, effects, phase, attempt, failures, waited, rejected, seen, last))

    def attempting(self) -> RunState:
        """Return the same run in its next attempt."""
        run, unit, at, effects, _, attempt, failures, waited, rejected, seen, last = self
        return _made(RunState, (run, unit, at, effects, _RUNNING, attempt + 1, failures, waited, rejected, seen, last))

    def waiting(self, wait_s: float) -> RunState:
        """Return the same run in a wait of so many seconds."""
        run, unit, at, effects, _, attempt, failures, waited, rejected, seen, last = self
        waited += wait_s
        return _made(RunState, (run, unit, at, effects, _WAITING, attempt, failures, waited, rejected, seen, last))

    def failed(self, failure: Failed) -> RunState:
        """Return the same run with one more failure behind it, in the phase that it was in."""
        run, unit, at, effects, phase, attempt, failures, waited, rejected, seen, _ = self
        last = failure.classification
        failures = (*failures, last.class_)
        if failure.input is not None:
            # What a validator rejected never runs again; a retried input is not rejected, only unlucky.
            rejected |= {failure.input}
        if failure.evidence is not None:
            # A repair or heal should change the evidence; a wait should not.
            seen |= {failure.evidence}
        return _made(RunState, (run, unit, at, effects, phase, attempt, failures, waited, rejected, seen, last))


_made = tuple.__new__
# A look-up of an enumeration's member takes 120 ns in Python 3.11.
_RUNNING, _WAITING = Phase.RUNNING, Phase.WAITING


class Started(NamedTuple):
    """An attempt begins; the wait before it, if there was one, is over."""


class Succeeded(NamedTuple):
    """The attempt did what it should, verified."""


class Failed(NamedTuple):
    """The attempt failed, was named and, where its action spends, charged."""

    classification: Classification
    grant: Grant | None
    """None for an action that charges nothing."""
    at_s: float
    """Wall clock, seconds since the epoch."""
    evidence: Fingerprint | None = None
    """Of the normalised evidence; known where the action should change it."""
    input: Fingerprint | None = None
    """Of the input; known where it was rejected."""
    not_begun: HealOutcome | None = None
    """How a heal that cannot begin would end; it is not charged, for nothing is recovered. None: it can, or none is asked for."""


class Landing(StrEnum):
    """The answer of a unit's ``landed()`` probe."""

    LANDED = "landed"
    ABSENT = "absent"
    UNKNOWN = "unknown"


class Probed(NamedTuple):
    """The unit's probe answered."""

    landing: Landing


class Repaired(NamedTuple):
    """A repairer was asked; *input* is None where it had nothing to offer, or there is none."""

    input: Fingerprint | None


class HealOutcome(StrEnum):
    """How a heal ended. What it did is in its report."""

    HEALED = "healed"
    RETRY = "retry"
    """Nothing is broken here: it is somebody else's turn, or a network's; wait."""
    PAUSED = "paused"
    STOPPED = "stopped"


class Healed(NamedTuple):
    """The heal ended."""

    outcome: HealOutcome


class Answer(StrEnum):
    """What the operator can say to a pause; at most once."""

    RETRY = "retry"
    """Run it again."""
    APPROVE = "approve"
    """What was denied is allowed now; run it again."""
    SKIP = "skip"
    """Go on without it."""
    ABORT = "abort"
    """End it."""


class Answered(NamedTuple):
    """The operator answered the pause."""

    answer: Answer


class TimeCame(NamedTuple):
    """The time that a pause named has come."""


class Cancelled(NamedTuple):
    """The caller, the operator or a signal ended the run."""


Event = Started | Succeeded | Failed | Probed | Repaired | Healed | Answered | TimeCame | Cancelled


class Draws(NamedTuple):
    """What chance and curves gave, drawn before the decision so that the decision itself is a function."""

    curve_s: float = 0.0
    """The backoff curve's wait before the next attempt of this class."""
    jitter: float = 0.0
    """A number in [0, 1)."""


NO_DRAWS = Draws()
