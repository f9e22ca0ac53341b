"""Units that are commands: their names, what is declared about them, and the result of one that has nowhere to run."""

from __future__ import annotations

import os
import re
from hashlib import blake2b
from pathlib import Path
from typing import TYPE_CHECKING

from rerail.boundary import hints
from rerail.boundary.result import Result
from rerail.boundary.slugs import ErrorSlug
from rerail.errors import UsageError

if TYPE_CHECKING:
    from collections.abc import Sequence

    from rerail.runner.unit import Unit

_PROGRAM_CHARS = 32


def default_name(argv: Sequence[str], root: str) -> str:
    """Return a command's unit name: the same command in the same project shares its budget with its earlier runs.

    The arguments stand in it as a hash alone: they are long, hard to quote, and may hold a secret.
    """
    program = re.sub(r"[^A-Za-z0-9._+-]", "", Path(argv[0]).name).lstrip("-")[:_PROGRAM_CHARS] or "command"
    digest = blake2b("\0".join((root, *argv)).encode("utf-8", "surrogateescape"), digest_size=4).hexdigest()
    return f"{program}-{digest}"


def scoped(name: str) -> str:
    """Return a unit's name within the harness session that ``RERAIL_RUN`` names; outside of one, the name itself."""
    session = os.environ.get("RERAIL_RUN")
    return f"{name}@{session}" if session and name and not name.endswith(f"@{session}") else name


def command_unit(argv: Sequence[str], root: str, *, name: str | None, effects: str) -> Unit:
    """Return the unit that a command is.

    Args:
        argv: The command.
        root: The project's root.
        name: What its caller calls it; None makes a name of the command and the project.
        effects: A member of `Effects`.

    Raises:
        UsageError: The name is none.
    """
    from rerail.decisions.model import Effects
    from rerail.ids import UnitName
    from rerail.runner.unit import Unit

    try:
        unit = UnitName(scoped(default_name(argv, root) if name is None else name))
        return Unit(unit, effects=Effects(effects), marks_starts=True)
    except ValueError as error:
        raise UsageError(f"--unit: {error}", hint="give a name such as verify:tests") from None


def nowhere_to_run(error: UsageError) -> Result:
    """Return the result of a run in a directory that no longer exists: nothing is started there, or anywhere else instead."""
    step = hints.remove_cause(failure_class="worktree", remedy="start again from a directory that exists")
    return Result(False, "run", error.message, {"outcome": "stopped"}, hints=(step,), error=ErrorSlug.STOPPED)
