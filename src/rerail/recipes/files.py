"""Which recipe files are in force: the built-in ones and a project's own. What they hold is for `rerail.recipes.read`."""

from __future__ import annotations

import os
import time

from rerail.errors import FileFault, RecipeError
from rerail.light_typing import TYPE_CHECKING, NamedTuple
from rerail.plain_file import read_plain
from rerail.rules.packing import packed

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    StrPath = str | os.PathLike[str]

PROJECT_RECIPES = os.path.join(".rerail", "recipes")  # noqa: PTH118  pathlib costs a hook 5 ms, here and below
"""Where a project keeps its own, below its root."""

_SETTLES_S = 2.0
"""How long after a change a file may be changed once more without another time of change: the coarsest clock of a file system."""


class Found(NamedTuple):
    """A recipe file that was found."""

    where: str
    """As faults name it."""
    path: str
    is_project: bool

    def content(self) -> bytes:
        """Return what it holds.

        Raises:
            RecipeError: It cannot be read.
        """
        try:
            return read_plain(self.path)
        except OSError as error:
            fault = FileFault(self.where, None, "", f"cannot be read: {error.strerror or error}")
            raise RecipeError([fault]) from error


def built_in_directory() -> str:
    """Return the directory of the built-in recipes.

    It is part of the package; only a checkout that is installed in place has it where people look for it, at the top level.
    """
    package = os.path.dirname(os.path.dirname(__file__))  # noqa: PTH120
    packaged = os.path.join(package, "_recipes")  # noqa: PTH118
    if os.path.isdir(packaged):  # noqa: PTH112
        return packaged
    return os.path.join(os.path.dirname(os.path.dirname(package)), "recipes")  # noqa: PTH118, PTH120


def built_in_files() -> list[Found]:
    """Return the built-in recipe files, by name."""
    return list(_files(built_in_directory(), "", is_project=False))


def project_files(project_root: StrPath | None) -> list[Found]:
    """Return a project's own recipe files, by name."""
    if project_root is None:
        return []
    directory = os.path.join(project_root, PROJECT_RECIPES)  # noqa: PTH118
    return list(_files(directory, PROJECT_RECIPES, is_project=True))


def state_of(files: Sequence[Found]) -> bytes | None:
    """Return what changes with the content of any of the files, without reading them: sizes, times and places on the disk.

    None where that cannot be told, because one is gone or was changed just now.
    """
    try:
        stats = [(file, os.stat(file.path)) for file in files]  # noqa: PTH116
    except OSError:
        return None
    latest_s = max((max(stat.st_mtime, stat.st_ctime) for _, stat in stats), default=0.0)
    if time.time() - latest_s < _SETTLES_S:
        return None
    rows = [(*file, stat.st_dev, stat.st_ino, stat.st_size, stat.st_mtime_ns, stat.st_ctime_ns) for file, stat in stats]
    return packed(rows)


def _files(directory: str, shown: str, *, is_project: bool) -> Iterator[Found]:
    """Yield every recipe file of a directory by name; none where there is no such directory."""
    try:
        names = sorted(os.listdir(directory))  # noqa: PTH208
    except OSError:
        return
    for name in names:
        if name.endswith(".toml"):
            yield Found(os.path.join(shown, name), os.path.join(directory, name), is_project)  # noqa: PTH118
