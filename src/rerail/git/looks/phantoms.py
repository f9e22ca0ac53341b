"""Files that show as changed and are not: stale facts in the index, or recorded in another form than attributes ask for."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from rerail.git.finding import Finding, absent, fails, holds
from rerail.git.looks.filters import LFS, POINTER, attributes

if TYPE_CHECKING:
    from collections.abc import Sequence

    from rerail.git.state import Change, RepoState

_NOT_UPTODATE = re.compile(r"[Ee]ntry '(.{1,1024})' not uptodate\. Cannot ")
_EOL = re.compile(r"i/(\S+)\s+w/(\S+)\s+attr/(.*)")
_GUARDED = re.compile(r"(?:CR)?LF would be replaced by (?:CR)?LF in (.{1,1024}?)\.?$")
_MOST_FILES = 500
_MOST_BYTES = 16 * 1024 * 1024


def stat_dirty(state: RepoState, lines: Sequence[str]) -> tuple[str, ...] | Finding:
    """Return the paths whose size, time or inode the index has wrong, while their content is what it says.

    git's own porcelain looks at the content and goes on; ``git read-tree``, ``git diff-index`` and the scripts that are made of
    them only look at the facts, and find the work tree dirty.
    """
    if state.here.root is None or state.status_fault:
        return absent("there is no work tree to compare")
    real = {change.path for change in state.changes if change.unstaged != "."} | set(state.unmerged)
    seen = state.git("diff-files", "--name-only", "-z", "--ignore-submodules=all").records()
    stale = tuple(path for path in seen if path not in real)
    named = [match[1] for line in lines if (match := _NOT_UPTODATE.search(line))]
    if not stale:
        return absent("the index knows every file as it is")
    if named and not set(named) <= set(stale):
        return fails("some of the files that the command names have changed")
    if not named and state.changes:
        return absent("there are real changes")
    return stale


def refresh(state: RepoState) -> None:
    """Let the index look at the files again. Its entries stay what they are."""
    state.git.at(state.root)("update-index", "-q", "--refresh", check=False)  # 1: real changes are left elsewhere


def is_fresh(now: RepoState, stale: Sequence[str]) -> Finding:
    """Return whether the index knows files as they are."""
    seen = set(now.git("diff-files", "--name-only", "-z", "--ignore-submodules=all").records())
    left = [path for path in stale if path in seen]
    return fails(f"still not as the index says: {', '.join(left[:5])}") if left else holds("the index is fresh")


def by_line_endings(state: RepoState) -> tuple[str, ...] | Finding:
    """Return the files that show as changed only because they are recorded with CRLF and an attribute says that they are text."""
    found = tuple(change.path for change in _misrecorded(state) if _is_only_endings(state, change))
    return found or absent("no file shows as changed by its line endings alone")


def guarded(state: RepoState, lines: Sequence[str]) -> tuple[str, ...] | Finding:
    """Return the files that git does not add because it could not give their line endings back, as core.safecrlf asks."""
    if state.here.root is None or state.setting("core.safecrlf") != "true":
        return absent("core.safecrlf guards no line ending")
    named = dict.fromkeys(match[1] for line in lines if (match := _GUARDED.search(line)))
    return tuple(path for path in named if (state.root / path).is_file()) or absent("the failure names no guarded file")


def unpointed(state: RepoState) -> tuple[str, ...] | Finding:
    """Return the changed paths that are recorded whole while an attribute puts them into Git LFS."""
    changed = [change for change in state.changes if change.unstaged == "M" and not change.is_submodule]
    if not changed:
        return absent("no file shows as changed")
    filtered = attributes(state, "filter", (change.path for change in changed))
    found = tuple(
        change.path
        for change in changed
        if filtered.get(change.path) == LFS and not _blob(state, change.index_oid).startswith(POINTER)
    )
    return found or absent("every file of Git LFS is recorded as a pointer")


def sticky(state: RepoState, changes: Sequence[Change]) -> Finding | None:
    """Return why moving changes aside would not help: the files would show as changed again. None: it would."""
    whole = unpointed(state)
    found = {*(change.path for change in _misrecorded(state)), *(() if isinstance(whole, Finding) else whole)}
    stuck = [change.path for change in changes if change.path in found]
    if not stuck:
        return None
    said = ", ".join(stuck[:5])
    return fails(f"recorded in another form than attributes ask for, and so changed after any checkout: {said}")


def _misrecorded(state: RepoState) -> tuple[Change, ...]:
    """Return the changed files that are recorded with CRLF while an attribute says that they are text."""
    changed = [change for change in state.changes if change.staged == "." and change.unstaged == "M"][:_MOST_FILES]
    if not changed:
        return ()
    git = state.git.at(state.root)
    rows = git("--literal-pathspecs", "ls-files", "--eol", "-z", "--", *(each.path for each in changed)).records()
    told = {path: _EOL.fullmatch(facts.strip()) for facts, _, path in (row.partition("\t") for row in rows)}
    return tuple(
        change
        for change in changed
        if (facts := told.get(change.path))
        and facts[1] in {"crlf", "mixed"}
        and facts[3].split()[:1] == ["text"]  # not text=auto, which leaves such files alone
    )


def _is_only_endings(state: RepoState, change: Change) -> bool:
    file = state.root / change.path
    if not file.is_file() or file.is_symlink() or file.stat().st_size > _MOST_BYTES:
        return False
    recorded = _blob(state, change.index_oid).replace(b"\r\n", b"\n")
    return recorded == file.read_bytes().replace(b"\r\n", b"\n")


def _blob(state: RepoState, oid: str) -> bytes:
    size = state.git.line("cat-file", "-s", oid, check=False)
    if not size.isdigit() or int(size) > _MOST_BYTES:
        return POINTER  # too large to be looked into: it counts as recorded rightly
    return state.git("cat-file", "blob", oid).out
