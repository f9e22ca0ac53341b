"""The verification ladder: which phases there are, and each run as a unit until one does not pass."""

from __future__ import annotations

import time
from pathlib import Path
from typing import TYPE_CHECKING, Any, assert_never

import attrs

from rerail.app import declared
from rerail.boundary import hints
from rerail.boundary.exit_codes import ExitCode, exit_code
from rerail.boundary.result import Result
from rerail.boundary.slugs import ErrorSlug
from rerail.decisions.model import Effects, Why
from rerail.ladder.diff import COMMAND, DiffWork
from rerail.ladder.model import LeftOut, Looks, Phase, Runs, Unresolved
from rerail.ladder.work import FLAKY, Judged, PhaseWork
from rerail.ledger.store import LeaseLostError, UnitBusyError
from rerail.runner.command import Signalled, Sinks
from rerail.runner.outcome import Paused, Stopped, Succeeded
from rerail.runner.unit import Unit
from rerail.settings_file import DIFF
from rerail.verbs.ended import cancelled, result_of, spends_elsewhere, with_output
from rerail.verbs.failed import of_error
from rerail.verbs.history import failure_since_success
from rerail.verbs.ladder import VERB, Ladder, facts_of, unit_of, unstated

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from rerail.app import Loop
    from rerail.boundary.hints import Hint
    from rerail.decisions.effects import FailureRecord
    from rerail.ladder.diff import Changes
    from rerail.process import EndRequest
    from rerail.reports import Check, Report
    from rerail.runner.outcome import Outcome

_MOST_SHOWN = 100
"""Failed checks, and changed files, that the data names; all are counted."""

_SEVERITY = ("passed", "skipped", "not-reached", "handed-back", "unresolved", "paused", "flaky", "stopped", "cancelled")
"""The outcomes of a phase, the worst last."""
_OUTCOME_OF_CODE = {
    ExitCode.HANDED_BACK: "handed-back",
    ExitCode.PAUSED: "paused",
    ExitCode.STOPPED: "stopped",
    ExitCode.INTERRUPTED: "cancelled",
    ExitCode.TERMINATED: "cancelled",
}


@attrs.frozen
class Reached:
    """A phase, and how it ended."""

    phase: Phase
    outcome: str
    result: Result | None = None
    """None where nothing was run."""
    judged: Judged = attrs.field(factory=Judged)
    changes: Changes | None = None
    duration_s: float | None = None
    signal: str | None = None
    """The one that cancelled it: ``SIGTERM``."""

    @property
    def is_in_order(self) -> bool:
        """Whether the ladder goes on from here."""
        if isinstance(self.phase, Unresolved):
            return not self.phase.is_wanted
        return self.outcome in ("passed", "skipped")

    @property
    def error(self) -> ErrorSlug | None:
        """Why it is not in order."""
        if self.is_in_order:
            return None
        if self.result is not None:
            return self.result.error
        return ErrorSlug.PHASE_UNRESOLVED if self.outcome == "unresolved" else None


@attrs.frozen
class Climbed:
    """How a ladder ended."""

    result: Result
    signal: str | None
    """The one that cancelled it."""


def verify(
    loop: Loop,
    ladder: Ladder,
    *,
    verb: str = VERB,
    keep_going: bool = False,
    sinks: Sinks = Sinks(None, None),  # noqa: B008  a frozen value
    end: EndRequest | None = None,
    tell: Callable[[Phase], None] = lambda _: None,
    with_outputs: bool = False,
) -> Climbed:
    """Run the phases in order, each as the unit ``verify:NAME``, and return how the ladder ended: as its worst phase.

    Args:
        loop: What runs them.
        ladder: The phases.
        verb: As it is typed.
        keep_going: Whether the phases after one that did not pass are run as well.
        sinks: Where their output is shown.
        end: Another thread's way to end the phase that runs, and with it the ladder.
        tell: Told of each phase before it runs.
        with_outputs: Whether the data has the end of what the phases that did not pass printed.
    """
    reached: list[Reached] = []
    goes_on = True
    for phase in ladder.phases:
        if not goes_on:
            reached.append(Reached(phase, "not-reached"))
            continue
        made = _reach(loop, phase, sinks, end, tell, with_outputs=with_outputs)
        reached.append(made)
        goes_on = made.is_in_order or (keep_going and made.outcome != "cancelled")
    result = _summed(reached, ladder)._replace(verb=verb)
    return Climbed(result, next((each.signal for each in reached if each.signal), None))


def _reach(
    loop: Loop,
    phase: Phase,
    sinks: Sinks,
    end: EndRequest | None,
    tell: Callable[[Phase], None],
    *,
    with_outputs: bool,
) -> Reached:
    match phase:
        case LeftOut():
            return Reached(phase, "skipped")
        case Unresolved():
            return Reached(phase, "unresolved")
        case Runs() | Looks():
            tell(phase)
            work = _work(loop, phase, sinks, end)
            return _run(loop, phase, work, with_outputs=with_outputs)
    assert_never(phase)


def _work(loop: Loop, phase: Runs | Looks, sinks: Sinks, end: EndRequest | None) -> PhaseWork | DiffWork:
    from rerail.git.tree_state import tree_state

    name, clock, settings = unit_of(phase.name), loop.tools.clock, loop.project.settings
    if isinstance(phase, Looks):
        unit = declared(Unit(name, effects=Effects.NONE), settings)
        return DiffWork(unit, loop.project.root, clock=clock, tree_state=tree_state)

    def past() -> FailureRecord | None:
        return failure_since_success(loop.tools.ledger, name)

    unit = declared(Unit(name, effects=phase.effects, marks_starts=True), settings)
    return PhaseWork(
        phase, loop.project.root, past, unit=unit, sinks=sinks, tree_state=tree_state, clock=clock, end=end
    )


def _run(loop: Loop, phase: Runs | Looks, work: PhaseWork | DiffWork, *, with_outputs: bool) -> Reached:
    unit, started_s = work.unit.name, time.monotonic()
    command = phase.command if isinstance(phase, Runs) else COMMAND
    notices = spends_elsewhere(loop, unit, command, Path(work.cwd)) if isinstance(phase, Runs) else ()
    outcome: Outcome[Any] | None = None
    signal: str | None = None
    try:
        outcome = loop.drive(work)
    except (KeyboardInterrupt, Signalled) as ended:
        signal = ended.signal if isinstance(ended, Signalled) else "SIGINT"
        result = cancelled(VERB, unit, {})
    except (UnitBusyError, LeaseLostError) as error:
        result = of_error(VERB, error)
    else:
        result = result_of(VERB, unit, outcome, loop, command=command, notices=notices)
        if with_outputs and isinstance(phase, Runs) and not result.ok:
            result = with_output(result, outcome)
    judged = work.judged if isinstance(work, PhaseWork) else Judged(work.report)
    return Reached(
        phase,
        _outcome(result, outcome),
        result,
        judged,
        work.changes if isinstance(work, DiffWork) else None,
        time.monotonic() - started_s,
        signal,
    )


def _outcome(result: Result, outcome: Outcome[Any] | None) -> str:
    if isinstance(outcome, Succeeded):
        return "passed"
    if isinstance(outcome, Paused) and outcome.history and outcome.history[-1].classification.reason == FLAKY:
        return "flaky"
    if isinstance(outcome, Stopped) and outcome.why is Why.SKIPPED:
        return "skipped"  # the operator's answer to its question: go on without it
    return _OUTCOME_OF_CODE[exit_code(result.error)]


def _summed(reached: Sequence[Reached], ladder: Ladder) -> Result:
    """Return what the ladder came to: what its worst phase did."""
    worst = max(reached, key=lambda each: 0 if each.is_in_order else _SEVERITY.index(each.outcome))
    data = {"outcome": worst.outcome, "phases": [_row(each, ladder.file) for each in reached], "faults": ladder.faults}
    wanted = [each.phase for each in reached if each.error is ErrorSlug.PHASE_UNRESOLVED]
    if worst.error is None and (unsaid := _nothing_is_stated(reached)):
        names = ", ".join(unsaid)
        message = f"nothing is verified: no file of the project states {names}"
        step = hints.state_phases(phases=names, file=ladder.file)
        return Result(False, VERB, message, {**data, "outcome": "unresolved"}, (), (step,), ErrorSlug.PHASE_UNRESOLVED)
    missing = unstated(each.phase for each in reached)
    notices = [hints.phases_unstated(phases=", ".join(missing), file=ladder.file)] if missing else []
    notices = [*(hint for each in reached if each is not worst for hint in _notices(each.result)), *notices]
    if worst.error is None:
        data["outcome"] = "passed"
        return Result(True, VERB, _counted(reached), data, hints=(*_notices(worst.result), *notices))
    if worst.result is None:
        names = ", ".join(phase.name for phase in wanted)
        message = f"{names}: not verified: {_question(wanted[0])}; {_counted(reached)}"
        return Result(
            False, VERB, message, data, (), (hints.state_phases(phases=names, file=ladder.file),), worst.error
        )
    result = worst.result
    message = f"{result.message}; {_counted(reached)}"
    return Result(False, VERB, message, data, result.diagnostics, (*result.hints, *notices), worst.error)


def _nothing_is_stated(reached: Sequence[Reached]) -> list[str]:
    """Return the phases of a ladder that has verified nothing: whatever the change looks like, no file states a check of it."""
    phases = [each.phase for each in reached if each.phase.name != DIFF]
    return unstated(phases) if all(isinstance(phase, Unresolved) for phase in phases) else []


def _question(phase: Phase) -> str:
    return phase.question if isinstance(phase, Unresolved) else ""


def _notices(result: Result | None) -> tuple[Hint, ...]:
    """Return the hints of a phase that belong to whatever the ladder came to."""
    found = () if result is None else result.hints
    return tuple(hint for hint in found if hints.REGISTRY[hint.id].category is not hints.Category.NEXT_STEP)


def _counted(reached: Sequence[Reached]) -> str:
    """Return which phases ended how, in the order of the outcomes."""
    names = {outcome: [each.phase.name for each in reached if each.outcome == outcome] for outcome in _SEVERITY}
    return "; ".join(f"{outcome.replace('-', ' ')}: {', '.join(found)}" for outcome, found in names.items() if found)


def _row(reached: Reached, file: str) -> dict[str, object]:
    """Return a phase as data, with how it ended."""
    row = facts_of(reached.phase, reached.outcome, file)
    if reached.result is None:
        return row
    judged = reached.judged
    report = judged.report
    return {
        **row,
        "detail": reached.result.message,
        "duration_s": None if reached.duration_s is None else round(reached.duration_s, 3),
        "report": None if report is None else _report(report),
        "failed_checks": [_check(each) for each in report.failed[:_MOST_SHOWN]] if report else [],
        "flaky_checks": judged.flaky[:_MOST_SHOWN],
        "notes": judged.notes,
        "changes": None if reached.changes is None else _changes(reached.changes),
        "run": dict(reached.result.data),
    }


def _report(report: Report) -> dict[str, object]:
    return {
        "format": report.format,
        "total": report.total,
        "failed": report.count,
        "skipped": report.skipped,
        "warnings": report.warnings,
    }


def _check(check: Check) -> dict[str, object]:
    return {
        "name": check.name,
        "message": check.message,
        "file": check.file,
        "line": check.line,
        "column": check.column,
    }


def _changes(changes: Changes) -> dict[str, object]:
    return {
        "base": changes.base,
        "base_name": changes.base_name,
        "files": len(changes.files),
        "added": sum(each.added or 0 for each in changes.files),
        "deleted": sum(each.deleted or 0 for each in changes.files),
        "changed": [
            {"path": each.path, "added": each.added, "deleted": each.deleted} for each in changes.files[:_MOST_SHOWN]
        ],
        "untracked": changes.untracked[:_MOST_SHOWN],
        "unmerged": changes.unmerged[:_MOST_SHOWN],
    }
