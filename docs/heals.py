"""The page of the heals: every recipe that ships, and the closed sets that recipes choose from."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tables import table

from rerail.git.primitives import STEPS
from rerail.recipes.heals import Ensure, Need, Primitive, StepName
from rerail.recipes.read import heals_in_force

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from rerail.recipes.heals import HealRecipe

NEEDS = {
    Need.LOCK_FOUND: "A lock that the failure names, or that blocks git here, is there.",
    Need.LOCK_ON_LOCAL_DISK: "The lock is on a local disk, so that every process that could own it can be seen.",
    Need.LOCK_UNOWNED: "No process has the lock open, no git and no git library is at work here, and the lock does not change.",
    Need.NO_LIVE_GIT: "No other git process works in this worktree.",
    Need.NO_OPERATION: "No merge, rebase, cherry-pick, revert, am or bisect is in progress.",
    Need.NOTHING_UNMERGED: "No path is unmerged.",
    Need.ONLY_REFORMATTED: "A commit hook changed staged files, and nothing but their formatting.",
    Need.PUSH_INTEGRATES: "The remote's commits can be brought into the branch of the refused push without a conflict.",
    Need.PULL_INTEGRATES: "The upstream's commits can be brought into the branch of the refused pull without a conflict.",
    Need.NO_CHANGE_IN_THE_WAY: "No local change is in a file that the remote's commits change.",
    Need.PUBLISHABLE: "There is one remote, and nothing there has the branch's name.",
    Need.TRACKABLE: "There is one remote, and it has a branch of the same name.",
    Need.ATTACHABLE: "HEAD came from a branch that can take it back: same commit, or a fast-forward.",
    Need.CONCLUDABLE: "Everything of the operation in progress is resolved, and its remaining steps go through.",
    Need.OPERATION_DEBRIS: "What looks like an operation is what a crash left: git can neither continue nor abort it.",
    Need.BISECT_FINISHED: "The bisection has found its commit, and nothing local hinders going back.",
    Need.ONLY_LOCKFILES_CONFLICT: "Every unmerged path is a generated lockfile that both sides have.",
    Need.CHANGES_IN_THE_WAY: "Which tracked changes the command refused to overwrite is certain.",
    Need.UNTRACKED_IN_THE_WAY: "Which untracked files the command refused to overwrite is certain.",
    Need.REVISION_AT_REMOTE: "The remote has the missing revision under exactly that name.",
    Need.HISTORY_SHALLOW: "The clone is shallow, and has a remote that can have the rest.",
    Need.SUBMODULE_EMPTY: "The command meant to run in a submodule that was never checked out, and its repository answers.",
    Need.OUTSIDE_SPARSE: "A path that the command adds is outside of the sparse checkout.",
    Need.INDEX_REBUILDABLE: "The index is unreadable, and HEAD says all that a new one needs.",
    Need.REF_IN_REFLOG: "The broken ref's reflog names its last commit, or the remote has it, and that commit is whole.",
    Need.PACKED_REFS_DAMAGED: "packed-refs has lines that git cannot read, and the branch that HEAD is on is not lost with them.",
    Need.HEAD_IN_REFLOG: "HEAD is broken, and its reflog says where it was.",
    Need.CACHES_DAMAGED: "A commit graph, multi-pack index or pack index is damaged; git can do without it or make it again.",
    Need.OBJECTS_HERE: "Objects cannot be read, and the work tree or the index has the content that they are named by.",
    Need.OBJECTS_MISSING: "Objects that the failure names cannot be read here, and there is a remote that may have them.",
    Need.TRACKING_REF_STALE: "A remote-tracking ref occupies a name that a fetch needs, and the remote has dropped its branch.",
}

ENSURES = {
    Ensure.LOCKS_GONE: "The locks that were found are gone.",
    Ensure.RESTAGED: "Exactly the paths that were staged are staged, as the hook left them.",
    Ensure.INTEGRATED: "The branch has its own commits and the remote's.",
    Ensure.UPSTREAM_SET: "The branch follows the remote branch.",
    Ensure.HEAD_ATTACHED: "HEAD is on its branch, at the commit where it was.",
    Ensure.NO_OPERATION: "No operation is left.",
    Ensure.NOTHING_UNMERGED: "No path is unmerged.",
    Ensure.NO_CHANGES_LEFT: "No tracked change is left in the way.",
    Ensure.NO_UNTRACKED_LEFT: "No untracked file is left in the way.",
    Ensure.REVISION_PRESENT: "The revision is here.",
    Ensure.HISTORIES_MEET: "The commits that the command joins have a common ancestor here.",
    Ensure.SUBMODULE_PRESENT: "The submodule is checked out.",
    Ensure.INSIDE_SPARSE: "The path is inside the sparse checkout.",
    Ensure.INDEX_READABLE: "git can read the index.",
    Ensure.HEAD_READABLE: "HEAD leads to a commit.",
    Ensure.CACHES_SOUND: "Every derived file of the object store can be read.",
    Ensure.OBJECTS_PRESENT: "Every object that was missing can be read.",
    Ensure.TRACKING_REF_GONE: "The remote-tracking ref is gone.",
}


INTRODUCTION = """
What rerail does to a repository by itself. A heal is tried for the reasons that it names, in this order; the first whose
conditions all hold is carried out: everything that its steps could touch is backed up under `refs/rerail/`, the steps are
taken, the postconditions are checked, and a check that fails puts everything back. When none can run, nothing is changed
and the question goes to a person. `rerail heal --plan --failure FILE` shows conditions and steps without taking them;
`rerail heal --undo ID` takes a heal [back](backups.md) later.

A project writes its own in [recipes](recipes.md#a-heal); it chooses from the same conditions and steps.
"""


def page() -> Iterator[str]:
    heals = heals_in_force(None)
    yield "# Heals"
    yield INTRODUCTION
    yield from table(
        ("heal", "for", "sees"),
        [(f"[{heal.slug}](#{heal.slug})", ", ".join(_reasons(heal)), heal.sees) for heal in heals],
    )
    for heal in heals:
        yield from ("", *_section(heal))
    yield from ("", "## Needs", "", "Conditions of the repository as it was found.", "")
    yield from table(("condition", "holds when"), [(f"`{need}`", NEEDS[need]) for need in Need])
    yield from ("", "## Steps", "", "Each step asks its own conditions too, whatever the recipe says.", "")
    yield from table(
        ("step", "what it does", "its own needs"),
        [(f"`{step}`", STEPS[step].plan, _listed(STEPS[step].guards)) for step in StepName],
    )
    yield from ("", "## Ensures", "", "Conditions of the repository as the steps left it.", "")
    yield from table(("condition", "holds when"), [(f"`{ensure}`", ENSURES[ensure]) for ensure in Ensure])


def _section(heal: HealRecipe) -> Iterator[str]:
    yield f"## {heal.slug}"
    yield ""
    yield from table(
        ("", ""),
        [
            ("sees", heal.sees),
            ("for", ", ".join(_reasons(heal))),
            ("why", heal.why),
            ("needs", _listed(heal.needs)),
            ("steps", _listed(step.name for step in heal.steps if isinstance(step, Primitive))),
            ("ensures", _listed(heal.ensures)),
            ("undo", heal.undo),
            ("else asks", heal.question),
            ("source", heal.source),
        ],
    )


def _reasons(heal: HealRecipe) -> Iterator[str]:
    return (f"[{heal.class_}/{reason}](classes/{heal.class_}.md)" for reason in heal.reasons)


def _listed(names: Iterable[object]) -> str:
    return ", ".join(f"`{name}`" for name in names)
