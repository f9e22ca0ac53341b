"""``rerail rules``: the rules in force, their own examples, and drafts of rules that are lacking."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from rerail.boundary import hints
from rerail.boundary.result import Result
from rerail.cli.here import project_here
from rerail.cli.input import read_text
from rerail.cli.learn import command as learn
from rerail.cli.main import DefaultGroup, json_option
from rerail.cli.output import leave
from rerail.cli.pictures import class_cell, table

if TYPE_CHECKING:
    from rich.console import Console


@click.group("rules", cls=DefaultGroup, default="list")
def command() -> None:
    """List the rules in force, test their examples, or draft what they lack."""


@command.command("list")
@click.option("--class", "class_", help="Of one class alone.")
@json_option
def list_rules(class_: str | None, as_json: bool) -> int:
    """List the rules in force."""
    loaded = project_here().loaded
    if class_ is not None:
        loaded.taxonomy.class_spec(class_)
    shown = [rule for rule in loaded.rules.rules if class_ in (None, rule.class_)]
    data = {
        "rules": [
            {
                "slug": rule.slug,
                "class": rule.class_,
                "reason": rule.reason,
                "why": loaded.texts[rule.slug].why,
                "source": loaded.texts[rule.slug].source,
                "recipe": loaded.texts[rule.slug].pack,
            }
            for rule in shown
        ]
    }

    names = sorted((rule.class_, rule.reason, rule.slug) for rule in shown)

    def show(console: Console) -> None:
        console.print(
            table(("class", "reason", "rule"), [(class_cell(class_), reason, slug) for class_, reason, slug in names])
        )

    result = Result(True, "rules list", f"{len(shown)} rules", data, hints=(hints.explain_rule(),))
    return leave(result, as_json=as_json, picture=show)


@command.command("test")
@click.argument("drafts", nargs=-1, metavar="[FILE]...")
@json_option
def test(drafts: tuple[str, ...], as_json: bool) -> int:
    """Run every rule's must-match and must-not-match examples: those in force, and those of recipe FILEs that are not yet."""
    from rerail.verbs.examples import run_all

    return leave(run_all(project_here(), {file: read_text(file) for file in drafts}), as_json=as_json)


command.add_command(learn)
