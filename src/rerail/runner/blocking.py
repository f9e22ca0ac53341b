"""The blocking driver: performs a script's effects in the calling thread."""

from __future__ import annotations

from types import CoroutineType
from typing import TYPE_CHECKING, Any, Protocol, assert_never

from rerail.decisions.effects import (
    Announce,
    AskLanded,
    Call,
    DrawWait,
    Finish,
    IdentifyInput,
    MakeRepair,
    PlanHeal,
    PlanRepair,
    RunHeal,
    Sleep,
    Spend,
)
from rerail.observe import contained, warn

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
        reply, first = attempt() if first is None else first, None
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
            case Spend() | DrawWait() | Announce() | Finish() | IdentifyInput() | PlanRepair() | PlanHeal():
                reply = performer.perform(effect)
            case _:
                try:
                    reply = _act(effect, session, sleep)
                except BaseException as error:  # noqa: BLE001  it ends the run, and is raised again after it
                    reply = work.interrupted(error)


def _act(effect: Sleep | MakeRepair | AskLanded | RunHeal, session: Session, sleep: Sleeper) -> Reply:
    """Perform an effect that takes its time, and so may be interrupted."""
    work, performer = session.work, session.performer
    match effect:
        case Sleep():
            performer.emit("wait.started", wait_s=effect.wait_s)
            sleep(effect.wait_s)
            return None
        case MakeRepair():
            return performer.repaired(
                _answer("repair", work, lambda: work.ask_repairer(performer.request(effect.record)))
            )
        case AskLanded():
            return performer.probed(_answer("landed", work, work.ask_landed))
        case RunHeal():
            return performer.perform(effect)
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
