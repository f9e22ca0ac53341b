"""Where things are: a project's root, and the user's own directory for what can be made again. Reads, never writes.

Each question has an answer in text beside the one for the library, because importing `pathlib` costs a hook 5 ms.
"""

from __future__ import annotations

import os
import sys
from typing import TYPE_CHECKING

from rerail.plain_file import read_plain

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

_ROOT_MARKS = ("rerail.toml", ".rerail", ".git")

_CACHES = {"linux": ".cache", "darwin": "Library/Caches"}
"""Where programs keep what can be made again, below the home directory. The rest is known to platformdirs, 20 ms to import."""


def find_root(cwd: Path) -> Path:
    """Return the nearest directory at or above *cwd* that marks a project, or *cwd* itself."""
    return type(cwd)(root_above(str(cwd)))


def root_above(cwd: str) -> str:
    """Return what `find_root` does, as text."""
    directory = cwd
    while True:
        # os.path answers False where a directory above may not be searched; pathlib raises.
        if any(os.path.exists(os.path.join(directory, mark)) for mark in _ROOT_MARKS):  # noqa: PTH110, PTH118
            return directory
        above = os.path.dirname(directory)  # noqa: PTH120
        if above in (directory, ""):
            return cwd
        directory = above


def may_have_settings(root: str) -> bool:
    """Tell whether a project may have settings, for whom reading them costs too much to find that there are none."""
    if os.path.exists(os.path.join(root, "rerail.toml")):  # noqa: PTH110, PTH118
        return True
    try:
        return b"rerail" in read_plain(os.path.join(root, "pyproject.toml"))  # noqa: PTH118
    except FileNotFoundError:
        return False
    except OSError:
        return True  # what is wrong with it is told by whoever reads it


def config_dir(environ: Mapping[str, str]) -> Path | None:
    """Return the user's own directory for what the user decides; None where there is no such place."""
    from pathlib import Path

    chosen = environ.get("XDG_CONFIG_HOME", "")
    if os.path.isabs(chosen):  # noqa: PTH117  as below
        return Path(chosen, "rerail")
    try:
        from platformdirs import user_config_path  # 20 ms to import

        return user_config_path("rerail", appauthor=False)
    except (RuntimeError, KeyError):  # no home directory, and none in the password database
        return None


def cache_dir(environ: Mapping[str, str]) -> Path | None:
    """Return the user's own directory for what can be made again; None where there is no such place."""
    from pathlib import Path

    directory = cache_directory(environ)
    return None if directory is None else Path(directory)


def cache_directory(environ: Mapping[str, str]) -> str | None:
    """Return what `cache_dir` does, as text."""
    chosen = environ.get("XDG_CACHE_HOME", "")
    if os.path.isabs(chosen):  # noqa: PTH117
        return os.path.join(chosen, "rerail")  # noqa: PTH118
    if sys.platform in _CACHES:
        caches = os.path.expanduser(os.path.join("~", _CACHES[sys.platform]))  # noqa: PTH111, PTH118
        return os.path.join(caches, "rerail") if os.path.isabs(caches) else None  # noqa: PTH117, PTH118
    try:
        from platformdirs import user_cache_path

        return str(user_cache_path("rerail"))
    except (RuntimeError, KeyError):  # no home directory, and none in the password database
        return None


def state_dir(environ: Mapping[str, str]) -> Path | None:
    """Return the user's state directory for rerail; None without a home."""
    from pathlib import Path

    xdg = environ.get("XDG_STATE_HOME", "")
    # A relative one is to be ignored, says the XDG base directory specification.
    if os.path.isabs(xdg):  # noqa: PTH117  pathlib would only wrap it
        return Path(xdg) / "rerail"
    # Costs 20 ms to import, and most people have no XDG_STATE_HOME; but which directory it is, is the platform's to say.
    from platformdirs import user_state_path

    try:
        state = user_state_path("rerail", appauthor=False)
    except RuntimeError:
        return None
    return state if state.is_absolute() else None


def worktree_key(cwd: str | os.PathLike[str]) -> str:
    """Return the name under which the worktree of a directory is refused, and admitted again: its root, links resolved."""
    return os.path.realpath(root_above(os.path.realpath(cwd)))
