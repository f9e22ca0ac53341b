"""The blocking driver: performs a script's effects in the calling thread."""

from __future__ import annotations

from types import CoroutineType
from typing import TYPE_CHECKING, Any, Protocol, assert_never

from rerail.decisions.effects import TAKES_TIME, AskLanded, Call, Finish, MakeRepair, RunHeal, Sleep
from rerail.observe import contained, warn

if TYPE_CHECKING:
    from collections.abc import Callable

    from rerail.decisions.effects import Reply, Tried
    from rerail.runner.session import Session
    from rerail.runner.work import Work


class Sleeper(Protocol):
    """Waits in the calling thread; seconds on the monotonic clock."""

    def __call__(self, wait_s: float, /) -> None:
        """Return after the wait, or raise what interrupted it."""
        ...


def drive(session: Session, attempt: Callable[[], Tried], sleep: Sleeper) -> Finish:
    """Run a session, which was not started yet, to its end.

    Args:
        session: The run.
        attempt: Makes one attempt of its work.
        sleep: Performs the waits.
    """
    at = advance(session, None, sleep)
    while isinstance(at, Call):
        at = advance(session, attempt(), sleep)
    return at


def advance(session: Session, reply: Reply, sleep: Sleeper) -> Call | Finish:
    """Perform effects until the work is to be called, or the run has ended."""
    send, performs = session.script.send, session.performs
    while True:
        try:
            effect = send(reply)
        except StopIteration as done:
            end: Finish = done.value
            performs[Finish](session, end)
            return end
        if isinstance(effect, TAKES_TIME):
            try:
                reply = _act(effect, session, sleep)
            except BaseException as error:  # noqa: BLE001  it ends the run, and is raised again after it
                reply = session.work.interrupted(error)
        else:
            reply = performs[type(effect)](session, effect)
            if isinstance(effect, Call):
                return effect


def _act(effect: Sleep | MakeRepair | AskLanded | RunHeal, session: Session, sleep: Sleeper) -> Reply:
    """Perform an effect that takes its time, and so may be interrupted."""
    match effect:
        case Sleep():
            session.emit("wait.started", wait_s=effect.wait_s)
            sleep(effect.wait_s)
            return None
        case MakeRepair():
            work = session.work
            return session.repaired(_answer("repair", work, lambda: work.ask_repairer(session.request(effect.record))))
        case AskLanded():
            return session.probed(_answer("landed", session.work, session.work.ask_landed))
        case RunHeal():
            return session.performs[RunHeal](session, effect)
    assert_never(effect)


def _answer(callback: str, work: Work, ask: Callable[[], Any]) -> Any:
    """Return what a unit's callback says; None, which is no answer, where it raises or would have to be awaited."""
    answer = None
    with contained(callback, but=work.passes_through):
        answer = ask()
    if type(answer) is CoroutineType:
        answer.close()
        answer = None
        warn(callback, "is a coroutine function, which only `arun` and `async for` await")
    return answer
