"""Where things are: a project's root, and the user's own directory for what can be made again. Reads, never writes.

Each question has an answer in text beside the one for the library, because importing `pathlib` costs a hook 5 ms.
"""

from __future__ import annotations

import os
import sys

from rerail.errors import UsageError
from rerail.light_typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

_ROOT_MARKS = ("rerail.toml", ".rerail", ".git")

_CACHES = {"linux": ".cache", "darwin": "Library/Caches"}
"""Where programs keep what can be made again, below the home directory. The rest is known to platformdirs, 20 ms to import."""

_STATES = {"linux": ".local/state", "darwin": "Library/Application Support"}
"""Where they keep what is to stay, likewise."""


def working_directory() -> str:
    """Return where this process works, as text.

    Raises:
        UsageError: The directory no longer exists.
    """
    try:
        return os.getcwd()  # noqa: PTH109
    except OSError as error:
        said = "no longer exists" if isinstance(error, FileNotFoundError) else f"cannot be looked at: {error.strerror}"
        raise UsageError(
            f"the working directory {said}", hint="change to a directory that exists, then run it again"
        ) from None


def gone_directory(environ: Mapping[str, str]) -> str | None:
    """Return what a working directory that no longer exists was called, as the shell has it; None where that cannot be known.

    Args:
        environ: ``PWD`` is read from it. Where something is at that place again, it is not where this process works.
    """
    called = environ.get("PWD", "")
    return called if os.path.isabs(called) and not os.path.lexists(called) else None  # noqa: PTH117


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

    directory = state_directory(environ)
    return None if directory is None else Path(directory)


def state_directory(environ: Mapping[str, str]) -> str | None:
    """Return what `state_dir` does, as text."""
    xdg = environ.get("XDG_STATE_HOME", "")
    # A relative one is to be ignored, says the XDG base directory specification.
    if os.path.isabs(xdg):  # noqa: PTH117
        return os.path.join(xdg, "rerail")  # noqa: PTH118
    home = os.environ.get("HOME", "")
    if sys.platform in _STATES and os.path.isabs(home):  # noqa: PTH117
        return os.path.join(home, _STATES[sys.platform], "rerail")  # noqa: PTH118
    from platformdirs import user_state_path

    try:
        state = user_state_path("rerail", appauthor=False)
    except RuntimeError:
        return None
    return str(state) if state.is_absolute() else None


def worktree_key(cwd: str | os.PathLike[str]) -> str:
    """Return the name under which the worktree of a directory is refused, and admitted again: its root, links resolved."""
    return os.path.realpath(root_above(os.path.realpath(cwd)))
