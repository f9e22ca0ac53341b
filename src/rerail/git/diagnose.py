"""The name of a failure, once somebody has looked: the repository's state has the last word over the message.

The rules name a failure by what a command said. "Not a git repository" may be a broken HEAD; "your local changes would be
overwritten" may be a revert that was never concluded; "pathspec did not match" may be a submodule that was never checked out.
"""

from __future__ import annotations

import os
import re
from pathlib import Path
from typing import TYPE_CHECKING

from rerail.git import found
from rerail.git.finding import Finding
from rerail.git.repairs import aside, locks, objects, partial, reformat, revisions, shallow, tracking
from rerail.git.state import HeadCondition, Trouble
from rerail.taxonomy import FailureClass

if TYPE_CHECKING:
    from collections.abc import Callable

    from rerail.git.case import Case

# A state that cannot be worked in outranks these; a provider's outage or a policy's denial stays what it is.
_OUTRANKED = frozenset({FailureClass.GIT, FailureClass.WORKTREE, FailureClass.UNCLASSIFIED})
# What the rules may call a failure that git's own state explains better.
_UNCERTAIN = frozenset({*_OUTRANKED, FailureClass.ENVIRONMENT, FailureClass.TOOL_SCHEMA, FailureClass.VERIFICATION})
_HOOK_CLASSES = frozenset({*_UNCERTAIN, FailureClass.DETERMINISTIC_POLICY})
_REMOTE_VERBS = ("push", "pull", "fetch")
_STORE_VERBS = ("commit-graph", "fsck", "gc", "maintenance", "multi-pack-index", "repack")


def diagnose(case: Case) -> Trouble:
    """Return what the failure of a case is."""
    given = Trouble(case.request.class_, case.request.reason, "")
    state = case.state
    if state.trouble is not None:
        is_gone = state.trouble.reason == "cwd-gone"
        return state.trouble if is_gone or given.class_ in _OUTRANKED else given
    for looks in _LOOKS:
        seen = looks(case)
        if seen is not None:
            return seen
    return given


def _gone_worktree(case: Case) -> Trouble | None:
    call = case.call()
    if call is None or case.request.class_ not in _UNCERTAIN or os.path.isdir(call.cwd):  # noqa: PTH112  it answers for any name
        return None
    where = Path(os.path.realpath(call.cwd))
    if all(tree.root != where for tree in case.state.worktrees):
        return None
    return Trouble(FailureClass.WORKTREE, "cwd-gone", f"the worktree at {where} is registered, and is no directory")


def _packed(case: Case) -> Trouble | None:
    if case.request.class_ not in _UNCERTAIN or not case.state.packed_fault:
        return None
    return _git("broken-ref", case.state.packed_fault)


def _broken_head(case: Case) -> Trouble | None:
    head = case.state.head
    if case.request.class_ not in _OUTRANKED:
        return None
    if head.condition in {HeadCondition.GARBAGE, HeadCondition.REF_BROKEN}:
        return _git("broken-ref", f"HEAD is {head.condition}")
    if head.condition is HeadCondition.COMMIT_MISSING:
        if not isinstance(case.once(found.lost_refs), Finding):
            return _git("broken-ref", "HEAD's branch was set to something that is no commit here")
        return _git("corrupt-objects", "HEAD's commit cannot be read")
    return None


def _broken_ref(case: Case) -> Trouble | None:
    if case.request.class_ not in _UNCERTAIN or isinstance(case.once(found.lost_refs), Finding):
        return None
    return _git("broken-ref", "a ref that the command needs is broken")


def _unreadable_index(case: Case) -> Trouble | None:
    if case.request.class_ not in _UNCERTAIN or not case.state.index_fault:
        return None
    return _git("corrupt-index", case.state.index_fault)


def _lock(case: Case) -> Trouble | None:
    if case.request.class_ not in _UNCERTAIN or not any(map(locks.names_a_lock, case.lines)):
        return None
    named = [lock.path.name for lock in locks.present_locks(case.state, case.lines)]
    if not named:
        return None
    return _git("index-lock" if named[0] == "index.lock" else "ref-lock", f"{named[0]} is there")


def _derived(case: Case) -> Trouble | None:
    is_meant = (
        case.request.reason == "corrupt-objects"
        or case.call(*_STORE_VERBS) is not None
        or any(_DERIVED_TEXT.search(line) for line in case.lines)
    )
    if case.request.class_ not in _UNCERTAIN or not is_meant:
        return None
    if isinstance(objects.damaged_caches(case.state, case.lines), Finding):
        return None
    return _git("corrupt-objects", "a derived file of the object store is damaged")


def _tracking(case: Case) -> Trouble | None:
    if case.request.class_ not in _UNCERTAIN or case.call("fetch", "pull", "remote") is None:
        return None
    return (
        None
        if tracking.blocking_refs(case.state, case.lines) is None
        else _git("rejected", "a tracking ref is in the way of another")
    )


def _hook(case: Case) -> Trouble | None:
    if case.request.class_ not in _HOOK_CLASSES:
        return None
    changed = reformat.reformatted(case.state, case.call("commit"), case.lines)
    return None if isinstance(changed, Finding) else _git("hook-reformatted", "a commit hook rewrote staged files")


def _unknown_remote(case: Case) -> Trouble | None:
    call = case.call(*_REMOTE_VERBS)
    if call is None or case.request.class_ not in {*_UNCERTAIN, FailureClass.PROVIDER}:
        return None
    named = call.operands[0] if call.operands else ""
    if re.fullmatch(r"[\w.-]+", named) and named not in case.state.remotes and not os.path.lexists(call.cwd / named):
        return _git("no-upstream", f"there is no remote {named}")
    return None


def _conflict(case: Case) -> Trouble | None:
    if case.request.class_ not in _UNCERTAIN or not case.state.unmerged:
        return None
    reason = "conflict" if case.request.reason == "conflict" else "unmerged"
    return _git(reason, f"unmerged: {', '.join(case.state.unmerged[:5])}")


def _operation(case: Case) -> Trouble | None:
    operation = case.state.operation
    if operation is None or case.request.class_ not in _UNCERTAIN:
        return None
    return _git("operation-in-progress", f"a {operation.kind} is in progress")


def _submodule(case: Case) -> Trouble | None:
    if case.request.class_ not in _UNCERTAIN or isinstance(partial.empty_submodule(case.state, case.call()), Finding):
        return None
    return _git("submodule", "the command ran in a submodule that is not checked out")


def _sparse(case: Case) -> Trouble | None:
    if case.request.class_ not in _UNCERTAIN or isinstance(partial.outside_cone(case.state, case.call()), Finding):
        return None
    return _git("rejected", "the path is outside of the sparse checkout")


def _shallow(case: Case) -> Trouble | None:
    is_meant = case.request.class_ in _UNCERTAIN and case.state.is_shallow
    if not is_meant or not (_is_cut_off(case) or any(_SHALLOW_TEXT.search(line) for line in case.lines)):
        return None
    return _git("shallow", "the history needed was not fetched")


def _is_cut_off(case: Case) -> bool:
    call = case.call()
    return call is not None and bool(shallow.older_commits(call)) and not shallow.meets(case.state, call)


def _detached(case: Case) -> Trouble | None:
    call = case.call("push", "pull")
    is_meant = case.request.class_ in _UNCERTAIN and case.state.head.is_detached and call is not None
    if not is_meant or call is None or call.operands[1:]:
        return None
    return _git("detached-head", "HEAD is not on a branch")


def _in_the_way(case: Case) -> Trouble | None:
    if case.request.class_ not in _UNCERTAIN or not aside.listed_paths(case.lines):
        return None
    for reason, find in (("untracked-in-way", aside.untracked_in_way), ("dirty-tree", aside.changes_in_way)):
        if not isinstance(find(case.state, case.call(), case.lines), Finding):
            return _git(reason, "local work is in the way")
    return None


def _revision(case: Case) -> Trouble | None:
    if case.request.class_ not in _UNCERTAIN or not any(_REVISION_TEXT.search(line) for line in case.lines):
        return None
    name = revisions.missing_revision(case.state, case.call())
    return None if isinstance(name, Finding) else _git("unknown-revision", f"{name} is not known here")


# What cannot be seen in the state alone: the words are git's, in English; elsewhere the rules' own name stands.
_SHALLOW_TEXT = re.compile(r"unrelated histories|shallow")
_DERIVED_TEXT = re.compile(r"commit-graph|multi-pack-index|pack-[0-9a-f]+\.(?:idx|pack)")
_REVISION_TEXT = re.compile(
    r"pathspec|bad revision|unknown revision|bad object|invalid reference|not something we can merge|invalid upstream"
)

_LOOKS: tuple[Callable[[Case], Trouble | None], ...] = (
    _gone_worktree,
    _packed,
    _broken_head,
    _broken_ref,
    _lock,
    _unreadable_index,
    _derived,
    _tracking,
    _submodule,
    _conflict,
    _operation,
    _hook,
    _shallow,
    _detached,
    _sparse,
    _in_the_way,
    _unknown_remote,
    _revision,
)


def _git(reason: str, detail: str) -> Trouble:
    return Trouble(FailureClass.GIT, reason, detail)
