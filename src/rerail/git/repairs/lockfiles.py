"""Conflicts in generated lockfiles: settled without a person, because their content follows from a manifest.

A copy in the work tree that is whole again (its tool has been run) is taken as it is. Otherwise JSON lockfiles are merged
entry by entry, as npm does it, checksum lists are joined, and of the others one side is kept whole. The project's own tool
may still want to bring it up to date; that is said. Hand-written manifests are never touched.
"""

from __future__ import annotations

import json
import stat
from pathlib import PurePosixPath
from typing import TYPE_CHECKING, Any

from rerail.git.command import nul_ended
from rerail.git.files import write_over
from rerail.git.finding import Finding, fails, holds
from rerail.git.place import own_dir
from rerail.git.repairs.conclude import has_markers

if TYPE_CHECKING:
    from rerail.git.invocation import Invocation
    from rerail.git.state import RepoState

_JSON = frozenset(
    {
        *("package-lock.json", "npm-shrinkwrap.json", "composer.lock", "Pipfile.lock", "packages.lock.json"),
        *("deno.lock", "flake.lock", "Package.resolved"),
    }
)
_JOINED = frozenset({"go.sum", "go.work.sum"})
_ONE_SIDED = frozenset(
    {
        *("yarn.lock", "pnpm-lock.yaml", "bun.lock", "Cargo.lock", "poetry.lock", "uv.lock", "pdm.lock", "pixi.lock"),
        *("Gemfile.lock", "mix.lock", "Podfile.lock", "pubspec.lock", "gradle.lockfile", "MODULE.bazel.lock"),
    }
)

_CHECKSUMS = frozenset({"resolved", "integrity", "hashes", "dist", "source", "contentHash", "narHash"})


_ONCE_VERBS = frozenset({"cherry-pick", "revert", "am", "stash"})
"""Commands that bring a change in anew when they are run again: after a settled conflict they would meet it once more."""


def only_lockfiles_conflict(state: RepoState, call: Invocation | None) -> Finding:
    """Return whether every unmerged path is a generated lockfile that both sides have, and the command can go on from there."""
    if not state.unmerged:
        return fails("nothing is unmerged")
    if (
        call is not None
        and call.verb in _ONCE_VERBS
        and not call.has("--continue", "--skip", "--abort", "--quit", "-r")
    ):
        return fails(f"git {call.verb} would bring the same change in again; settle the lockfile and finish it by hand")
    for path in state.unmerged:
        if PurePosixPath(path).name not in _JSON | _JOINED | _ONE_SIDED:
            return fails(f"{path} conflicts, and is written by hand")
        if not {2, 3} <= _stages(state, path).keys():
            return fails(f"{path} was removed on one side")
    return holds(f"only generated lockfiles conflict: {', '.join(state.unmerged[:5])}")


def resolve(state: RepoState) -> tuple[str, ...]:
    """Settle every unmerged lockfile and stage it; return what was done, for people."""
    done = []
    for path in state.unmerged:
        data, how = _settled(state, path)
        file = state.root / path
        mode = stat.S_IMODE(file.stat().st_mode) if file.is_file() else 0o644
        if not file.is_file() or file.read_bytes() != data:
            write_over(file, data, scratch=own_dir(state.here), mode=mode)
        done.append(f"{path}: {how}")
    state.git.at(state.root)("update-index", "-z", "--stdin", stdin=nul_ended(state.unmerged))
    return tuple(done)


def _settled(state: RepoState, path: str) -> tuple[bytes, str]:
    name = PurePosixPath(path).name
    by_stage = {stage: state.git("cat-file", "blob", oid).out for stage, oid in _stages(state, path).items()}
    ours, theirs = by_stage[2], by_stage[3]
    file = state.root / path
    present = file.read_bytes() if file.is_file() and not file.is_symlink() else b""
    if present.strip() and not has_markers(present) and (name not in _JSON or _parsed(present) is not None):
        return present, "kept as it is in the work tree"
    if name in _JSON:
        merged = _merged_json(by_stage.get(1, b"{}"), ours, theirs)
        if merged is not None:
            return merged, "merged entry by entry; where both sides changed an entry, ours stands"
    if name in _JOINED:
        return b"".join(
            sorted({*ours.splitlines(keepends=True), *theirs.splitlines(keepends=True)})
        ), "both sides' lines"
    return ours, "our side kept whole; its tool may want to bring it up to date"


def _stages(state: RepoState, path: str) -> dict[int, str]:
    return {entry.stage: entry.oid for entry in state.index if entry.path == path and entry.stage}


def _parsed(data: bytes) -> dict[str, Any] | None:
    try:
        value = json.loads(data)
    except (ValueError, RecursionError):
        return None
    return value if isinstance(value, dict) else None


def _merged_json(base: bytes, ours: bytes, theirs: bytes) -> bytes | None:
    sides = [_parsed(data) for data in (base, ours, theirs)]
    if sides[1] is None or sides[2] is None:
        return None
    text = json.dumps(_merge(sides[0] or {}, sides[1], sides[2]), indent=_indent(ours), ensure_ascii=False)
    return text.encode() + (b"\n" if ours.endswith(b"\n") else b"")


def _merge(base: Any, ours: Any, theirs: Any) -> Any:
    """Merge two JSON values with their common ancestor; ours stands where both changed a leaf or a package."""
    if ours == theirs or theirs == base:
        return ours
    if ours == base:
        return theirs
    if not (isinstance(ours, dict) and isinstance(theirs, dict)) or ours.keys() & _CHECKSUMS:
        # A package's version and its checksum belong together: no entry is mixed from two sides.
        return ours
    known = base if isinstance(base, dict) else {}
    keys = list(dict.fromkeys((*ours, *theirs)))
    if list(ours) == sorted(ours):
        keys.sort()
    merged = {}
    for key in keys:
        if key in ours and key in theirs:
            merged[key] = _merge(known.get(key), ours[key], theirs[key])
        elif key in ours and not (key in known and known[key] == ours[key]):
            merged[key] = ours[key]  # ours, or changed by us and removed by them
        elif key in theirs and not (key in known and known[key] == theirs[key]):
            merged[key] = theirs[key]
    return merged


def _indent(data: bytes) -> int | str | None:
    """Return the indentation of a JSON text's second line."""
    lines = data.decode(errors="replace").splitlines()
    if len(lines) < 2:
        return None
    space = lines[1][: len(lines[1]) - len(lines[1].lstrip())]
    return space if "\t" in space else len(space) or None
