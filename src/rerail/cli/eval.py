"""``rerail eval``: how good the rules in force are on a labelled corpus."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import click
from rich.table import Table
from rich.text import Text

from rerail.cli.here import working_directory
from rerail.cli.input import read_text
from rerail.cli.main import json_option
from rerail.cli.output import leave
from rerail.cli.pictures import cell, class_cell, facts, stanzas

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from rich.console import Console

_CITED_CHARS = 160
_LISTS = {
    "wrong_cases": "wrong",
    "cited_wrongly": "right, but what decides is not cited",
    "delays_misread": "right, but the delay was not read",
}


def _packs(_ctx: click.Context, _option: click.Parameter, value: str | None) -> tuple[str, ...] | None:
    """Read ``core,verification``."""
    if value is None:
        return None
    from rerail.settings_file import pack_faults

    packs = [name.strip() for name in value.split(",")]
    if faults := [message for _, message in pack_faults(packs)]:
        raise click.BadParameter("; ".join(faults))
    return tuple(packs)


@click.command("eval")
@click.argument("corpus")
@click.option("--packs", callback=_packs, metavar="NAMES", help="Packs that are on, by comma. Default: the project's.")
@click.option("--picture", metavar="FILE.svg", help="Save the confusion matrix as a picture.")
@click.option(
    "--fail-under",
    multiple=True,
    metavar="FIGURE=N,...",
    help="Fail unless accuracy, macro_f1, evidence, retry_after are at least N, and unsafe, wrong at most N.",
)
@json_option
def command(
    corpus: str, packs: tuple[str, ...] | None, picture: str | None, fail_under: tuple[str, ...], as_json: bool
) -> int:
    """Score the rules in force on CORPUS: labelled failures, one JSON object a line; - is standard input."""
    from rerail.verbs.eval import evaluate, picture_file, read_bounds

    result = evaluate(
        working_directory(),
        read_text(corpus),
        corpus,
        packs=packs,
        bounds=[bound for text in fail_under for bound in read_bounds(text)],
        picture=None if picture is None else picture_file(picture, corpus),
    )
    return leave(result, as_json=as_json, picture=lambda console: _show(console, result.data))


def _show(console: Console, data: Mapping[str, Any]) -> None:
    console.print(_matrix(data))
    console.print()
    facts(console, _figures(data))
    for name, heading in _LISTS.items():
        if data[name]:
            console.print()
            console.print(Text(heading, style="bold"))
            stanzas(console, ((_head(each), _lines(each, name)) for each in data[name]))
    console.print()


def _matrix(data: Mapping[str, Any]) -> Table:
    """Return the confusion matrix; a column has the number of its class, for the name would not fit."""
    names = [each["class"] for each in data["classes"]]
    drawn = Table(box=None, pad_edge=False, header_style="bold", show_edge=False, collapse_padding=True)
    drawn.add_column("   what it is", no_wrap=True)
    for heading in (*map(str, range(1, len(names) + 1)), "prec.", "recall", "F1"):
        drawn.add_column(heading, justify="right", no_wrap=True)
    for number, own in enumerate(data["classes"], start=1):
        truth = own["class"]
        row = data["confusion"].get(truth, {})
        drawn.add_row(
            Text.assemble((f"{number:2} ", "bold"), class_cell(truth)),
            *(_count(row.get(name, 0), is_right=name == truth) for name in names),
            *(_rate(own[key]) for key in ("precision", "recall", "f1")),
        )
    return drawn


def _count(count: int, *, is_right: bool) -> Text:
    if not count:
        return Text("·", style="dim")
    return Text(str(count), style="green" if is_right else "bold red")


def _rate(value: float | None) -> Text:
    return Text("-" if value is None else f"{value:.3f}", style="dim" if value in (None, 1.0) else "")


def _figures(data: Mapping[str, Any]) -> Iterator[tuple[str, object]]:
    yield "accuracy", f"{data['accuracy']:.4f}"
    yield "macro F1", f"{data['macro_f1']:.4f}"
    yield "unsafe", Text(str(data["unsafe"]), style="bold red" if data["unsafe"] else "green")
    if data["evidence"] is not None:
        yield "evidence", f"{data['evidence']:.4f} cite what decides"
    if data["retry_after"] is not None:
        yield "retry after", f"{data['retry_after']:.4f} of the stated delays read"
    yield "picture", data["picture"]


def _head(case: Mapping[str, Any]) -> Text:
    head = Text.assemble(cell(case["id"], "bold"), f" (line {case['line']}): ", class_cell(case["truth"]))
    if case["given"] != case["truth"]:
        head = Text.assemble(head, " named ", class_cell(case["given"]))
    return Text.assemble(head, ("  UNSAFE", "bold red")) if case["unsafe"] else head


def _lines(case: Mapping[str, Any], name: str) -> Iterator[object]:
    if case["rule"]:
        yield f"by {case['rule']} ({case['reason']})"
    else:
        yield f"no rule has evidence ({case['reason']})"
    for text in case["cited"][:2]:
        yield cell(f"on: {text[:_CITED_CHARS]}", "dim")
    if name == "cited_wrongly":
        yield f"what decides: {case['deciding'][:_CITED_CHARS]}"
    if name == "delays_misread":
        read = "no delay" if case["read_s"] is None else f"{case['read_s']:g} s"
        yield f"read {read}, stated {case['stated_s']:g} s"
