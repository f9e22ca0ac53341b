"""``rerail taxonomy``: the classes in force, what each does, and how often."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from rerail.cli.here import project_here
from rerail.cli.main import json_option
from rerail.cli.output import leave
from rerail.cli.pictures import class_cell, stanzas

if TYPE_CHECKING:
    from collections.abc import Iterator

    from rich.console import Console
    from rich.text import Text


@click.command("taxonomy")
@json_option
def command(as_json: bool) -> int:
    """Show the classes in force, their actions and budgets, and their reasons."""
    from rerail.verbs.taxonomy import taxonomy

    result = taxonomy(project_here())

    def rows() -> Iterator[tuple[Text, tuple[object, ...]]]:
        for spec in result.rows("classes"):
            reasons = ", ".join(each["name"] for each in spec["reasons"])
            head = class_cell(spec["name"]).append(f": {spec['action']}, budget {spec['budget']}")
            yield head, (spec["signal"], f"reasons: {reasons}")

    def show(console: Console) -> None:
        stanzas(console, rows())

    return leave(result, as_json=as_json, picture=show)
