"""Recovery around a block of code that cannot be a function: ``for attempt in loop.attempts(unit): with attempt: ...``.

The block is the call; iteration performs everything between two calls. The last attempt's failure is raised as the exception that
carries the outcome.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Self

from rerail.decisions.effects import Call, Interrupted, Raised
from rerail.errors import UsageError
from rerail.runner import awaited, blocking

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Callable, Iterator
    from types import TracebackType

    from rerail.decisions.effects import Finish, Reply
    from rerail.runner.awaited import AsyncSleeper
    from rerail.runner.blocking import Sleeper
    from rerail.runner.outcome import Outcome
    from rerail.runner.session import Session
    from rerail.runner.watched import Watch
    from rerail.runner.work import Work


class Attempt:
    """One attempt: a context manager around the code that is tried, for ``with`` and ``async with``.

    What the code raises is taken as this attempt's failure and does not leave the block; a cancellation does.
    """

    def __init__(self, number: int, work: Work, run: Attempts, watch: Watch) -> None:
        self.number = number
        """Counted from 1."""
        self.failure: Raised | None = None
        """What the block failed with; None while it has not run, and after it succeeded."""
        self._work, self._run, self._watch = work, run, watch
        self._is_used = False

    @property
    def input(self) -> Any:
        """The input as it is now, after repairs."""
        return self._work.input

    def __enter__(self) -> Self:
        self._begin()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> bool:
        reply = self._reply(error)
        if self.failure is None:
            # The end is written here and not at the next iteration, for many callers leave the loop by break or return.
            self._run.settle(reply)
        return self.failure is not None

    async def __aenter__(self) -> Self:
        self._begin()
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> bool:
        reply = self._reply(error)
        if self.failure is None:
            await self._run.settle_async(reply)
        return self.failure is not None

    def _begin(self) -> None:
        if self._is_used or self._run.outcome is not None:
            raise UsageError(
                f"{self._work.unit.name}: attempt {self.number} is over",
                hint="each attempt is entered once; the next one comes from the iteration",
            )
        self._is_used = True
        self._watch.begin()

    def _reply(self, error: BaseException | None) -> Reply:
        """Take what the block came to."""
        reply = self._watch.judged(self._work.returned(None) if error is None else self._work.raised(error))
        self.failure = reply if isinstance(reply, Raised) else None
        return reply


class Attempts:
    """The attempts of one run; iterate with ``for`` or ``async for``, once.

    Leaving the loop before an attempt has succeeded ends the run as cancelled.
    """

    def __init__(self, session: Callable[[], Session], watch: Watch, sleep: Sleeper, asleep: AsyncSleeper) -> None:
        self._open, self._watch, self._sleep, self._asleep = session, watch, sleep, asleep
        self._session: Session | None = None
        self.outcome: Outcome[Any] | None = None
        """How the run ended; None while it goes on."""

    def __iter__(self) -> Iterator[Attempt]:
        session = self._begun()
        at = blocking.advance(session, None, self._sleep)
        while isinstance(at, Call):
            attempt = Attempt(at.state.attempt, session.work, self, self._watch)
            try:
                yield attempt
            except GeneratorExit:
                self._leave()
                raise
            if attempt.failure is None:
                self._leave(unused=attempt)
                return
            at = blocking.advance(session, attempt.failure, self._sleep)
        self._end(at).unwrap()

    async def __aiter__(self) -> AsyncIterator[Attempt]:
        session = self._begun()
        at = await awaited.advance(session, None, self._asleep)
        while isinstance(at, Call):
            attempt = Attempt(at.state.attempt, session.work, self, self._watch)
            try:
                yield attempt
            except GeneratorExit:
                self._leave()
                raise
            if attempt.failure is None:
                self._leave(unused=attempt)
                return
            at = await awaited.advance(session, attempt.failure, self._asleep)
        self._end(at).unwrap()

    def settle(self, reply: Reply) -> None:
        """Write the end of a run that succeeded or was cancelled; nothing waits for it but the ledger."""
        assert self._session is not None
        self._end(blocking.advance(self._session, reply, self._sleep))

    async def settle_async(self, reply: Reply) -> None:
        """As `settle`, without blocking the event loop."""
        session = self._session
        assert session is not None
        self._end(await awaited.advance(session, reply, self._asleep))
        if session.pending is not None:  # it came while the end was written
            raise session.pending

    def _begun(self) -> Session:
        if self._session is not None:
            raise UsageError(
                "attempts are iterated once", hint="call `loop.attempts` again for another run of the unit"
            )
        self._session = self._open()
        return self._session

    def _end(self, at: Call | Finish) -> Outcome[Any]:
        assert self._session is not None
        assert not isinstance(at, Call), "a run that succeeded or was cancelled calls nothing more"
        self.outcome = self._session.outcome(at)
        return self.outcome

    def _leave(self, *, unused: Attempt | None = None) -> None:
        """End the run where the loop was left early, or its attempt was not used."""
        if self.outcome is not None:
            return
        self.settle(Interrupted())
        if unused is not None:
            assert self._session is not None
            raise UsageError(
                f"{self._session.work.unit.name}: attempt {unused.number} was not used",
                hint="write `with attempt:` around the code that is tried",
            )
