"""Recipes: the TOML files that hold rules, heals and a project's own classes. `rerail.rules` runs what is read here."""

from __future__ import annotations

from rerail.light_typing import TYPE_CHECKING
from rerail.recipes.read import Loaded, RuleText, built_in_dir, load, read_all

if TYPE_CHECKING:
    from rerail.recipes.model import Recipe

__all__ = ["Loaded", "Recipe", "RuleText", "built_in_dir", "load", "read_all"]


def __getattr__(name: str) -> object:
    if name != "Recipe":  # which only people's way to a recipe needs
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    from rerail.recipes.model import Recipe

    return Recipe
