"""How a unit's run ended, as callers see it: one of five outcomes, and the exceptions that carry one.

    RerailError
    └── NotRecoveredError     the unit did not succeed; ``outcome`` says why, ``__cause__`` is the original error
        ├── HandedBackError   the caller must change the input
        ├── PausedError       a person or a time is awaited
        └── StoppedError      surfaced, not to be run again as it is

A cancellation is never turned into one of these: it passes through as it came.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar, Generic, NoReturn, TypeVar

import attrs

from rerail.errors import RerailError

if TYPE_CHECKING:
    from rerail.decisions.effects import FailureRecord
    from rerail.decisions.model import Why
    from rerail.git.report import HealReport
    from rerail.handlers.repair import RepairRequest
    from rerail.ids import PauseId, UnitName

T = TypeVar("T")


@attrs.frozen
class Succeeded(Generic[T]):
    """The unit did what it should."""

    value: T
    attempts: int = 1
    history: tuple[FailureRecord, ...] = ()
    """The failures before it, oldest first."""
    landed: bool = False
    """The effect was found to have landed although the attempt failed; *value* is then None."""
    heals: tuple[HealReport, ...] = ()
    """What was healed on the way."""

    ok: ClassVar[bool] = True

    def unwrap(self) -> T:
        """Return the unit's value."""
        return self.value


@attrs.frozen
class _Ended:
    """What the outcomes of a run that did not succeed have in common."""

    unit: UnitName
    attempts: int
    """How many attempts were made; 0 when the run was refused before the first."""
    history: tuple[FailureRecord, ...]
    """The failures of this run, oldest first."""
    error: BaseException | None
    """The original error of the last attempt, as it was raised; None when there was none, or another process saw it."""
    heals: tuple[HealReport, ...] = attrs.field(default=(), kw_only=True)
    """The heals that were tried, oldest first."""

    ok: ClassVar[bool] = False


@attrs.frozen
class HandedBack(_Ended):
    """The input was rejected and nothing here can repair it: the caller changes it and runs the unit again."""

    request: RepairRequest | None = None
    """What was rejected and what is expected; None when the run was refused because nothing had changed."""

    def unwrap(self) -> NoReturn:
        """Raise `HandedBackError` from the original error."""
        raise HandedBackError(self) from self.error


@attrs.frozen
class Paused(_Ended):
    """A question is open, or a time must come."""

    why: Why
    pause: PauseId
    resume_at_s: float | None = None
    """Wall clock, seconds since the epoch."""

    def unwrap(self) -> NoReturn:
        """Raise `PausedError` from the original error."""
        raise PausedError(self) from self.error


@attrs.frozen
class Stopped(_Ended):
    """Surfaced; running it again as it is would do harm or nothing."""

    why: Why

    def unwrap(self) -> NoReturn:
        """Raise `StoppedError` from the original error."""
        raise StoppedError(self) from self.error


@attrs.frozen
class Cancelled(_Ended):
    """The caller, the operator or a signal ended it; nothing was charged."""

    def unwrap(self) -> NoReturn:
        """Raise the cancellation as it came."""
        assert self.error is not None, "a cancellation is an exception that came"
        raise self.error


Outcome = Succeeded[T] | HandedBack | Paused | Stopped | Cancelled


class NotRecoveredError(RerailError):
    """The unit did not succeed, and rerail will not run it again by itself."""

    slug = "not-recovered"

    def __init__(self, outcome: HandedBack | Paused | Stopped) -> None:
        last = outcome.history[-1].classification if outcome.history else None
        named = f"{last.class_}/{last.reason}: {last.summary}" if last else self._unnamed
        super().__init__(f"{outcome.unit}: {self._verb} after {outcome.attempts} attempt(s): {named}", hint=self._hint)
        self.outcome = outcome

    _verb: ClassVar[str] = "not recovered"
    _unnamed: ClassVar[str] = "refused before it ran"
    _hint: ClassVar[str | None] = None


class HandedBackError(NotRecoveredError):
    """The caller must change the input; ``outcome.request`` says how."""

    slug = "handed-back"
    _verb = "handed back"
    _unnamed = "the input is one that was already rejected"
    _hint = "change the input, then run the unit again; the same input is refused"


class PausedError(NotRecoveredError):
    """A person or a time is awaited; ``outcome.pause`` names the question."""

    slug = "paused"
    _verb = "paused"
    _unnamed = "its question is still open"
    _hint = "see `rerail pauses`; answer with `rerail answer`"


class StoppedError(NotRecoveredError):
    """Surfaced to the operator; it is not to be run again as it is."""

    slug = "stopped"
    _verb = "stopped"
    _hint = "look at what stopped it before it runs again"
