"""What each condition before a heal means in a repository: one function a name, and one table of them all.

The functions find out and change nothing. What they find stays in the case, so that a step acts on that and nothing else.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from rerail.git import found
from rerail.git.finding import Finding, fails, holds, unasked, waits
from rerail.git.processes import git_workers
from rerail.git.repairs import conclude, index, integrate, lockfiles, locks, partial, shallow
from rerail.git.repairs.transport import RemoteUnaskedError
from rerail.git.signs import SIGNS
from rerail.recipes.heals import Need

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from rerail.git.case import Case

_POLL_S = 0.25
_NEEDS_THE_REMOTE = "what the remote has is asked when it runs"


def _lock_found(case: Case) -> Finding:
    there = case.once(found.locks)
    if there:
        return holds(f"there {'is a lock' if len(there) == 1 else 'are locks'}: {locks.names(there)}")
    stray = locks.named_elsewhere(case.state, case.lines)
    if stray:
        return fails(f"{stray[0]} is outside of this repository")
    if not any(locks.names_a_lock(line) for line in case.lines):
        return fails("no lock is there, and the failure names none")
    return waits("the lock is gone already: its owner let go, or another heal was faster")


def _lock_on_local_disk(case: Case) -> Finding:
    for lock in case.once(found.locks):
        kind = locks.remote_file_system(lock.path)
        if kind:
            return fails(f"{lock.path} is on {kind}: an owner on another machine cannot be seen from here")
    return holds("every process that could own it can be seen from here")


def _lock_unowned(case: Case) -> Finding:
    there = case.once(found.locks)
    waited_s = 0.0
    while taken := [(lock, owner) for lock in there for owner in locks.owners(lock)]:
        if waited_s >= case.pace.patience_s:
            lock, owner = taken[0]
            return waits(f"{lock.path.name} may belong to process {owner.pid}, which is alive: {owner.what}")
        case.pace.sleep(_POLL_S)
        waited_s += _POLL_S
    case.pace.sleep(case.pace.watch_s)
    for lock in there:
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
    paths = case.state.unmerged
    if paths:
        return fails(f"unmerged paths wait for a decision: {', '.join(paths[:5])}")
    return holds("nothing is unmerged")


def _push_integrates(case: Case) -> Finding:
    return _integrates(case, found.pushed)


def _pull_integrates(case: Case) -> Finding:
    return _integrates(case, found.pulled)


def _integrates(case: Case, find: Callable[[Case], integrate.Integration | Finding]) -> Finding:
    try:
        plan = case.once(find)
    except RemoteUnaskedError:
        return unasked(_NEEDS_THE_REMOTE)
    return plan if isinstance(plan, Finding) else holds(f"{plan.branch} can be {plan.how}")


def _no_change_in_the_way(case: Case) -> Finding:
    try:
        plan = case.once(found.integration)
    except RemoteUnaskedError:
        return unasked(_NEEDS_THE_REMOTE)
    return plan if isinstance(plan, Finding) else integrate.in_the_way(case.state, plan)


def _submodule_empty(case: Case) -> Finding:
    path = case.once(found.submodule)
    if isinstance(path, Finding):
        return path
    return partial.reachable_submodule(case.state, path) if case.online else unasked(_NEEDS_THE_REMOTE)


def _finds(find: Callable[[Case], object], text: str) -> Callable[[Case], Finding]:
    """Return the condition that *find* finds something, which a plan leaves open where a remote would have to be asked."""

    def condition(case: Case) -> Finding:
        try:
            result = case.once(find)
        except RemoteUnaskedError:
            return unasked(_NEEDS_THE_REMOTE)
        return result if isinstance(result, Finding) else holds(text)

    return condition


NEEDS: Mapping[Need, Callable[[Case], Finding]] = {
    Need.LOCK_FOUND: _lock_found,
    Need.LOCK_ON_LOCAL_DISK: _lock_on_local_disk,
    Need.LOCK_UNOWNED: _lock_unowned,
    Need.NO_LIVE_GIT: _no_live_git,
    Need.NO_OPERATION: _no_operation,
    Need.NOTHING_UNMERGED: _nothing_unmerged,
    Need.ONLY_REFORMATTED: _finds(found.reformatting, "the hook changed formatting and nothing else"),
    Need.PUSH_INTEGRATES: _push_integrates,
    Need.PULL_INTEGRATES: _pull_integrates,
    Need.NO_CHANGE_IN_THE_WAY: _no_change_in_the_way,
    Need.PUBLISHABLE: _finds(found.publication, "the branch can be published under its own name"),
    Need.TRACKABLE: _finds(found.counterpart, "the remote has a branch of the same name"),
    Need.ATTACHABLE: _finds(found.attachment, "the branch that HEAD came from can be attached without a loss"),
    Need.CONCLUDABLE: lambda case: conclude.concludable(case.state, case.call()),
    Need.OPERATION_DEBRIS: lambda case: conclude.debris(case.state),
    Need.BISECT_FINISHED: lambda case: conclude.bisect_finished(case.state),
    Need.ONLY_LOCKFILES_CONFLICT: lambda case: lockfiles.only_lockfiles_conflict(case.state, case.call()),
    Need.CHANGES_IN_THE_WAY: _finds(found.changes, "which local changes are in the way is certain"),
    Need.UNTRACKED_IN_THE_WAY: _finds(found.untracked, "which untracked files are in the way is certain"),
    Need.REVISION_AT_REMOTE: _finds(found.revision, "the remote has it"),
    Need.HISTORY_SHALLOW: lambda case: shallow.deepenable(case.state),
    Need.SUBMODULE_EMPTY: _submodule_empty,
    Need.OUTSIDE_SPARSE: _finds(found.outside_cone, "the path is outside of the sparse checkout"),
    Need.INDEX_REBUILDABLE: lambda case: index.rebuildable(case.state),
    Need.REF_IN_REFLOG: _finds(found.lost_refs, "the reflog names the ref's value, and its commit is whole"),
    Need.PACKED_REFS_DAMAGED: _finds(
        found.unpacked_refs, "packed-refs has bad lines, and reflogs name what they may have held"
    ),
    Need.HEAD_IN_REFLOG: _finds(found.lost_head, "HEAD's reflog names where it was"),
    Need.CACHES_DAMAGED: _finds(found.caches, "git can do without the damaged file, or make it again"),
    Need.OBJECTS_HERE: _finds(found.object_sources, "the content of the missing objects is still here"),
    Need.OBJECTS_MISSING: _finds(found.missing_objects, "a remote may have the missing objects"),
    Need.TRACKING_REF_STALE: _finds(found.stale_tracking, "the remote no longer has the branch in the way"),
    Need.ONLY_STAT_DIRTY: _finds(found.stat_dirty, "the index has only the files' size, time or inode wrong"),
    **SIGNS,
}
