"""How a unit's run ended, as callers see it: one of five outcomes, and the exceptions that carry one.

    RerailError
    └── NotRecoveredError     the unit did not succeed; ``outcome`` says why, ``__cause__`` is the original error
        ├── HandedBackError   the caller must change the input
        ├── PausedError       a person or a time is awaited
        └── StoppedError      surfaced, not to be run again as it is

A cancellation is never turned into one of these: it passes through as it came.

A history, an error and a report can be long, and may quote what nobody wants in a log: the representation of an outcome is one
line that counts and names them.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar, Generic, NoReturn, TypeVar

import attrs

from rerail.errors import RerailError
from rerail.evidence.foreign import names_of

if TYPE_CHECKING:
    from rerail.decisions.effects import FailureRecord
    from rerail.decisions.model import Why
    from rerail.git.report import HealReport
    from rerail.handlers.repair import RepairRequest
    from rerail.ids import PauseId, UnitName

T = TypeVar("T")

_SHOWN_CHARS = 120


def _clipped(value: object) -> str:
    text = repr(value)
    return text if len(text) <= _SHOWN_CHARS else f"{text[:_SHOWN_CHARS]}..."


def _counted(history: tuple[FailureRecord, ...]) -> str:
    if not history:
        return "()"
    last = history[-1].classification
    return f"<{len(history)}, last {last.class_}/{last.reason}>"


def _kind(error: BaseException | None) -> str:
    return "None" if error is None else f"<{names_of(type(error))[1]}>"


def _heals(heals: tuple[HealReport, ...]) -> str:
    return f"<{', '.join(heal.outcome for heal in heals)}>" if heals else "()"


def _given(value: object) -> str:
    return "None" if value is None else "..."


@attrs.frozen
class Succeeded(Generic[T]):
    """The unit did what it should."""

    value: T = attrs.field(repr=_clipped)
    """What the unit returned. None whatever its type, where `landed` is set: look there first when a unit has a probe."""
    attempts: int = 1
    history: tuple[FailureRecord, ...] = attrs.field(default=(), repr=_counted)
    """The failures before it, oldest first."""
    landed: bool = False
    """The effect was found to have landed although the attempt failed; there is no value then."""
    heals: tuple[HealReport, ...] = attrs.field(default=(), repr=_heals)
    """What was healed on the way."""

    ok: ClassVar[bool] = True

    def unwrap(self) -> T:
        """Return the unit's value; None where its effect has `landed` without one."""
        return self.value


@attrs.frozen
class _Ended:
    """What the outcomes of a run that did not succeed have in common."""

    unit: UnitName
    attempts: int
    """How many attempts were made; 0 when the run was refused before the first."""
    history: tuple[FailureRecord, ...] = attrs.field(repr=_counted)
    """The failures of this run, oldest first."""
    error: BaseException | None = attrs.field(repr=_kind)
    """The original error of the last attempt, as it was raised; None when there was none, or another process saw it."""
    heals: tuple[HealReport, ...] = attrs.field(default=(), kw_only=True, repr=_heals)
    """The heals that were tried, oldest first."""

    ok: ClassVar[bool] = False


@attrs.frozen
class HandedBack(_Ended):
    """The input was rejected and nothing here can repair it: the caller changes it and runs the unit again."""

    request: RepairRequest | None = attrs.field(default=None, repr=_given)
    """What was rejected and what is expected; None when the run was refused because nothing had changed."""

    def unwrap(self) -> NoReturn:
        """Raise `HandedBackError` from the original error."""
        raise HandedBackError(self) from self.error


@attrs.frozen
class Paused(_Ended):
    """A question is open, or a time must come."""

    why: Why
    """``Why.CLASS`` where the failure's own class asks for it; the class is ``history[-1].classification``'s."""
    pause: PauseId
    """The question: ``Loop.answer`` and ``rerail answer`` take it."""
    resume_at_s: float | None = None
    """Wall clock, seconds since the epoch."""

    def unwrap(self) -> NoReturn:
        """Raise `PausedError` from the original error."""
        raise PausedError(self) from self.error


@attrs.frozen
class Stopped(_Ended):
    """Surfaced; running it again as it is would do harm or nothing."""

    why: Why
    """As for `Paused`."""

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

    _verb: ClassVar[str] = "not recovered"
    _unnamed: ClassVar[str] = "refused before it ran"
    _advice: ClassVar[str] = ""

    def __init__(self, outcome: HandedBack | Paused | Stopped) -> None:
        last = outcome.history[-1].classification if outcome.history else None
        named = f"{last.class_}/{last.reason}: {last.summary}" if last else self._unnamed
        # The question stands in the message: it is what a person needs who sees nothing but the traceback.
        question = f" {outcome.pause}" if isinstance(outcome, Paused) else ""
        attempts = "1 attempt" if outcome.attempts == 1 else f"{outcome.attempts} attempts"
        super().__init__(f"{outcome.unit}: {self._verb}{question} after {attempts}: {named}", hint=self._advice or None)
        self.outcome = outcome

    def __reduce__(self) -> tuple[type[NotRecoveredError], tuple[HandedBack | Paused | Stopped]]:
        """Pickle as what it was made of: a process pool sends it to another process."""
        return type(self), (self.outcome,)


class HandedBackError(NotRecoveredError):
    """The caller must change the input; ``outcome.request`` says how."""

    slug = "handed-back"
    _verb = "handed back"
    _unnamed = "the input is one that was already rejected"
    _advice = "change the input, then run the unit again; the same input is refused"


class PausedError(NotRecoveredError):
    """A person or a time is awaited; ``outcome.pause``, which the message names, is the question."""

    slug = "paused"
    _verb = "paused with question"
    _unnamed = "its question is still open"
    _advice = "answer the question with `loop.answer` or `rerail answer`, then run the unit again"


class StoppedError(NotRecoveredError):
    """Surfaced to the operator; it is not to be run again as it is."""

    slug = "stopped"
    _verb = "stopped"
    _advice = "look at what stopped it before it runs again"
