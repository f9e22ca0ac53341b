"""The published JSON Schemas as files, and what would break a reader or a writer of the one that was published before."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Any

from rerail.boundary.schemas import SCHEMAS, published

if TYPE_CHECKING:
    from collections.abc import Iterator

FILES = Path(__file__).parent / "schemas"
_PROSE = frozenset({"description", "title", "examples", "default", "$id"})


def files() -> dict[str, str]:
    """Return every schema's file by its path below docs/.

    Raises:
        SystemExit: One would break what was published under the same version.
    """
    made = {}
    for name, (version, _) in SCHEMAS.items():
        path = FILES / f"{name}-{version}.json"
        schema = published(name)
        if path.exists() and (broken := list(breaks(json.loads(path.read_text()), schema))):
            raise SystemExit(f"{path.name}: not compatible with what is published:\n" + "\n".join(broken))
        made[f"schemas/{path.name}"] = json.dumps(schema, indent=2) + "\n"
    return made


def breaks(old: Any, new: Any, where: str = "$") -> Iterator[str]:
    """Yield what of *old* a reader or writer would miss in *new*: anything but more optional fields and more words.

    References are followed by name: a definition that is gone breaks where it was defined.
    """
    if isinstance(old, dict) and isinstance(new, dict):
        for key, value in old.items():
            if key in _PROSE:
                continue
            if key not in new:
                yield f"{where}.{key}: was {json.dumps(value)[:80]}, and is gone"
            elif key == "required":
                yield from _moved(set(value), set(new[key]), f"{where}.{key}", may_grow=False)
            elif key == "enum":
                yield from _moved(set(value), set(new[key]), f"{where}.{key}", may_grow=True)
            else:
                yield from breaks(value, new[key], f"{where}.{key}")
        added = new.keys() - old.keys() - _PROSE
        if not where.endswith((".properties", ".$defs", ".mapping")):
            yield from (f"{where}.{key}: is new, and restricts what was free" for key in sorted(added))
    elif isinstance(old, list) and isinstance(new, list) and where.endswith((".anyOf", ".oneOf")):
        for value in old:
            if not any(not list(breaks(value, each)) for each in new):
                yield f"{where}: {json.dumps(value)[:80]} is gone"
    elif old != new:
        yield f"{where}: was {json.dumps(old)[:80]}, is {json.dumps(new)[:80]}"


def _moved(old: set[str], new: set[str], where: str, *, may_grow: bool) -> Iterator[str]:
    if gone := old - new:
        yield f"{where}: {', '.join(sorted(gone))} gone"
    if not may_grow and (added := new - old):
        yield f"{where}: {', '.join(sorted(added))} added"
