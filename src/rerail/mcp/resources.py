"""The resources: recipes, taxonomy, schemas, to be read as they are."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, NamedTuple

from rerail.app import open_project
from rerail.boundary.schemas import SCHEMAS, published
from rerail.boundary.serialize import serialize_result
from rerail.paths import find_root
from rerail.recipes.read import read_all
from rerail.verbs.recipes import recipes, summary
from rerail.verbs.taxonomy import taxonomy

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from rerail.boundary.result import Result
    from rerail.recipes.model import Recipe

_JSON = "application/json"
_RECIPES, _SCHEMAS = "rerail://recipes", "rerail://schemas"


class Found(NamedTuple):
    """One resource, without its text."""

    uri: str
    description: str
    mime_type: str


def listed(cwd: Path) -> Iterator[Found]:
    """Yield every resource of the project that *cwd* is in."""
    yield Found("rerail://taxonomy", "The classes in force, their actions, budgets and reasons.", _JSON)
    yield Found(_RECIPES, "The recipe files in force.", _JSON)
    for recipe in recipes(open_project(cwd)).rows("recipes"):
        yield Found(f"{_RECIPES}/{recipe['name']}", recipe["description"], _JSON)
    for name in SCHEMAS:
        yield Found(f"{_SCHEMAS}/{name}", f"The JSON Schema of {name}.", _JSON)


def text_of(cwd: Path, uri: str) -> tuple[str, str] | None:
    """Return a resource's text and its type; None where there is none of that name."""
    if uri == "rerail://taxonomy":
        return _data(taxonomy(open_project(cwd))), _JSON
    if uri == _RECIPES:
        return _data(recipes(open_project(cwd))), _JSON
    kind, _, name = uri.rpartition("/")
    if kind == _SCHEMAS and name in SCHEMAS:
        return json.dumps(published(name), indent=2), _JSON
    if kind == _RECIPES:
        recipe = next((each for each in read_all(find_root(cwd)) if each.name == name), None)
        if recipe is not None:
            return json.dumps(_recipe(recipe), indent=2), _JSON
    return None


def _recipe(recipe: Recipe) -> dict[str, object]:
    return {
        **summary(recipe),
        "rules": [
            {"slug": rule.slug, "class": rule.class_, "reason": rule.reason, "why": rule.why, "source": rule.source}
            for rule in recipe.rules
        ],
        "heals": [{"slug": heal.slug, "sees": heal.sees, "why": heal.why, "undo": heal.undo} for heal in recipe.heals],
    }


def _data(result: Result) -> str:
    return json.dumps(serialize_result(result)["data"], indent=2)
