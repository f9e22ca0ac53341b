"""``rerail run``: one command as one unit under recovery."""

from __future__ import annotations

import os
import shlex
import signal
import sys
from contextlib import contextmanager, suppress
from hashlib import blake2b
from pathlib import Path
from typing import TYPE_CHECKING, NoReturn

import click

from rerail.cli.ended import cancelled, result_of
from rerail.cli.live import live_sleep
from rerail.cli.main import json_option
from rerail.cli.output import leave
from rerail.decisions.model import Effects
from rerail.errors import UsageError
from rerail.ids import UnitName
from rerail.runner.command import Signalled
from rerail.runner.outcome import Succeeded
from rerail.runner.unit import Unit

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from types import FrameType
    from typing import BinaryIO

    from rerail.app import Loop
    from rerail.process import Finished
    from rerail.runner.outcome import Outcome

_NAME_CHARS = 48


@click.command("run")
@click.option(
    "--unit", "name", help="Its name; budgets are kept under it. Default: made of the command and the project."
)
@click.option(
    "--effects",
    type=click.Choice([effects.value for effects in Effects]),
    default=Effects.UNSAFE.value,
    show_default=True,
    help="What a second run would do: nothing, the same again, or harm.",
)
@click.option("--timeout", "timeout_s", type=click.FloatRange(min=0, min_open=True), help="Seconds for one attempt.")
@click.option("--passthrough", is_flag=True, help="End with the command's own exit code instead of 65, 70 or 75.")
@json_option
@click.argument("argv", nargs=-1, required=True, type=click.UNPROCESSED, metavar="-- CMD [ARGS]...")
def command(
    argv: tuple[str, ...], name: str | None, effects: str, timeout_s: float | None, passthrough: bool, as_json: bool
) -> int:
    """Run a command as one unit under recovery.

    Its output streams through untouched. A failure is named, with its evidence, before anything is done about it, and the
    name chooses what that is: back off, repair, heal, pause or stop.
    """
    loop = open_loop(Path.cwd(), as_json=as_json)
    unit = _declared(scoped(default_name(argv, loop.root) if name is None else name), effects)
    return run_unit(
        loop, unit, argv, cwd=Path.cwd(), verb="run", timeout_s=timeout_s, passthrough=passthrough, as_json=as_json
    )


def scoped(name: str) -> str:
    """Return a unit's name within the harness session that ``RERAIL_RUN`` names; outside of one, the name itself."""
    session = os.environ.get("RERAIL_RUN")
    return f"{name}@{session}" if session and name and not name.endswith(f"@{session}") else name


def _declared(name: str, effects: str) -> Unit:
    try:
        return Unit(UnitName(name), effects=Effects(effects), marks_starts=True)
    except ValueError as error:
        raise UsageError(f"--unit: {error}", hint="give a name such as verify:tests") from None


def open_loop(cwd: Path, *, as_json: bool) -> Loop:
    """Return a loop that shows blocks and waits on stderr."""
    from rerail.app import Loop
    from rerail.paths import find_root

    # With --json, stdout carries the envelope alone.
    del as_json
    return Loop(
        find_root(cwd),
        on_block=_show_block,
        sleep=live_sleep(sys.stderr),
    )


def run_unit(
    loop: Loop,
    unit: Unit,
    argv: Sequence[str],
    *,
    cwd: Path,
    verb: str,
    timeout_s: float | None = None,
    passthrough: bool = False,
    as_json: bool,
) -> int:
    """Run a command as *unit* and leave with its result."""
    stdout, stderr = _binary(sys.stdout), _binary(sys.stderr)
    try:
        with _ending_signals():
            outcome = loop.run_command(
                unit, argv, cwd=cwd, stdout=stderr if as_json else stdout, stderr=stderr, timeout_s=timeout_s
            )
    except (KeyboardInterrupt, Signalled) as ended:
        number = getattr(signal, ended.signal) if isinstance(ended, Signalled) else signal.SIGINT
        return leave(cancelled(verb, unit.name, {}), as_json=as_json, signal=number)
    result = result_of(verb, unit.name, outcome, loop.project.loaded.taxonomy)
    code = leave(result, as_json=as_json)
    own = _own_code(outcome) if passthrough else None
    return code if own is None else own


def default_name(argv: Sequence[str], root: str) -> str:
    """Return a command's unit name: the same command in the same project shares its budget with its earlier runs."""
    shown = "".join(char if char.isprintable() else "?" for char in shlex.join(argv))
    digest = blake2b("\0".join((root, *argv)).encode("utf-8", "surrogateescape"), digest_size=4).hexdigest()
    return f"{shown[:_NAME_CHARS]}#{digest}"


def _own_code(outcome: Outcome[Finished]) -> int | None:
    """Return what a shell would say of the command's last attempt; None when it did not run, or succeeded."""
    if isinstance(outcome, Succeeded) or not outcome.history:
        return None
    evidence = outcome.history[-1].evidence
    if evidence.signal is not None:
        return 128 + int(getattr(signal, evidence.signal, 0))
    return evidence.exit_code


def _binary(stream: object) -> BinaryIO | None:
    """Return the bytes below a text stream; None where there is none, as in a process whose stdout was closed."""
    return getattr(stream, "buffer", None)


def _show_block(block: str) -> None:
    with suppress(OSError, AttributeError):  # when nobody reads stderr, the record is still in the ledger
        print(block, file=sys.stderr, flush=True)  # noqa: T201  the block goes to stderr before any retry


@contextmanager
def _ending_signals() -> Iterator[None]:
    """Let SIGTERM and SIGHUP end a wait as Ctrl-C does, so that the run is recorded as cancelled."""

    def end(number: int, _frame: FrameType | None) -> NoReturn:
        raise Signalled(signal.Signals(number).name)

    numbers = [getattr(signal, name) for name in ("SIGTERM", "SIGHUP") if hasattr(signal, name)]
    before = {number: signal.signal(number, end) for number in numbers}
    try:
        yield
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)
