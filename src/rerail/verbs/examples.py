"""Every rule's own examples: those in force, and those of drafts that are not in force yet."""

from __future__ import annotations

import shlex
from typing import TYPE_CHECKING

from rerail.boundary import hints
from rerail.boundary.result import Diagnostic, Result
from rerail.recipes.check import run_examples
from rerail.recipes.read import read_all, taxonomy_of
from rerail.rules.compile import compile_rules

if TYPE_CHECKING:
    from collections.abc import Mapping

    from rerail.app import Project


def run_all(project: Project, drafts: Mapping[str, str]) -> Result:
    """Run the examples of all rules together, so that a draft that outranks another rule is seen.

    Args:
        project: Whose recipes are in force.
        drafts: Recipe files that are not, by name: their text.

    Raises:
        RecipeError: A recipe or a draft has faults; all of them are told.
    """
    recipes = read_all(project.root, drafts)
    classes = [spec for recipe in recipes for spec in recipe.classes]
    reasons = [spec for recipe in recipes for spec in recipe.reasons]
    taxonomy = taxonomy_of(classes, reasons, tuple(project.settings.packs))
    rules = [rule for recipe in recipes for rule in recipe.rules if rule.class_ in taxonomy]
    results = run_examples(rules, compile_rules(rules, taxonomy))
    wrong = [each for each in results if not each.ok]
    return Result(
        ok=not wrong,
        verb="rules test",
        message=f"{len(rules)} rules, {len(results)} examples, {len(wrong)} wrong",
        data={"rules": len(rules), "examples": len(results), "wrong": len(wrong)},
        diagnostics=tuple(
            Diagnostic(each.message, each.pack, None, f"{each.rule}.{each.kind}.{each.position}") for each in wrong
        ),
        hints=(hints.check_again(check=shlex.join(["rules", "test", *drafts])),) if wrong else (),
    )
