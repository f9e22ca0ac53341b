"""The page of the heals and guides: every recipe that ships, and the closed sets that recipes choose from."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tables import table

from rerail.git.primitives import STEPS
from rerail.recipes.asks import Fact, Kind, kind
from rerail.recipes.heals import Ensure, Need, Primitive, StepName
from rerail.recipes.read import heals_in_force

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from rerail.recipes.asks import Template
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
    Need.ONLY_STAT_DIRTY: "The index has size, time or inode of files wrong, and their content right; no change is in the way.",
    Need.IDENTITY_GIVEN: "The operator has said who commits here, and neither a setting nor a variable says anything about it.",
    Need.NAME_UNSET: "`user.name` is not set, or to nothing that git takes.",
    Need.EMAIL_UNSET: "`user.email` is not set, or to nothing that git takes.",
    Need.LFS_MISSING: "`git-lfs` is not installed, and files here are in Git LFS.",
    Need.LFS_NOT_SET_UP: "Files here are in Git LFS, and no setting makes git run it.",
    Need.FILTER_MISSING: "An attribute names a filter that is not configured, or whose program is not installed.",
    Need.FILTER_FAILS: "The failure says which filter ran and failed.",
    Need.PATHS_UNMERGED: "Paths are unmerged.",
    Need.OPERATION_HERE: "A merge, rebase, cherry-pick, revert or am is in progress.",
    Need.BISECTING: "A bisection is in progress.",
    Need.STEP_EMPTY: "An operation in progress stopped at a commit that changes nothing here any more.",
    Need.NOTHING_STAGED: "Nothing is staged, and files have changed or are new.",
    Need.NOTHING_CHANGED: "No file differs from HEAD, and none is new.",
    Need.MESSAGE_EMPTY: "git says that it got no commit message.",
    Need.PATHS_IGNORED: "A path that the command adds is left out by an ignore rule.",
    Need.ENDS_OPERATION: "The command is one that ends an operation.",
    Need.PATCH_REFUSED: "The command applies a patch that is a file here.",
    Need.HEAD_DETACHED: "HEAD is at a commit, on no branch.",
    Need.HOOK_HERE: "A hook of the repository runs before what the command does, and can refuse it.",
    Need.PARTLY_STAGED: "Files have changes that are staged and others that are not.",
    Need.CHANGED_HERE: "Tracked files have changes.",
    Need.NO_REMOTE: "A push, pull or fetch, while there is no remote.",
    Need.SEVERAL_REMOTES: "There are several remotes.",
    Need.REMOTE_UNKNOWN: "The command, or the branch's configuration, names a remote that is not configured.",
    Need.UPSTREAM_GONE: "The branch follows one that its remote does not have, as far as is known here.",
    Need.UPSTREAM_RENAMED: "A plain push of a branch that follows one of another name.",
    Need.NO_UPSTREAM: "The branch follows none.",
    Need.HISTORIES_UNRELATED: "What the command merges has no commit in common with HEAD.",
    Need.SUBMODULE_DIRTY: "A submodule that the failure is about has changes or untracked files of its own.",
    Need.SUBMODULE_UNPUSHED: "A submodule that the failure is about has commits that none of its remotes has.",
    Need.SUBMODULE_ABSENT: "A submodule is not checked out.",
    Need.SUBMODULE_COMMIT_ABSENT: "A checked out submodule does not have the commit that is recorded for it.",
    Need.ENDINGS_PHANTOM: "Files are recorded with CRLF, an attribute says that they are text, and nothing else differs.",
    Need.ENDINGS_GUARDED: "`core.safecrlf` keeps the files that the failure names from being added.",
    Need.POINTERS_PHANTOM: "Files are recorded whole, and an attribute puts them into Git LFS.",
    Need.CASE_TWINS: "Tracked paths at hand differ by case alone, and the work tree has room for one of them.",
    Need.CASE_SETTING_WRONG: "`core.ignoreCase` is not what the file system is, and paths at hand differ by case alone.",
    Need.CASE_RENAME: "The command renames a file to the same name in another case, which is the same file here.",
    Need.OTHER_CASE: "A path of the command is tracked under the same name in another case.",
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
    Ensure.INDEX_FRESH: "The index has every one of the files right.",
    Ensure.IDENTITY_SET: "Commits here are made by the name and address that the operator has given.",
}

FACTS = {
    Fact.ROOT: "The top of the work tree.",
    Fact.INDEX: "The index file.",
    Fact.LOCKS: "The locks that were found.",
    Fact.HOOKS: "The hooks that run before what the command does.",
    Fact.PATCHES: "The patch files that the command applies.",
    Fact.OTHER_WORKTREE: "The worktree that has the command's branch checked out.",
    Fact.LOCKED_WORKTREES: "The locked worktrees that the command names; all of them where it names none.",
    Fact.MAIN_CHECKOUT: "The main checkout of the repository, or of the one that a broken link leads to.",
    Fact.IGNORED: "The paths that the command adds and that are ignored.",
    Fact.SUBMODULES: "The directories of submodules with changes of their own.",
    Fact.SUBMODULE_PATHS: "Their paths in the outer repository.",
    Fact.UNPUSHED_SUBMODULES: "The directories of submodules with commits that no remote of theirs has.",
    Fact.ABSENT_SUBMODULES: "The submodules that are not checked out.",
    Fact.UNFETCHED_SUBMODULES: "The submodules without the commit that is recorded for them.",
    Fact.UNMERGED: "The unmerged paths.",
    Fact.UNSTAGED: "The tracked files with changes that are not staged.",
    Fact.UNTRACKED: "The untracked files.",
    Fact.CHANGED: "The changed tracked files that the failure lists; all of them where it lists none.",
    Fact.PARTLY_STAGED: "The files that are staged in part.",
    Fact.UNTRACKED_IN_WAY: "The untracked files that the failure lists.",
    Fact.RENORMALISED: "The files that are recorded in another form than attributes ask for.",
    Fact.GUARDED: "The files that `core.safecrlf` guards.",
    Fact.FILTERED: "The files that the missing filter converts.",
    Fact.TWINS: "The tracked paths that differ by case alone.",
    Fact.EXTRA_TWINS: "Those of them that the work tree has only under another name.",
    Fact.TRACKED_AS: "How the paths of the command are tracked.",
    Fact.RENAME_SOURCE: "The old name of a renamed file.",
    Fact.RENAME_TARGET: "The new name of a renamed file.",
    Fact.OPERATION: "`merge`, `rebase`, `cherry-pick`, `revert` or `am`.",
    Fact.BRANCH: "The branch that HEAD is on.",
    Fact.LEFT_BRANCH: "The branch that a detached HEAD came from.",
    Fact.REMOTE: "The remote that the command means, or the only one.",
    Fact.REMOTES: "All remotes.",
    Fact.REMOTE_BRANCH: "The branch there that the command means.",
    Fact.UNKNOWN_REMOTE: "The name of a remote that there is not.",
    Fact.UPSTREAM_REMOTE: "The remote of the branch that HEAD's branch follows.",
    Fact.UPSTREAM_BRANCH: "That branch's name there.",
    Fact.REVISION: "The revision that the command names and that is not here.",
    Fact.UNRELATED: "The revision that has no commit in common with HEAD.",
    Fact.SIMILAR: "Branches and tags with names much like it.",
    Fact.FILTER: "The filter that cannot run.",
    Fact.FAILING_FILTER: "The filter that ran and failed.",
    Fact.FILTER_PROGRAM: "The program that it lacks.",
    Fact.IGNORE_CASE: "What `core.ignoreCase` has to be: `true` or `false`.",
}
_WRITTEN = {Kind.PLACE: "absolute path", Kind.PATHS: "paths in the work tree", Kind.NAME: "name"}


INTRODUCTION = """
What rerail does to a repository by itself. A heal is tried for the reasons that it names, in this order; the first whose
conditions all hold is carried out: everything that its steps could touch is backed up under `refs/rerail/`, the steps are
taken, the postconditions are checked, and a check that fails puts everything back. When none can run, nothing is changed and
the question goes to a person. `rerail heal --plan --failure FILE` shows conditions and steps without taking them; `rerail heal
--undo ID` takes a heal [back](backups.md) later.

A recipe without steps is a [guide](#guides): where no heal can run, the first one whose conditions all hold asks a person, with
the exact commands. A project writes its own heals and guides in [recipes](recipes.md#a-heal); it chooses from the same
conditions, steps and facts.
"""

IDENTITY = """
Who made a commit is a claim about a person or a service, so rerail sets a name only where the operator has written it down: in
`git.toml` of their own configuration directory (`~/.config/rerail/` on Linux, `~/Library/Application Support/rerail/` on macOS,
`rerail/` in `XDG_CONFIG_HOME`).

```toml
[[identity]]
root = "/home/me/src/shop"       # any directory of the repository; all its worktrees are meant
name = "Shop Build"
email = "build@shop.example"
```

[given-identity](#given-identity) then sets both in the repository's own configuration, under a backup. It does so only where
nothing is said about it at all: not when a name or an address is set anywhere, for the author or the committer, by a setting or
a variable, be it an empty one. Without an entry the failure pauses, with the commands that set it.

It is not read from the project: `rerail.toml` is a file that an agent writes as it writes any other, and a name that stood
there would be one that the agent gave itself. For the same reason a file that lies inside the project, also behind a link, or
that others may write is refused. An agent with a shell of its own can run `git config` all the same; what is kept from it is
that rerail does so in its stead.
"""

GUIDES = """
What a person is asked where nothing can be healed. The outcome stays `paused`, or `stopped` in a worktree that is refused;
nothing is written, and nothing is charged. A guide's question and commands are data with places for [facts](#facts): `rerail
heal --plan`, the message, the hints and `data.question` and `data.ways` show them filled in. A name is one shell word, whatever
characters it has; one that would be an option, or that no command can hold, is not put in, and a way that lacks a fact is left
out. Words in capitals are the person's. No guide asks for a command that throws work away or goes around a hook; what gives an
operation up says so.
"""


def page() -> Iterator[str]:
    recipes = heals_in_force(None)
    heals = [recipe for recipe in recipes if not recipe.is_guide]
    guides = [recipe for recipe in recipes if recipe.is_guide]
    yield "# Heals"
    yield INTRODUCTION
    yield from table(
        ("heal", "for", "sees"),
        [(f"[{heal.slug}](#{heal.slug})", ", ".join(_reasons(heal)), heal.sees) for heal in heals],
    )
    for heal in heals:
        yield from ("", *_section(heal))
    yield from ("", "## Identity", IDENTITY.rstrip(), "", "## Guides", GUIDES)
    yield from table(
        ("guide", "for", "sees"),
        [(f"[{guide.slug}](#{guide.slug})", ", ".join(_reasons(guide)), guide.sees) for guide in guides],
    )
    for guide in guides:
        yield from ("", *_guide(guide))
    yield from ("", "## Needs", "", "Conditions of the repository as it was found.", "")
    yield from table(("condition", "holds when"), [(f"`{need}`", NEEDS[need]) for need in Need])
    yield from ("", "## Facts", "", "What a guide's question and commands can take, by name in braces.", "")
    yield from table(
        ("fact", "what it is", "written as"), [(f"`{fact}`", FACTS[fact], _WRITTEN[kind(fact)]) for fact in Fact]
    )
    yield from ("", "## Steps", "", "Each step asks its own conditions too, whatever the recipe says.", "")
    yield from table(
        ("step", "what it does", "its own needs"),
        [(f"`{step}`", STEPS[step].plan, _listed(STEPS[step].guards)) for step in StepName],
    )
    yield from ("", "## Ensures", "", "Conditions of the repository as the steps left it.", "")
    yield from table(("condition", "holds when"), [(f"`{ensure}`", ENSURES[ensure]) for ensure in Ensure])


def _section(heal: HealRecipe) -> Iterator[str]:
    yield from _card(
        heal,
        ("needs", _listed(heal.needs)),
        ("steps", _listed(step.name for step in heal.steps if isinstance(step, Primitive))),
        ("ensures", _listed(heal.ensures)),
        ("undo", heal.undo),
        ("else asks", heal.question),
    )


def _guide(guide: HealRecipe) -> Iterator[str]:
    yield from _card(
        guide,
        ("needs", _listed(guide.needs) or "the facts of its question"),
        ("asks", guide.question),
        *(("to " + way.to, "<br>".join(f"`{_shown(words)}`" for words in way.commands)) for way in guide.ways),
    )


def _card(recipe: HealRecipe, *rows: tuple[str, str]) -> Iterator[str]:
    """Yield a recipe's heading and table: what all have, with *rows* of its kind between."""
    common = [("sees", recipe.sees), ("for", ", ".join(_reasons(recipe))), ("why", recipe.why)]
    yield f"## {recipe.slug}"
    yield ""
    yield from table(("", ""), [*common, *rows, ("source", recipe.source)])


def _shown(words: tuple[Template, ...]) -> str:
    return " ".join("".join(f"{{{piece}}}" if isinstance(piece, Fact) else piece for piece in word) for word in words)


def _reasons(heal: HealRecipe) -> Iterator[str]:
    return (f"[{heal.class_}/{reason}](classes/{heal.class_}.md)" for reason in heal.reasons)


def _listed(names: Iterable[object]) -> str:
    return ", ".join(f"`{name}`" for name in names)
