"""Damage in the object store: files that git derives and can do without, and objects that a remote still has."""

from __future__ import annotations

import os
import re
from typing import TYPE_CHECKING

from rerail.git.command import NETWORK_TIMEOUT_S
from rerail.git.files import free_name, move_aside
from rerail.git.finding import Finding, absent, fails, holds
from rerail.git.repairs.transport import INCOMING, fault, only_remote

if TYPE_CHECKING:
    from collections.abc import Iterable
    from pathlib import Path

    from rerail.git.state import RepoState

_OID = re.compile(r"\b(?:[0-9a-f]{64}|[0-9a-f]{40})\b")
_PACK_INDEX = re.compile(r"\bpack-[0-9a-f]{40,64}(?=\.idx\b)")
_REFETCH_TIMEOUT_S = 4 * NETWORK_TIMEOUT_S


def damaged_caches(state: RepoState, lines: Iterable[str]) -> tuple[Path, ...] | Finding:
    """Return the derived files that are damaged or gone: pack indexes, commit graphs, multi-pack indexes."""
    store = state.here.common_dir / "objects"
    found = [store / "pack" / f"{name}.idx" for name in _packs_without_index(store / "pack")]
    if found:
        return tuple(found)  # until they are back, nothing else can be judged: its objects seem to be missing
    if not state.git.ask("commit-graph", "verify", "--no-progress"):
        found += [store / "info" / "commit-graph", store / "info" / "commit-graphs"]
    if not state.git.ask("multi-pack-index", "verify", "--no-progress"):
        found.append(store / "pack" / "multi-pack-index")
    for name in {match for line in lines for match in _PACK_INDEX.findall(line)}:
        if (store / "pack" / f"{name}.pack").is_file():
            found.append(store / "pack" / f"{name}.idx")
    present = tuple(path for path in found if os.path.lexists(path))
    return present or absent("no derived file of the object store is damaged")


def _packs_without_index(folder: Path) -> list[str]:
    try:
        names = {path.name for path in folder.iterdir()}
    except OSError:
        return []
    packs = {name.removesuffix(".pack") for name in names if name.endswith(".pack")}
    return sorted(name for name in packs if f"{name}.idx" not in names)


def renew_caches(state: RepoState, damaged: Iterable[Path], aside: Path) -> None:
    """Move damaged derived files aside; an index that a pack cannot be read without is made again from the pack."""
    for path in damaged:
        if os.path.lexists(path):
            move_aside(path, free_name(aside, path.name))
        if path.suffix == ".idx":
            state.git("index-pack", str(path.with_suffix(".pack")))


def caches_sound(state: RepoState) -> Finding:
    """Return whether every derived file can be read."""
    is_sound = state.git.ask("commit-graph", "verify", "--no-progress")
    is_sound = is_sound and state.git.ask("multi-pack-index", "verify", "--no-progress")
    return holds("the derived files are sound") if is_sound else fails("a derived file is still damaged")


def missing_objects(state: RepoState, lines: Iterable[str]) -> tuple[str, ...] | Finding:
    """Return the objects that the failure names and that cannot be read here, when there is a remote that could have them."""
    missing = wanted_objects(state, lines)
    if not missing:
        return absent("which objects are missing is not told")
    if only_remote(state) is None:
        return fails("no remote could have the missing objects")
    return missing


def wanted_objects(state: RepoState, lines: Iterable[str]) -> tuple[str, ...]:
    """Return the objects that a failure names and that cannot be read here; all that are missing, when it names none."""
    named = dict.fromkeys(match for line in lines for match in _OID.findall(line))
    return tuple(oid for oid in named if not is_readable(state, oid)) if named else lacking(state)


def lacking(state: RepoState) -> tuple[str, ...]:
    """Return the objects that git finds missing below everything that is reachable."""
    listing = state.git("fsck", "--connectivity-only", "--no-dangling", "--no-progress", check=False)
    rows = (line.split(" ") for line in listing.out.decode(errors="replace").splitlines())
    there = dict.fromkeys(row[2] for row in rows if len(row) == 3 and row[0] == "missing")
    return tuple(oid for oid in there if not is_readable(state, oid))


def is_readable(state: RepoState, oid: str) -> bool:
    """Return whether an object can be read, its content included."""
    kind = state.git.line("cat-file", "-t", oid, check=False)
    return bool(kind) and state.git.ask("cat-file", kind, oid)


def loose_file(state: RepoState, oid: str) -> Path:
    """Return where an object is when it is loose."""
    return state.here.common_dir / "objects" / oid[:2] / oid[2:]


def refetch(state: RepoState, missing: Iterable[str], aside: Path) -> Finding:
    """Fetch everything anew; damaged loose objects go aside first, for git does not write over a file that is there."""
    wanted = tuple(missing)
    remote = only_remote(state)
    if remote is None:
        return fails("no remote could have the missing objects")
    for oid in wanted:
        if loose_file(state, oid).exists():
            move_aside(loose_file(state, oid), free_name(aside, oid))
    fetched = state.git(
        *("-c", "fetch.prune=false", "fetch", "--quiet", "--no-tags", "--no-write-fetch-head", "--no-auto-maintenance"),
        *("--no-recurse-submodules", "--refetch", "--refmap=", "--", remote, f"+refs/heads/*:{INCOMING}{remote}/*"),
        check=False,
        timeout_s=_REFETCH_TIMEOUT_S,
    )
    if not fetched.ok:
        return fault(fetched)
    left = [oid for oid in wanted if not is_readable(state, oid)]
    return fails(f"the remote does not have {left[0]}") if left else holds("every missing object is here again")
