"""The work under recovery: its input, how it is called, and what its last attempt left.

One `Work` lives for one run and is the only mutable thing in it. Drivers call it; the script never sees it.
"""

from __future__ import annotations

from concurrent.futures import CancelledError as FutureCancelledError
from inspect import isawaitable
from types import CoroutineType
from typing import TYPE_CHECKING, Any

from rerail.decisions.effects import Interrupted, Raised, Returned
from rerail.decisions.model import Landing
from rerail.errors import UsageError
from rerail.evidence.fingerprint import input_fingerprint
from rerail.evidence.recent import evidence_of

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from rerail.clock import Clock
    from rerail.decisions.effects import FailureRecord, Tried
    from rerail.decisions.model import RunState
    from rerail.evidence.model import Evidence
    from rerail.git.report import HealReport
    from rerail.handlers.repair import Proposal, RepairRequest
    from rerail.ids import Fingerprint
    from rerail.runner.unit import Unit


_RETURNED = Returned()


class Work:
    """One run's work.

    Args:
        unit: What the caller declared.
        input: What a repair may change, or None: the attempt's arguments, a payload.
        clock: Tells when an attempt failed.
        cwd: Where it works, or ``""`` where that means nothing.
    """

    command: tuple[str, ...] | None = None
    """How another process can run it again; only a command has one."""
    value: Any = None
    error: BaseException | None = None
    """The last attempt's original error."""
    history: tuple[FailureRecord, ...] = ()
    heals: tuple[HealReport, ...] = ()
    proposal: Proposal | None = None
    """What the validator-driven repairer offers for the failure at hand."""

    def __init__(self, unit: Unit, given: object, *, clock: Clock, cwd: str) -> None:
        self.unit, self.cwd, self.input = unit, cwd, given
        self.passes_through = (*unit.passes_through, FutureCancelledError)
        """What is an `Exception` and yet no failure: control flow of the caller's, and cancellations."""
        self._clock = clock

    def input_id(self) -> Fingerprint:
        """Return the fingerprint of the input that the next attempt would run with."""
        return input_fingerprint(self.input)

    def marked_as(self, state: RunState) -> None:
        """Take which attempt comes now: its start is in the ledger, so that it can be told when it never ends."""

    def survivors(self, lost: RunState) -> tuple[str, ...]:  # noqa: ARG002  here there is nothing to look for
        """Return what an attempt that never ended has left running, each process in a word or two."""
        return ()

    def returned(self, value: object) -> Returned | Raised:
        """Take what an attempt returned."""
        evidence = self.unit.failure(value) if self.unit.failure is not None else None
        # An error kept here holds the frames that hold this: what is over is let go of, and no garbage collection is due.
        self.value, self.error = value, None
        return _RETURNED if evidence is None else self._failed(evidence)

    def raised(self, error: BaseException) -> Raised | Interrupted:
        """Take what an attempt raised; a cancellation or control flow is no failure."""
        self.error = error
        cls = type(error)
        if not issubclass(cls, Exception) or issubclass(cls, self.passes_through):
            return Interrupted()
        return self._failed(evidence_of(error))

    def interrupted(self, error: BaseException) -> Interrupted:
        """Take what interrupted a wait or a callback."""
        self.error = error
        return Interrupted()

    def _failed(self, evidence: Evidence) -> Raised:
        return Raised(evidence, self._clock.wall_s())

    def ask_repairer(self, request: RepairRequest) -> Any:
        """Return a new input, something awaitable that gives one, or None."""
        if self.proposal is not None:
            return self.proposal.input
        return self.unit.repair(request) if self.unit.repair is not None else None

    def ask_landed(self) -> Any:
        """Return whether the effect landed, something awaitable that says it, or None where nobody can tell."""
        return self.unit.landed() if self.unit.landed is not None else None

    def take(self, new_input: object) -> Fingerprint | None:
        """Run with *new_input* from now on; return its fingerprint, or None where there is none."""
        if new_input is None:
            return None
        self.input = new_input
        return self.input_id()


class RunnableWork(Work):
    """Work that can be called from here; the other kind is a block of the caller's own code."""

    def attempt(self) -> Tried:
        """Make one attempt."""
        raise NotImplementedError


class CallableWork(RunnableWork):
    """A function or coroutine function with its arguments.

    The input is the keyword arguments, or the only positional argument when that is a mapping and there are no keywords: the two
    ways in which tools take their payload.
    """

    def __init__(
        self,
        unit: Unit,
        function: Callable[..., Any],
        args: tuple[Any, ...],
        kwargs: Mapping[str, Any],
        *,
        clock: Clock,
        cwd: str,
    ) -> None:
        self._function, self._args = function, args
        self._payload_is_positional = not kwargs and len(args) == 1 and isinstance(args[0], dict)
        super().__init__(unit, args[0] if self._payload_is_positional else dict(kwargs), clock=clock, cwd=cwd)

    def attempt(self) -> Tried:
        """Call the function once."""
        try:
            value = self._call()
            if type(value) is CoroutineType:
                return self.interrupted(never_awaited(self.unit, value))
            return self.returned(value)
        except BaseException as error:  # noqa: BLE001  cancellations too: they end the run, and are raised again after it
            return self.raised(error)

    async def attempt_async(self) -> Tried:
        """Await the coroutine function once."""
        try:
            awaited = self._call()
            if not isawaitable(awaited):
                return self.interrupted(nothing_to_await(self.unit, awaited))
            return self.returned(await awaited)
        except BaseException as error:  # noqa: BLE001  as above
            return self.raised(error)

    def _call(self) -> Any:
        if self._payload_is_positional:
            return self._function(self.input)
        assert isinstance(self.input, dict)
        return self._function(*self._args, **self.input)

    def input_id(self) -> Fingerprint:
        """Return the fingerprint of all arguments."""
        return input_fingerprint(self.input if self._payload_is_positional else (self._args, self.input))


def never_awaited(unit: Unit, value: CoroutineType[Any, Any, Any]) -> UsageError:
    """Return the error of a call that gave a coroutine where nothing awaits it: none of its code has run, and none will."""
    value.close()
    return UsageError(
        f"{unit.name}: {value.__qualname__} is a coroutine function, and `run` awaits nothing: its code has not run",
        hint="await `loop.arun(unit, function)` instead",
    )


def nothing_to_await(unit: Unit, value: object) -> UsageError:
    """Return the error of a call that gave a plain value where it was to be awaited."""
    return UsageError(
        f"{unit.name}: `arun` awaits what the function returns, which must be awaitable, got {type(value).__name__}",
        hint="use `loop.run(unit, function)` for a function that is not a coroutine function",
    )


def landing(answer: object) -> Landing:
    """Read the answer of a unit's probe: a `Landing`, True or False; whatever else is unknown."""
    if isinstance(answer, Landing):
        return answer
    if answer is True:
        return Landing.LANDED
    if answer is False:
        return Landing.ABSENT
    return Landing.UNKNOWN
