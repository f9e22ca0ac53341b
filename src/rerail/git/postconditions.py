"""What each condition after a heal means: asked of the repository as the steps have left it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from rerail.git import found
from rerail.git.finding import Finding, fails, holds
from rerail.git.looks import identity, phantoms
from rerail.git.repairs import aside, locks, objects, partial, publish, reformat, shallow
from rerail.git.state import HeadCondition
from rerail.recipes.heals import Ensure

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from rerail.git.case import Case
    from rerail.git.state import RepoState


def _locks_gone(case: Case, now: RepoState) -> Finding:
    moved = {lock.path for lock in case.once(found.locks)}
    left = tuple(lock for lock in locks.present_locks(now, case.lines) if lock.path in moved)
    return fails(f"still there: {locks.names(left)}") if left else holds("the locks are gone")


def _restaged(case: Case, now: RepoState) -> Finding:
    done = case.once(found.reformatting)
    return done if isinstance(done, Finding) else reformat.is_restaged(now, done)


def _integrated(case: Case, now: RepoState) -> Finding:
    plan = case.once(found.integration)
    if isinstance(plan, Finding):
        return plan
    tip = now.git.line("rev-parse", "--verify", plan.branch)
    has_theirs = now.git.ask("merge-base", "--is-ancestor", plan.theirs, tip)
    return holds("the branch has both sides") if tip == plan.new and has_theirs else fails("the branch is elsewhere")


def _upstream_set(case: Case, now: RepoState) -> Finding:
    sides = case.once(found.publication if case.call("push") else found.counterpart)
    return sides if isinstance(sides, Finding) else publish.follows(now, *sides)


def _head_attached(case: Case, now: RepoState) -> Finding:
    plan = case.once(found.attachment)
    if isinstance(plan, Finding):
        return plan
    is_there = (now.head.branch, now.head.oid) == (plan.branch, plan.new)
    return holds("HEAD is on its branch") if is_there else fails("HEAD is not on its branch")


def _operation_over(_case: Case, now: RepoState) -> Finding:
    return holds("no operation is left") if now.operation is None else fails(f"the {now.operation.kind} is not over")


def _nothing_unmerged(_case: Case, now: RepoState) -> Finding:
    if now.unmerged:
        return fails(f"unmerged paths are left: {', '.join(now.unmerged[:5])}")
    return holds("nothing is unmerged")


def _no_changes_left(case: Case, now: RepoState) -> Finding:
    moved = case.once(found.changes)
    return moved if isinstance(moved, Finding) else aside.way_is_clear(now, [change.path for change in moved])


def _no_untracked_left(case: Case, now: RepoState) -> Finding:
    moved = case.once(found.untracked)
    return moved if isinstance(moved, Finding) else aside.way_is_clear(now, moved)


def _revision_present(case: Case, now: RepoState) -> Finding:
    wanted = case.once(found.revision)
    if isinstance(wanted, Finding):
        return wanted
    is_there = now.git.ask("rev-parse", "-q", "--verify", f"{wanted.target}^{{commit}}")
    return holds("the revision is here") if is_there else fails("the revision is still not here")


def _histories_meet(case: Case, now: RepoState) -> Finding:
    call = case.call()
    is_whole = not now.is_shallow and (call is None or call.verb == "push")
    if is_whole or shallow.meets(now, call):
        return holds("the histories meet")
    return fails("the histories have no common commit, even whole")


def _submodule_present(case: Case, now: RepoState) -> Finding:
    path = case.once(found.submodule)
    return path if isinstance(path, Finding) else partial.submodule_present(now, path)


def _inside_sparse(case: Case, now: RepoState) -> Finding:
    left = partial.outside_cone(now, case.call())
    return holds("the path is inside") if isinstance(left, Finding) else fails("the path is still outside")


def _index_readable(_case: Case, now: RepoState) -> Finding:
    return fails(now.index_fault) if now.index_fault else holds("the index can be read")


def _head_readable(_case: Case, now: RepoState) -> Finding:
    is_born = now.head.condition is HeadCondition.BORN
    return holds("HEAD leads to a commit") if is_born else fails("HEAD leads to no commit")


def _caches_sound(_case: Case, now: RepoState) -> Finding:
    return objects.caches_sound(now)


def _objects_present(case: Case, now: RepoState) -> Finding:
    left = objects.wanted_objects(now, case.lines)
    return fails(f"{left[0]} still cannot be read") if left else holds("every missing object is here again")


def _tracking_ref_gone(case: Case, now: RepoState) -> Finding:
    stale = case.once(found.stale_tracking)
    if isinstance(stale, Finding):
        return stale
    left = [ref for ref in stale if now.git.ask("show-ref", "--verify", "--quiet", ref)]
    return fails(f"{left[0]} is still there") if left else holds("nothing is in the way of the fetch")


def _index_fresh(case: Case, now: RepoState) -> Finding:
    stale = case.once(found.stat_dirty)
    return stale if isinstance(stale, Finding) else phantoms.is_fresh(now, stale)


def _identity_set(case: Case, now: RepoState) -> Finding:
    return identity.is_given(now, case.request.identity)


ENSURES: Mapping[Ensure, Callable[[Case, RepoState], Finding]] = {
    Ensure.LOCKS_GONE: _locks_gone,
    Ensure.RESTAGED: _restaged,
    Ensure.INTEGRATED: _integrated,
    Ensure.UPSTREAM_SET: _upstream_set,
    Ensure.HEAD_ATTACHED: _head_attached,
    Ensure.NO_OPERATION: _operation_over,
    Ensure.NOTHING_UNMERGED: _nothing_unmerged,
    Ensure.NO_CHANGES_LEFT: _no_changes_left,
    Ensure.NO_UNTRACKED_LEFT: _no_untracked_left,
    Ensure.REVISION_PRESENT: _revision_present,
    Ensure.HISTORIES_MEET: _histories_meet,
    Ensure.SUBMODULE_PRESENT: _submodule_present,
    Ensure.INSIDE_SPARSE: _inside_sparse,
    Ensure.INDEX_READABLE: _index_readable,
    Ensure.HEAD_READABLE: _head_readable,
    Ensure.CACHES_SOUND: _caches_sound,
    Ensure.OBJECTS_PRESENT: _objects_present,
    Ensure.TRACKING_REF_GONE: _tracking_ref_gone,
    Ensure.INDEX_FRESH: _index_fresh,
    Ensure.IDENTITY_SET: _identity_set,
}
