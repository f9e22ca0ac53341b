"""Local work in the way of a command, moved aside under a backup: changed tracked files, and untracked ones.

Only the paths in the way are touched. A tracked path gets HEAD's content again, in index and work tree; what it had is in the
backup.
"""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

from rerail.git.command import nul_ended
from rerail.git.files import free_name, move_aside
from rerail.git.finding import Finding, fails, holds

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence
    from pathlib import Path

    from rerail.git.invocation import Invocation
    from rerail.git.state import Change, RepoState

# Commands that bring a commit's content into the work tree, and refuse where local work is.
_MOVING_VERBS = frozenset({"checkout", "switch", "merge", "pull", "rebase", "cherry-pick", "revert", "am"})
# Of these, the ones that want every tracked file clean, or every staged one, whatever they will touch.
_WHOLE_TREE_VERBS = frozenset({"rebase", "pull"})
_TAKEN = " already exists, no checkout"
_WHOLE_INDEX_VERBS = frozenset({"am", "cherry-pick", "revert", "merge"})


def changes_in_way(state: RepoState, call: Invocation | None, lines: Iterable[str]) -> tuple[Change, ...] | Finding:
    """Return the tracked changes that a command refused to overwrite."""
    if call is None or call.verb not in _MOVING_VERBS:
        return fails("only a command that brings in a commit can be given way to")
    if call.has("-f", "--force", "--patch", "-p", "--merge") or "--" in call.args:
        return fails("the command names its own way to treat local changes")
    changes = {change.path: change for change in state.changes}
    wanted = [path for path in listed_paths(lines) if path in changes]
    if not wanted and call.verb in _WHOLE_INDEX_VERBS:
        wanted = [path for path, change in changes.items() if change.staged != "."]
    elif not wanted and call.verb in _WHOLE_TREE_VERBS:
        wanted = list(changes)
    if not wanted:
        return fails("which local changes are in the way is not told")
    if any(changes[path].is_submodule for path in wanted):
        return fails("a submodule has changes of its own")
    return tuple(changes[path] for path in wanted)


def untracked_in_way(state: RepoState, call: Invocation | None, lines: Sequence[str]) -> tuple[str, ...] | Finding:
    """Return the untracked files that a command refused to overwrite."""
    if call is None or call.verb not in {*_MOVING_VERBS, "stash"}:
        return fails("only a command that brings in a commit can be given way to")
    if call.verb == "stash" and _is_half_applied(state, call):
        return fails("there are local changes where the stash entry has some: it may be applied in part")
    untracked = dict.fromkeys(state.untracked)
    listed = []
    for path in listed_paths(lines):
        folder = path.rstrip("/") + "/"
        listed += [path] if path in untracked else [name for name in untracked if name.startswith(folder)]
    # git lists names as they are, and a line end in one makes two lines of it.
    text = "\n".join(("", *lines, ""))
    listed += [name for name in untracked if "\n" in name and f"\n\t{name}\n" in text]
    if not listed:
        return fails("which untracked files are in the way is not told")
    if any(name.endswith("/") for name in listed):
        return fails("a repository of its own is in the way")
    return tuple(dict.fromkeys(listed))


def listed_paths(lines: Iterable[str]) -> list[str]:
    """Return the paths that git lists one a line behind a tab, in any language, or as already there."""
    listed = []
    for line in lines:
        if line.startswith("\t") and line.strip():
            listed.append(line[1:].rstrip("\r"))
        elif line.endswith(_TAKEN):
            listed.append(line.removesuffix(_TAKEN))
    return list(dict.fromkeys(listed))


def move_untracked(state: RepoState, paths: Iterable[str], aside: Path) -> None:
    """Move untracked files out of the work tree."""
    for path in paths:
        move_aside(state.root / path, free_name(aside, path))


def move_changes(state: RepoState, changes: Iterable[Change], aside: Path) -> None:
    """Move changed tracked files aside and give their paths what HEAD has."""
    ordered = tuple(changes)
    for change in ordered:
        if os.path.lexists(state.root / change.path):
            move_aside(state.root / change.path, free_name(aside, change.path))
    git = state.git.at(state.root)
    git("update-index", "-z", "--index-info", stdin=nul_ended([_head_row(change) for change in ordered]))
    in_head = [change.path for change in ordered if change.head_oid.strip("0")]
    git("checkout-index", "-u", "-z", "--stdin", stdin=nul_ended(in_head))


def way_is_clear(state: RepoState, paths: Iterable[str]) -> Finding:
    """Return whether nothing local is left at the paths."""
    local = {*(change.path for change in state.changes), *state.untracked} & set(paths)
    return (
        fails(f"still in the way: {', '.join(sorted(local)[:5])}") if local else holds("nothing is in the way any more")
    )


def _is_half_applied(state: RepoState, call: Invocation) -> bool:
    entry = next((word for word in call.operands[1:]), "stash@{0}")
    name = f"stash@{{{entry}}}" if entry.isdigit() else entry
    touched = state.git("diff-tree", "-r", "-z", "--name-only", f"{name}^1", name, check=False)
    return not touched.ok or bool(set(touched.records()) & {change.path for change in state.changes})


def _head_row(change: Change) -> str:
    if change.head_oid.strip("0"):
        return f"{change.head_mode} {change.head_oid} 0\t{change.path}"
    return f"0 {'0' * len(change.head_oid)}\t{change.path}"
