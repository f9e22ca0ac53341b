"""``rerail resume``: runs a unit that was started with ``rerail run`` again, from any process."""

from __future__ import annotations

import sys
import time
from pathlib import Path
from typing import TYPE_CHECKING

import click

from rerail.cli.here import ledger_here, project_here, working_directory
from rerail.cli.live import live_sleep
from rerail.cli.main import json_option
from rerail.cli.run import open_loop, run_unit
from rerail.errors import UnknownNameError, UsageError
from rerail.ids import UnitName
from rerail.runner.unit import Unit
from rerail.verbs.history import known_units, last_outcome
from rerail.verbs.ladder import phase_of
from rerail.verbs.units import scoped

if TYPE_CHECKING:
    from rerail.ledger.store import Ledger, PauseRecord
    from rerail.runner.blocking import Sleeper


@click.command("resume")
@click.argument("unit")
@click.option("--wait", is_flag=True, help="First wait until the time that its pause names.")
@json_option
def command(unit: str, wait: bool, as_json: bool) -> int:
    """Run UNIT again where it paused, with the operator's answer or after its time has come."""
    unit = scoped(unit)
    with ledger_here() as ledger:
        pauses = ledger.pauses(include_answered=True)
        standing = ledger.standing(UnitName(unit))
        pause = next((each for each in reversed(pauses) if each.unit == unit), None)
        if pause is None or standing is None:
            raise _not_paused(ledger, unit)
    if (phase := phase_of(project_here(), unit, pause.command)) is not None:
        from rerail.cli.verify import climb

        if wait:
            _wait(pause, live_sleep(sys.stderr))
        return climb((phase,), keep_going=False, as_json=as_json, verb="resume")
    if pause.command is None:
        raise UsageError(
            f"{unit}: it is no command; only the harness that runs it can run it again",
            hint="have the harness run the unit; the answer takes effect then",
        )
    loop = open_loop(working_directory(), as_json=as_json)
    if wait:
        _wait(pause, loop.sleep)
    declared = Unit(UnitName(unit), effects=standing.state.effects, marks_starts=True)
    return run_unit(loop, declared, pause.command, cwd=Path(pause.cwd), verb="resume", as_json=as_json)


def _wait(pause: PauseRecord, sleep: Sleeper) -> None:
    if pause.resume_at_s is not None:
        sleep(max(0.0, pause.resume_at_s - time.time()))


def _not_paused(ledger: Ledger, unit: str) -> UsageError:
    """Return why a unit without a pause cannot be resumed: there is none of that name, or it waits for nothing."""
    units = known_units(ledger)
    if unit not in units:
        return UnknownNameError("unit", unit, units)
    outcome = last_outcome(ledger, unit)
    ended = f": its last run ended as {outcome}" if outcome else ""
    return UsageError(f"{unit} is not paused{ended}", hint="start it with rerail run")
