"""``rerail schema``: the JSON Schemas of what others read and write."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import click

from rerail.cli.main import json_option
from rerail.cli.output import leave
from rerail.cli.pictures import show_lines

if TYPE_CHECKING:
    from rich.console import Console


@click.command("schema")
@click.argument("name", required=False)
@json_option
def command(name: str | None, as_json: bool) -> int:
    """Print the JSON Schema NAME, or all of them by name: envelope, evidence, classification, block, ledger-export."""
    from rerail.verbs.schema import schema

    result = schema(name)
    schemas = result.data["schemas"]
    assert isinstance(schemas, dict)

    def show(console: Console) -> None:
        show_lines(console, json.dumps(schemas if name is None else schemas[name], indent=2))

    return leave(result, as_json=as_json, picture=show)
