"""``rerail recipes``: the recipe files in force, and what each brings."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from rerail.boundary.result import Result
from rerail.cli.here import project_here
from rerail.cli.main import DefaultGroup, json_option
from rerail.cli.output import leave
from rerail.cli.pictures import cell, stanzas

if TYPE_CHECKING:
    from rich.console import Console


@click.group("recipes", cls=DefaultGroup, default="list")
def command() -> None:
    """Show the recipes in force."""


@command.command("list")
@json_option
def list_recipes(as_json: bool) -> int:
    """List the recipe files in force: the built-in ones, then this project's."""
    from rerail.recipes.read import read_all

    recipes = read_all(project_here().root)
    data = {
        "recipes": [
            {
                "name": recipe.name,
                "file": recipe.where,
                "description": recipe.description,
                "classes": [spec.name for spec in recipe.classes],
                "rules": len(recipe.rules),
                "heals": [heal.slug for heal in recipe.heals],
                "content_hash": recipe.content_hash,
            }
            for recipe in recipes
        ]
    }

    def show(console: Console) -> None:
        stanzas(
            console,
            (
                (
                    cell(f"{recipe.name}  {recipe.where}", "bold"),
                    (f"{len(recipe.rules)} rules, {len(recipe.heals)} heals: {recipe.description}",),
                )
                for recipe in recipes
            ),
        )

    return leave(Result(True, "recipes list", "", data), as_json=as_json, picture=show)
