"""``rerail explain``: what a name means, whatever kind of name it is."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from rerail.cli.here import project_here
from rerail.cli.main import json_option
from rerail.cli.output import leave
from rerail.cli.pictures import facts

if TYPE_CHECKING:
    from rich.console import Console


@click.command("explain")
@click.argument("name")
@json_option
def command(name: str, as_json: bool) -> int:
    """Explain NAME: a class, a reason (provider/rate-limit), a rule, a heal, an error slug, or an exit code."""
    from rerail.verbs.explain import explain

    result = explain(project_here(), name)

    def show(console: Console) -> None:
        facts(console, [(key.replace("_", " "), value) for key, value in result.data.items()])

    return leave(result, as_json=as_json, picture=show)
