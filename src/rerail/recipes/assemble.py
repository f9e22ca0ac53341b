"""Makes one of many recipe files: reads them all, refuses what clashes, and returns plain data that a cache can keep.

The slow side of `rerail.recipes.read`, taken only when a file changed: it loads pydantic and runs a project's examples.
"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, NamedTuple

import attrs

from rerail.errors import FileFault, RecipeError
from rerail.recipes.check import run_examples
from rerail.recipes.read import taxonomy_of
from rerail.recipes.schema import declared, recipe_of
from rerail.rules.compile import compile_rules
from rerail.rules.packing import packed
from rerail.taxonomy import BUILT_IN
from rerail.taxonomy.law import unlawful
from rerail.toml_lines import dotted, line_of, parse_toml

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence
    from typing import Any

    from rerail.kept import Parts
    from rerail.recipes.model import Recipe
    from rerail.rules.compile import RuleSet
    from rerail.taxonomy.actions import Action
    from rerail.taxonomy.model import Taxonomy
    from rerail.toml_lines import KeyPath


class RecipeFile(NamedTuple):
    """A recipe file as it was read."""

    where: str
    """As faults name it."""
    text: str
    is_project: bool


def read_recipes(files: Sequence[RecipeFile]) -> tuple[Recipe, ...]:
    """Read all files; what one declares, all others may name.

    Raises:
        RecipeError: With the faults of all files, clashes between them included.
    """
    faults: list[FileFault] = []
    recipes: list[Recipe] = []
    tables: list[tuple[RecipeFile, Mapping[str, Any]]] = []
    for each in files:
        try:
            tables.append((each, parse_toml(each.text, each.where, RecipeError)))
        except RecipeError as error:
            faults += error.faults
    classes, reasons = declared(raw for _, raw in tables)
    for each, raw in tables:
        try:
            recipe = recipe_of(raw, each.text, each.where, known_classes=classes, known_reasons=reasons)
            recipes.append(recipe if each.is_project else _shipped(recipe))
        except RecipeError as error:
            faults += error.faults
    faults += _clashes(recipes)
    faults += _unlawful(recipes)
    if faults:
        raise RecipeError(faults)
    return tuple(recipes)


def _shipped(recipe: Recipe) -> Recipe:
    return recipe._replace(heals=tuple(attrs.evolve(heal, is_shipped=True) for heal in recipe.heals))


def assemble(files: Sequence[RecipeFile], packs: Sequence[str] | None) -> Parts:
    """Return what the files say together, as `rerail.recipes.read.Loaded` needs it.

    Raises:
        RecipeError: As `read_recipes`; or an example of a project's rule fails.
    """
    recipes = read_recipes(files)
    classes = [spec for recipe in recipes for spec in recipe.classes]
    reasons = [spec for recipe in recipes for spec in recipe.reasons]
    taxonomy = taxonomy_of(classes, reasons, packs)
    rules = [rule for recipe in recipes for rule in recipe.rules]
    rule_set = compile_rules(rules, taxonomy)
    project = {each.where for each in files if each.is_project}
    # The built-in rules are held to their examples by the tests.
    if faults := [
        fault for recipe in recipes if recipe.where in project for fault in _failing(recipe, rule_set, taxonomy)
    ]:
        raise RecipeError(faults)
    return {
        "taxonomy": _plain((classes, reasons, packs)),
        **rule_set.data,
        "texts": _plain({rule.slug: (rule.why, rule.source, rule.pack) for rule in rules}),
    }


def _plain(value: object) -> bytes:
    """Return a value as marshal data, which takes none but the built-in types: rows become lists, and enums their values."""
    return packed(json.loads(json.dumps(value)))


def _unlawful(recipes: Sequence[Recipe]) -> Iterator[FileFault]:
    """Yield a fault for every class or reason that would recover from what must only pause or stop, or retry out of turn."""
    severities = {
        spec.name: spec.severity for spec in (*BUILT_IN, *(spec for each in recipes for spec in each.classes))
    }
    for recipe in recipes:
        rows: list[tuple[KeyPath, str, Action]] = [
            *((("class", index, "action"), spec.name, spec.action) for index, spec in enumerate(recipe.classes)),
            *((("reason", index, "action"), spec.class_, spec.action) for index, spec in enumerate(recipe.reasons)),
        ]
        for path, class_, action in rows:
            if (fault := unlawful(class_, action, severities[class_])) is not None:
                yield FileFault(recipe.where, line_of(recipe.places, path), dotted(path), fault)


def _clashes(recipes: Sequence[Recipe]) -> Iterator[FileFault]:
    """Yield a fault for everything that two owners declare, naming both."""
    owners = {("class", str(spec.name)): "the built-in classes" for spec in BUILT_IN}
    for spec in BUILT_IN:
        owners |= {("reason", reason.full_name): "the built-in reasons" for reason in BUILT_IN.reasons(spec.name)}
    for recipe in recipes:
        for kind, name, path in _declarations(recipe):
            if (kind, name) in owners:
                message = f"{kind} {name!r} belongs to {owners[kind, name]} already"
                yield FileFault(recipe.where, line_of(recipe.places, path), dotted(path), message)
            owners.setdefault((kind, name), recipe.where)


def _declarations(recipe: Recipe) -> Iterator[tuple[str, str, KeyPath]]:
    for index, spec in enumerate(recipe.classes):
        yield "class", spec.name, ("class", index, "name")
    for index, reason in enumerate(recipe.reasons):
        yield "reason", reason.full_name, ("reason", index, "name")
    for index, rule in enumerate(recipe.rules):
        yield "rule", rule.slug, ("rule", index, "slug")
    for index, heal in enumerate(recipe.heals):
        yield "heal", heal.slug, ("heal", index, "slug")


def _failing(recipe: Recipe, rule_set: RuleSet, taxonomy: Taxonomy) -> Iterator[FileFault]:
    """Yield a fault for each example that does not show what its rule says."""
    for index, rule in enumerate(recipe.rules):
        if rule.class_ not in taxonomy:
            continue
        for result in run_examples([rule], rule_set):
            if not result.ok:
                path = ("rule", index, result.kind, result.position)
                yield FileFault(recipe.where, line_of(recipe.places, path), dotted(path), result.message)
