"""Finds the recipe files in force and returns what they say together: taxonomy, rules and heals.

On the way of every hook call, so neither `tomllib` nor pydantic is imported unless a file changed since the last time.
"""

from __future__ import annotations

from functools import cached_property
from hashlib import sha256
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from rerail._version import __version__
from rerail.errors import RecipeError, UnknownNameError
from rerail.ids import ClassName
from rerail.recipes import cache
from rerail.rules.compile import RuleSet
from rerail.taxonomy import BUILT_IN
from rerail.taxonomy.actions import Action
from rerail.taxonomy.classes import PACKS
from rerail.taxonomy.model import ClassSpec, ReasonSpec, Taxonomy
from rerail.toml_lines import read_text

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from rerail.recipes.heals import HealRecipe
    from rerail.recipes.model import Recipe

PROJECT_RECIPES = Path(".rerail", "recipes")
"""Where a project keeps its own, below its root."""

_CACHE_FORMAT = "5"
"""Rises when what a cache holds changes its shape."""


class RuleText(NamedTuple):
    """What people read about a rule; the engine has no use for it."""

    why: str
    source: str
    pack: str


class Loaded:
    """Everything that the recipes in force say.

    Attributes:
        taxonomy: Classes and reasons in force.
        rules: The rules of those classes.
        texts: What people read about each rule, by its slug.
    """

    def __init__(self, data: dict[str, Any]) -> None:
        classes = [ClassSpec(ClassName(row[0]), row[1], Action(row[2]), *row[3:]) for row in data["classes"]]
        reasons = [ReasonSpec(ClassName(row[0]), row[1], row[2], row[3], Action(row[4])) for row in data["reasons"]]
        self.taxonomy = taxonomy_of(classes, reasons, data["packs"])
        self.rules = RuleSet(data["rules"])
        self.texts = {slug: RuleText(*row) for slug, row in data["texts"].items()}
        self._heal_tables = data["heals"]

    @cached_property
    def heals(self) -> tuple[HealRecipe, ...]:
        """The heals, in the order of their files. Made when first asked for: to name a failure needs none of them."""
        from rerail.recipes.heal_schema import HealTable, heal_recipe

        return tuple(
            heal_recipe(HealTable.model_validate(table), pack=pack, digest=digest)
            for table, pack, digest in self._heal_tables
        )


def load(project_root: Path | None, *, packs: Sequence[str] | None = None, cache_dir: Path | None = None) -> Loaded:
    """Return what the built-in recipes and those of a project say together.

    Args:
        project_root: Where ``.rerail/recipes/*.toml`` are looked for; None for the built-in ones alone.
        packs: Names of the class packs that are on; None for all. ``["core"]`` leaves the extension packs out.
        cache_dir: A directory of the user's own for the compiled form; None to compile each time.

    Raises:
        RecipeError: A file has faults, or two files declare the same class or rule; all faults of all files are told.
        UnknownNameError: *packs* names a pack that does not exist.
    """
    for name in packs or ():
        if name not in PACKS:
            raise UnknownNameError("pack", name, PACKS)
    files = tuple(_files(project_root))
    if cache_dir is None:
        return Loaded(_assembled(files, packs))
    path = cache_dir / f"recipes-{_digest(str(project_root), repr(packs))}.json"
    key = _digest(_CACHE_FORMAT, __version__, repr(packs), *(part for each in files for part in each))
    if (kept := _from_cache(path, key)) is not None:
        return kept
    data = _assembled(files, packs)
    cache.write(path, key, data)
    return Loaded(data)


def read_all(project_root: Path | None) -> tuple[Recipe, ...]:
    """Return every recipe in force as it is written, examples included; never from a cache.

    Raises:
        RecipeError: As `load`.
    """
    from rerail.recipes.assemble import RecipeFile, read_recipes

    return read_recipes([RecipeFile(*each) for each in _files(project_root)])


def built_in_dir() -> Path:
    """Return the directory of the built-in recipes.

    It is part of the package; only a checkout that is installed in place has it where people look for it, at the top level.
    """
    packaged = Path(__file__).parents[1] / "_recipes"
    return packaged if packaged.is_dir() else Path(__file__).parents[3] / "recipes"


def taxonomy_of(classes: Iterable[ClassSpec], reasons: Iterable[ReasonSpec], packs: Sequence[str] | None) -> Taxonomy:
    """Return the taxonomy in force: the built-in one with a project's rows, without the packs that are off."""
    taxonomy = BUILT_IN.extended(classes, reasons)
    return taxonomy if packs is None else taxonomy.without_packs(set(PACKS) - set(packs))


def _files(project_root: Path | None) -> Iterator[tuple[str, str, bool]]:
    """Yield ``(where, text, is_project)`` of every recipe file, the built-in ones first, each group by name."""
    for path in sorted(built_in_dir().glob("*.toml")):
        yield path.name, read_text(path, path.name, RecipeError), False
    if project_root is not None:
        for path in sorted((project_root / PROJECT_RECIPES).glob("*.toml")):
            where = str(PROJECT_RECIPES / path.name)
            yield where, read_text(path, where, RecipeError), True


def _assembled(files: Iterable[tuple[str, str, bool]], packs: Sequence[str] | None) -> dict[str, Any]:
    from rerail.recipes.assemble import RecipeFile, assemble  # pydantic costs 200 ms; a cached process never pays

    return assemble([RecipeFile(*each) for each in files], packs)


def _from_cache(path: Path, key: str) -> Loaded | None:
    data = cache.read(path, key)
    try:
        return None if data is None else Loaded(data)
    except (ValueError, TypeError, LookupError, AttributeError):
        return None  # the right key over the wrong shape: no better than none


def _digest(*parts: object) -> str:
    text = "\0".join(f"{len(str(part))}:{part}" for part in parts)
    return sha256(text.encode("utf-8", "surrogatepass")).hexdigest()[:32]
