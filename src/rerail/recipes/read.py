"""Returns what the recipe files in force say: taxonomy and rules together, and the heals.

On the way of every hook call, so neither `tomllib` nor pydantic is imported unless a file changed since the last time: what the
built-in recipes were compiled to ships with an installed package, and everything else is kept in the user's cache. Both are
named after the content of the recipes, so that neither is ever used for another; and while no file has changed, as its size and
times tell, no content is looked at.
"""

from __future__ import annotations

import os
import struct
from binascii import crc32
from functools import cached_property

from rerail import kept
from rerail._version import __version__
from rerail.errors import RecipeError, RerailError, UnknownNameError
from rerail.light_typing import TYPE_CHECKING, NamedTuple
from rerail.recipes.fast import scanner
from rerail.recipes.files import built_in_directory, built_in_files, project_files, state_of
from rerail.rules.compile import RuleSet
from rerail.rules.packing import packed, unpacked

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence
    from pathlib import Path

    from rerail.recipes.assemble import RecipeFile
    from rerail.recipes.files import Found, StrPath
    from rerail.recipes.heals import HealRecipe
    from rerail.recipes.model import Recipe
    from rerail.rules.compile import Scan
    from rerail.taxonomy.model import ClassSpec, ReasonSpec, Taxonomy

COMPILED = "compiled.bin"
"""What the built-in recipes were compiled to, beside them in an installed package; see ``hatch_build.py``."""

_CACHE_FORMAT = "17"
"""Rises when what a cache holds changes its shape."""

_SEEN = "seen"
"""The part of a cache that says as what the files were last seen that it was made of."""


class RuleText(NamedTuple):
    """What people read about a rule; the engine has no use for it."""

    why: str
    source: str
    pack: str


class Loaded:
    """Everything that the recipes in force say.

    Attributes:
        rules: The rules of the classes in force.
    """

    def __init__(self, parts: kept.Parts, scan: Scan | None = None) -> None:
        self._texts, self._taxonomy = parts["texts"], parts["taxonomy"]
        self.rules = RuleSet(parts, scan)

    @cached_property
    def taxonomy(self) -> Taxonomy:
        """Classes and reasons in force."""
        from rerail.taxonomy.actions import Action
        from rerail.taxonomy.model import ClassSpec, ReasonSpec

        classes, reasons, packs = unpacked(self._taxonomy)
        return taxonomy_of(
            [ClassSpec(row[0], row[1], Action(row[2]), *row[3:]) for row in classes],
            [ReasonSpec(row[0], row[1], row[2], row[3], Action(row[4])) for row in reasons],
            packs,
        )

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
    if packs is not None:
        from rerail.taxonomy.packs import PACKS

        if unknown := next((name for name in packs if name not in PACKS), None):
            raise UnknownNameError("pack", unknown, PACKS)
        packs = None if set(packs) == set(PACKS) else packs
    own = project_files(project_root)
    files = [*built_in_files(), *own]
    if cache_dir is None:
        return _by_content(files, packs, None, b"", scanner(None, os.environ))
    # A name per project that has recipes, so that each keeps one file however often they change.
    whose = packed((built_in_directory(), str(project_root) if own else "", packs and list(packs)))
    path = os.path.join(cache_dir, f"recipes-{crc32(whose):08x}.bin")  # noqa: PTH118
    scan = scanner(f"{path}.texts", os.environ)
    state = state_of(files)
    seen = b"" if state is None else packed((_CACHE_FORMAT, __version__, whose, state))
    parts = kept.read(path, None)
    if parts is not None and seen and parts.get(_SEEN) == seen and (loaded := _loaded(parts, scan)):
        return loaded
    return _by_content(files, packs, path, seen, scan)


def _by_content(
    files: Sequence[Found], packs: Sequence[str] | None, path: str | None, seen: bytes, scan: Scan | None
) -> Loaded:
    """Return what was compiled from files of this very content, else compile them.

    Args:
        files: All in force.
        packs: As `load`.
        path: The cache; None for none.
        seen: What is written there, so that the files need not be looked into again as long as they stay as they are.
        scan: For the rules.
    """
    key = _key(files, packs)
    shipped = os.path.join(built_in_directory(), COMPILED)  # noqa: PTH118
    parts = kept.read(shipped, key, private=False)
    loaded = _loaded(parts, scan)
    if loaded is None and path is not None:
        parts = kept.read(path, key)
        loaded = _loaded(parts, scan)
    if parts is None or loaded is None:
        parts = _assembled(files, packs, path and os.path.dirname(path))  # noqa: PTH120
        loaded = Loaded(parts, scan)
    elif not seen:
        return loaded
    if path is not None:
        kept.write(path, key, {**parts, _SEEN: seen})
    return loaded


def _loaded(parts: kept.Parts | None, scan: Scan | None) -> Loaded | None:
    """Return what was kept; None where there is nothing, or something of another shape, which is as good as nothing."""
    try:
        return None if parts is None else Loaded(parts, scan)
    except (ValueError, TypeError, LookupError, AttributeError, EOFError, struct.error, RerailError):
        return None


def compiled() -> bytes:
    """Return the content of `COMPILED` for the built-in recipes as they are."""
    files = built_in_files()
    return kept.content(_key(files, None), _assembled(files, None))


def read_all(project_root: Path | None, drafts: Mapping[str, str] | None = None) -> tuple[Recipe, ...]:
    """Return every recipe in force as it is written, examples included; never from a cache.

    Args:
        project_root: As `load`.
        drafts: Recipe files that are read as if they were the project's too, by name: their text.

    Raises:
        RecipeError: As `load`.
    """
    from rerail.recipes.assemble import RecipeFile, read_recipes

    in_force = [_recipe_file(each) for each in (*built_in_files(), *project_files(project_root))]
    return read_recipes(
        [*in_force, *(RecipeFile(name, text, is_project=True) for name, text in (drafts or {}).items())]
    )


def heals_in_force(project_root: StrPath | None) -> tuple[HealRecipe, ...]:
    """Return the heals, in the order of their files.

    From the files as they are now and never from a cache, which somebody else may have written: what a heal runs is what was
    hashed when it is asked whether the operator trusts it.

    Raises:
        RecipeError: A file that has heals has faults.
    """
    from rerail.recipes.assemble import read_recipes

    with_heals = [each for each in built_in_files() if b"[[heal]]" in each.content()]
    built_in = read_recipes([_recipe_file(each) for each in with_heals])
    return tuple(heal for recipe in (*built_in, *read_own(project_root)) for heal in recipe.heals)


def read_own(project_root: StrPath | None) -> tuple[Recipe, ...]:
    """Return a project's own recipes as they are written; that none takes a name of rerail's, `load` sees to.

    Raises:
        RecipeError: As `load`.
    """
    from rerail.recipes.assemble import read_recipes

    return read_recipes([_recipe_file(each) for each in project_files(project_root)])


def built_in_dir() -> Path:
    """Return the directory of the built-in recipes; see `rerail.recipes.files`."""
    from pathlib import Path

    return Path(built_in_directory())


def taxonomy_of(classes: Iterable[ClassSpec], reasons: Iterable[ReasonSpec], packs: Sequence[str] | None) -> Taxonomy:
    """Return the taxonomy in force: the built-in one with a project's rows, without the packs that are off."""
    from rerail.taxonomy import BUILT_IN, PACKS

    taxonomy = BUILT_IN.extended(classes, reasons)
    return taxonomy if packs is None else taxonomy.without_packs(set(PACKS) - set(packs))


def _key(files: Iterable[Found], packs: Sequence[str] | None) -> bytes:
    """Return what tells one state of the recipes from every other."""
    parts = [_CACHE_FORMAT.encode(), __version__.encode(), repr(packs).encode()]
    for file in files:
        parts += (file.where.encode("utf-8", "surrogatepass"), file.content(), b"project" if file.is_project else b"")
    return kept.digest(*parts)


def _recipe_file(file: Found) -> RecipeFile:
    from pathlib import Path

    from rerail.recipes.assemble import RecipeFile
    from rerail.toml_lines import read_text

    return RecipeFile(file.where, read_text(Path(file.path), file.where, RecipeError), file.is_project)


def _assembled(files: Iterable[Found], packs: Sequence[str] | None, cache_dir: str | None = None) -> kept.Parts:
    from rerail.recipes.assemble import assemble  # pydantic costs 200 ms; a cached process never pays
    from rerail.recipes.judged import judged_before

    with judged_before(cache_dir):
        return assemble([_recipe_file(each) for each in files], packs)
