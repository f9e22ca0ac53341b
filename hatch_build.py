"""Compiles the built-in recipes into the wheel, so that the first hook of a new installation is as quick as the next.

An editable checkout gets none: there the recipes change, and what they compile to is kept in the user's cache.
"""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

from hatchling.builders.hooks.plugin.interface import BuildHookInterface


class CompileRecipes(BuildHookInterface[Any]):
    """Adds `rerail.recipes.read.COMPILED` to the recipes in the wheel."""

    def initialize(self, version: str, build_data: dict[str, Any]) -> None:
        """Compile the recipes; hatchling calls this before it collects the files."""
        if version == "editable":
            return
        sys.path.insert(0, str(Path(self.root, "src")))
        try:
            from rerail.recipes.read import COMPILED, compiled
        finally:
            del sys.path[0]
        made = Path(self.directory, COMPILED)
        made.parent.mkdir(parents=True, exist_ok=True)
        made.write_bytes(compiled())
        build_data["force_include"][str(made)] = f"rerail/_recipes/{COMPILED}"

    def finalize(self, version: str, build_data: dict[str, Any], artifact_path: str) -> None:  # noqa: ARG002  hatchling's
        """Leave nothing beside the wheel."""
        for made in build_data["force_include"]:
            if made.startswith(self.directory):
                Path(made).unlink(missing_ok=True)
