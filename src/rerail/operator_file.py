"""Files in which the operator says what a project's own files may not: a policy for agents, who commits.

They stand in the user's own configuration directory and nowhere else. ``rerail.toml`` is a file that an agent writes as it writes
any other; a word that stood there would be the agent's own. For the same reason a file that lies inside the project, or that
others may write, does not count. What a file says is for whoever reads it.
"""

from __future__ import annotations

import os
import stat
from pathlib import Path
from typing import TYPE_CHECKING, Any

import attrs

from rerail.errors import FileFault, SettingsError
from rerail.paths import config_dir
from rerail.toml_lines import dotted, line_of, parse_toml, places, read_text

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from rerail.toml_lines import KeyPath


@attrs.frozen
class OperatorFile:
    """One such file."""

    path: Path
    text: str
    table: dict[str, Any]

    def refuse(self, found: Iterable[tuple[KeyPath, str]]) -> None:
        """Refuse the file for its faults, all told together.

        Raises:
            SettingsError: There are some.
        """
        known = places(self.text)
        if faults := [FileFault(str(self.path), line_of(known, at), dotted(at), said) for at, said in found]:
            raise SettingsError(faults)


def place(name: str, environ: Mapping[str, str]) -> Path | None:
    """Return where the operator would keep a file; None without a configuration directory."""
    directory = config_dir(environ)
    return None if directory is None else directory / name


def read(name: str, root: Path, environ: Mapping[str, str]) -> OperatorFile | None:
    """Return a file of the operator's as it counts for the project at *root*; None where there is none.

    Raises:
        SettingsError: It is no TOML, lies inside the project, or others than its owner may write it.
    """
    path = place(name, environ)
    if path is None:
        return None
    try:
        text = read_text(path, str(path), SettingsError)
    except FileNotFoundError:
        return None
    _check_is_the_operators(path, root)
    return OperatorFile(path, text, parse_toml(text, str(path), SettingsError))


def _check_is_the_operators(file: Path, root: Path) -> None:
    real = Path(os.path.realpath(file))
    if real.is_relative_to(os.path.realpath(root)):
        fault = "it lies inside the project, where agents write; keep it elsewhere, and set XDG_CONFIG_HOME to there"
        raise SettingsError([FileFault(str(file), None, "", fault)])
    if os.name == "posix" and real.stat().st_mode & (stat.S_IWGRP | stat.S_IWOTH):
        raise SettingsError([FileFault(str(file), None, "", "others may write it; allow only its owner: chmod go-w")])
