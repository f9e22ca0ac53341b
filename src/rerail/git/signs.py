"""What shows that a guide is meant: conditions that only tell, beside those of `rerail.git.conditions` for what can be done.

The functions find out and change nothing, and none of them asks a remote: a plan finds what a heal finds.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from rerail.git import found, told
from rerail.git.finding import Finding, absent, holds
from rerail.git.looks import identity
from rerail.git.operation import OperationKind
from rerail.recipes.heals import Need

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from rerail.git.case import Case
    from rerail.git.looks.filters import Lacking

_EMPTY_MESSAGE = re.compile(r"empty commit message|supply the message using either -m or -F")
"""git's words, in English."""


def _paths_unmerged(case: Case) -> Finding:
    paths = case.state.unmerged
    return holds(f"unmerged: {_some(paths)}") if paths else absent("nothing is unmerged")


def _operation_here(case: Case) -> Finding:
    operation = case.state.operation
    if operation is None or operation.kind is OperationKind.BISECT:
        return absent("no merge, rebase, cherry-pick, revert or am is in progress")
    return holds(f"a {operation.kind} is in progress")


def _bisecting(case: Case) -> Finding:
    operation = case.state.operation
    is_bisect = operation is not None and operation.kind is OperationKind.BISECT
    return holds("a bisection is in progress") if is_bisect else absent("no bisection is in progress")


def _step_empty(case: Case) -> Finding:
    operation = case.state.operation
    if operation is None or operation.kind in {OperationKind.BISECT, OperationKind.MERGE} or case.state.unmerged:
        return absent("no step of an operation waits")
    if any(not change.is_submodule for change in case.state.changes):
        return absent("there are changes that may belong to the step")
    if operation.kind is OperationKind.REBASE and operation.current not in {"", "pick", "p"}:
        return absent(f"the {operation.kind} waits at {operation.current}")
    return holds(f"the {operation.kind} stopped at a step that changes nothing here any more")


def _nothing_staged(case: Case) -> Finding:
    if any(change.staged != "." for change in case.state.changes):
        return absent("something is staged")
    kinds = (("changed", told.unstaged(case)), ("untracked", case.state.untracked))
    parts = [f"{name}: {_some(paths)}" for name, paths in kinds if paths]
    return holds(f"nothing is staged; {'; '.join(parts)}") if parts else absent("there is nothing to stage")


def _nothing_changed(case: Case) -> Finding:
    is_clean = not case.state.changes and not case.state.untracked and not case.state.status_fault
    return holds("no file differs from HEAD") if is_clean else absent("there are changes")


def _message_empty(case: Case) -> Finding:
    call = case.call("commit", "merge", "tag", "revert", "cherry-pick")
    is_said = call is not None and any(_EMPTY_MESSAGE.search(line) for line in case.lines)
    return holds("git got no message") if is_said else absent("git says nothing of the message")


def _head_detached(case: Case) -> Finding:
    head = case.state.head
    return (
        holds(f"HEAD is at {head.oid[:10]}, on no branch")
        if head.is_detached and head.oid
        else absent("HEAD is on a branch")
    )


def _hook_here(case: Case) -> Finding:
    hooks = case.once(told.hooks)
    return (
        holds(f"before it runs {_some(hooks)}")
        if hooks
        else absent("no hook of the repository runs before the command")
    )


def _partly_staged(case: Case) -> Finding:
    paths = told.partly_staged(case)
    return holds(f"staged in part: {_some(paths)}") if paths else absent("no file is staged in part")


def _changed_here(case: Case) -> Finding:
    paths = told.changed(case)
    return holds(f"changed: {_some(paths)}") if paths else absent("no tracked file has changed")


def _no_remote(case: Case) -> Finding:
    if case.call("push", "pull", "fetch") is None or case.state.remotes:
        return absent("there are remotes, or the command asks none")
    return holds("there is no remote")


def _several_remotes(case: Case) -> Finding:
    remotes = case.state.remotes
    return holds(f"there are {_some(remotes)}") if len(remotes) > 1 else absent("there are not several remotes")


def _remote_unknown(case: Case) -> Finding:
    named = case.once(told.unknown_remote)
    return holds(f"no remote is called {named[0]}") if named else absent("the command names no unknown remote")


def _no_upstream(case: Case) -> Finding:
    if case.state.head.branch is None or case.once(told.upstream) is not None:
        return absent("the branch follows one, or there is none")
    return holds("the branch follows none")


def _upstream_gone(case: Case) -> Finding:
    sides = case.once(told.upstream)
    if sides is None or case.call("push") is not None:
        return absent("the branch follows none, or is pushed")
    ref = f"refs/remotes/{'/'.join(sides)}"
    if case.state.git.ask("show-ref", "--verify", "--quiet", ref) and not any(
        "no such ref" in line for line in case.lines
    ):
        return absent(f"{ref} is here")
    return holds(f"the branch follows {sides[1]} of {sides[0]}, which is not there as far as is known here")


def _upstream_renamed(case: Case) -> Finding:
    sides = case.once(told.upstream)
    own = told.branch(case)
    call = case.call("push")
    if sides is None or not own or sides[1] == own:
        return absent("the branch has the name of the one that it follows, or follows none")
    if call is None or call.operands or case.state.setting("push.default") not in {None, "simple"}:
        return absent("the command says where it pushes")
    return holds(f"{own} follows {sides[1]} of {sides[0]}")


def _lfs(find: Callable[[Case], Lacking | Finding], text: str) -> Callable[[Case], Finding]:
    def condition(case: Case) -> Finding:
        if case.request.reason != "filter-missing" and not any("git-lfs" in line for line in case.lines):
            return absent("the failure does not name git-lfs")
        lacks = case.once(find)
        if isinstance(lacks, Finding):
            return lacks
        return holds(text + (f"; in Git LFS: {_some(lacks.paths)}" if lacks.paths else ""))

    return condition


def _filter_missing(case: Case) -> Finding:
    lacks = case.once(found.lacking_filter)
    if isinstance(lacks, Finding):
        return lacks
    is_named = any(lacks.name in line or (lacks.program and lacks.program in line) for line in case.lines)
    if case.request.reason != "filter-missing" and not is_named:
        return absent("the failure names no filter that cannot run")
    return holds(f"filter {lacks.name} cannot run; it is for {_some(lacks.paths)}")


def _ends_operation(case: Case) -> Finding:
    call = case.call("merge", "rebase", "cherry-pick", "revert", "am", "bisect")
    is_end = call is not None and call.has("--continue", "--abort", "--skip", "--quit")
    return holds("the command ends an operation") if is_end else absent("the command ends no operation")


def _tells(find: Callable[[Case], object], say: Callable[..., str]) -> Callable[[Case], Finding]:
    """Return the condition that *find* finds something, and what is said of it."""

    def condition(case: Case) -> Finding:
        result = case.once(find)
        if isinstance(result, Finding):
            return result
        return holds(say(result)) if result else absent("there is nothing of the kind")

    return condition


def _some(paths: tuple[str, ...]) -> str:
    more = len(paths) - 5
    return ", ".join(paths[:5]) + (f" and {more} more" if more > 0 else "")


SIGNS: Mapping[Need, Callable[[Case], Finding]] = {
    Need.IDENTITY_GIVEN: lambda case: identity.given(case.state, case.request.identity),
    Need.NAME_UNSET: lambda case: identity.is_unset(case.state, "name"),
    Need.EMAIL_UNSET: lambda case: identity.is_unset(case.state, "email"),
    Need.LFS_MISSING: _lfs(found.lacking_lfs, "git-lfs is not here"),
    Need.LFS_NOT_SET_UP: _lfs(found.idle_lfs, "git is not set up to run git-lfs"),
    Need.FILTER_MISSING: _filter_missing,
    Need.FILTER_FAILS: _tells(found.failing_filter, lambda name: f"filter {name} ran, and failed"),
    Need.PATHS_IGNORED: _tells(told.ignored, lambda paths: f"ignored: {_some(paths)}"),
    Need.ENDS_OPERATION: _ends_operation,
    Need.PATCH_REFUSED: _tells(told.patches, lambda paths: f"the patch is in {_some(paths)}"),
    Need.ENDINGS_GUARDED: _tells(found.guarded_endings, lambda paths: f"core.safecrlf guards {_some(paths)}"),
    Need.HISTORIES_UNRELATED: _tells(told.unrelated, lambda names: f"HEAD and {names[0]} have no commit in common"),
    Need.PATHS_UNMERGED: _paths_unmerged,
    Need.OPERATION_HERE: _operation_here,
    Need.BISECTING: _bisecting,
    Need.STEP_EMPTY: _step_empty,
    Need.NOTHING_STAGED: _nothing_staged,
    Need.NOTHING_CHANGED: _nothing_changed,
    Need.MESSAGE_EMPTY: _message_empty,
    Need.HEAD_DETACHED: _head_detached,
    Need.HOOK_HERE: _hook_here,
    Need.PARTLY_STAGED: _partly_staged,
    Need.CHANGED_HERE: _changed_here,
    Need.NO_REMOTE: _no_remote,
    Need.SEVERAL_REMOTES: _several_remotes,
    Need.REMOTE_UNKNOWN: _remote_unknown,
    Need.NO_UPSTREAM: _no_upstream,
    Need.UPSTREAM_GONE: _upstream_gone,
    Need.UPSTREAM_RENAMED: _upstream_renamed,
    Need.SUBMODULE_DIRTY: _tells(found.dirty_submodules, lambda held: "; ".join(each.told() for each in held[:5])),
    Need.SUBMODULE_UNPUSHED: _tells(
        found.unpushed_submodules, lambda held: "; ".join(each.told() for each in held[:5])
    ),
    Need.SUBMODULE_ABSENT: _tells(found.absent_submodules, lambda paths: f"not checked out: {_some(paths)}"),
    Need.SUBMODULE_COMMIT_ABSENT: _tells(
        found.unfetched_submodules, lambda paths: f"without the commit that is recorded for it: {_some(paths)}"
    ),
    Need.ENDINGS_PHANTOM: _tells(
        found.endings_phantoms, lambda paths: f"changed by line endings alone, which attributes convert: {_some(paths)}"
    ),
    Need.POINTERS_PHANTOM: _tells(
        found.pointer_phantoms, lambda paths: f"recorded whole, and yet of Git LFS: {_some(paths)}"
    ),
    Need.CASE_TWINS: _tells(found.case_twins, lambda paths: f"tracked, and differing by case alone: {_some(paths)}"),
    Need.CASE_SETTING_WRONG: _tells(
        found.wrong_case_setting, lambda wanted: f"core.ignorecase is not {wanted}, which the file system is"
    ),
    Need.CASE_RENAME: _tells(found.case_rename, lambda names: f"{names[0]} and {names[1]} are one file"),
    Need.OTHER_CASE: _tells(found.tracked_as, lambda paths: f"tracked as {_some(paths)}"),
}
