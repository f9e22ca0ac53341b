"""What submodules hold that is nowhere else: changes, untracked files, and commits that no remote of theirs has."""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING

import attrs

from rerail.git.command import Git
from rerail.git.finding import Finding, absent
from rerail.git.place import Place, locate

if TYPE_CHECKING:
    from collections.abc import Iterable

    from rerail.git.state import RepoState

_MOST_LOOKED_INTO = 50


@attrs.frozen
class Holding:
    """What one submodule holds."""

    path: str
    root: Path
    changed: int
    untracked: int
    unpushed: int
    """Commits of its HEAD that none of its remotes has, as far as is known here."""
    newest: str
    """The newest of them, abbreviated; ``""`` without one."""

    @property
    def is_dirty(self) -> bool:
        """Whether something in it is not committed."""
        return bool(self.changed or self.untracked)

    def told(self) -> str:
        """Say what is at risk."""
        parts = [
            _count(self.changed, "changed file"),
            _count(self.untracked, "untracked file"),
            _count(self.unpushed, "commit") + f" that no remote has (newest {self.newest})" if self.unpushed else "",
        ]
        return f"submodule {self.path} has {', '.join(filter(None, parts)) or 'nothing of its own'}"


def dirty(state: RepoState, paths: Iterable[str]) -> tuple[Holding, ...] | Finding:
    """Return those of some submodules in which something is not committed."""
    return tuple(each for each in _holdings(state, paths) if each.is_dirty) or absent(
        "no submodule has changes of its own"
    )


def unpushed(state: RepoState, paths: Iterable[str]) -> tuple[Holding, ...] | Finding:
    """Return those of some submodules with commits that no remote of theirs has."""
    found = tuple(each for each in _holdings(state, paths) if each.unpushed)
    return found or absent("every submodule's commits are at a remote")


def not_checked_out(state: RepoState) -> tuple[str, ...] | Finding:
    """Return the submodules that are not checked out."""
    found = tuple(path for path in state.submodules if not os.path.lexists(state.root / path / ".git"))
    return found or absent("every submodule is checked out")


def unfetched(state: RepoState) -> tuple[str, ...] | Finding:
    """Return the checked out submodules that do not have the commit which is recorded for them."""
    wanted = {entry.path: entry.oid for entry in state.index if entry.mode == "160000"}
    found = tuple(
        path for path, oid in wanted.items() if (git := _git(state.root / path)) and not git.ask("cat-file", "-e", oid)
    )
    return found or absent("every submodule has the commit that is recorded for it")


def _holdings(state: RepoState, paths: Iterable[str]) -> tuple[Holding, ...]:
    wanted = {*paths}
    looked_into = [path for path in state.submodules if path in wanted][:_MOST_LOOKED_INTO]
    return tuple(held for path in looked_into if (held := _holding(state.root / path, path)) is not None)


def _git(root: Path) -> Git | None:
    """Return git bound to a submodule; None where it is not checked out, or broken: git would walk on to the outer repository."""
    place = locate(root) if os.path.lexists(root / ".git") else None
    return Git(root) if isinstance(place, Place) and place.root == Path(os.path.realpath(root)) else None


def _holding(root: Path, path: str) -> Holding | None:
    git = _git(root)
    if git is None:
        return None
    status = git("status", "--porcelain=v2", "-z", "--untracked-files=all", "--no-renames", check=False)
    if not status.ok:
        return None
    records = status.records()
    untracked = sum(record.startswith("? ") for record in records)
    alone = git("rev-list", "HEAD", "--not", "--remotes", check=False)
    commits = alone.lines() if alone.ok else []
    return Holding(path, root, len(records) - untracked, untracked, len(commits), commits[0][:10] if commits else "")


def _count(number: int, noun: str) -> str:
    return f"{number} {noun}{'s' * (number != 1)}" if number else ""
