"""Which file a project's settings stand in, and what it holds: ``rerail.toml``, else ``[tool.rerail]`` of ``pyproject.toml``.

Standard library only, because a hook asks at every tool call which packs are on. What the settings mean is up to
`rerail.settings`.
"""

from __future__ import annotations

from difflib import get_close_matches

from rerail.errors import FileFault, SettingsError
from rerail.light_typing import TYPE_CHECKING, NamedTuple
from rerail.taxonomy.packs import CORE_PACK, PACKS
from rerail.toml_lines import KeyPath, dotted, line_of, parse_toml, places, read_text

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator
    from pathlib import Path
    from typing import Any

OWN_FILE = "rerail.toml"
SHARED_FILE = "pyproject.toml"

DIFF = "diff"
"""The phase that rerail does itself."""

PHASES = ("build", "types", "lint", "tests", "security", DIFF)
"""The phases of the verification ladder, in the order in which they run."""


class SettingsFile(NamedTuple):
    """A file with settings in it."""

    path: Path
    text: str
    prefix: KeyPath
    """Where in the file the settings are: ``()`` or ``("tool", "rerail")``."""
    table: dict[str, Any]
    """The settings, as the file has them."""

    def faults(self, found: Iterable[tuple[KeyPath, str]]) -> list[FileFault]:
        """Return faults of ``(path below the prefix, message)``, with their lines and in the order of these."""
        known = places(self.text)
        told = [
            FileFault(self.path.name, line_of(known, self.prefix + path), dotted(self.prefix + path), message)
            for path, message in found
        ]
        return sorted(told, key=lambda fault: fault.line or 0)


def find_settings(root: Path) -> SettingsFile | None:
    """Return the settings of the project at *root*; None where it has none.

    A project that has a ``rerail.toml`` has its settings there and nowhere else.

    Raises:
        SettingsError: The file cannot be read, is not UTF-8 or not TOML, or ``tool.rerail`` is no table.
    """
    own = _read(root / OWN_FILE)
    if own is not None:
        return SettingsFile(root / OWN_FILE, own, (), parse_toml(own, OWN_FILE, SettingsError))
    shared = _read(root / SHARED_FILE)
    if shared is None or "rerail" not in shared:
        return None
    prefix: KeyPath = ("tool", "rerail")
    table: Any = parse_toml(shared, SHARED_FILE, SettingsError)
    for length, key in enumerate(prefix, start=1):
        table = table.get(key, {})
        if not isinstance(table, dict):
            where = dotted(prefix[:length])
            line = line_of(places(shared), prefix[:length])
            raise SettingsError([FileFault(SHARED_FILE, line, where, f"must be a table, got {table!r:.60}")])
    return SettingsFile(root / SHARED_FILE, shared, prefix, table) if table else None


def packs_in_force(root: Path) -> tuple[str, ...]:
    """Return the packs that are on in the project at *root*; all of them where its settings do not say.

    Raises:
        SettingsError: As `find_settings`, or ``packs`` is not a list of packs with ``core`` in it.
    """
    file = find_settings(root)
    if file is None or "packs" not in file.table:
        return PACKS
    if found := list(pack_faults(file.table["packs"])):
        raise SettingsError(file.faults(found))
    return tuple(file.table["packs"])


def pack_faults(packs: object) -> Iterator[tuple[KeyPath, str]]:
    """Yield what is wrong with the value of ``packs``."""
    if not isinstance(packs, list):
        yield ("packs",), f"must be a list of packs, got {packs!r:.60}"
        return
    for index, name in enumerate(packs):
        if name not in PACKS:
            near = get_close_matches(str(name), PACKS, n=1, cutoff=0.5)
            yield ("packs", index), f"there is no pack named {name!r:.60}; " + did_you_mean(near, PACKS)
    if CORE_PACK not in packs:
        yield ("packs",), f"must have {CORE_PACK!r} in it: only the other packs can be switched off"


def did_you_mean(near: Iterable[str], known: Iterable[str]) -> str:
    """Return what to offer for a name that does not exist."""
    return f"did you mean {' or '.join(near)}?" if near else f"there are {', '.join(known)}"


def _read(path: Path) -> str | None:
    try:
        return read_text(path, path.name, SettingsError)
    except FileNotFoundError:
        return None
