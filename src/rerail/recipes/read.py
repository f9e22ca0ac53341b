"""Finds the recipe files in force and returns what they say: taxonomy and rules together, and the heals.

On the way of every hook call, so neither `tomllib` nor pydantic is imported unless a file changed since the last time: what the
built-in recipes were compiled to ships with an installed package, and everything else is kept in the user's cache. Both are
named after the content of the recipes, so that neither is ever used for another.
"""

from __future__ import annotations

import os
from functools import cached_property
from types import MappingProxyType
from typing import TYPE_CHECKING, NamedTuple

from rerail import kept
from rerail._version import __version__
from rerail.errors import FileFault, RecipeError, RerailError, UnknownNameError
from rerail.plain_file import read_plain
from rerail.recipes.fast import scanner
from rerail.rules.compile import RuleSet, unpacked
from rerail.taxonomy import BUILT_IN
from rerail.taxonomy.actions import Action
from rerail.taxonomy.classes import PACKS
from rerail.taxonomy.model import ClassSpec, ReasonSpec, Taxonomy

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence
    from pathlib import Path

    from rerail.recipes.assemble import RecipeFile
    from rerail.recipes.heals import HealRecipe
    from rerail.recipes.model import Recipe
    from rerail.rules.compile import Scan

    StrPath = str | os.PathLike[str]

PROJECT_RECIPES = os.path.join(".rerail", "recipes")  # noqa: PTH118  pathlib costs a hook 5 ms, here and below
"""Where a project keeps its own, below its root."""

COMPILED = "compiled.bin"
"""What the built-in recipes were compiled to, beside them in an installed package; see ``hatch_build.py``."""

_CACHE_FORMAT = "15"
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
    """

    def __init__(self, parts: kept.Parts, scan: Scan | None = None) -> None:
        self._texts = parts["texts"]
        classes, reasons, packs = unpacked(parts["taxonomy"])
        self.taxonomy = taxonomy_of(
            [ClassSpec(row[0], row[1], Action(row[2]), *row[3:]) for row in classes],
            [ReasonSpec(row[0], row[1], row[2], row[3], Action(row[4])) for row in reasons],
            packs,
        )
        self.rules = RuleSet(unpacked(parts["rules"]), scan)

    @cached_property
    def texts(self) -> dict[str, RuleText]:
        """What people read about each rule, by its slug."""
        return {slug: RuleText(*row) for slug, row in unpacked(self._texts).items()}


def load(
    project_root: StrPath | None, *, packs: Sequence[str] | None = None, cache_dir: StrPath | None = None
) -> Loaded:
    """Return what the built-in recipes and those of a project say together.

    Args:
        project_root: Where ``.rerail/recipes/*.toml`` are looked for; None for the built-in ones alone.
        packs: Names of the class packs that are on; None for all. ``["core"]`` leaves the extension packs out.
        cache_dir: A directory of the user's own for the compiled form; None to compile whatever did not ship.

    Raises:
        RecipeError: A file has faults, or two files declare the same class or rule; all faults of all files are told.
        UnknownNameError: *packs* names a pack that does not exist.
        UsageError: ``RERAIL_ENGINE`` asks for what there is not; see `rerail.recipes.fast`.
    """
    for name in packs or ():
        if name not in PACKS:
            raise UnknownNameError("pack", name, PACKS)
    if packs is not None and set(packs) == set(PACKS):
        packs = None
    built_in, own = _built_in_files(), _project_files(project_root)
    key = _key([*built_in, *own], packs)
    loaded = path = None
    if cache_dir is not None:
        # A name per project that has recipes, so that each keeps one file however often they change.
        whose = (_built_in_dir(), str(project_root) if own else "", repr(packs))
        name = kept.digest(*(each.encode("utf-8", "surrogatepass") for each in whose)).hex()
        path = os.path.join(cache_dir, f"recipes-{name}.bin")  # noqa: PTH118
    scan = scanner(path and f"{path}.texts", os.environ)
    if not own and packs is None:
        shipped = os.path.join(_built_in_dir(), COMPILED)  # noqa: PTH118
        loaded = _loaded(kept.read(shipped, key, private=False), scan)
    if loaded is None and path is not None:
        loaded = _loaded(kept.read(path, key), scan)
    if loaded is None:
        parts = _assembled([*built_in, *own], packs)
        if path is not None:
            kept.write(path, key, parts)
        loaded = Loaded(parts, scan)
    return loaded


def _loaded(parts: kept.Parts | None, scan: Scan | None) -> Loaded | None:
    """Return what was kept; None where there is nothing, or something of another shape, which is as good as nothing."""
    try:
        return None if parts is None else Loaded(parts, scan)
    except (ValueError, TypeError, LookupError, AttributeError, EOFError, RerailError):
        return None


def compiled() -> bytes:
    """Return the content of `COMPILED` for the built-in recipes as they are."""
    files = _built_in_files()
    return kept.content(_key(files, None), _assembled(files, None))


def read_all(project_root: Path | None, drafts: Mapping[str, str] = MappingProxyType({})) -> tuple[Recipe, ...]:
    """Return every recipe in force as it is written, examples included; never from a cache.

    Args:
        project_root: As `load`.
        drafts: Recipe files that are read as if they were the project's too, by name: their text.

    Raises:
        RecipeError: As `load`.
    """
    from rerail.recipes.assemble import RecipeFile, read_recipes

    in_force = [_recipe_file(each) for each in (*_built_in_files(), *_project_files(project_root))]
    return read_recipes([*in_force, *(RecipeFile(name, text, is_project=True) for name, text in drafts.items())])


def heals_in_force(project_root: StrPath | None) -> tuple[HealRecipe, ...]:
    """Return the heals, in the order of their files.

    From the files as they are now and never from a cache, which somebody else may have written: what a heal runs is what was
    hashed when it is asked whether the operator trusts it.

    Raises:
        RecipeError: A file that has heals has faults.
    """
    from rerail.recipes.assemble import read_recipes

    with_heals = [each for each in _built_in_files() if b"[[heal]]" in each.content]
    built_in = read_recipes([_recipe_file(each) for each in with_heals])
    return tuple(heal for recipe in (*built_in, *read_own(project_root)) for heal in recipe.heals)


def read_own(project_root: StrPath | None) -> tuple[Recipe, ...]:
    """Return a project's own recipes as they are written; that none takes a name of rerail's, `load` sees to.

    Raises:
        RecipeError: As `load`.
    """
    from rerail.recipes.assemble import read_recipes

    return read_recipes([_recipe_file(each) for each in _project_files(project_root)])


def built_in_dir() -> Path:
    """Return the directory of the built-in recipes.

    It is part of the package; only a checkout that is installed in place has it where people look for it, at the top level.
    """
    from pathlib import Path

    return Path(_built_in_dir())


def taxonomy_of(classes: Iterable[ClassSpec], reasons: Iterable[ReasonSpec], packs: Sequence[str] | None) -> Taxonomy:
    """Return the taxonomy in force: the built-in one with a project's rows, without the packs that are off."""
    taxonomy = BUILT_IN.extended(classes, reasons)
    return taxonomy if packs is None else taxonomy.without_packs(set(PACKS) - set(packs))


class _File(NamedTuple):
    """A recipe file that was found."""

    where: str
    """As faults name it."""
    path: str
    content: bytes
    is_project: bool


def _built_in_dir() -> str:
    package = os.path.dirname(os.path.dirname(__file__))  # noqa: PTH120
    packaged = os.path.join(package, "_recipes")  # noqa: PTH118
    if os.path.isdir(packaged):  # noqa: PTH112
        return packaged
    return os.path.join(os.path.dirname(os.path.dirname(package)), "recipes")  # noqa: PTH118, PTH120


def _built_in_files() -> list[_File]:
    return list(_files(_built_in_dir(), "", is_project=False))


def _project_files(project_root: StrPath | None) -> list[_File]:
    if project_root is None:
        return []
    directory = os.path.join(project_root, PROJECT_RECIPES)  # noqa: PTH118
    return list(_files(directory, PROJECT_RECIPES, is_project=True))


def _files(directory: str, shown: str, *, is_project: bool) -> Iterator[_File]:
    """Yield every recipe file of a directory by name; none where there is no such directory."""
    try:
        names = sorted(os.listdir(directory))  # noqa: PTH208
    except OSError:
        return
    for name in names:
        if name.endswith(".toml"):
            path, where = os.path.join(directory, name), os.path.join(shown, name)  # noqa: PTH118
            try:
                content = read_plain(path)
            except OSError as error:
                raise RecipeError([FileFault(where, None, "", f"cannot be read: {error.strerror or error}")]) from error
            yield _File(where, path, content, is_project)


def _key(files: Iterable[_File], packs: Sequence[str] | None) -> bytes:
    """Return what tells one state of the recipes from every other."""
    parts = [_CACHE_FORMAT.encode(), __version__.encode(), repr(packs).encode()]
    for file in files:
        parts += (file.where.encode("utf-8", "surrogatepass"), file.content, b"project" if file.is_project else b"")
    return kept.digest(*parts)


def _recipe_file(file: _File) -> RecipeFile:
    from pathlib import Path

    from rerail.recipes.assemble import RecipeFile
    from rerail.toml_lines import read_text

    return RecipeFile(file.where, read_text(Path(file.path), file.where, RecipeError), file.is_project)


def _assembled(files: Iterable[_File], packs: Sequence[str] | None) -> kept.Parts:
    from rerail.recipes.assemble import assemble  # pydantic costs 200 ms; a cached process never pays

    return assemble([_recipe_file(each) for each in files], packs)
