"""Recovery around a block of code that cannot be a function: ``for attempt in loop.attempts(unit): with attempt: ...``.

The block is the call; iteration performs everything between two calls. The last attempt's failure is raised as the exception that
carries the outcome.
"""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Any, Self

from rerail.decisions.effects import Call, Interrupted, Raised
from rerail.errors import UsageError
from rerail.runner import awaited, blocking

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Callable, Iterator
    from types import TracebackType

    from rerail.decisions.effects import Reply
    from rerail.runner.awaited import AsyncSleeper
    from rerail.runner.blocking import Sleeper
    from rerail.runner.outcome import Outcome
    from rerail.runner.session import Session
    from rerail.runner.work import Work


class Attempt:
    """One attempt: a context manager around the code that is tried.

    What the code raises is taken as this attempt's failure and does not leave the block; a cancellation does.
    """

    def __init__(self, number: int, work: Work, settle: Callable[[Reply], None]) -> None:
        self.number = number
        """Counted from 1."""
        self.failure: Raised | None = None
        """What the block failed with; None while it has not run, and after it succeeded."""
        self._work, self._settle = work, settle

    @property
    def input(self) -> Any:
        """The input as it is now, after repairs."""
        return self._work.input

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> bool:
        reply = self._work.returned(None) if error is None else self._work.raised(error)
        if isinstance(reply, Raised):
            self.failure = reply
            return True
        # The end is written here and not at the next iteration, for many callers leave the loop by break or return.
        self._settle(reply)
        return False


class Attempts:
    """The attempts of one run; iterate with ``for`` or ``async for``, once.

    Leaving the loop before an attempt has succeeded ends the run as cancelled.
    """

    def __init__(self, session: Callable[[], Session], sleep: Sleeper, asleep: AsyncSleeper) -> None:
        self._open, self._sleep, self._asleep = session, sleep, asleep
        self.outcome: Outcome[Any] | None = None
        """How the run ended; None while it goes on."""

    def __iter__(self) -> Iterator[Attempt]:
        session = self._open()
        at = blocking.advance(session, None, self._sleep)
        while isinstance(at, Call):
            attempt = self._attempt(at, session)
            try:
                yield attempt
            finally:
                self._end_unless_failed(attempt, session)
            if attempt.failure is None:
                return
            at = blocking.advance(session, attempt.failure, self._sleep)
        self._raise_unless_good(session.outcome(at))

    async def __aiter__(self) -> AsyncIterator[Attempt]:
        session = self._open()
        at = await awaited.advance(session, None, self._asleep)
        while isinstance(at, Call):
            attempt = self._attempt(at, session)
            try:
                yield attempt
            finally:
                self._end_unless_failed(attempt, session)
            if attempt.failure is None:
                return
            at = await awaited.advance(session, attempt.failure, self._asleep)
        self._raise_unless_good(session.outcome(at))

    def _attempt(self, call: Call, session: Session) -> Attempt:
        def settle(reply: Reply) -> None:
            # Only the terminal record is left to write: nothing here waits.
            end = blocking.advance(session, reply, self._sleep)
            assert not isinstance(end, Call), "a run that succeeded or was cancelled calls nothing more"
            self.outcome = session.outcome(end)

        return Attempt(call.state.attempt, session.work, settle)

    def _end_unless_failed(self, attempt: Attempt, session: Session) -> None:
        """End the run when the loop was left early, or the attempt was not used."""
        leaving = sys.exc_info()[0] is not None
        if self.outcome is None and (leaving or attempt.failure is None):
            attempt._settle(Interrupted())  # noqa: SLF001  the two classes are one mechanism
            if not leaving:
                raise UsageError(
                    f"{session.work.unit.name}: attempt {attempt.number} was not used",
                    hint="write `with attempt:` around the code that is tried",
                )

    def _raise_unless_good(self, outcome: Outcome[Any]) -> None:
        self.outcome = outcome
        outcome.unwrap()
