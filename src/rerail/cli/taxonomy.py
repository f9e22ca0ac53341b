"""``rerail taxonomy``: the classes in force, what each does, and how often."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from rerail.boundary.result import Result
from rerail.cli.here import project_here
from rerail.cli.main import json_option
from rerail.cli.output import leave
from rerail.cli.pictures import class_cell, stanzas

if TYPE_CHECKING:
    from rich.console import Console


@click.command("taxonomy")
@json_option
def command(as_json: bool) -> int:
    """Show the classes in force, their actions and budgets, and their reasons."""
    project = project_here()
    taxonomy, policy = project.loaded.taxonomy, project.settings.policy
    data = {
        "classes": [
            {
                "name": spec.name,
                "signal": spec.signal,
                "action": spec.action,
                "budget": policy.budget(spec.name),
                "pack": spec.pack,
                "reasons": [
                    {"name": each.name, "summary": each.summary, "action": each.action, "hint": each.hint}
                    for each in taxonomy.reasons(spec.name)
                ],
            }
            for spec in taxonomy
        ]
    }

    def show(console: Console) -> None:
        stanzas(
            console,
            (
                (
                    class_cell(spec.name).append(f": {spec.action}, budget {policy.budget(spec.name)}"),
                    (spec.signal, f"reasons: {', '.join(each.name for each in taxonomy.reasons(spec.name))}"),
                )
                for spec in taxonomy
            ),
        )

    return leave(Result(True, "taxonomy", "", data), as_json=as_json, picture=show)
