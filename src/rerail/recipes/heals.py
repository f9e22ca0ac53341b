"""Heal recipes as values: what one sees, what must hold, which steps it takes, what must hold afterwards.

A recipe without steps is a guide: it knows the state that a failure left, and asks a person, with the exact commands.

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
    from rerail.recipes.asks import Way


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
    ONLY_STAT_DIRTY = "only-stat-dirty"
    IDENTITY_GIVEN = "identity-given"
    NAME_UNSET = "name-unset"
    EMAIL_UNSET = "email-unset"
    LFS_MISSING = "lfs-missing"
    LFS_NOT_SET_UP = "lfs-not-set-up"
    FILTER_MISSING = "filter-missing"
    FILTER_FAILS = "filter-fails"
    PATHS_UNMERGED = "paths-unmerged"
    OPERATION_HERE = "operation-in-progress"
    BISECTING = "bisection-in-progress"
    STEP_EMPTY = "step-empty"
    NOTHING_STAGED = "nothing-staged"
    NOTHING_CHANGED = "nothing-changed"
    MESSAGE_EMPTY = "message-empty"
    PATHS_IGNORED = "paths-ignored"
    ENDS_OPERATION = "ends-an-operation"
    PATCH_REFUSED = "patch-refused"
    HEAD_DETACHED = "head-detached"
    HOOK_HERE = "hook-here"
    PARTLY_STAGED = "partly-staged"
    CHANGED_HERE = "changed-here"
    NO_REMOTE = "no-remote"
    SEVERAL_REMOTES = "several-remotes"
    REMOTE_UNKNOWN = "remote-unknown"
    UPSTREAM_GONE = "upstream-gone"
    UPSTREAM_RENAMED = "upstream-has-another-name"
    NO_UPSTREAM = "no-upstream"
    HISTORIES_UNRELATED = "histories-unrelated"
    SUBMODULE_DIRTY = "submodule-dirty"
    SUBMODULE_UNPUSHED = "submodule-unpushed"
    SUBMODULE_ABSENT = "submodule-absent"
    SUBMODULE_COMMIT_ABSENT = "submodule-commit-absent"
    ENDINGS_PHANTOM = "line-endings-phantom"
    ENDINGS_GUARDED = "line-endings-guarded"
    POINTERS_PHANTOM = "pointers-phantom"
    CASE_TWINS = "case-twins"
    CASE_SETTING_WRONG = "case-setting-wrong"
    CASE_RENAME = "case-only-rename"
    OTHER_CASE = "path-in-other-case"


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
    INDEX_FRESH = "index-fresh"
    IDENTITY_SET = "identity-set"


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
    REFRESH_INDEX = "refresh-index"
    SET_IDENTITY = "set-identity"


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
    """One way to heal one kind of failure, or, without steps, one way to tell a person about it."""

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
    """How it is taken back, as a sentence; ``""`` where nothing is done."""
    question: str
    """What a person is asked when it cannot be healed, as an instruction; a guide's may hold facts in braces."""
    ways: tuple[Way, ...] = ()
    """A guide's ways out, the best one first."""
    touches: tuple[str, ...] = ()
    """Work tree paths that a command may write; a change anywhere else undoes the heal."""
    pack: str = ""
    """The recipe file that owns it."""
    digest: str = ""
    """The content hash of that file, for the trust of the operator."""
    file: str = ""
    """That file, as faults name it: a project's relative to its root."""
    is_shipped: bool = False
    """Whether it is rerail's own."""

    @property
    def is_guide(self) -> bool:
        """Whether it only asks a person."""
        return not self.steps

    @property
    def runs_commands(self) -> bool:
        """Whether it runs commands of a project's, which needs the operator's trust."""
        return any(isinstance(step, RunCommand) for step in self.steps)

    @property
    def needs_trust(self) -> bool:
        """Whether it is a project's and runs commands or hands them to a person: an agent can write such a file."""
        return self.runs_commands or (bool(self.ways) and not self.is_shipped)
