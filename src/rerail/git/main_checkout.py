"""The main checkout as a unit in a linked worktree must leave it: its HEAD, where the branch that it is on ends, its operation.

Read from files in well under a millisecond, before and after each attempt. The files of the main checkout are not compared:
people edit there while agents work elsewhere, and whose edit one is cannot be told. What a unit does to its own worktree is its
own business; the next check resolves that anew.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import attrs

from rerail.git import packed
from rerail.git.operation import find
from rerail.git.place import NoPlace, locate
from rerail.git.worktrees import read_head, registered
from rerail.plain_file import read_plain

if TYPE_CHECKING:
    from pathlib import Path


@attrs.frozen
class MainCheckout:
    """A main checkout at one moment."""

    git_dir: Path
    root: Path
    head: str
    """What HEAD says: ``ref: refs/heads/main``, or a commit."""
    tip: str
    """Where its branch ends; ``""`` when HEAD is detached, or the branch has no commit."""
    operation: str
    """What is in progress there; ``""`` for nothing."""


def look(cwd: Path) -> MainCheckout | None:
    """Return the main checkout of the repository whose linked worktree *cwd* is in; None for any other directory."""
    place = locate(cwd)
    if isinstance(place, NoPlace) or not place.is_linked or place.root is None:
        return None
    root = registered(place.common_dir)[0].root
    return None if root is None else _at(place.common_dir, root)


def moved(before: MainCheckout) -> str:
    """Return how a main checkout has changed since, in words; ``""`` when it is as it was."""
    now = _at(before.git_dir, before.root)
    changes = [
        f"{name} was {old or 'nothing'} and is {new or 'nothing'}"
        for name, old, new in (
            ("HEAD", _short(before.head), _short(now.head)),
            ("its branch's commit", before.tip[:10], now.tip[:10]),
            ("the operation in progress", before.operation, now.operation),
        )
        if old != new
    ]
    return f"the main checkout at {before.root} was moved: {'; '.join(changes)}" if changes else ""


def _at(git_dir: Path, root: Path) -> MainCheckout:
    head = read_head(git_dir)
    operation = find(git_dir)
    tip = _tip(git_dir, head.removeprefix("ref: ")) if head.startswith("ref: refs/") else ""
    return MainCheckout(git_dir, root, head, tip, str(operation.kind) if operation else "")


def _tip(git_dir: Path, branch: str) -> str:
    try:
        return read_plain(git_dir / branch).decode("ascii", "replace").strip()
    except OSError:
        name = f" {branch}".encode()
        lines = packed.read(git_dir).good.splitlines()
        return next((line.partition(b" ")[0].decode() for line in lines if line.endswith(name)), "")


def _short(head: str) -> str:
    return head.removeprefix("ref: refs/heads/")[:80]
