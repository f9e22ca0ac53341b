"""``rerail why``: what named a failure, what lost, and why."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import click
from rich.cells import cell_len
from rich.text import Text

from rerail.cli.here import project_here
from rerail.cli.input import read_bytes
from rerail.cli.main import json_option
from rerail.cli.output import leave
from rerail.cli.pictures import cell, class_cell, facts, stanzas, time_of
from rerail.errors import UsageError
from rerail.evidence.ansi import printable
from rerail.evidence.clip import clip_line

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from rich.console import Console

_CITED_CHARS = 120
_STYLES = {"decides": "bold", "agrees": "", "says-most": "bold", "read": "", "masked": "dim"}
_SPAN_STYLES = {"decides": "bold black on yellow", "agrees": "yellow"}
_MARKS = {"decides": ">", "agrees": "+", "says-most": "?"}


@click.command("why")
@click.argument("event", required=False, metavar="[EVENT|UNIT|PAUSE]")
@click.option(
    "--failure", "file", metavar="FILE|-", help="Evidence JSON or any text of a failure, in place of a recorded one."
)
@json_option
def command(event: str | None, file: str | None, as_json: bool) -> int:
    """Show what named a failure: by its number in rerail ledger show, by its pause, or a unit's last; else the last of all."""
    from rerail.verbs.why import LAST, why, why_named

    if event is not None and file is not None:
        raise UsageError(f"expected a recorded failure or a file, got both: {event} and --failure {file}")
    if file is not None:
        from rerail.cli.classify import evidence_of

        result = why_named(project_here(), evidence_of(read_bytes(file)))
    else:
        result = why(project_here(), event or LAST)
    return leave(result, as_json=as_json, picture=lambda console: _show(console, result.data))


def _show(console: Console, data: Mapping[str, Any]) -> None:
    named = data["classification"]
    title = class_cell(named["class"]).append(f"/{named['reason']}")
    console.print(Text.assemble(title, f": {named['action']}"), style="bold", soft_wrap=True)
    console.print(cell(named["summary"]), soft_wrap=True)
    for excerpt in data["excerpts"]:
        console.print()
        _show_excerpt(console, excerpt)
    if data["fields"]:
        console.print()
        for cited in data["fields"]:
            console.print(Text.assemble(("> ", "bold"), f"{printable(cited['stream'])}: ", printable(cited["text"])))
    console.print()
    delay_s = named["retry_after_s"]
    facts(
        console,
        [
            ("rule", named["rule"] or "none: no rule has evidence"),
            ("why", data["why"]),
            ("source", data["source"]),
            ("recipe", data["recipe"]),
            ("retry after", None if delay_s is None else f"{delay_s:g} s"),
            ("unit", None if data["unit"] is None else f"{data['unit']}, attempt {data['attempt']}"),
            ("at", time_of(data["at_s"])),
        ],
    )
    if data["runners_up"]:
        console.print()
        console.print(Text("what lost", style="bold"))
        above = {(each["stream"], line["line"]) for each in data["excerpts"] for line in each["lines"]}
        stanzas(console, ((_head(each), _lines(each, above)) for each in data["runners_up"]))


def _show_excerpt(console: Console, excerpt: Mapping[str, Any]) -> None:
    lines = excerpt["lines"]
    count = excerpt["total_lines"]
    console.print(Text(f"{printable(excerpt['stream'])}, {count} line{'s' if count > 1 else ''}", style="dim"))
    width = len(str(lines[-1]["line"]))
    for line in lines:
        # A line that no rule sees has a gutter of its own, for dim shows on a terminal alone.
        gutter = "·" if line["role"] == "masked" else "│"
        start = f"{_MARKS.get(line['role'], ' ')} {line['line']:>{width}} {gutter} "
        console.print(Text.assemble((start, "dim"), _content(line)), soft_wrap=True)
        if console.color_system is None and line["role"] in _SPAN_STYLES:
            console.print(Text(" " * cell_len(start) + _underline(line)), soft_wrap=True)
    if any(line["role"] == "masked" and line["text"].strip() for line in lines):
        console.print(Text(" " * (width + 3) + "· no rule sees these lines", style="dim"), soft_wrap=True)


def _content(line: Mapping[str, Any]) -> Text:
    text, style = line["text"], _STYLES[line["role"]]
    content, at = Text(), 0
    for start, stop in line["spans"]:
        content.append(printable(text[at:start]), style)
        content.append(printable(text[start:stop]), _SPAN_STYLES[line["role"]])
        at = stop
    return content.append(printable(text[at:]), style)


def _underline(line: Mapping[str, Any]) -> str:
    """Return what marks the deciding parts below a line where there are no colours."""
    text, marks, at = line["text"], "", 0
    for start, stop in line["spans"]:
        marks += " " * cell_len(printable(text[at:start])) + "~" * cell_len(printable(text[start:stop]))
        at = stop
    return marks


def _head(runner_up: Mapping[str, Any]) -> Text:
    title = class_cell(runner_up["class"]).append(f"/{runner_up['reason']}")
    return Text.assemble(cell(runner_up["rule"], "bold"), ": ", title, f", {runner_up['trust']}")


def _lines(runner_up: Mapping[str, Any], above: set[tuple[str, int]]) -> Iterator[object]:
    """Yield why a rule lost, and what it stood on: a line that is shown *above* by its number alone."""
    yield runner_up["verdict"]
    for cited in runner_up["evidence"][:1]:
        place = f"{cited['stream']} line {cited['line']}" if cited["line"] else cited["stream"]
        said = "" if (cited["stream"], cited["line"]) in above else f": {clip_line(cited['text'], _CITED_CHARS)}"
        yield cell(f"on {place}{said}", "dim")
