"""What people see of a verb's data: tables and lists, in one place so that they look alike.

Everything that came from outside goes through `rich.text.Text`, which reads no markup, and through `printable`.
"""

from __future__ import annotations

from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any

from rich.table import Table
from rich.text import Text

from rerail.evidence.ansi import printable

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from rich.console import Console

_INDENT = "  "
_CLASS_STYLES = {
    "provider": "blue",
    "tool-schema": "yellow",
    "deterministic-policy": "magenta",
    "git": "green",
    "worktree": "red",
    "runtime": "bold red",
    "verification": "cyan",
    "environment": "bright_yellow",
}


def cell(value: object, style: str = "") -> Text:
    """Return one value as inert text."""
    return Text(printable("" if value is None else str(value)), style=style)


def class_cell(name: str) -> Text:
    """Return a class's name in its colour."""
    return cell(name, _CLASS_STYLES.get(name, ""))


def table(headings: Sequence[str], rows: Iterable[Sequence[object]]) -> Table:
    """Return a plain table; cells may be values or texts of their own style.

    Only the last column is ever broken: what can be long goes there.
    """
    drawn = Table(box=None, pad_edge=False, header_style="bold", show_edge=False)
    for heading in headings:
        drawn.add_column(heading, overflow="fold", no_wrap=heading != headings[-1])
    for row in rows:
        drawn.add_row(*(value if isinstance(value, Text) else cell(value) for value in row))
    return drawn


def stanzas(console: Console, rows: Iterable[tuple[Text, Iterable[object]]]) -> None:
    """Print each head on a line of its own, and what belongs to it below, indented; a line breaks between words."""
    for head, lines in rows:
        console.print(head, soft_wrap=True)
        for line in lines:
            shown = line if isinstance(line, Text) else cell(line)
            for piece in shown.wrap(console, max(20, console.width - len(_INDENT))):
                console.print(Text.assemble(_INDENT, piece), soft_wrap=True)


def show_lines(console: Console, text: str) -> None:
    """Print text of several lines as it is."""
    for line in text.rstrip("\n").split("\n"):
        console.print(cell(line), soft_wrap=True)


def facts(console: Console, rows: Iterable[tuple[str, object]]) -> None:
    """Print a list of ``name  value`` lines."""
    grid = Table(box=None, show_header=False, pad_edge=False)
    grid.add_column(style="bold", no_wrap=True)
    grid.add_column(overflow="fold")
    for name, value in rows:
        if value not in (None, ""):
            grid.add_row(name, value if isinstance(value, Text) else cell(value))
    console.print(grid)


def time_of(at_s: float | None) -> str:
    """Return a wall-clock time in the reader's own zone, to the second."""
    return "" if at_s is None else datetime.fromtimestamp(at_s, tz=UTC).astimezone().isoformat(" ", "seconds")


def short_time_of(at_s: float) -> str:
    """Return the same for a list of recent times: without year and zone."""
    return f"{datetime.fromtimestamp(at_s, tz=UTC).astimezone():%m-%d %H:%M:%S}"


def age_of(at_s: float, now_s: float) -> str:
    """Return how long ago a time is, in its largest unit: ``3 min ago``."""
    past_s = max(0, int(now_s - at_s))
    for unit, size_s in (("d", 86_400), ("h", 3_600), ("min", 60)):
        if past_s >= size_s:
            return f"{past_s // size_s} {unit} ago"
    return f"{past_s} s ago"


def show_classification(console: Console, named: Mapping[str, Any]) -> None:
    """Print a classification, in its public shape: its name, what decided, and what lost."""
    title = class_cell(named["class"])
    title.append(f"/{named['reason']}")
    hint = "" if named["retry_after_s"] is None else f"{named['retry_after_s']:g} s"
    facts(
        console,
        [
            ("class", title),
            ("failure", named["summary"]),
            ("action", named["action"]),
            ("rule", named["rule"] or "none: no rule has evidence"),
            ("retry after", hint),
        ],
    )
    for cited in named["evidence"]:
        place = f"{cited['stream']} line {cited['line']}" if cited["line"] else cited["stream"]
        console.print(Text.assemble(("  ", ""), (f"{place}: ", "dim"), printable(cited["text"])), soft_wrap=True)
    show_trace(console, named["trace"])


def show_trace(console: Console, trace: Sequence[Mapping[str, Any]]) -> None:
    """Print the rules that held, best first, and why each but one lost."""
    if len(trace) < 2:
        return
    console.print()
    stanzas(
        console,
        (
            (
                Text.assemble((printable(each["rule"]), "bold"), ": ", class_cell(each["class"]), f", {each['trust']}"),
                (each["verdict"],),
            )
            for each in trace
        ),
    )
