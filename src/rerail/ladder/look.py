"""Reads what a project's root says of how it is verified: names, and the text of the files that are known. It runs nothing."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

from rerail.ladder.model import Facts
from rerail.ladder.toolchains import TOOLCHAINS
from rerail.plain_file import read_plain

if TYPE_CHECKING:
    from pathlib import Path

_MOST_BYTES = 1024 * 1024
_MOST_NAMES = 20_000


def look(root: Path) -> Facts:
    """Return what is at a project's root. What cannot be read is told, and taken for something that states nothing."""
    faults: list[str] = []
    names: set[str] = set()
    try:
        with os.scandir(root) as entries:
            for entry in entries:
                names.add(entry.name)
                if len(names) > _MOST_NAMES:
                    break
    except OSError as error:
        faults.append(f"{root}: {error.strerror}")
    # os.path answers False where a directory may not be searched; pathlib raises.
    names |= {path for chain in TOOLCHAINS for path in chain.asks if os.path.exists(root / path)}  # noqa: PTH110
    texts: dict[str, str] = {}
    for name in dict.fromkeys(name for chain in TOOLCHAINS for name in chain.reads):
        if name not in names:
            continue
        try:
            texts[name] = read_plain(root / name, _MOST_BYTES).decode("utf-8-sig", "replace")
        except OSError as error:
            faults.append(f"{name} cannot be read: {error.strerror}")
    return Facts(frozenset(names), texts, (*faults, *_broken(texts)), _is_in_repository(root))


def _broken(texts: dict[str, str]) -> tuple[str, ...]:
    """Return which files are not what their names say; what they state is not known then."""
    import json
    import tomllib

    from rerail.ladder.toolchains.model import without_comments

    found = []
    for name, text in texts.items():
        try:
            if name.endswith(".toml"):
                tomllib.loads(text)
            elif name.endswith((".json", ".jsonc")) and not isinstance(json.loads(without_comments(text)), dict):
                found.append(f"{name} is no JSON object")
        except RecursionError:
            found.append(f"{name} is nested too deeply")
        except ValueError as error:
            found.append(f"{name} is not {'TOML' if name.endswith('.toml') else 'JSON'}: {error}")
    return tuple(found)


def _is_in_repository(root: Path) -> bool:
    return any(os.path.lexists(folder / ".git") for folder in (root, *root.parents))
