"""The events of a recovery: one table of names and fields, and the `Observer` that passes them on to whoever listens.

Nobody listens by default, and then an event costs a few look-ups and imports nothing. An event goes to the caller's callback, and
beside it to one channel only, so that it is never written twice: the caller's structlog logger; else stderr, as JSON or for
people, where that was asked for; else structlog, where the program configured it; else the logger ``rerail`` of `logging`, where
the program gave it or a logger above it a handler. What the ledger stores is the runner's business.

No listener ends a recovery: what one raises is told once, as a `RuntimeWarning`, and the recovery goes on (`contained`).
"""

from __future__ import annotations

import sys
from contextlib import contextmanager, suppress
from typing import TYPE_CHECKING, Any, Literal, NamedTuple, Protocol, assert_never, cast, get_args

from rerail.decisions.model import Again, Decision, HandBack, Heal, Pause, Probe, Proceed, Repair, Retry, Stop

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping
    from logging import Logger

    from rerail.decisions.effects import FailureRecord

LOGGER = "rerail"
"""The logger's name, for `logging` and structlog."""

DEBUG, INFO, WARNING = 10, 20, 30  # as in logging, which is not imported for them

EventName = Literal[
    "attempt.started",
    "failure.classified",
    "budget.charged",
    "ledger.unusable",
    "wait.started",
    "input.repaired",
    "heal.finished",
    "effect.probed",
    "pause.asked",
    "pause.answered",
    "answer.spent",
    "unit.refused",
    "unit.finished",
]


class EventSpec(NamedTuple):
    """One event."""

    level: int
    """As in `logging`."""
    meaning: str
    fields: tuple[str, ...]
    """Out of `FIELDS`, beside those of `BOUND` that are known."""


BOUND = ("unit", "run", "attempt", "class", "reason")
"""Fields that any event may carry."""

FIELDS: Mapping[str, str] = {
    "unit": "the unit's name",
    "run": "the unit run",
    "attempt": "the attempt, counted from 1",
    "class": "the failure's class",
    "reason": "the finer reason within the class",
    "rule": "the rule that named the failure; empty when none did",
    "failure": "the failure in one line",
    "source": "where the deciding evidence stands: a stream, or the field",
    "line": "its line in that stream, counted from 1; 0 for a field",
    "evidence": "the deciding line or value, redacted",
    "decision": "what is done: retry, repair, heal, probe, pause, stop, hand-back, proceed or again",
    "why": "why it pauses or stops",
    "wait_s": "seconds to wait before the next attempt",
    "resume_at_s": "when a pause may end by itself: wall clock, seconds since the epoch",
    "retry_after_s": "the server's own word on when to come back, in seconds",
    "may_have_landed": "whether the effect may have happened although the attempt failed",
    "plan": "what exactly a repair or heal will do",
    "granted": "whether the recovery was granted",
    "refused_by": "the limit that refused it",
    "remaining": "recoveries that are left to the unit for this class",
    "budget": "recoveries that the unit has for this class",
    "error": "what the store said",
    "input": "the fingerprint of the new input; absent where nobody could repair it",
    "outcome": "how it ended",
    "recipe": "the heal that was carried out, or that came nearest",
    "steps": "what was done, a sentence each",
    "backup": "the backup that holds what was before",
    "undo": "the command that takes it back",
    "expired": "old backups that were let go by the way",
    "landing": "landed, absent or unknown",
    "pause": "the question's id",
    "question": "the question in one line",
    "answer": "retry, approve, skip or abort",
    "note": "what the operator wrote with the answer",
    "detail": "what exactly is wrong",
}
"""Every field of every event; one name means one thing."""

EVENTS: Mapping[EventName, EventSpec] = {
    "attempt.started": EventSpec(DEBUG, "the unit is about to run", ()),
    "failure.classified": EventSpec(
        WARNING,
        "an attempt failed, was named, and what follows is decided: the same facts as the block",
        (
            *("rule", "failure", "source", "line", "evidence", "retry_after_s", "may_have_landed"),
            *("decision", "why", "wait_s", "resume_at_s", "plan", "remaining", "budget"),
        ),
    ),
    "budget.charged": EventSpec(
        INFO, "a recovery was asked for, and granted or not", ("granted", "refused_by", "remaining", "budget")
    ),
    "ledger.unusable": EventSpec(WARNING, "the state store failed; its budgets count as spent", ("error",)),
    "wait.started": EventSpec(INFO, "the wait before the next attempt begins", ("wait_s",)),
    "input.repaired": EventSpec(INFO, "a repairer was asked for a new input", ("input",)),
    "heal.finished": EventSpec(
        INFO,
        "a heal ended; whether it was one, only the unit's next attempt tells",
        ("outcome", "recipe", "steps", "backup", "undo", "expired", "detail"),
    ),
    "effect.probed": EventSpec(INFO, "the unit was asked whether its effect landed", ("landing",)),
    "pause.asked": EventSpec(
        WARNING, "a question to the operator is open", ("pause", "question", "why", "resume_at_s")
    ),
    "pause.answered": EventSpec(INFO, "the operator answered", ("pause", "answer", "note")),
    "answer.spent": EventSpec(
        WARNING, "an answer that the operator gave for another command takes effect on this one", ("pause", "answer")
    ),
    "unit.refused": EventSpec(WARNING, "the unit was not run", ("detail",)),
    "unit.finished": EventSpec(
        INFO, "the run's one terminal record is written", ("outcome", "decision", "why", "resume_at_s", "pause")
    ),
}
"""Every event, in the order of the path."""

_IN_MESSAGE = (
    *("failure", "decision", "why", "wait_s", "resume_at_s", "granted", "refused_by", "remaining", "budget"),
    *("outcome", "landing", "pause", "question", "answer", "note", "detail", "error"),
)
"""The fields that say what happened, as `logging` shows them to people; the record has all of them."""

_LEVELS: Mapping[str, int] = {name: spec.level for name, spec in EVENTS.items()}
_METHODS = {DEBUG: "debug", INFO: "info", WARNING: "warning"}


class StructLogger(Protocol):
    """A structlog logger, bound to whatever its owner likes."""

    def debug(self, event: str, /, **fields: Any) -> object: ...  # noqa: D102
    def info(self, event: str, /, **fields: Any) -> object: ...  # noqa: D102
    def warning(self, event: str, /, **fields: Any) -> object: ...  # noqa: D102


class Observer:
    """Passes events on.

    Args:
        callback: Given every event's name and fields.
        logger: A structlog logger that takes the events.
        log: ``"json"`` or ``"console"`` writes them to stderr, ``"off"`` to no log at all; None leaves them to the program's
            own logging.

    Raises:
        ValueError: *log* is none of these.
    """

    def __init__(
        self,
        callback: Callable[[str, Mapping[str, object]], None] | None = None,
        *,
        logger: StructLogger | None = None,
        log: str | None = None,
    ) -> None:
        if log not in (None, "json", "console", "off"):
            raise ValueError(f"log must be 'json', 'console' or 'off', got {log!r}")
        self._callback = callback
        self._logger = logger or (_stderr_logger(log) if log in ("json", "console") else None)
        self._is_off = log == "off"
        self._std: Logger | None = None

    @property
    def listens(self) -> bool:
        """Whether anybody hears of a run in which nothing fails; its events are at most INFO."""
        return self._callback is not None or self._is_heard(INFO)

    @property
    def hears_failures(self) -> bool:
        """Whether anybody hears of a run in which something fails; its events are at most WARNING."""
        return self._callback is not None or self._is_heard(WARNING)

    def emit(self, name: EventName, /, **fields: object) -> None:
        """Pass an event on, if anybody listens.

        Args:
            name: Out of `EVENTS`.
            fields: Those of its row, and of `BOUND`; ``class_`` stands for ``class``. They are redacted here.
        """
        level = _LEVELS[name]
        is_heard = self._is_heard(level)
        if not is_heard and self._callback is None:
            return
        clean = {key.rstrip("_"): _clean(value) for key, value in fields.items() if value is not None}
        if self._callback is not None:
            with contained("on_event"):
                self._callback(name, clean)
        if is_heard:
            with contained("logger"):
                self._write(level, name, clean)

    def failure(self, record: FailureRecord) -> None:
        """Pass a named failure on: the facts of its block, as an event."""
        if self._callback is not None or self._is_heard(WARNING):
            self.emit("failure.classified", **failure_facts(record))

    def _is_heard(self, level: int) -> bool:
        """Whether there is a channel for events of this level. Asked at every event, so it is all in one place."""
        if self._logger is not None:
            return True
        structlog = sys.modules.get("structlog")
        if structlog is not None and structlog.is_configured():
            return not self._is_off
        if self._std is None:
            # A program that never imported logging has nobody who listens there.
            if "logging" not in sys.modules:
                return False
            self._std = sys.modules["logging"].getLogger(LOGGER)
        # Without a handler, logging would print warnings to stderr by itself.
        return self._std.isEnabledFor(level) and self._std.hasHandlers() and not self._is_off

    def _write(self, level: int, name: str, fields: dict[str, object]) -> None:
        structlog = sys.modules.get("structlog")
        if self._logger is not None:
            getattr(self._logger, _METHODS[level])(name, **fields)
        elif structlog is not None and structlog.is_configured():
            getattr(structlog.get_logger(LOGGER), _METHODS[level])(name, **fields)
        elif self._std is not None:
            facts = _message(fields)
            # The names in the template, the values beside it: what groups records by their template groups by event.
            template = " ".join((name, *(f"{key}=%s" for key in facts)))
            self._std.log(level, template, *facts.values(), extra={"event": name, **_extra(fields)})


@contextmanager
def contained(callback: str, *, but: tuple[type[BaseException], ...] = ()) -> Iterator[None]:
    """Let no exception of somebody else's code end a recovery: it is told as a `RuntimeWarning`, and what follows goes on.

    Python shows the same warning once; a program that turns warnings into errors gets it raised. What is no `Exception`, as a
    cancellation, passes.

    Args:
        callback: What is called, as its caller named it.
        but: Exceptions that pass too.
    """
    try:
        yield
    except but:
        raise
    except Exception as error:  # noqa: BLE001  a callback may raise anything
        from traceback import format_exception_only  # it copes with an error whose own text cannot be had

        warn(callback, f"raised {_clean(''.join(format_exception_only(error)).strip())}")


def warn(callback: str, what: str) -> None:
    """Tell the program's author that a callback did not do its part; the recovery goes on without it."""
    import warnings

    warnings.warn(f"rerail: {callback} {what}; the recovery goes on without it", RuntimeWarning, stacklevel=1)


def _message(fields: Mapping[str, object]) -> dict[str, str]:
    """Return the facts that people read in a line, in the order of reading; what would not be one word is quoted."""
    class_, reason = fields.get("class"), fields.get("reason")
    facts = {
        "unit": fields.get("unit"),
        "class": f"{class_}/{reason}" if class_ and reason else class_,
        **{key: fields[key] for key in _IN_MESSAGE if key in fields},
    }
    return {key: _word(str(value)) for key, value in facts.items() if value is not None}


def _word(text: str) -> str:
    if text and not set(text) & set(' "='):
        return text
    return '"' + text.replace('"', '\\"') + '"'


def failure_facts(record: FailureRecord) -> dict[str, object]:
    """Return the facts of a named failure, as an event's fields."""
    named, balance = record.classification, record.balance
    cited = named.evidence[0] if named.evidence else None
    return {
        "unit": record.unit,
        "run": record.run,
        "attempt": record.attempt,
        "class": named.class_,
        "reason": named.reason,
        "rule": named.rule,
        "failure": named.summary,
        "source": cited and cited.stream,
        "line": cited and cited.line,
        "evidence": cited and cited.text,
        "retry_after_s": named.retry_after_s,
        "may_have_landed": named.may_have_landed,
        **decision_facts(record.decision),
        "plan": record.plan or None,
        "remaining": balance and balance.remaining,
        "budget": balance and balance.budget,
    }


def decision_facts(decision: Decision) -> dict[str, object]:
    """Return a decision as an event's fields."""
    match decision:
        case Retry(wait_s):
            return {"decision": "retry", "wait_s": wait_s}
        case Repair():
            return {"decision": "repair"}
        case Heal():
            return {"decision": "heal"}
        case Probe():
            return {"decision": "probe"}
        case Pause(why, resume_at_s):
            return {"decision": "pause", "why": why, "resume_at_s": resume_at_s}
        case Stop(why):
            return {"decision": "stop", "why": why}
        case HandBack():
            return {"decision": "hand-back"}
        case Proceed():
            return {"decision": "proceed"}
        case Again():
            return {"decision": "again"}
    assert_never(decision)


def _clean(value: object) -> object:
    """Return a field's value as plain data without secrets and without characters that a log could be forged with."""
    if isinstance(value, bool | int | float):
        return value
    if isinstance(value, list | tuple):
        return [_clean(item) for item in value]
    from rerail.evidence.ansi import printable
    from rerail.evidence.redact import redact

    return printable(redact(str(value)))


def _extra(fields: dict[str, object]) -> dict[str, object]:
    """Return fields that `logging` takes: it refuses names that its records already have."""
    import logging

    structlog = sys.modules.get("structlog")
    bound = structlog.contextvars.get_contextvars() if structlog is not None else {}
    taken = {"message", "asctime", *vars(logging.makeLogRecord({}))}
    return {f"{LOGGER}_{key}" if key in taken else key: value for key, value in {**bound, **fields}.items()}


def _stderr_logger(log: str) -> StructLogger:
    """Return a structlog logger of our own; the program's configuration of structlog stays as it is."""
    import os

    import structlog

    renderer = (
        structlog.processors.JSONRenderer()
        if log == "json"
        else structlog.dev.ConsoleRenderer(colors=sys.stderr.isatty() and not os.environ.get("NO_COLOR"))
    )
    logger = structlog.wrap_logger(
        _Stderr(),
        processors=[
            structlog.contextvars.merge_contextvars,
            structlog.processors.add_log_level,
            structlog.processors.TimeStamper(fmt="iso", utc=True),
            renderer,
        ],
        wrapper_class=structlog.make_filtering_bound_logger(DEBUG),
    )
    return cast("StructLogger", logger)


class _Stderr:
    """Writes finished lines to whatever stderr is now. One that is closed takes nothing, and ends nothing."""

    def msg(self, line: str) -> None:
        with suppress(OSError, ValueError):
            print(line, file=sys.stderr, flush=True)  # noqa: T201  this is the log

    debug = info = warning = msg


assert EVENTS.keys() == set(get_args(EventName)), "every event has its row"
