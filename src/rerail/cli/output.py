"""How a result leaves: JSON on stdout, or the same envelope as text for people. Nothing else prints.

Text adds no advice of its own: it shows the message, the verb's own picture of the data, the diagnostics and the hints.
"""

from __future__ import annotations

import os
import sys

from rerail.boundary.exit_codes import ExitCode, exit_code
from rerail.light_typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:
    from rich.console import Console

    from rerail.boundary.result import Result
    from rerail.errors import RerailError
    from rerail.plain_json import JsonValue


class Picture(Protocol):
    """Shows a verb's data to people."""

    def __call__(self, console: Console, /) -> None:
        """Print to *console*."""
        ...


def leave(
    result: Result, *, as_json: bool, picture: Picture | None = None, signal: int | None = None, aside: bool = False
) -> int:
    """Print a result and return the exit code that it means.

    Args:
        result: What the verb came to.
        as_json: Whether stdout gets the envelope.
        picture: Shows the data to people; None where the message says it all.
        signal: The signal that cancelled, if one did.
        aside: Whether text goes to stderr, also of a success: stdout is a command's own.
    """
    # Brings all of the evidence, which a page has no use for.
    from rerail.boundary.serialize import serialize_result, to_json

    envelope = serialize_result(result)
    try:
        if as_json:
            print(to_json(envelope), flush=True)  # noqa: T201  this is the command line's one way out
        else:
            _show(envelope, picture, aside=aside)
    except BrokenPipeError:
        # Whoever read our output has left; what was done is done, and the exit code still says how it ended.
        silence_stdout()
    except OSError as error:
        code = leave_unwritten(error)
        if result.ok:
            return code  # whoever reads the file must not take it for whole
    if result.ok:
        return ExitCode.SUCCEEDED
    return exit_code(result.error) if signal is None else exit_code(result.error, signal=signal)


def leave_page(text: str) -> int:
    """Print a page that is no result, such as help, and return the exit code."""
    try:
        print(text, flush=True)  # noqa: T201  as in `leave`
    except BrokenPipeError:
        silence_stdout()
    except OSError as error:
        return leave_unwritten(error)
    return ExitCode.SUCCEEDED


def leave_unwritten(error: OSError) -> int:
    """Say that stdout could not be written, and return the exit code that it means."""
    silence_stdout()
    from rerail.cli import margin

    margin.say(sys.stderr, f"rerail: the result could not be written: {error.strerror}")
    return ExitCode.USAGE


def leave_failed(verb: str, error: RerailError, *, as_json: bool) -> int:
    """Print the result of a verb that an error ended, and return the exit code that it means."""
    from rerail.verbs.failed import of_error

    return leave(of_error(verb, error), as_json=as_json)


def _show(envelope: dict[str, JsonValue], picture: Picture | None, *, aside: bool) -> None:
    from rich.text import Text

    console = console_for(sys.stdout if envelope["ok"] and not aside else sys.stderr)
    message = str(envelope["message"])
    if picture is not None:
        picture(console_for(sys.stderr if aside else sys.stdout))
    if message:
        # A Text, never markup: a message may quote whatever a tool printed.
        console.print(Text(message, style="" if envelope["ok"] else "bold"), soft_wrap=True)
    for item in _rows(envelope["diagnostics"]):
        if item["message"] and str(item["message"]) not in message:
            place = f"{item['where']}:{item['line']}" if item["line"] else item["where"]
            console.print(Text(f"  {place}: {item['message']}" if place else f"  {item['message']}"), soft_wrap=True)
    for item in _rows(envelope["hints"]):
        console.print(Text(f"→ {item['text']}", style="cyan"), soft_wrap=True)


def _rows(value: JsonValue) -> list[dict[str, JsonValue]]:
    assert isinstance(value, list)
    return [item for item in value if isinstance(item, dict)]


def console_for(stream: object) -> Console:
    """Return a console on *stream*: colours only on a terminal, and never under NO_COLOR; markup is never read."""
    from typing import IO, cast

    from rich.console import Console

    class Plain(Console):
        def on_broken_pipe(self) -> None:
            """Tell `leave` that the reader has left; rich would end the process as if it had failed."""
            raise BrokenPipeError

    # Without a stream, as in a process that was started without a stderr, rich would write to stdout.
    return Plain(
        file=cast("IO[str]", stream),
        quiet=stream is None,
        # rich leaves bold and dim under NO_COLOR; whoever sets it wants text alone.
        color_system=None if os.environ.get("NO_COLOR") else "auto",
        markup=False,
        highlight=False,
        emoji=False,
    )


def silence_stdout() -> None:
    """Keep the interpreter from failing once more when it flushes a stdout that is gone."""
    try:
        os.dup2(os.open(os.devnull, os.O_WRONLY), 1)
    except OSError:
        sys.stdout = None
