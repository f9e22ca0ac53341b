"""``rerail classify``: evidence in, classification out. The way that every hook call takes.

Standard library only up to the answer: arguments are read by hand, and nothing for people is imported unless a person reads it.
"""

from __future__ import annotations

from rerail.boundary.exit_codes import ExitCode
from rerail.cli.input import read_bytes, read_lines
from rerail.errors import EvidenceError, RerailError, UsageError
from rerail.light_typing import TYPE_CHECKING, NamedTuple
from rerail.paths import working_directory
from rerail.plain_json import parse
from rerail.verbs.classify import classified, classifier, to_json_value

if TYPE_CHECKING:
    from collections.abc import Sequence
    from typing import Any

HELP = """\
Usage: rerail classify [--json] [--batch] [FILE|-]

  Name a failure: evidence in, classification out. Nothing is run and nothing is written.

  FILE holds evidence JSON, or any text, 64 MB at most; - or nothing is standard input.

Options:
  --json      Print JSON instead of text.
  --batch     One evidence object a line in, one classification a line out, without end; "id" is passed through.
  -h, --help  Show this message.
"""


class Wish(NamedTuple):
    """What was asked for."""

    file: str
    as_json: bool
    batch: bool


def main(argv: Sequence[str]) -> int:
    """Run the verb and return its exit code.

    Args:
        argv: The arguments after ``classify``.
    """
    if {"-h", "--help"} & set(argv):
        from rerail.cli.output import leave_page

        return leave_page(HELP.rstrip("\n"))
    try:
        wish = _read_arguments(argv)
        return _batch(wish.file) if wish.batch else _one(read_bytes(wish.file), as_json=wish.as_json)
    except RerailError as error:
        from rerail.cli.output import leave_failed

        return leave_failed("classify", error, as_json="--json" in argv)
    except BrokenPipeError:
        from rerail.cli.output import silence_stdout

        silence_stdout()
        return ExitCode.SUCCEEDED
    except Exception as bug:  # noqa: BLE001  a bug is told as one, with a report and its own exit code
        from rerail.cli.main import leave_bug

        return leave_bug("classify", bug, as_json="--json" in argv)


def _read_arguments(argv: Sequence[str]) -> Wish:
    files = [word for word in argv if word == "-" or not word.startswith("-")]
    unknown = [
        word for word in argv if word != "-" and word.startswith("-") and word not in ("--json", "--batch", "--")
    ]
    if unknown:
        raise UsageError(f"rerail classify: there is no option {unknown[0]}")
    if len(files) > 1:
        raise UsageError(f"rerail classify: expected one FILE, got {len(files)}: {', '.join(files)}")
    return Wish(files[0] if files else "-", "--json" in argv, "--batch" in argv)


def _one(data: bytes, *, as_json: bool) -> int:
    from rerail.cli.output import leave

    given = evidence_of(data)
    result = classified(classifier(working_directory())(given), given.get("id"))
    if as_json:
        return leave(result, as_json=True)
    from rerail.cli.pictures import show_classification

    return leave(
        result._replace(message=""), as_json=False, picture=lambda console: show_classification(console, result.data)
    )


def evidence_of(data: bytes) -> dict[str, Any]:
    """Return evidence JSON where the input is an object, and whatever else it is as a message."""
    text = data.decode("utf-8", "replace")
    if text.lstrip().startswith("{"):
        try:
            value = parse(text)
        except ValueError:
            return {"message": text}
        if isinstance(value, dict) and _is_evidence(value):
            return value
    return {"message": text}


_EVIDENCE_KEYS = frozenset(
    (
        *("id", "command", "exit_code", "signal", "stdout", "stderr", "message", "http_status", "headers", "body"),
        *("exception_type", "tool", "tool_input", "cwd", "duration_s"),
    )
)


def _is_evidence(value: dict[str, Any]) -> bool:
    """Whether an object is evidence JSON, perhaps with a slip in a key, and not some tool's own error object."""
    unknown = value.keys() - _EVIDENCE_KEYS
    if unknown:
        from difflib import get_close_matches  # 5 ms, and evidence rarely has a slip

        unknown = {key for key in unknown if not get_close_matches(key, _EVIDENCE_KEYS, n=1)}
    return len(unknown) * 2 < len(value) or not value


def _batch(file: str) -> int:
    """Classify a line at a time; one that cannot be read gets its error in place of its class, and the rest goes on."""
    import json

    name = classifier(working_directory())
    faults = 0
    for number, data in enumerate(read_lines(file), start=1):
        line = data.decode("utf-8", "replace").removesuffix("\n")
        if not line.strip():
            continue
        try:
            value = _object(line, number)
            shown = to_json_value(name(value), value.get("id"))
        except EvidenceError as error:
            faults += 1
            shown = {"id": None, "line": number, "error": str(error.slug), "message": error.message}
        print(json.dumps(shown, ensure_ascii=True), flush=True)  # noqa: T201  the stream of classifications is the output
    return ExitCode.USAGE if faults else ExitCode.SUCCEEDED


def _object(line: str, number: int) -> dict[str, Any]:
    try:
        value = parse(line)
    except (ValueError, RecursionError) as error:
        raise EvidenceError(f"line {number}: expected a JSON object, got {line[:40]!r}: {error}") from None
    if not isinstance(value, dict):
        raise EvidenceError(f"line {number}: expected a JSON object, got {type(value).__name__}")
    return value
