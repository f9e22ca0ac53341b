"""Where things are: a project's root, and the user's own directory for what can be made again. Reads, never writes."""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Mapping

_ROOT_MARKS = ("rerail.toml", ".rerail", ".git")


def find_root(cwd: Path) -> Path:
    """Return the nearest directory at or above *cwd* that marks a project, or *cwd* itself."""
    for directory in (cwd, *cwd.parents):
        # os.path answers False where a directory above may not be searched; pathlib raises.
        if any(os.path.exists(directory / mark) for mark in _ROOT_MARKS):  # noqa: PTH110
            return directory
    return cwd


def cache_dir(environ: Mapping[str, str]) -> Path | None:
    """Return the user's own directory for what can be made again; None where there is no such place."""
    if (chosen := environ.get("XDG_CACHE_HOME")) and Path(chosen).is_absolute():
        return Path(chosen, "rerail")
    try:
        from platformdirs import user_cache_path  # 20 ms to import

        return user_cache_path("rerail")
    except (RuntimeError, KeyError):  # no home directory, and none in the password database
        return None
