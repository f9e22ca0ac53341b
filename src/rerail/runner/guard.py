"""What users hold: runs units under recovery, blocking or awaiting, by call, by decorator or by iteration.

What it works with is built by `rerail.app`, whose ``Loop`` is this class with a constructor for people.
"""

from __future__ import annotations

import os
from contextlib import suppress
from functools import wraps
from inspect import isasyncgenfunction, isawaitable, iscoroutinefunction, isgeneratorfunction
from itertools import count
from types import CoroutineType
from typing import TYPE_CHECKING, Any, Literal, ParamSpec, TypeVar, Unpack

import attrs

from rerail.decisions.model import Answer
from rerail.errors import UsageError
from rerail.ids import PauseId, RunId, UnitName
from rerail.ledger.store import AlreadyAnsweredError
from rerail.observe import contained, warn
from rerail.runner import awaited, blocking
from rerail.runner.attempts import Attempts
from rerail.runner.outcome import Cancelled, Outcome, Paused, Succeeded
from rerail.runner.session import Session
from rerail.runner.unit import Unit
from rerail.runner.watched import Watch, watched, watched_async
from rerail.runner.work import CallableWork, RunnableWork, Work, never_awaited, nothing_to_await

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable

    from rerail.decisions.effects import Tried
    from rerail.decisions.policy import Policy
    from rerail.decisions.start import Standing
    from rerail.ledger.store import PauseRecord
    from rerail.runner.awaited import AsyncSleeper
    from rerail.runner.blocking import Sleeper
    from rerail.runner.perform import Tools
    from rerail.runner.script import Classify
    from rerail.runner.unit import UnitFields

_REMEMBERED_UNITS = 1024
"""Names are often made up per task, and a harness runs for weeks."""

_NOT_AWAITED: Any = object()

P = ParamSpec("P")
T = TypeVar("T")


class Guard:
    """Runs units under recovery.

    Args:
        tools: What recovery works with.
        policy: Budgets, curves and caps; a unit may bring its own.
        classify: Names a failure.
        run: The harness session; unit runs are numbered below it.
        root: The worktree that the units work in, or ``""`` where there is none.
        declare: Completes a unit with what the project's settings say about it.
        sleep: Waits in the calling thread.
        asleep: Waits in an event loop.
    """

    def __init__(
        self,
        tools: Tools,
        policy: Policy,
        classify: Classify,
        *,
        run: RunId,
        root: str = "",
        declare: Callable[[Unit], Unit] = lambda unit: unit,
        sleep: Sleeper,
        asleep: AsyncSleeper = awaited.sleep_here,
    ) -> None:
        self.tools, self.policy, self.run_id, self.root = tools, policy, run, root
        self._classify, self._declare = classify, declare
        self.sleep, self.asleep = sleep, asleep
        self._numbers, self._pid = count(1), os.getpid()
        self._units: dict[str, Unit] = {}

    def run(self, unit: str | Unit, function: Callable[P, T], /, *args: P.args, **kwargs: P.kwargs) -> Outcome[T]:
        """Run a unit under recovery and return how it ended.

        Args:
            unit: A name, or a declared unit.
            function: What to run; it is called again with the same arguments, or with repaired ones.
            *args: Its arguments.
            **kwargs: Its keyword arguments; these are the input that a repair changes.

        Raises:
            BaseException: A cancellation, as it came; it is recorded and charges nothing.
            UsageError: The function is none, or a coroutine function, which `arun` takes.
            LedgerError: What earlier runs of the unit left cannot be read, so nothing was run.
        """
        unit = self._declared(unit)
        standing = self.tools.ledger.standing(unit.name)
        first: Tried | None = None
        if self._is_plain(unit, standing):
            # The path of nearly every call: nothing is known of the unit and nobody listens, so nothing is built.
            try:
                value: Any = function(*args, **kwargs)
            except BaseException as error:  # noqa: BLE001  cancellations too: they are recorded, then raised again
                work = self._work(unit, function, args, kwargs)
                first = work.raised(error)
            else:
                if type(value) is CoroutineType:
                    raise never_awaited(unit, value)
                return Succeeded(value)
        else:
            work = self._work(unit, function, args, kwargs)
        return self._drive(work, standing, first)

    def drive(self, work: RunnableWork) -> Outcome[Any]:
        """Run work that is already made; `run` without its short path."""
        return self._drive(work, self.tools.ledger.standing(work.unit.name))

    def _drive(self, work: RunnableWork, standing: Standing | None, first: Tried | None = None) -> Outcome[Any]:
        while True:
            session = self._session(work, standing, first)
            attempt = watched(work, is_in_use=self._is_in_use)
            end = blocking.drive(session, attempt, self.sleep)
            outcome = _passed_on(session.outcome(end))
            if not isinstance(outcome, Paused) or self.tools.on_pause is None:
                return outcome
            answer = None
            with contained("on_pause", but=work.passes_through):
                answer = self.tools.on_pause(outcome)
            if not self._takes(answer, outcome):
                return outcome
            standing, first = self.tools.ledger.standing(work.unit.name), None

    async def arun(
        self, unit: str | Unit, function: Callable[P, Awaitable[T]], /, *args: P.args, **kwargs: P.kwargs
    ) -> Outcome[T]:
        """Run a unit under recovery, awaiting it, and return how it ended; as `run`.

        Raises:
            UsageError: The function is none, or what it returns cannot be awaited.
        """
        unit = self._declared(unit)
        standing = self.tools.ledger.standing(unit.name)
        first: Tried | None = None
        if self._is_plain(unit, standing):
            try:
                awaitable: Any = function(*args, **kwargs)
                value = await awaitable if isawaitable(awaitable) else _NOT_AWAITED
            except BaseException as error:  # noqa: BLE001  cancellations too: they are recorded, then raised again
                work = self._work(unit, function, args, kwargs)
                first = work.raised(error)
            else:
                if value is _NOT_AWAITED:
                    raise nothing_to_await(unit, awaitable)
                return Succeeded(value)
        else:
            work = self._work(unit, function, args, kwargs)
        return await self._drive_async(work, standing, first)

    async def _drive_async(
        self, work: CallableWork, standing: Standing | None, first: Tried | None = None
    ) -> Outcome[Any]:
        while True:
            session = self._session(work, standing, first)
            attempt = watched_async(work, is_in_use=self._is_in_use)
            end = await awaited.drive(session, attempt, self.asleep)
            outcome = _passed_on(session.outcome(end))
            if session.pending is not None:  # it came while the terminal record was written
                raise session.pending
            if not isinstance(outcome, Paused) or self.tools.on_pause is None:
                return outcome
            answer = None
            with contained("on_pause", but=work.passes_through):
                answer = await awaited.value_of(self.tools.on_pause(outcome))
            if not self._takes(answer, outcome):
                return outcome
            standing, first = self.tools.ledger.standing(work.unit.name), None

    def pauses(self) -> tuple[PauseRecord, ...]:
        """Return the questions that are open in the loop's ledger, oldest first, whichever unit or process asked them."""
        return self.tools.ledger.pauses()

    def answer(
        self, pause_id: str, answer: Answer | Literal["retry", "approve", "skip", "abort"], note: str = ""
    ) -> PauseRecord:
        """Answer a pause, once, as ``rerail answer`` does. Nothing runs: the unit's next run goes on with the answer.

        Args:
            pause_id: ``Paused.pause``, or the id of one of `pauses`.
            answer: ``retry`` or ``approve`` to run the unit again; ``skip`` or ``abort`` to stop it.
            note: Why, for whoever reads the ledger.

        Raises:
            UsageError: The pause is unknown or has its answer, or the answer is none of the four.
        """
        chosen = _answer(answer)
        if chosen is None:
            raise UsageError(f"an answer is one of {', '.join(Answer)}, got {answer!r}")
        answered = self.tools.ledger.answer(PauseId(pause_id), chosen, note=note, at_s=self.tools.clock.wall_s())
        self.tools.observer.emit(
            "pause.answered", unit=answered.unit, pause=answered.id, answer=chosen, note=note or None
        )
        return answered

    def _takes(self, answer: object, paused: Paused) -> bool:
        """Write down the answer that a callback gave; whether the run goes on."""
        if answer is None:
            return False
        chosen = _answer(answer)
        if chosen is None:
            if type(answer) is CoroutineType:
                answer.close()
            warn("on_pause", f"must return an Answer or None, got {type(answer).__name__}")
            return False
        # Somebody else may have answered while the callback thought: the first answer is the one that counts.
        with suppress(AlreadyAnsweredError):
            self.answer(paused.pause, chosen)
        return True

    def unit(self, name: str | Unit, **declared: Unpack[UnitFields]) -> Callable[[Callable[P, T]], Callable[P, T]]:
        """Return a decorator that runs each call of a function, or coroutine function, as a unit.

        The call returns the function's value, or raises `NotRecoveredError` from the original error.

        Args:
            name: The unit's name, or a declared unit.
            **declared: Fields of `Unit`; they go before those of a declared one.

        Raises:
            UsageError: There is no name, as in a bare ``@loop.unit``; or what is decorated is no function, or a generator.
        """
        unit = _unit_of(name, declared)

        def decorate(function: Callable[P, T]) -> Callable[P, T]:
            _check_called(unit, function)
            if isgeneratorfunction(function) or isasyncgenfunction(function):
                raise UsageError(
                    f"{unit.name}: the code of a generator runs after its call has returned, where nothing recovers it",
                    hint="decorate a function that returns when the work is done, or use `loop.attempts` inside the generator",
                )
            if iscoroutinefunction(function):

                @wraps(function)
                async def awaiting(*args: P.args, **kwargs: P.kwargs) -> Any:
                    return (await self.arun(unit, function, *args, **kwargs)).unwrap()

                return awaiting  # type: ignore[return-value]  # a coroutine function, like the one it wraps

            @wraps(function)
            def blocking_call(*args: P.args, **kwargs: P.kwargs) -> T:
                return self.run(unit, function, *args, **kwargs).unwrap()

            return blocking_call

        return decorate

    def attempts(self, unit: str | Unit, given: object = None, **declared: Unpack[UnitFields]) -> Attempts:
        """Return the attempts of a unit whose code is a block.

        In blocking code ``for attempt in ...: with attempt: ...``; in a coroutine ``async for attempt in ...: async with
        attempt: ...``, where a plain ``with`` does as well unless the ledger is on a disk.

        Args:
            unit: A name, or a declared unit.
            given: The input that a repair may change; ``attempt.input`` is what it is now.
            **declared: Fields of `Unit`; they go before those of a declared one.

        Raises:
            UsageError: There is no name.
        """
        chosen = _unit_of(unit, declared) if declared else unit
        work = Work(self._declared(chosen), given, clock=self.tools.clock, cwd=self.root)
        return Attempts(
            lambda: self._session(work, self.tools.ledger.standing(work.unit.name)),
            Watch(work, is_in_use=self._is_in_use),
            self.sleep,
            self.asleep,
        )

    def _declared(self, unit: object) -> Unit:
        if isinstance(unit, Unit):
            return self._declare(unit)
        declared = self._units.get(unit) if isinstance(unit, str) else None
        if declared is None:
            if len(self._units) >= _REMEMBERED_UNITS:
                self._units.clear()
            made = _unit_of(unit, {})
            declared = self._units[made.name] = self._declare(made)
        return declared

    def _work(
        self, unit: Unit, function: Callable[..., Any], args: tuple[Any, ...], kwargs: dict[str, Any]
    ) -> CallableWork:
        _check_called(unit, function)
        return CallableWork(unit, function, args, kwargs, clock=self.tools.clock, cwd=self.root)

    def _is_plain(self, unit: Unit, standing: Standing | None) -> bool:
        return (
            standing is None
            and unit.failure is None
            and not unit.marks_starts
            and not self.root
            and not self.tools.observer.listens
        )

    def _session(self, work: Work, standing: Standing | None, first: Tried | None = None) -> Session:
        return Session(
            work,
            standing,
            run=self._next_run(),
            tools=self.tools,
            policy=self.policy,
            classify=self._classify,
            refusal=self.tools.admit(work.cwd) if work.cwd else None,
            first=first,
        )

    def _is_in_use(self, root: str) -> bool:
        """Whether another process runs a unit in a worktree."""
        owner, alive = self.tools.owner(), self.tools.alive
        return any(lease.owner != owner and alive(lease.owner) for lease in self.tools.ledger.leases(root))

    def _next_run(self) -> RunId:
        """Return the id of a new unit run. A forked process counts on its own: two runs of one id would share their charges."""
        if (pid := os.getpid()) != self._pid:
            self._pid, self.run_id = pid, RunId(f"{self.run_id}-{pid}")
        return RunId(f"{self.run_id}.{next(self._numbers)}")


def _passed_on(outcome: Outcome[T]) -> Outcome[T]:
    """Let a cancellation that came as an exception pass through."""
    if isinstance(outcome, Cancelled) and outcome.error is not None:
        raise outcome.error
    return outcome


def _unit_of(name: object, declared: UnitFields) -> Unit:
    """Return the unit that a caller means."""
    if isinstance(name, Unit):
        return attrs.evolve(name, **declared) if declared else name
    if not isinstance(name, str):
        raise UsageError(
            f"a unit is named by a text or a Unit, got {name!r}",
            hint='the name comes first: `loop.run("name", function)`, `@loop.unit("name")`',
        )
    return Unit(UnitName(name), **declared)


def _check_called(unit: Unit, function: object) -> None:
    if not callable(function):
        raise UsageError(
            f"{unit.name}: a unit is a function that is called again after a failure, got {function!r}",
            hint="pass the function itself, then its arguments; `loop.run_command` runs commands",
        )


def _answer(said: object) -> Answer | None:
    """Return an answer by its name; None for anything else."""
    return Answer(said) if isinstance(said, str) and said in tuple(Answer) else None
