"""The blocking driver: performs a script's effects in the calling thread."""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol

from rerail.decisions.effects import AskLanded, Call, Interrupted, MakeRepair, Sleep
from rerail.runner.work import landing

if TYPE_CHECKING:
    from collections.abc import Callable

    from rerail.decisions.effects import Reply, Tried
    from rerail.runner.script import End
    from rerail.runner.session import Session
    from rerail.runner.work import Work


class Sleeper(Protocol):
    """Waits in the calling thread; seconds on the monotonic clock."""

    def __call__(self, wait_s: float, /) -> None:
        """Return after the wait, or raise what interrupted it."""
        ...


def drive(session: Session, attempt: Callable[[], Tried], sleep: Sleeper, *, first: Tried | None = None) -> End:
    """Run a session to its end.

    Args:
        session: Not started yet.
        attempt: Makes one attempt of its work.
        sleep: Performs the waits.
        first: The first attempt's reply, where that was made before the session was needed.
    """
    at = advance(session, None, sleep)
    while isinstance(at, Call):
        reply, first = first or attempt(), None
        at = advance(session, reply, sleep)
    return at


def advance(session: Session, reply: Reply, sleep: Sleeper) -> Call | End:
    """Perform effects until the work is to be called, or the run has ended."""
    script, work, performer = session.script, session.work, session.performer
    while True:
        try:
            effect = script.send(reply)
        except StopIteration as done:
            end: End = done.value
            return end
        match effect:
            case Call():
                performer.perform(effect)
                return effect
            case Sleep(wait_s):
                performer.emit("wait.started", wait_s=wait_s)
                reply = _wait(wait_s, work, sleep)
            case MakeRepair(record):
                reply = work.take(work.ask_repairer(performer.request(record)))
                performer.emit("input.repaired", input=reply)
            case AskLanded():
                reply = landing(work.ask_landed())
                performer.emit("effect.probed", landing=reply)
            case _:
                reply = performer.perform(effect)


def _wait(wait_s: float, work: Work, sleep: Sleeper) -> Interrupted | None:
    try:
        sleep(wait_s)
    except BaseException as error:  # noqa: BLE001  an interrupted wait ends the run, and is raised again after it
        work.error = error
        return Interrupted()
    return None
