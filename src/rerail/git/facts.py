"""What the facts that a guide's question and commands take are in a repository: one function a fact, and one table of them all.

They read, and change nothing; none of them asks a remote. An empty answer is "not known".
"""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING

from rerail.git import found, told
from rerail.git.finding import Finding
from rerail.git.operation import OperationKind
from rerail.git.place import is_git_dir, pointer_target
from rerail.git.repairs import revisions
from rerail.git.repairs.transport import only_remote
from rerail.recipes.asks import Fact

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from rerail.git.case import Case


def _root(case: Case) -> tuple[str, ...]:
    if case.state.place is not None:
        return (str(case.top),)
    link = _broken_link(case)
    return (str(link.parent),) if link is not None else ()


def _broken_link(case: Case) -> Path | None:
    """Return the ``.git`` that git would come to from where there is no repository."""
    here = Path(os.path.realpath(case.state.cwd))
    return next((entry for folder in (here, *here.parents) if os.path.lexists(entry := folder / ".git")), None)


def _main_checkout(case: Case) -> tuple[str, ...]:
    """Return the repository that a linked worktree is of, also where the link to it is broken."""
    if case.state.worktrees and case.state.worktrees[0].root is not None:
        return (str(case.state.worktrees[0].root),)
    place, link = case.state.place, _broken_link(case)
    target = pointer_target(link) if link is not None and place is None else None
    common = place.common_dir if place is not None else target.parents[1] if target is not None else None
    if common is None or common.name != ".git" or not is_git_dir(common):
        return ()
    return (str(common.parent),)


def _locked_worktrees(case: Case) -> tuple[str, ...]:
    call = case.call("worktree")
    named = {os.path.realpath(call.cwd / word) for word in call.operands} if call is not None else set()
    locked = tuple(str(tree.root) for tree in case.state.worktrees if tree.locked is not None and tree.root is not None)
    return tuple(root for root in locked if os.path.realpath(root) in named) or locked


def _index(case: Case) -> tuple[str, ...]:
    return (str(case.state.here.git_dir / "index"),)


def _locks(case: Case) -> tuple[str, ...]:
    return tuple(str(lock.path) for lock in case.once(found.locks))


def _unmerged(case: Case) -> tuple[str, ...]:
    return case.state.unmerged


def _untracked(case: Case) -> tuple[str, ...]:
    return case.state.untracked


def _remotes(case: Case) -> tuple[str, ...]:
    return case.state.remotes


def _operation(case: Case) -> tuple[str, ...]:
    operation = case.state.operation
    return (str(operation.kind),) if operation is not None and operation.kind is not OperationKind.BISECT else ()


def _branch_name(case: Case) -> tuple[str, ...]:
    name = told.branch(case)
    return (name,) if name else ()


def _remote(case: Case) -> tuple[str, ...]:
    sides = case.once(told.counterparts)
    name = only_remote(case.state) if isinstance(sides, Finding) else sides[1].remote
    return (name,) if name and name in case.state.remotes else ()


def _remote_branch(case: Case) -> tuple[str, ...]:
    sides = case.once(told.counterparts)
    return () if isinstance(sides, Finding) else (sides[1].ref.removeprefix(told.HEADS),)


def _upstream(part: int) -> Callable[[Case], tuple[str, ...]]:
    def find(case: Case) -> tuple[str, ...]:
        sides = case.once(told.upstream)
        return () if sides is None else (sides[part],)

    return find


def _revision(case: Case) -> tuple[str, ...]:
    name = revisions.missing_revision(case.state, case.call())
    return () if isinstance(name, Finding) else (name,)


def _other_worktree(case: Case) -> tuple[str, ...]:
    """Return the worktree that has a branch checked out which the command names."""
    call = case.call()
    for name in call.operands if call is not None else ():
        tree = case.state.elsewhere(f"{told.HEADS}{name}")
        if tree is not None and tree.root is not None:
            return (str(tree.root),)
    return ()


def _filter(part: str) -> Callable[[Case], tuple[str, ...]]:
    def find(case: Case) -> tuple[str, ...]:
        lacks = case.once(found.lacking_filter)
        value = "" if isinstance(lacks, Finding) else getattr(lacks, part)
        return (value,) if value else ()

    return find


def _filtered(case: Case) -> tuple[str, ...]:
    for find in (found.lacking_lfs, found.lacking_filter):
        lacks = case.once(find)
        if not isinstance(lacks, Finding):
            return lacks.paths
    return ()


def _renormalised(case: Case) -> tuple[str, ...]:
    both = (case.once(find) for find in (found.endings_phantoms, found.pointer_phantoms))
    return tuple(path for paths in both if not isinstance(paths, Finding) for path in paths)


def _dirty_places(case: Case) -> tuple[str, ...]:
    return _each(case.once(found.dirty_submodules), lambda each: str(each.root))


def _dirty_paths(case: Case) -> tuple[str, ...]:
    return _each(case.once(found.dirty_submodules), lambda each: each.path)


def _unpushed(case: Case) -> tuple[str, ...]:
    return _each(case.once(found.unpushed_submodules), lambda each: str(each.root))


def _each(values: object, say: Callable[..., str]) -> tuple[str, ...]:
    return tuple(map(say, values)) if isinstance(values, tuple) else ()


def _listed(find: Callable[[Case], tuple[str, ...] | Finding]) -> Callable[[Case], tuple[str, ...]]:
    def values(case: Case) -> tuple[str, ...]:
        known = case.once(find)
        return () if isinstance(known, Finding) else known

    return values


def _rename(part: int) -> Callable[[Case], tuple[str, ...]]:
    def find(case: Case) -> tuple[str, ...]:
        names = case.once(found.case_rename)
        return () if isinstance(names, Finding) else (names[part],)

    return find


def _one(value: str | Finding) -> tuple[str, ...]:
    return () if isinstance(value, Finding) else (value,)


FACTS: Mapping[Fact, Callable[[Case], tuple[str, ...]]] = {
    Fact.ROOT: _root,
    Fact.INDEX: _index,
    Fact.LOCKS: _locks,
    Fact.HOOKS: told.hooks,
    Fact.OTHER_WORKTREE: _other_worktree,
    Fact.SUBMODULES: _dirty_places,
    Fact.SUBMODULE_PATHS: _dirty_paths,
    Fact.UNPUSHED_SUBMODULES: _unpushed,
    Fact.ABSENT_SUBMODULES: _listed(found.absent_submodules),
    Fact.UNFETCHED_SUBMODULES: _listed(found.unfetched_submodules),
    Fact.UNMERGED: _unmerged,
    Fact.UNSTAGED: told.unstaged,
    Fact.UNTRACKED: _untracked,
    Fact.CHANGED: told.changed,
    Fact.PARTLY_STAGED: told.partly_staged,
    Fact.UNTRACKED_IN_WAY: told.untracked_in_way,
    Fact.RENORMALISED: _renormalised,
    Fact.FILTERED: _filtered,
    Fact.TWINS: _listed(found.case_twins),
    Fact.EXTRA_TWINS: _listed(found.extra_twins),
    Fact.TRACKED_AS: _listed(found.tracked_as),
    Fact.RENAME_SOURCE: _rename(0),
    Fact.RENAME_TARGET: _rename(1),
    Fact.OPERATION: _operation,
    Fact.BRANCH: _branch_name,
    Fact.LEFT_BRANCH: told.left_branch,
    Fact.REMOTE: _remote,
    Fact.REMOTES: _remotes,
    Fact.REMOTE_BRANCH: _remote_branch,
    Fact.UNKNOWN_REMOTE: told.unknown_remote,
    Fact.UPSTREAM_REMOTE: _upstream(0),
    Fact.UPSTREAM_BRANCH: _upstream(1),
    Fact.REVISION: _revision,
    Fact.SIMILAR: told.similar_revisions,
    Fact.FAILING_FILTER: lambda case: _one(case.once(found.failing_filter)),
    Fact.UNRELATED: told.unrelated,
    Fact.GUARDED: _listed(found.guarded_endings),
    Fact.LOCKED_WORKTREES: _locked_worktrees,
    Fact.MAIN_CHECKOUT: _main_checkout,
    Fact.IGNORED: told.ignored,
    Fact.PATCHES: told.patches,
    Fact.FILTER: _filter("name"),
    Fact.FILTER_PROGRAM: _filter("program"),
    Fact.IGNORE_CASE: lambda case: _one(case.once(found.wrong_case_setting)),
}

WITHOUT_A_PLACE = frozenset({Fact.ROOT, Fact.MAIN_CHECKOUT, Fact.OTHER_WORKTREE, Fact.LOCKED_WORKTREES})
"""What can be told where there is no repository, or git refuses to work in it."""
