"""``rerail rules``: the rules in force, and their own examples."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from rerail.boundary import hints
from rerail.boundary.result import Diagnostic, Result
from rerail.cli.here import project_here
from rerail.cli.main import DefaultGroup, json_option
from rerail.cli.output import leave
from rerail.cli.pictures import class_cell, table

if TYPE_CHECKING:
    from rich.console import Console


@click.group("rules", cls=DefaultGroup, default="list")
def command() -> None:
    """List the rules in force, or test their examples."""


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
@json_option
def test(as_json: bool) -> int:
    """Run every rule's must-match and must-not-match examples, built-in and this project's."""
    from rerail.recipes.check import run_examples
    from rerail.recipes.read import read_all

    project = project_here()
    taxonomy = project.loaded.taxonomy
    recipes = read_all(project.root)
    rules = [rule for recipe in recipes for rule in recipe.rules if rule.class_ in taxonomy]
    results = run_examples(rules, project.loaded.rules)
    wrong = [each for each in results if not each.ok]
    message = f"{len(rules)} rules, {len(results)} examples, {len(wrong)} wrong"
    findings = tuple(
        Diagnostic(each.message, each.pack, None, f"{each.rule}.{each.kind}.{each.position}") for each in wrong
    )
    data = {"rules": len(rules), "examples": len(results), "wrong": len(wrong)}
    steps = (hints.check_again(check="rules test"),) if wrong else ()
    return leave(Result(not wrong, "rules test", message, data, findings, steps), as_json=as_json)
