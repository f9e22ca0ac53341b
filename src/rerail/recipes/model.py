"""What a recipe file holds once it is read. Values only; `rerail.recipes.schema` makes them of TOML."""

from __future__ import annotations

from rerail.light_typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from rerail.recipes.heals import HealRecipe
    from rerail.rules.model import Rule
    from rerail.taxonomy.model import ClassSpec, ReasonSpec
    from rerail.toml_lines import Places


class Recipe(NamedTuple):
    """One recipe file."""

    name: str
    """What the file calls itself, or its stem."""
    description: str
    classes: tuple[ClassSpec, ...]
    reasons: tuple[ReasonSpec, ...]
    rules: tuple[Rule, ...]
    heals: tuple[HealRecipe, ...]
    content_hash: str
    """SHA-256 of the file's text, hex."""
    where: str
    """The file, as faults name it."""
    places: Places
    """Where everything in it stands, for faults that show only later."""
