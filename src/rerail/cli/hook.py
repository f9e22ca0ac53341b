"""``rerail hook``: names a failed tool call for the harness that tells of it.

A hook that fails must not break the agent: whatever goes wrong here is said on stderr, and the exit code is 0. Only a call that
can never work, for a harness that does not exist, ends with 2. Standard library only on the way of a call that failed.
"""

from __future__ import annotations

import sys

from rerail.boundary.exit_codes import ExitCode
from rerail.cli.input import read_bytes
from rerail.errors import EvidenceError, RerailError
from rerail.evidence.ansi import printable
from rerail.hook.answer import answer_to
from rerail.hook.harness import HARNESSES
from rerail.light_typing import TYPE_CHECKING
from rerail.plain_json import parse, text_of

if TYPE_CHECKING:
    from collections.abc import Sequence
    from typing import Any

HELP = f"""\
Usage: rerail hook HARNESS

  Read a hook's payload on standard input, name the failed tool call that it tells of, and print what HARNESS
  reads as feedback to the agent. A call that did not fail gets no answer.

  HARNESS is one of {", ".join(HARNESSES)}; rerail init --hook HARNESS shows its configuration.
"""


def main(argv: Sequence[str]) -> int:
    """Run the verb and return its exit code: 0, or 2 for a harness that does not exist.

    Args:
        argv: The arguments after ``hook``.
    """
    if {"-h", "--help"} & set(argv):
        from rerail.cli.output import leave_page

        return leave_page(HELP.rstrip("\n"))
    if len(argv) != 1 or argv[0] not in HARNESSES:
        _say(f"expected one of {', '.join(HARNESSES)}, got {' '.join(argv) or 'nothing'}")
        return ExitCode.USAGE
    try:
        answer = answer_to(argv[0], _payload(read_bytes("-")))
        if answer is not None:
            print(text_of(answer))  # noqa: T201  what the harness reads
            sys.stdout.flush()
    except RerailError as error:
        _say(error.message)
    except Exception as bug:  # noqa: BLE001  the agent's work goes on without us
        _say(f"rerail itself failed: {type(bug).__name__}: {bug}")
    return ExitCode.SUCCEEDED


def _payload(data: bytes) -> dict[str, Any]:
    try:
        value = parse(data.decode("utf-8", "replace"))
    except (ValueError, RecursionError) as error:
        raise EvidenceError(f"expected a hook's payload, a JSON object: {error}") from None
    if not isinstance(value, dict):
        raise EvidenceError(f"expected a hook's payload, a JSON object, got {type(value).__name__}")
    return value


def _say(text: str) -> None:
    try:
        print(f"rerail hook: {printable(text)}", file=sys.stderr, flush=True)  # noqa: T201  stdout is the harness's
    except (OSError, ValueError, AttributeError):
        return  # nobody is there to be told
