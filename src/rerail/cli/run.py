"""``rerail run``: one command as one unit under recovery."""

from __future__ import annotations

import signal
import sys
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, NoReturn

import click

from rerail.cli import margin
from rerail.cli.here import working_directory
from rerail.cli.live import live_sleep
from rerail.cli.main import json_option
from rerail.cli.output import leave
from rerail.cli.pictures import show_lines
from rerail.decisions.model import Effects
from rerail.errors import UsageError
from rerail.runner.command import Signalled
from rerail.runner.outcome import Succeeded
from rerail.verbs.ended import cancelled, result_of, spends_elsewhere
from rerail.verbs.units import command_unit, nowhere_to_run

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence
    from pathlib import Path
    from types import FrameType
    from typing import BinaryIO

    from rich.console import Console

    from rerail.app import Loop
    from rerail.boundary.result import Result
    from rerail.decisions.effects import FailureRecord
    from rerail.process import Finished
    from rerail.runner.outcome import Outcome
    from rerail.runner.unit import Unit


class RunCommand(click.Command):
    """``rerail run``, which is often called without the ``--`` that ends its own options."""

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        """Say what is missing where an option of the command is taken for one of ours."""
        given = tuple(args)
        try:
            return super().parse_args(ctx, args)
        except click.NoSuchOption as fault:
            if "--" in given:
                raise
            told = f"there is no option {fault.option_name}; if it is the command's, put -- before the command:"
            raise click.UsageError(f"{told} {ctx.command_path} [OPTIONS] -- CMD [ARGS]...", ctx) from None


@click.command("run", cls=RunCommand)
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
    try:
        cwd = working_directory()
    except UsageError as error:
        return leave(nowhere_to_run(error), as_json=as_json)
    loop = open_loop(cwd, as_json=as_json)
    unit = command_unit(argv, loop.root, name=name, effects=effects)
    return run_unit(
        loop, unit, argv, cwd=cwd, verb="run", timeout_s=timeout_s, passthrough=passthrough, as_json=as_json
    )


def open_loop(cwd: Path, *, as_json: bool) -> Loop:
    """Return a loop that shows blocks and waits on stderr.

    Args:
        cwd: A directory of the project.
        as_json: Whether the command's stdout is shown on stderr as well.
    """
    from rerail.app import Loop
    from rerail.boundary.block import render_block
    from rerail.paths import find_root

    with_stdout = _shares_stderr(as_json=as_json)

    def show(record: FailureRecord) -> None:
        margin.settle(sys.stderr)
        if margin.may_end_inside_a_line(record.evidence, with_stdout=with_stdout):
            margin.say(sys.stderr)
        margin.say(sys.stderr, render_block(record, loop.project.loaded.taxonomy))

    def tell(event: str, fields: Mapping[str, object]) -> None:
        if event == "heal.finished":
            margin.settle(sys.stderr)
            margin.say(sys.stderr, _healed(fields))

    loop = Loop(find_root(cwd), on_failure=show, on_event=tell, sleep=live_sleep(sys.stderr))
    return loop


def _healed(fields: Mapping[str, Any]) -> str:
    """Return what a heal did, in a line; its fields are made fit to be shown where they are emitted."""
    if fields["outcome"] != "healed":
        return f"rerail: not healed: {fields['detail']}"
    expired = f"; expired backups: {', '.join(fields['expired'])}" if "expired" in fields else ""
    return f"rerail: healed by {fields['recipe']}: {', '.join(fields['steps'])}; undo: {fields['undo']}{expired}"


def _shares_stderr(*, as_json: bool) -> bool:
    """Return whether the command's stdout ends where we write: with ``--json`` it does, for stdout is the envelope's."""
    return as_json or margin.is_shared(sys.stdout, sys.stderr)


def _is_inside_a_line(outcome: Outcome[Finished], *, as_json: bool) -> bool:
    """Return whether the command's last line has no end; behind every end but success stands a block, which has one."""
    return (
        isinstance(outcome, Succeeded)
        and not outcome.landed
        and margin.ends_inside_a_line(outcome.value, with_stdout=_shares_stderr(as_json=as_json))
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
    stdout, stderr = binary(sys.stdout), binary(sys.stderr)
    notices = spends_elsewhere(loop, unit.name, tuple(argv), cwd)
    try:
        with ending_signals():
            outcome = loop.run_command(
                unit, argv, cwd=cwd, stdout=stderr if as_json else stdout, stderr=stderr, timeout_s=timeout_s
            )
    except (KeyboardInterrupt, Signalled) as ended:
        number = getattr(signal, ended.signal) if isinstance(ended, Signalled) else signal.SIGINT
        if margin.is_terminal(sys.stderr):
            margin.say(sys.stderr)  # a terminal shows ^C where the command stood
        return leave(cancelled(verb, unit.name, {}), as_json=as_json, signal=number, aside=True)
    result = result_of(verb, unit.name, outcome, loop, command=tuple(argv), notices=notices)
    if result.message or result.hints:
        margin.settle(sys.stderr)
    speaks_there = margin.is_shared(sys.stdout, sys.stderr) if as_json else bool(result.message or result.hints)
    if speaks_there and _is_inside_a_line(outcome, as_json=as_json):
        margin.say(sys.stderr)
    code = leave(result, as_json=as_json, picture=_picture(result), aside=True)
    own = _own_code(outcome) if passthrough else None
    return code if own is None else own


def _picture(result: Result) -> Callable[[Console], None] | None:
    """Return what shows the repair request of a result, where it has one."""
    repair = result.data.get("repair")
    if not isinstance(repair, dict):
        return None
    prompt = str(repair["prompt"])
    return lambda console: show_lines(console, prompt)


def _own_code(outcome: Outcome[Finished]) -> int | None:
    """Return what a shell would say of the command's last attempt; None when it did not run, or succeeded."""
    if isinstance(outcome, Succeeded) or not outcome.history:
        return None
    evidence = outcome.history[-1].evidence
    if evidence.signal is not None:
        return 128 + int(getattr(signal, evidence.signal, 0))
    return evidence.exit_code


def binary(stream: object) -> BinaryIO | None:
    """Return the bytes below a text stream; None where there is none, as in a process whose stdout was closed."""
    return getattr(stream, "buffer", None)


@contextmanager
def ending_signals() -> Iterator[None]:
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
