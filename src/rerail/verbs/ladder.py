"""The ladder of a project as its files state it: what would be run, by whose word, and what no file says."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, assert_never

import attrs

from rerail.boundary import hints
from rerail.boundary.result import Result
from rerail.errors import UnknownNameError
from rerail.evidence.ansi import printable
from rerail.evidence.redact import redact_command
from rerail.ids import UnitName
from rerail.ladder.look import look
from rerail.ladder.model import LeftOut, Looks, Phase, Runs, Unresolved, shown
from rerail.ladder.resolve import resolve
from rerail.settings import VerifySettings
from rerail.settings_file import OWN_FILE, PHASES, SHARED_FILE
from rerail.verbs.units import scoped

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence
    from pathlib import Path

    from rerail.app import Project

VERB = "verify"
TITLE = "verify-ladder (resolved):"
_WIDEST = 48
"""Characters of a command in the block, up to which the column of sources stands in line."""


@attrs.frozen
class Ladder:
    """The phases of a project, as its files state them."""

    phases: tuple[Phase, ...]
    faults: tuple[str, ...]
    """Files that could not be read; what they state is not known."""
    file: str
    """Where the operator says what no file states."""

    def block_lines(self) -> tuple[str, ...]:
        """Return the lines of the block that is printed."""
        width = max(len(phase.name) for phase in self.phases) + 1
        rows = [(f"{phase.name}:", *what_and_why(phase, self.file)) for phase in self.phases]
        wide = min(_WIDEST, max(len(what) for _, what, _ in rows))
        return (TITLE, *(f"  {name:<{width}} {what:<{wide}}  {why}".rstrip() for name, what, why in rows))

    def rows(self) -> list[dict[str, object]]:
        """Return the phases as data."""
        return [facts_of(phase, "planned", self.file) for phase in self.phases]


def ladder_of(project: Project, asked: Sequence[str] = ()) -> Ladder:
    """Return the phases that are asked for; none asks for all.

    Raises:
        UnknownNameError: There is no such phase.
    """
    for name in asked:
        if name not in PHASES:
            raise UnknownNameError("phase", name, PHASES)
    facts = look(project.root)
    is_shared = project.settings.path is not None and project.settings.path.name == SHARED_FILE
    phases = resolve(facts, project.settings.verify, asked)
    return Ladder(phases, facts.faults, SHARED_FILE if is_shared else OWN_FILE)


def phase_of(project: Project, unit: str, command: Sequence[str] | None) -> str | None:
    """Return the phase whose unit this is, if it still is the command that the unit was paused with; None for any other unit."""
    for phase in ladder_of(project).phases:
        if unit_of(phase.name) == unit and isinstance(phase, Runs | Looks):
            now = phase.command if isinstance(phase, Runs) else None
            return phase.name if now == (None if command is None else tuple(command)) else None
    return None


def proposed(root: Path) -> str:
    """Return lines for a first settings file: what is stated for each phase, and what is not, as comments."""
    lines = ["", "# What `rerail verify` runs; without these tables, what the project's own files state."]
    for phase in resolve(look(root), VerifySettings()):
        if isinstance(phase, Runs):
            lines += [
                "",
                f"# [verify.{phase.name}]",
                _commented(f"command = {json.dumps(shown(phase.command))}", phase.source),
            ]
        elif isinstance(phase, Unresolved):
            lines += ["", f"# [verify.{phase.name}]", _commented('skip = "why"', f"or a command: {phase.question}")]
    return "\n".join([*lines, ""])


def _commented(line: str, why: str) -> str:
    return printable(f"# {line:<30} # {why}")


def plan(ladder: Ladder) -> Result:
    """Return what would be run, without running it."""
    missing = unstated(ladder.phases)
    steps = (hints.phases_unstated(phases=", ".join(missing), file=ladder.file),) if missing else ()
    return Result(True, VERB, "", {"outcome": "planned", "phases": ladder.rows(), "faults": ladder.faults}, hints=steps)


def unit_of(name: str) -> UnitName:
    """Return the name of a phase's unit, within the harness session."""
    return UnitName(scoped(f"verify:{name}"))


def unstated(phases: Iterable[Phase]) -> list[str]:
    """Return the names of the phases that no file states."""
    return [phase.name for phase in phases if isinstance(phase, Unresolved)]


def what_and_why(phase: Phase, file: str) -> tuple[str, str]:
    """Return what a phase is, and by whose word."""
    match phase:
        case Runs():
            return shown(phase.command), phase.source
        case Looks():
            return "what changed", phase.source
        case LeftOut():
            return "skipped", f"{phase.because} ({phase.source})" if phase.source else phase.because
        case Unresolved():
            table = "tool.rerail.verify" if file == SHARED_FILE else "verify"
            return "unresolved", f"{phase.question}; add [{table}.{phase.name}] to {file}"
    assert_never(phase)


def facts_of(phase: Phase, outcome: str, file: str) -> dict[str, object]:
    """Return a phase as data, before it is run."""
    return {
        "name": phase.name,
        "unit": unit_of(phase.name),
        "outcome": outcome,
        "command": list(redact_command(phase.command)) if isinstance(phase, Runs) else None,
        "source": phase.source,
        "detail": what_and_why(phase, file)[1] if isinstance(phase, LeftOut | Unresolved) else "",
        "also": phase.also if isinstance(phase, Runs) else (),
    }
