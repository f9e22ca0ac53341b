"""A repository as it was at one moment: values only. `rerail.git.probe` makes them."""

from __future__ import annotations

import re
from enum import StrEnum
from typing import TYPE_CHECKING

import attrs

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

    from rerail.git.command import Git
    from rerail.git.operation import Operation
    from rerail.git.place import Place
    from rerail.git.worktrees import Worktree


@attrs.frozen
class Trouble:
    """Why a repository cannot be worked with as it is, named as a failure."""

    class_: str
    reason: str
    detail: str


class HeadCondition(StrEnum):
    """What HEAD leads to."""

    BORN = "born"
    UNBORN = "unborn"
    REF_BROKEN = "ref-broken"
    """Its branch's ref is empty, garbage, or gone while its reflog is still there."""
    COMMIT_MISSING = "commit-missing"
    GARBAGE = "garbage"
    """HEAD itself says nothing that git understands."""


@attrs.frozen
class Head:
    """Where HEAD is."""

    condition: HeadCondition
    branch: str | None = None
    """The full ref name; None when HEAD is detached or garbage."""
    oid: str | None = None
    """The commit; None unless it is readable."""

    @property
    def is_detached(self) -> bool:
        """Whether HEAD names a commit instead of a branch."""
        return self.branch is None and self.condition is not HeadCondition.GARBAGE


@attrs.frozen
class Change:
    """A tracked path that differs between HEAD, index and work tree."""

    path: str
    staged: str
    """How the index differs from HEAD: ``M A D T``, or ``.``."""
    unstaged: str
    """How the work tree differs from the index: ``M A D T``, or ``.``."""
    head_mode: str
    head_oid: str
    index_oid: str
    is_submodule: bool


@attrs.frozen
class IndexEntry:
    """One entry of the index."""

    path: str
    mode: str
    oid: str
    stage: int


@attrs.frozen
class RepoState:
    """A repository as it was at one moment. All paths of files are relative to the root of the work tree."""

    cwd: Path
    place: Place | None
    trouble: Trouble | None
    """Set: nothing below was looked at, save what finding it out took."""
    git: Git
    head: Head = Head(HeadCondition.UNBORN)
    operation: Operation | None = None
    index_fault: str = ""
    """Why git cannot read the index; ``""`` when it can."""
    index: tuple[IndexEntry, ...] = ()
    changes: tuple[Change, ...] = ()
    """Without unmerged paths and untracked files."""
    untracked: tuple[str, ...] = ()
    packed_fault: str = ""
    """Why git cannot read the packed refs; ``""`` when it can. Set: *git* sees the repository without their bad lines."""
    status_fault: str = ""
    """Why git cannot compare the work tree; ``""`` when it can. Set: *changes* and *untracked* say nothing."""
    config: Mapping[str, tuple[str, ...]] = attrs.Factory(dict)
    """All settings in force; keys as git prints them, values in order."""
    worktrees: tuple[Worktree, ...] = ()
    is_shallow: bool = False
    is_online: bool = True
    """Whether remotes may be asked about it; a plan may not."""

    @property
    def unmerged(self) -> tuple[str, ...]:
        """Paths with conflict stages, each once."""
        return tuple(dict.fromkeys(entry.path for entry in self.index if entry.stage))

    @property
    def submodules(self) -> tuple[str, ...]:
        """Paths of the index that are submodules."""
        return tuple(entry.path for entry in self.index if entry.mode == "160000")

    @property
    def is_sparse(self) -> bool:
        """Whether only a part of the tree is checked out."""
        return self.setting("core.sparsecheckout") == "true"

    @property
    def remotes(self) -> tuple[str, ...]:
        """The names of the configured remotes."""
        return tuple(key[len("remote.") : -len(".url")] for key in self.config if _REMOTE_URL.fullmatch(key))

    def setting(self, key: str) -> str | None:
        """Return a setting's value in force, or None."""
        values = self.config.get(key)
        return values[-1] if values else None

    @property
    def here(self) -> Place:
        """The place, for code that runs only where there is one."""
        if self.place is None:
            raise ValueError(f"{self.cwd} is in no repository")
        return self.place

    @property
    def root(self) -> Path:
        """The top of the work tree, for code that runs only where there is one."""
        if self.here.root is None:
            raise ValueError(f"{self.cwd} is in no work tree")
        return self.here.root

    def elsewhere(self, branch: str) -> Worktree | None:
        """Return the other worktree that has a branch checked out."""
        own = self.here.git_dir
        return next((tree for tree in self.worktrees if tree.branch == branch and tree.git_dir != own), None)


_REMOTE_URL = re.compile(r"remote\..+\.url", re.DOTALL)
