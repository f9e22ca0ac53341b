"""``rerail recipes``: the recipe files in force, what each would run, and the operator's trust in it."""

from __future__ import annotations

import shlex
from typing import TYPE_CHECKING, Any

import click

from rerail.boundary.words import counted
from rerail.cli.here import project_here, working_directory
from rerail.cli.main import DefaultGroup, json_option
from rerail.cli.output import leave
from rerail.cli.pictures import cell, stanzas

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping

    from rich.console import Console

    from rerail.boundary.result import Result


@click.group("recipes", cls=DefaultGroup, default="list")
def command() -> None:
    """Show the recipes in force, test them, or trust one to run its commands."""


@command.command("list")
@json_option
def list_recipes(as_json: bool) -> int:
    """List the recipe files in force: the built-in ones, then this project's."""
    from rerail.verbs.recipes import recipes

    result = recipes(project_here())
    return _leave(result, result.rows("recipes"), as_json=as_json)


@command.command("test")
@click.argument("file", required=False)
@json_option
def test(file: str | None, as_json: bool) -> int:
    """Run the examples of all rules, and show what the heals would run. FILE: a recipe, in force or not yet."""
    from rerail.verbs.recipes import test as test_recipes

    result = test_recipes(project_here(), file, working_directory())
    return _leave(result, result.rows("recipes"), as_json=as_json)


@command.command("trust")
@click.argument("file")
@click.option("--revoke", "is_revoked", is_flag=True, help="Trust it no longer.")
@json_option
def trust(file: str, is_revoked: bool, as_json: bool) -> int:
    """Let the heals of a recipe FILE run their commands, as long as its content stays exactly what it is now.

    For the operator: read the file first, and the programs that it names.
    """
    from rerail.verbs.recipes import revoke
    from rerail.verbs.recipes import trust as trust_recipe

    if is_revoked:
        return leave(revoke(project_here(), file, working_directory()), as_json=as_json)
    result = trust_recipe(project_here(), file, working_directory())

    def show(console: Console) -> None:
        stanzas(console, [(cell(f"{result.data['file']} would run", "bold"), _commands(result.data))])

    return leave(result, as_json=as_json, picture=show if result.data["commands"] else None)


def _leave(result: Result, rows: Iterable[Mapping[str, Any]], *, as_json: bool) -> int:
    def show(console: Console) -> None:
        stanzas(console, ((cell(f"{row['name']}  {row['file']}", "bold"), _recipe(row)) for row in rows))

    return leave(result, as_json=as_json, picture=show)


def _recipe(row: Mapping[str, Any]) -> Iterator[str]:
    brings = f"{counted(row['rules'], 'rule')}, {counted(len(row['heals']), 'heal')}"
    yield f"{brings}: {row['description']}" if row["description"] else brings
    yield from _commands(row)
    if row["trusted"] is not None:
        yield "trusted as it is" if row["trusted"] else f"NOT trusted: {row['untrusted_because']}"


def _commands(row: Mapping[str, Any]) -> Iterator[str]:
    for each in row["commands"]:
        missing = "" if each["program"] else "; the program is not here"
        yield f"runs {shlex.join(each['run'])} (heal {each['heal']}, at most {each['timeout_s']:g} s{missing})"
