"""What a project's settings say to a hook, from the user's cache while their file stays as it is: reading TOML takes it 15 ms.

Which file that is, and what is wrong with it, is up to `rerail.settings_file`; whether the rest of it is as it should be, to
`rerail.settings`. Standard library only.
"""

from __future__ import annotations

import os
from binascii import crc32

from rerail import kept
from rerail._version import __version__
from rerail.light_typing import TYPE_CHECKING, NamedTuple
from rerail.plain_file import read_plain
from rerail.rules.packing import packed, unpacked

if TYPE_CHECKING:
    from typing import Any


class KnownSettings(NamedTuple):
    """What a hook asks of the settings."""

    packs: tuple[str, ...] | None
    """The class packs that are on; None for all."""
    table: dict[str, Any]
    """The settings, as the file has them."""


def known_settings(root: str, cache_dir: str | None) -> KnownSettings:
    """Return the settings of the project at *root*, as far as a hook needs them.

    Args:
        root: The project's root.
        cache_dir: The user's own directory; None to read the file itself.

    Raises:
        SettingsError: The file cannot be read, is no TOML, or does not say rightly which packs are on.
    """
    content = _content(root)
    if content is None:
        return KnownSettings(None, {})
    if cache_dir is None or not content:
        return _read(root)
    where = os.fsencode(root)
    path = os.path.join(cache_dir, f"settings-{crc32(where):08x}.bin")  # noqa: PTH118  pathlib costs a hook 5 ms
    key = kept.digest(__version__.encode(), where, content)
    parts = kept.read(path, key)
    if parts is not None:
        return KnownSettings(*unpacked(parts["settings"]))
    settings = _read(root)
    try:
        plain = packed(tuple(settings))
    except ValueError:  # it holds a date, which no setting is: whoever checks all of it says so
        return settings
    kept.write(path, key, {"settings": plain})
    return settings


def _content(root: str) -> bytes | None:
    """Return what the file holds that may have settings; nothing where it cannot be read, and None where there is none."""
    for name, word in (("rerail.toml", b""), ("pyproject.toml", b"rerail")):
        try:
            content = read_plain(os.path.join(root, name))  # noqa: PTH118
        except FileNotFoundError:
            continue
        except OSError:
            return b""
        return content if word in content else None
    return None


def _read(root: str) -> KnownSettings:
    from pathlib import Path

    from rerail.settings_file import find_settings, packs_in_force

    file = find_settings(Path(root))
    return KnownSettings(packs_in_force(Path(root)), {} if file is None else file.table)
