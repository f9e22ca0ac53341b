"""What each condition of a recipe means in a repository: one function a name, and one table of them all.

The functions find out and change nothing. What they find they keep in the case, so that a step acts on that and nothing else.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from rerail.git import (
    aside,
    conclude,
    heads,
    index_file,
    integrate,
    lockfiles,
    locks,
    objects,
    partial,
    publish,
    reformat,
    revisions,
    shallow,
    tracking,
)
from rerail.git.finding import Finding, Verdict, fails, holds, unasked, waits
from rerail.git.probe import HeadCondition
from rerail.git.processes import git_workers
from rerail.git.transport import fetch
from rerail.recipes.heals import Ensure, Need

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from pathlib import Path

    from rerail.git.case import Case
    from rerail.git.probe import RepoState

_NEEDS_THE_REMOTE = "what the remote has is asked when it runs"

# --- what has been found out: asked once a case, used by conditions and steps -----------------------------------------------------


def found_locks(case: Case) -> tuple[locks.Lock, ...]:
    """The locks that are there."""
    return locks.present_locks(case.state, case.lines)


def found_reformat(case: Case) -> reformat.Reformatted | Finding:
    """What a commit hook rewrote."""
    return reformat.reformatted(case.state, case.call("commit"), case.lines)


def found_push(case: Case) -> integrate.Integration | Finding:
    """The branch that a refused push could be made from."""
    return _integration(case, publish.pushed(case.state, case.call("push"), case.lines))


def found_pull(case: Case) -> integrate.Integration | Finding:
    """The branch that a refused pull would make."""
    call = case.call("pull")
    if call is not None and call.has("--ff-only"):
        return fails("the pull was to fast-forward only, and cannot")
    return _integration(case, publish.pulled(case.state, call))


def found_integration(case: Case) -> integrate.Integration | Finding:
    """The integration that the failed command calls for."""
    return case.once(found_pull if case.request.reason == "diverged" else found_push)


def _integration(case: Case, sides: publish.Counterparts | Finding) -> integrate.Integration | Finding:
    if isinstance(sides, Finding):
        return sides
    branch, remote = sides
    theirs = fetch(case.state, remote.remote, remote.ref)
    if isinstance(theirs, Finding):
        return theirs
    return integrate.integrate(case.state, branch, remote, theirs)


def found_publication(case: Case) -> publish.Counterparts | Finding:
    """The remote branch that a branch without an upstream would become."""
    return publish.publishable(case.state)


def found_counterpart(case: Case) -> publish.Counterparts | Finding:
    """The remote branch of the same name."""
    return publish.trackable(case.state)


def found_attachment(case: Case) -> heads.Attachment | Finding:
    """The branch that HEAD came from."""
    return heads.attachment(case.state)


def found_lost_refs(case: Case) -> tuple[heads.LostRef, ...] | Finding:
    """The broken refs and their values."""
    return heads.lost_refs(case.state, case.lines)


def found_lost_head(case: Case) -> str | Finding:
    """What a broken HEAD held."""
    return heads.lost_head(case.state)


def found_changes(case: Case) -> tuple[aside.Change, ...] | Finding:
    """The tracked changes in the way."""
    return aside.changes_in_way(case.state, case.call(), case.lines)


def found_untracked(case: Case) -> tuple[str, ...] | Finding:
    """The untracked files in the way."""
    return aside.untracked_in_way(case.state, case.call(), case.lines)


def found_revision(case: Case) -> revisions.RemoteRevision | Finding:
    """Where a remote has the missing revision."""
    name = revisions.missing_revision(case.state, case.call())
    return name if isinstance(name, Finding) else revisions.remote_revision(case.state, name)


def found_submodule(case: Case) -> str | Finding:
    """The submodule that was never checked out."""
    return partial.empty_submodule(case.state, case.call())


def found_caches(case: Case) -> tuple[Path, ...] | Finding:
    """The derived files of the object store that are damaged."""
    return objects.damaged_caches(case.state, case.lines)


def found_missing_objects(case: Case) -> tuple[str, ...] | Finding:
    """The objects that cannot be read."""
    return objects.missing_objects(case.state, case.lines)


def found_stale_tracking(case: Case) -> dict[str, str] | Finding:
    """The remote-tracking refs in the way of others."""
    return tracking.stale_refs(case.state, case.lines)


def found_outside_cone(case: Case) -> tuple[str, ...] | Finding:
    """The directories that the sparse checkout leaves out."""
    return partial.outside_cone(case.state, case.call())


# --- the conditions before ---------------------------------------------------------------------------------------------------------


def _lock_found(case: Case) -> Finding:
    found = case.once(found_locks)
    if found:
        return holds(f"there {'is a lock' if len(found) == 1 else 'are locks'}: {_names(found)}")
    stray = locks.named_elsewhere(case.state, case.lines)
    if stray:
        return fails(f"{stray[0]} is outside of this repository")
    return waits("the lock is gone already: its owner let go, or another heal was faster")


def _lock_on_local_disk(case: Case) -> Finding:
    for lock in case.once(found_locks):
        kind = locks.remote_file_system(lock.path)
        if kind:
            return fails(
                f"{lock.path} is on a {kind} file system: an owner on another machine cannot be seen from here"
            )
    return holds("every process that could own it can be seen from here")


def _lock_unowned(case: Case) -> Finding:
    waited_s = 0.0
    while True:
        taken = [(lock, owner) for lock in case.once(found_locks) for owner in locks.owners(lock)]
        if not taken:
            break
        if waited_s >= case.pace.patience_s:
            lock, owner = taken[0]
            return waits(f"{lock.path.name} may belong to process {owner.pid}, which is alive: {owner.what}")
        case.pace.sleep(0.25)
        waited_s += 0.25
    case.pace.sleep(case.pace.watch_s)
    for lock in case.once(found_locks):
        if not locks.is_unchanged(lock):
            return waits(f"{lock.path.name} changed while it was watched: somebody works with it")
        if locks.owners(lock):
            return waits(f"{lock.path.name} has an owner again")
    return holds("no process has it open, no git works here, and it does not change")


def _no_live_git(case: Case) -> Finding:
    workers = git_workers(case.state.here, all_worktrees=False)
    if workers:
        return waits(f"process {workers[0].pid} works in this worktree: {workers[0].what}")
    return holds("no other git works in this worktree")


def _no_operation(case: Case) -> Finding:
    operation = case.state.operation
    return holds("no operation is in progress") if operation is None else fails(f"a {operation.kind} is in progress")


def _nothing_unmerged(case: Case) -> Finding:
    return _unmerged(case.state)


def _push_integrates(case: Case) -> Finding:
    return _integrates(case, found_push)


def _pull_integrates(case: Case) -> Finding:
    return _integrates(case, found_pull)


def _integrates(case: Case, find: Callable[[Case], integrate.Integration | Finding]) -> Finding:
    if not case.online:
        return unasked(_NEEDS_THE_REMOTE)
    found = case.once(find)
    return found if isinstance(found, Finding) else holds(f"{found.branch} can be {found.how}")


def _no_change_in_the_way(case: Case) -> Finding:
    if not case.online:
        return unasked(_NEEDS_THE_REMOTE)
    found = case.once(found_integration)
    return found if isinstance(found, Finding) else integrate.in_the_way(case.state, found)


def _submodule_empty(case: Case) -> Finding:
    path = case.once(found_submodule)
    if isinstance(path, Finding):
        return path
    return partial.reachable_submodule(case.state, path) if case.online else unasked(_NEEDS_THE_REMOTE)


def _revision_at_remote(case: Case) -> Finding:
    if not case.online:
        return unasked(_NEEDS_THE_REMOTE)
    return _said(case, found_revision, "the remote has it")


def _said(case: Case, find: Callable[[Case], object], text: str) -> Finding:
    found = case.once(find)
    return found if isinstance(found, Finding) else holds(text)


def _asking(find: Callable[[Case], object], text: str) -> Callable[[Case], Finding]:
    """Return the condition that *find* finds something where asking a remote is needed for it."""
    return lambda case: _said(case, find, text) if case.online else unasked(_NEEDS_THE_REMOTE)


def _finding(find: Callable[[Case], object], text: str) -> Callable[[Case], Finding]:
    """Return the condition that *find* finds something."""
    return lambda case: _said(case, find, text)


NEEDS: Mapping[Need, Callable[[Case], Finding]] = {
    Need.LOCK_FOUND: _lock_found,
    Need.LOCK_ON_LOCAL_DISK: _lock_on_local_disk,
    Need.LOCK_UNOWNED: _lock_unowned,
    Need.NO_LIVE_GIT: _no_live_git,
    Need.NO_OPERATION: _no_operation,
    Need.NOTHING_UNMERGED: _nothing_unmerged,
    Need.ONLY_REFORMATTED: _finding(found_reformat, "the hook changed formatting and nothing else"),
    Need.PUSH_INTEGRATES: _push_integrates,
    Need.PULL_INTEGRATES: _pull_integrates,
    Need.NO_CHANGE_IN_THE_WAY: _no_change_in_the_way,
    Need.PUBLISHABLE: _asking(found_publication, "the branch can be published under its own name"),
    Need.TRACKABLE: _asking(found_counterpart, "the remote has a branch of the same name"),
    Need.ATTACHABLE: _finding(found_attachment, "the branch that HEAD came from can be attached without a loss"),
    Need.CONCLUDABLE: lambda case: conclude.concludable(case.state, case.call()),
    Need.OPERATION_DEBRIS: lambda case: conclude.debris(case.state),
    Need.BISECT_FINISHED: lambda case: conclude.bisect_finished(case.state),
    Need.ONLY_LOCKFILES_CONFLICT: lambda case: lockfiles.only_lockfiles_conflict(case.state),
    Need.CHANGES_IN_THE_WAY: _finding(found_changes, "which local changes are in the way is certain"),
    Need.UNTRACKED_IN_THE_WAY: _finding(found_untracked, "which untracked files are in the way is certain"),
    Need.REVISION_AT_REMOTE: _revision_at_remote,
    Need.HISTORY_SHALLOW: lambda case: shallow.deepenable(case.state),
    Need.SUBMODULE_EMPTY: _submodule_empty,
    Need.OUTSIDE_SPARSE: _finding(found_outside_cone, "the path is outside of the sparse checkout"),
    Need.INDEX_REBUILDABLE: lambda case: index_file.rebuildable(case.state),
    Need.REF_IN_REFLOG: _finding(found_lost_refs, "the reflog names the ref's value, and its commit is whole"),
    Need.HEAD_IN_REFLOG: _finding(found_lost_head, "HEAD's reflog names where it was"),
    Need.CACHES_DAMAGED: _finding(found_caches, "git can do without the damaged file, or make it again"),
    Need.OBJECTS_MISSING: _finding(found_missing_objects, "a remote may have the missing objects"),
    Need.TRACKING_REF_STALE: _asking(found_stale_tracking, "the remote no longer has the branch in the way"),
}

# --- the conditions after ----------------------------------------------------------------------------------------------------------


def _locks_gone(case: Case, now: RepoState) -> Finding:
    paths = {lock.path for lock in case.once(found_locks)}
    left = [lock for lock in locks.present_locks(now, case.lines) if lock.path in paths]
    return fails(f"still there: {_names(tuple(left))}") if left else holds("the locks are gone")


def _restaged(case: Case, now: RepoState) -> Finding:
    found = case.once(found_reformat)
    return found if isinstance(found, Finding) else reformat.is_restaged(now, found)


def _integrated(case: Case, now: RepoState) -> Finding:
    found = case.once(found_integration)
    if isinstance(found, Finding):
        return found
    tip = now.git.line("rev-parse", "--verify", found.branch)
    has_theirs = now.git.ask("merge-base", "--is-ancestor", found.theirs, tip)
    return holds("the branch has both sides") if tip == found.new and has_theirs else fails("the branch is elsewhere")


def _upstream_set(case: Case, now: RepoState) -> Finding:
    found = case.once(found_publication if case.call("push") else found_counterpart)
    return found if isinstance(found, Finding) else publish.follows(now, *found)


def _head_attached(case: Case, now: RepoState) -> Finding:
    found = case.once(found_attachment)
    if isinstance(found, Finding):
        return found
    is_there = (now.head.branch, now.head.oid) == (found.branch, found.new)
    return holds("HEAD is on its branch") if is_there else fails("HEAD is not on its branch")


def _operation_over(_case: Case, now: RepoState) -> Finding:
    return holds("no operation is left") if now.operation is None else fails(f"the {now.operation.kind} is not over")


def _merged(_case: Case, now: RepoState) -> Finding:
    return _unmerged(now)


def _no_changes_left(case: Case, now: RepoState) -> Finding:
    changes = case.once(found_changes)
    return changes if isinstance(changes, Finding) else aside.way_is_clear(now, [change.path for change in changes])


def _no_untracked_left(case: Case, now: RepoState) -> Finding:
    paths = case.once(found_untracked)
    return paths if isinstance(paths, Finding) else aside.way_is_clear(now, paths)


def _objects_present(case: Case, now: RepoState) -> Finding:
    missing = case.once(found_missing_objects)
    if isinstance(missing, Finding):
        return missing
    left = [oid for oid in missing if not objects.is_readable(now, oid)]
    return fails(f"{left[0]} still cannot be read") if left else holds("every missing object is here again")


def _tracking_ref_gone(case: Case, now: RepoState) -> Finding:
    stale = case.once(found_stale_tracking)
    if isinstance(stale, Finding):
        return stale
    left = [ref for ref in stale if now.git.ask("show-ref", "--verify", "--quiet", ref)]
    return fails(f"{left[0]} is still there") if left else holds("nothing is in the way of the fetch")


def _revision_present(case: Case, now: RepoState) -> Finding:
    found = case.once(found_revision)
    if isinstance(found, Finding):
        return found
    is_there = now.git.ask("rev-parse", "-q", "--verify", f"{found.target}^{{commit}}")
    return holds("the revision is here") if is_there else fails("the revision is still not here")


def _histories_meet(case: Case, now: RepoState) -> Finding:
    call = case.call()
    if shallow.meets(now, call) or (not now.is_shallow and (call is None or call.verb == "push")):
        return holds("the histories meet")
    return fails("the histories have no common commit, even whole")


def _submodule_present(case: Case, now: RepoState) -> Finding:
    path = case.once(found_submodule)
    return path if isinstance(path, Finding) else partial.submodule_present(now, path)


def _inside_sparse(case: Case, now: RepoState) -> Finding:
    again = partial.outside_cone(now, case.call())
    return holds("the path is inside") if isinstance(again, Finding) else fails("the path is still outside")


def _index_readable(_case: Case, now: RepoState) -> Finding:
    return fails(now.index_fault) if now.index_fault else holds("the index can be read")


def _head_readable(_case: Case, now: RepoState) -> Finding:
    is_born = now.trouble is None and now.head.condition is HeadCondition.BORN
    return holds("HEAD leads to a commit") if is_born else fails("HEAD leads to no commit")


ENSURES: Mapping[Ensure, Callable[[Case, RepoState], Finding]] = {
    Ensure.LOCKS_GONE: _locks_gone,
    Ensure.RESTAGED: _restaged,
    Ensure.INTEGRATED: _integrated,
    Ensure.UPSTREAM_SET: _upstream_set,
    Ensure.HEAD_ATTACHED: _head_attached,
    Ensure.NO_OPERATION: _operation_over,
    Ensure.NOTHING_UNMERGED: _merged,
    Ensure.NO_CHANGES_LEFT: _no_changes_left,
    Ensure.NO_UNTRACKED_LEFT: _no_untracked_left,
    Ensure.REVISION_PRESENT: _revision_present,
    Ensure.HISTORIES_MEET: _histories_meet,
    Ensure.SUBMODULE_PRESENT: _submodule_present,
    Ensure.INSIDE_SPARSE: _inside_sparse,
    Ensure.INDEX_READABLE: _index_readable,
    Ensure.HEAD_READABLE: _head_readable,
    Ensure.CACHES_SOUND: lambda _case, now: objects.caches_sound(now),
    Ensure.OBJECTS_PRESENT: _objects_present,
    Ensure.TRACKING_REF_GONE: _tracking_ref_gone,
}


def _unmerged(state: RepoState) -> Finding:
    if state.unmerged:
        return fails(f"unmerged paths wait for a decision: {', '.join(state.unmerged[:5])}")
    return holds("nothing is unmerged")


def _names(found: tuple[locks.Lock, ...]) -> str:
    return ", ".join(str(lock.path) for lock in found)


__all__ = ["ENSURES", "NEEDS", "Verdict"]
