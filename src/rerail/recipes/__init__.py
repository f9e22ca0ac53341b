"""Recipes: the TOML files that hold rules, heals and a project's own classes. `rerail.rules` runs what is read here."""

from __future__ import annotations

from rerail.recipes.model import Recipe
from rerail.recipes.read import Loaded, RuleText, built_in_dir, load, read_all

__all__ = ["Loaded", "Recipe", "RuleText", "built_in_dir", "load", "read_all"]
