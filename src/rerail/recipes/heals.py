"""Heal recipes as values: what one sees, what must hold, which steps it takes, what must hold afterwards.

Conditions and steps are closed sets; what they mean in a repository is the business of `rerail.git.conditions` and
`rerail.git.primitives`. A recipe can only choose among them and put them in order. `rerail.recipes.heal_schema` reads recipes
from files.
"""

from __future__ import annotations

from enum import StrEnum
from typing import TYPE_CHECKING

import attrs

if TYPE_CHECKING:
    from rerail.ids import ClassName


class Need(StrEnum):
    """A condition of the repository as it was found. Every one is checked before anything is touched."""

    LOCK_FOUND = "lock-found"
    LOCK_ON_LOCAL_DISK = "lock-on-local-disk"
    LOCK_UNOWNED = "lock-unowned"
    NO_LIVE_GIT = "no-live-git"
    NO_OPERATION = "no-operation"
    NOTHING_UNMERGED = "nothing-unmerged"
    ONLY_REFORMATTED = "only-reformatted"
    PUSH_INTEGRATES = "push-integrates-cleanly"
    PULL_INTEGRATES = "pull-integrates-cleanly"
    NO_CHANGE_IN_THE_WAY = "no-local-change-in-the-way"
    PUBLISHABLE = "branch-name-free-at-remote"
    TRACKABLE = "remote-has-the-branch"
    ATTACHABLE = "head-fits-its-branch"
    CONCLUDABLE = "operation-resolved"
    OPERATION_DEBRIS = "operation-is-debris"
    BISECT_FINISHED = "bisect-finished"
    ONLY_LOCKFILES_CONFLICT = "only-lockfiles-conflict"
    CHANGES_IN_THE_WAY = "changes-in-the-way"
    UNTRACKED_IN_THE_WAY = "untracked-in-the-way"
    REVISION_AT_REMOTE = "revision-at-remote"
    HISTORY_SHALLOW = "history-shallow"
    SUBMODULE_EMPTY = "submodule-empty"
    OUTSIDE_SPARSE = "path-outside-sparse-checkout"
    INDEX_REBUILDABLE = "index-rebuildable"
    REF_IN_REFLOG = "ref-in-reflog"
    PACKED_REFS_DAMAGED = "packed-refs-damaged"
    HEAD_IN_REFLOG = "head-in-reflog"
    CACHES_DAMAGED = "derived-files-damaged"
    OBJECTS_HERE = "content-of-objects-here"
    OBJECTS_MISSING = "objects-missing-here"
    TRACKING_REF_STALE = "tracking-ref-stale"


class Ensure(StrEnum):
    """A condition of the repository after the steps; one that fails undoes them all."""

    LOCKS_GONE = "locks-gone"
    RESTAGED = "same-paths-staged"
    INTEGRATED = "branch-has-both-sides"
    UPSTREAM_SET = "upstream-set"
    HEAD_ATTACHED = "head-attached"
    NO_OPERATION = "no-operation"
    NOTHING_UNMERGED = "nothing-unmerged"
    NO_CHANGES_LEFT = "no-changes-left-in-the-way"
    NO_UNTRACKED_LEFT = "no-untracked-left-in-the-way"
    REVISION_PRESENT = "revision-present"
    HISTORIES_MEET = "histories-meet"
    SUBMODULE_PRESENT = "submodule-present"
    INSIDE_SPARSE = "path-inside-sparse-checkout"
    INDEX_READABLE = "index-readable"
    HEAD_READABLE = "head-readable"
    CACHES_SOUND = "derived-files-sound"
    OBJECTS_PRESENT = "objects-present"
    TRACKING_REF_GONE = "tracking-ref-gone"


class StepName(StrEnum):
    """What rerail itself can do to a repository."""

    SET_LOCKS_ASIDE = "set-locks-aside"
    RESTAGE = "restage"
    TAKE_OVER_INTEGRATION = "take-over-integration"
    SET_UPSTREAM = "set-upstream"
    ATTACH_HEAD = "attach-head"
    CONCLUDE_OPERATION = "conclude-operation"
    CONCLUDE_IF_RESOLVED = "conclude-if-resolved"
    SET_DEBRIS_ASIDE = "set-debris-aside"
    END_BISECT = "end-bisect"
    RESOLVE_LOCKFILES = "resolve-lockfiles"
    SET_CHANGES_ASIDE = "set-changes-aside"
    SET_UNTRACKED_ASIDE = "set-untracked-aside"
    FETCH_REVISION = "fetch-revision"
    DEEPEN_HISTORY = "deepen-history"
    INIT_SUBMODULE = "init-submodule"
    WIDEN_SPARSE = "widen-sparse-checkout"
    REBUILD_INDEX = "rebuild-index"
    REBUILD_PACKED_REFS = "rebuild-packed-refs"
    RESTORE_REF = "restore-ref"
    RESTORE_HEAD = "restore-head"
    RENEW_CACHES = "renew-derived-files"
    REGROW_OBJECTS = "store-objects-again"
    REFETCH_OBJECTS = "refetch-objects"
    DROP_TRACKING_REFS = "drop-stale-tracking-refs"


@attrs.frozen
class Primitive:
    """A step that rerail knows how to take, with its own conditions whatever the recipe says."""

    name: StepName


@attrs.frozen
class RunCommand:
    """A project's own command: runs only once the operator has trusted the file that it stands in."""

    argv: tuple[str, ...]
    timeout_s: float


Step = Primitive | RunCommand


@attrs.frozen
class HealRecipe:
    """One way to heal one kind of failure."""

    slug: str
    class_: ClassName
    reasons: tuple[str, ...]
    """The reasons of the class that it is tried for."""
    sees: str
    """The state that it heals, as a phrase."""
    why: str
    """Why this is the right thing to do, as a sentence."""
    source: str
    """Where the facts come from: documentation, a tool's own source by name, or ``observed``."""
    needs: tuple[Need, ...]
    steps: tuple[Step, ...]
    ensures: tuple[Ensure, ...]
    undo: str
    """How it is taken back, as a sentence."""
    question: str
    """What a person is asked when it cannot be healed, as an instruction."""
    touches: tuple[str, ...] = ()
    """Work tree paths that a command may write; a change anywhere else undoes the heal."""
    pack: str = ""
    """The recipe file that owns it."""
    digest: str = ""
    """The content hash of that file, for the trust of the operator."""
    file: str = ""
    """That file, as faults name it: a project's relative to its root."""

    @property
    def runs_commands(self) -> bool:
        """Whether it needs the operator's trust."""
        return any(isinstance(step, RunCommand) for step in self.steps)
