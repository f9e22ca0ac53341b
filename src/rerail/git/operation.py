"""The operation in progress - merge, rebase, am, cherry-pick, revert, bisect - as its marker files tell it.

The markers live in the git directory that git itself names for the worktree, never in a joined ``.git/``. How an operation is
concluded or set aside is for `rerail.git.repairs.conclude`.
"""

from __future__ import annotations

import os
import re
from enum import StrEnum
from typing import TYPE_CHECKING

import attrs

from rerail.plain_file import read_plain

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path


class OperationKind(StrEnum):
    """What is in progress."""

    MERGE = "merge"
    REBASE = "rebase"
    AM = "am"
    CHERRY_PICK = "cherry-pick"
    REVERT = "revert"
    BISECT = "bisect"


MARKERS = (
    "COMMIT_EDITMSG",
    "MERGE_HEAD",
    "MERGE_MSG",
    "MERGE_MODE",
    "MERGE_RR",
    "MERGE_AUTOSTASH",
    "AUTO_MERGE",
    "SQUASH_MSG",
    "CHERRY_PICK_HEAD",
    "REVERT_HEAD",
    "REBASE_HEAD",
    "ORIG_HEAD",
    "BISECT_START",
    "BISECT_LOG",
    "BISECT_TERMS",
    "BISECT_NAMES",
    "BISECT_ANCESTORS_OK",
    "BISECT_EXPECTED_REV",
    "BISECT_FIRST_PARENT",
    "BISECT_HEAD",
    "BISECT_RUN",
)
"""Files of a git directory that hold the state of an operation, or name a commit for it."""

MARKER_DIRS = ("rebase-merge", "rebase-apply", "sequencer")
"""Directories of a git directory that do."""


@attrs.frozen
class Operation:
    """One operation in progress."""

    kind: OperationKind
    directory: str | None
    """Its state directory's name within the git directory."""
    is_whole: bool = True
    """Whether git could go on with it; a crash leaves incomplete state that it can neither continue nor abort."""
    current: str = ""
    """The instruction that it stopped at: ``pick``, ``edit``, ``break``, ``exec``; ``""`` when it keeps no list."""
    todo: tuple[str, ...] = ()
    """The instructions that remain, without comments."""


def find(git_dir: Path) -> Operation | None:
    """Return the operation in progress in a worktree, the one that git would name first."""
    for read in (_rebase_merge, _rebase_apply, _merge, _sequence, _bisect):
        operation = read(git_dir)
        if operation is not None:
            return operation
    return None


def marker_files(git_dir: Path) -> Iterator[str]:
    """Yield every state file that exists, relative to the git directory."""
    for name in MARKERS:
        if (git_dir / name).is_file():
            yield name
    for name in MARKER_DIRS:
        for folder, _, files in os.walk(git_dir / name):
            base = os.path.relpath(folder, git_dir)
            yield from (f"{base}/{file}" for file in sorted(files) if (git_dir / base / file).is_file())


def named_objects(git_dir: Path) -> frozenset[str]:
    """Return every object id that operation state names: commits that may be held by nothing else."""
    found: set[str] = set()
    for name in marker_files(git_dir):
        path = git_dir / name
        if path.stat().st_size < 1_000_000:
            found |= {oid.decode() for oid in _OID.findall(read_plain(path))}
    return frozenset(found)


_OID = re.compile(rb"\b(?:[0-9a-f]{64}|[0-9a-f]{40})\b")


def _rebase_merge(git_dir: Path) -> Operation | None:
    state = git_dir / "rebase-merge"
    if not state.is_dir():
        return None
    whole = all(_text(state / name).strip() for name in ("head-name", "onto", "orig-head"))
    done = _instructions(_text(state / "done"))
    # An "amend" file stands for a stop that waits for the author, whatever the instruction was.
    current = "edit" if (state / "amend").exists() else (done[-1].split()[0] if done else "")
    todo = _instructions(_text(state / "git-rebase-todo"))
    return Operation(OperationKind.REBASE, "rebase-merge", whole, current, todo)


def _rebase_apply(git_dir: Path) -> Operation | None:
    state = git_dir / "rebase-apply"
    if not state.is_dir():
        return None
    counted = all(_text(state / name).strip().isdigit() for name in ("next", "last"))
    if (state / "rebasing").exists() or (state / "head-name").exists():
        whole = counted and all(_text(state / name).strip() for name in ("head-name", "onto", "orig-head"))
        return Operation(OperationKind.REBASE, "rebase-apply", whole)
    return Operation(OperationKind.AM, "rebase-apply", counted)


def _merge(git_dir: Path) -> Operation | None:
    if not (git_dir / "MERGE_HEAD").exists():
        return None
    heads = _text(git_dir / "MERGE_HEAD").split()
    whole = bool(heads) and all(re.fullmatch("[0-9a-f]{40}(?:[0-9a-f]{24})?", head) for head in heads)
    return Operation(OperationKind.MERGE, None, whole)


def _sequence(git_dir: Path) -> Operation | None:
    state = git_dir / "sequencer"
    todo = _instructions(_text(state / "todo"))
    for kind, marker in (
        (OperationKind.CHERRY_PICK, "CHERRY_PICK_HEAD"),
        (OperationKind.REVERT, "REVERT_HEAD"),
    ):
        if (git_dir / marker).exists():
            return Operation(kind, "sequencer" if state.is_dir() else None, current=kind.value, todo=todo[1:])
    if not state.is_dir():
        return None
    kind = OperationKind.REVERT if todo and todo[0].startswith("revert") else OperationKind.CHERRY_PICK
    is_whole = bool(todo) and bool(_text(state / "head").strip())
    # The first instruction is the one that stopped; going on begins with the next.
    return Operation(kind, "sequencer", is_whole, todo=todo[1:])


def _bisect(git_dir: Path) -> Operation | None:
    if not (git_dir / "BISECT_START").exists():
        return None
    finished = "# first " in _text(git_dir / "BISECT_LOG")
    return Operation(OperationKind.BISECT, None, current="finished" if finished else "")


def _instructions(text: str) -> tuple[str, ...]:
    return tuple(line for line in text.splitlines() if line.strip() and not line.startswith("#"))


def _text(path: Path) -> str:
    try:
        return read_plain(path, None).decode("utf-8", "replace")
    except OSError:
        return ""
