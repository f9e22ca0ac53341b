"""Paths that differ by the case of their letters alone, which some file systems cannot tell apart."""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING

from rerail.git.finding import Finding, absent
from rerail.git.repairs import aside

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from rerail.git.invocation import Invocation
    from rerail.git.state import RepoState


def ignores_case(state: RepoState) -> bool:
    """Whether the file system that the repository is on takes HEAD and hEAD for one name."""
    return os.path.lexists(state.here.git_dir / "hEAD")


def twins(state: RepoState) -> tuple[str, ...]:
    """Return the tracked paths that another tracked path, or a directory of one, equals but for case."""
    spellings: dict[str, set[str]] = {}
    owners: dict[str, list[str]] = {}
    for path in dict.fromkeys(entry.path for entry in state.index):
        end = len(path)
        while end > 0:
            prefix = path[:end]
            spellings.setdefault(prefix.casefold(), set()).add(prefix)
            owners.setdefault(prefix.casefold(), []).append(path)
            end = prefix.rfind("/")
    clashing = {path for folded, known in spellings.items() if len(known) > 1 for path in owners[folded]}
    return tuple(sorted(clashing))


def twins_at_hand(state: RepoState, lines: Sequence[str]) -> tuple[str, ...] | Finding:
    """Return the tracked twins that a failure is about, where they cannot both be in the work tree."""
    if not (ignores_case(state) or state.setting("core.ignorecase") == "true"):
        return absent("the file system can tell names by their case")
    found = twins(state)
    touched = {path.casefold() for path in _touched(state, lines)}
    if not any(path.casefold() in touched for path in found):
        return absent("no two tracked paths at hand differ by case alone")
    return found


def misspelled(state: RepoState, found: Iterable[str]) -> tuple[str, ...]:
    """Return the twins that the work tree has only under another spelling."""
    return tuple(path for path in found if not _is_spelled_so(state.root, path))


def wrong_setting(state: RepoState, lines: Sequence[str]) -> str | Finding:
    """Return what core.ignorecase has to be, where it is not and paths at hand differ by case alone."""
    is_set = state.setting("core.ignorecase") == "true"
    if is_set == ignores_case(state):
        return absent("core.ignorecase is what the file system is")
    tracked = {entry.path.casefold(): entry.path for entry in state.index}
    if not twins(state) and not any(tracked.get(path.casefold(), path) != path for path in _touched(state, lines)):
        return absent("no two paths at hand differ by case alone")
    return "false" if is_set else "true"


def rename(state: RepoState, call: Invocation | None) -> tuple[str, str] | Finding:
    """Return both names of a rename that changes only the case of letters, on a file system that takes them for one."""
    if state.here.root is None or call is None or call.verb != "mv" or len(call.operands) != 2:
        return absent("the command renames nothing")
    source, target = (os.path.normpath(call.cwd / operand) for operand in call.operands)
    if source == target or source.casefold() != target.casefold():
        return absent("the names differ by more than case")
    if not (os.path.lexists(source) and os.path.lexists(target) and _is_one(source, target)):
        return absent("the file system can tell the names by their case")
    if not Path(source).is_relative_to(state.root):
        return absent("the file is not in this work tree")
    return source, target


def tracked_as(state: RepoState, call: Invocation | None) -> tuple[str, ...] | Finding:
    """Return the tracked paths that a command's operands name in another case."""
    if state.here.root is None or call is None:
        return absent("the command names no path of a work tree")
    tracked: dict[str, str] = {}
    for entry in state.index:
        end = len(entry.path)
        while end > 0:  # a directory is named too
            tracked.setdefault(entry.path[:end].casefold(), entry.path[:end])
            end = entry.path[:end].rfind("/")
    found = []
    for operand in call.operands:
        path = os.path.relpath(os.path.normpath(call.cwd / operand), state.root)
        spelling = tracked.get(path.casefold())
        if spelling is not None and spelling != path and not os.path.lexists(state.root / path):
            found.append(spelling)
    return tuple(found) or absent("no tracked path has a name of the command in another case")


def _touched(state: RepoState, lines: Sequence[str]) -> set[str]:
    return {*(change.path for change in state.changes), *state.untracked, *aside.listed_paths(lines)}


def _is_one(source: str, target: str) -> bool:
    one, other = os.lstat(source), os.lstat(target)
    return (one.st_dev, one.st_ino) == (other.st_dev, other.st_ino)


def _is_spelled_so(root: Path, path: str) -> bool:
    folder = root
    for part in path.split("/"):
        try:
            if part not in os.listdir(folder):  # noqa: PTH208  names only
                return False
        except OSError:
            return False
        folder /= part
    return True
