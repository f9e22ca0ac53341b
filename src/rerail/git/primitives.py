"""The closed set of steps: what each one may change, what must hold for it whoever asks, and what it does.

A recipe picks steps by name; it cannot give them arguments. What a step acts on is what the conditions found in the repository, and
its own guards are checked even where a recipe leaves them out. All of git that a step can reach passes `rerail.git.gate`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, TypeVar

import attrs

from rerail.errors import RerailError
from rerail.git import (
    aside,
    conclude,
    heads,
    index_file,
    lockfiles,
    locks,
    objects,
    partial,
    publish,
    reformat,
    revisions,
    shallow,
)
from rerail.git import conditions as found
from rerail.git.backup import RefMove
from rerail.git.finding import Finding, Verdict
from rerail.git.probe import probe
from rerail.git.restore import REFLOG_MARK
from rerail.git.snapshot import NO_REACH, Reach
from rerail.recipes.heals import Need, StepName

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from rerail.git.case import Case

_T = TypeVar("_T")


class StepRefusedError(RerailError):
    """A step found that it must not be taken; everything before it is undone."""

    slug = "heal-step-refused"


@attrs.frozen
class StepSpec:
    """One step that rerail knows how to take."""

    guards: tuple[Need, ...]
    """What must hold for it, in the order in which it is asked."""
    plan: str
    """What it will do, as an instruction."""
    reach: Callable[[Case], Reach]
    run: Callable[[Case], tuple[str, ...]]
    """Does it, and returns what was done, for people."""


def _sure(value: _T | Finding) -> _T:
    """Return what a condition found; the guards have made sure that it did."""
    if isinstance(value, Finding):
        raise StepRefusedError(value.text)
    return value


def _move(case: Case, ref: str, old: str, new: str, why: str) -> None:
    """Move a ref, noted first, if nobody else has moved it."""
    if old == new:
        return
    if case.journal is not None:
        case.journal.will_move(RefMove(ref, old, new))
    case.state.git("update-ref", "-m", f"{REFLOG_MARK}{why}", ref, new, old)
    case.mark(f"moved {ref}")


def _no_reach(_case: Case) -> Reach:
    return NO_REACH


# --- locks -------------------------------------------------------------------------------------------------------------------------


def _reach_locks(case: Case) -> Reach:
    paths = frozenset(lock.path for lock in case.once(found.found_locks))
    # A dead git's index.lock may be a whole index: what it alone names is kept too.
    return Reach(git_files=paths, indexes=frozenset(path for path in paths if path.name == "index.lock"))


def _set_locks_aside(case: Case) -> tuple[str, ...]:
    done = []
    for lock in case.once(found.found_locks):
        if not locks.set_aside(lock, case.aside / "locks" / f"{lock.inode}-{lock.path.name}"):
            raise StepRefusedError(f"{lock.path} was taken by somebody at the last moment")
        case.mark(f"moved {lock.path.name}")
        done.append(f"moved the stale lock {lock.path} aside")
    return tuple(done)


# --- what was staged ---------------------------------------------------------------------------------------------------------------


def _restage(case: Case) -> tuple[str, ...]:
    changed = _sure(case.once(found.found_reformat))
    if not changed.paths:
        return ("nothing to stage: the commit takes the reformatted files from the work tree",)
    reformat.restage(case.state, changed.paths)
    return tuple(f"staged {path} again, as the hook formatted it" for path in changed.paths)


def _resolve_lockfiles(case: Case) -> tuple[str, ...]:
    return tuple(f"settled {line}" for line in lockfiles.resolve(case.state))


def _rebuild_index(case: Case) -> tuple[str, ...]:
    index_file.rebuild(case.state)
    return ("built the index again from HEAD; what was staged is in the work tree, or in the backup",)


# --- branches ----------------------------------------------------------------------------------------------------------------------


def _reach_integration(case: Case) -> Reach:
    plan = case.once(found.found_integration)
    if isinstance(plan, Finding):
        return NO_REACH
    refs = {plan.branch, *({plan.remote.tracking} if plan.remote.tracking else ())}
    is_checked_out = plan.branch == case.state.head.branch
    return Reach(paths=frozenset(plan.paths) if is_checked_out else frozenset(), refs=frozenset(refs))


def _take_over_integration(case: Case) -> tuple[str, ...]:
    plan = _sure(case.once(found.found_integration))
    git = case.state.git
    if plan.remote.tracking:
        seen = git.line("rev-parse", "-q", "--verify", plan.remote.tracking, check=False) or "0" * len(plan.theirs)
        _move(case, plan.remote.tracking, seen, plan.theirs, "fetch")
    if plan.branch == case.state.head.branch:
        # The work tree first: were this cut short, a commit would carry the remote's changes instead of undoing them.
        git.at(case.state.root)("read-tree", "-m", "-u", plan.old, plan.new)
        case.mark("moved the work tree")
    _move(case, plan.branch, plan.old, plan.new, f"integrate {plan.remote.remote}")
    return (f"{plan.branch.removeprefix('refs/heads/')} {plan.how}",)


def _reach_config(case: Case) -> Reach:
    return Reach(git_files=frozenset({case.state.here.common_dir / "config"}))


def _set_upstream(case: Case) -> tuple[str, ...]:
    find = found.found_publication if case.call("push") else found.found_counterpart
    branch, remote = _sure(case.once(find))
    publish.set_upstream(case.state, branch, remote)
    name = branch.removeprefix("refs/heads/")
    return (f"set {remote.remote}/{remote.ref.removeprefix('refs/heads/')} as the upstream of {name}",)


def _reach_attachment(case: Case) -> Reach:
    plan = case.once(found.found_attachment)
    return NO_REACH if isinstance(plan, Finding) else Reach(refs=frozenset({plan.branch}))


def _attach_head(case: Case) -> tuple[str, ...]:
    plan = _sure(case.once(found.found_attachment))
    _move(case, plan.branch, plan.old, plan.new, "fast-forward to the detached HEAD")
    case.state.git("symbolic-ref", "-m", f"{REFLOG_MARK}attach HEAD", "HEAD", plan.branch)
    name = plan.branch.removeprefix("refs/heads/")
    forward = "" if plan.old == plan.new else ", which was fast-forwarded to the commits made on it"
    return (f"attached HEAD to {name}{forward}",)


def _reach_lost_refs(case: Case) -> Reach:
    lost = case.once(found.found_lost_refs)
    if isinstance(lost, Finding):
        return NO_REACH
    files = frozenset(case.state.here.common_dir / one.ref for one in lost)
    return Reach(git_files=files, refs=frozenset(one.ref for one in lost))


def _restore_ref(case: Case) -> tuple[str, ...]:
    lost = _sure(case.once(found.found_lost_refs))
    for one in lost:
        heads.put_ref(case.state, one)
    return tuple(f"restored {one.ref} to {one.oid[:10]}, where its reflog ends" for one in lost)


def _restore_head(case: Case) -> tuple[str, ...]:
    content = _sure(case.once(found.found_lost_head))
    heads.put_head(case.state, content)
    return (f"restored HEAD to {content.removeprefix('ref: refs/heads/')}, where its reflog ends",)


# --- operations --------------------------------------------------------------------------------------------------------------------


def _reach_conclusion(case: Case) -> Reach:
    branch = conclude.operation_ref(case.state)
    refs = {"refs/stash", *({branch} if branch else ())}
    return Reach(refs=frozenset(refs), everything=True)  # hooks run


def _conclude_operation(case: Case) -> tuple[str, ...]:
    operation = case.state.operation
    conclude.conclude(case.state)
    return (f"concluded the {operation.kind if operation else 'operation'}, which was resolved",)


def _conclude_if_resolved(case: Case) -> tuple[str, ...]:
    now = probe(case.state.cwd)
    if now.operation is None or conclude.settles_itself(case.call(), now.operation):
        return ()
    verdict = conclude.concludable(now, case.call())
    if verdict.verdict is not Verdict.HOLDS:
        raise StepRefusedError(verdict.text)
    conclude.conclude(now)
    return (f"concluded the {now.operation.kind}",)


def _reach_stash(_case: Case) -> Reach:
    return Reach(refs=frozenset({"refs/stash"}))


def _set_debris_aside(case: Case) -> tuple[str, ...]:
    operation = case.state.operation
    conclude.set_debris_aside(case.state, case.aside)
    return (f"moved {operation.directory if operation else 'the state'} aside, which a crash had left",)


def _reach_bisect(case: Case) -> Reach:
    listing = case.state.git("for-each-ref", "--format=%(refname)", "refs/bisect").lines()
    return Reach(refs=frozenset(listing), everything=True)


def _end_bisect(case: Case) -> tuple[str, ...]:
    conclude.reset_bisect(case.state)
    return ("went back to where the bisection began",)


# --- local work in the way ---------------------------------------------------------------------------------------------------------


def _reach_changes(case: Case) -> Reach:
    changes = case.once(found.found_changes)
    return NO_REACH if isinstance(changes, Finding) else Reach(paths=frozenset(one.path for one in changes))


def _set_changes_aside(case: Case) -> tuple[str, ...]:
    changes = _sure(case.once(found.found_changes))
    aside.move_changes(case.state, changes, case.aside / "work")
    return tuple(f"moved the local changes of {change.path} aside" for change in changes)


def _reach_untracked(case: Case) -> Reach:
    paths = case.once(found.found_untracked)
    return NO_REACH if isinstance(paths, Finding) else Reach(paths=frozenset(paths))


def _set_untracked_aside(case: Case) -> tuple[str, ...]:
    paths = _sure(case.once(found.found_untracked))
    aside.move_untracked(case.state, paths, case.aside / "work")
    return tuple(f"moved the untracked {path} aside" for path in paths)


# --- what was not there ------------------------------------------------------------------------------------------------------------


def _reach_revision(case: Case) -> Reach:
    revision = case.once(found.found_revision)
    refs = frozenset() if isinstance(revision, Finding) else frozenset({revision.target})
    return Reach(refs=refs) | _reach_config(case)


def _fetch_revision(case: Case) -> tuple[str, ...]:
    revision = _sure(case.once(found.found_revision))
    oid = _sure(revisions.bring_in(case.state, revision))
    revisions.name_it(case.state, revision, oid)
    return (f"fetched {revision.name} from {revision.remote}",)


def _reach_shallow(case: Case) -> Reach:
    return Reach(git_files=frozenset({case.state.here.common_dir / "shallow"}))


def _deepen_history(case: Case) -> tuple[str, ...]:
    return (f"fetched {_sure(shallow.deepen(case.state, case.call()))}",)


def _init_submodule(case: Case) -> tuple[str, ...]:
    path = _sure(case.once(found.found_submodule))
    partial.init_submodule(case.state, path, case.aside)
    return (f"checked out the submodule {path}",)


def _reach_cone(case: Case) -> Reach:
    folders = case.once(found.found_outside_cone)
    if isinstance(folders, Finding):
        return NO_REACH
    place = case.state.here
    files = {place.git_dir / "info" / "sparse-checkout", place.git_dir / "config.worktree", place.common_dir / "config"}
    return Reach(paths=frozenset(partial.hidden_paths(case.state, folders)), git_files=frozenset(files))


def _widen_sparse(case: Case) -> tuple[str, ...]:
    folders = _sure(case.once(found.found_outside_cone))
    partial.widen_cone(case.state, folders)
    return tuple(f"included {folder} in the sparse checkout" for folder in folders)


def _reach_caches(case: Case) -> Reach:
    damaged = case.once(found.found_caches)
    files = () if isinstance(damaged, Finding) else tuple(path for path in damaged if path.is_file())
    return Reach(git_files=frozenset(files))


def _renew_caches(case: Case) -> tuple[str, ...]:
    damaged = _sure(case.once(found.found_caches))
    objects.renew_caches(case.state, damaged, case.aside / "objects")
    return tuple(f"moved the damaged {path.name} aside; git makes it again" for path in damaged)


def _reach_missing(case: Case) -> Reach:
    missing = case.once(found.found_missing_objects)
    files = () if isinstance(missing, Finding) else tuple(objects.loose_file(case.state, oid) for oid in missing)
    return Reach(git_files=frozenset(path for path in files if path.is_file()))


def _refetch_objects(case: Case) -> tuple[str, ...]:
    missing = _sure(case.once(found.found_missing_objects))
    came = objects.refetch(case.state, missing, case.aside / "objects")
    if came.verdict is not Verdict.HOLDS:
        raise StepRefusedError(came.text)
    return (f"fetched {len(missing)} missing object{'s' * (len(missing) != 1)} again from the remote",)


def _reach_stale_tracking(case: Case) -> Reach:
    stale = case.once(found.found_stale_tracking)
    return NO_REACH if isinstance(stale, Finding) else Reach(refs=frozenset(stale))


def _drop_tracking_refs(case: Case) -> tuple[str, ...]:
    stale = _sure(case.once(found.found_stale_tracking))
    for ref, oid in stale.items():
        if case.journal is not None:
            case.journal.will_move(RefMove(ref, oid, "0" * len(oid)))
        case.state.git("update-ref", "-d", ref, oid)
    return tuple(f"dropped {ref}, whose branch the remote no longer has" for ref in stale)


def _reach_salvage(_case: Case) -> Reach:
    return Reach(salvage=True)


# --- the table ---------------------------------------------------------------------------------------------------------------------

STEPS: Mapping[StepName, StepSpec] = {
    StepName.SET_LOCKS_ASIDE: StepSpec(
        (Need.LOCK_FOUND, Need.LOCK_ON_LOCAL_DISK, Need.LOCK_UNOWNED),
        "move the stale locks aside",
        _reach_locks,
        _set_locks_aside,
    ),
    StepName.RESTAGE: StepSpec(
        (Need.NO_LIVE_GIT, Need.NOTHING_UNMERGED, Need.ONLY_REFORMATTED),
        "stage the files that the hook reformatted, exactly those that were staged",
        _no_reach,
        _restage,
    ),
    StepName.TAKE_OVER_INTEGRATION: StepSpec(
        (Need.NO_LIVE_GIT, Need.NO_OPERATION, Need.NOTHING_UNMERGED, Need.NO_CHANGE_IN_THE_WAY),
        "bring the remote's commits into the branch, if that goes without a conflict",
        _reach_integration,
        _take_over_integration,
    ),
    StepName.SET_UPSTREAM: StepSpec((Need.NO_LIVE_GIT,), "set the branch's upstream", _reach_config, _set_upstream),
    StepName.ATTACH_HEAD: StepSpec(
        (Need.NO_LIVE_GIT, Need.NO_OPERATION, Need.ATTACHABLE),
        "attach HEAD to the branch that it came from",
        _reach_attachment,
        _attach_head,
    ),
    StepName.CONCLUDE_OPERATION: StepSpec(
        (Need.NO_LIVE_GIT, Need.CONCLUDABLE),
        "conclude the operation in progress",
        _reach_conclusion,
        _conclude_operation,
    ),
    StepName.CONCLUDE_IF_RESOLVED: StepSpec(
        (Need.NO_LIVE_GIT,),
        "conclude the operation in progress, unless the command itself will",
        _reach_conclusion,
        _conclude_if_resolved,
    ),
    StepName.SET_DEBRIS_ASIDE: StepSpec(
        (Need.NO_LIVE_GIT, Need.OPERATION_DEBRIS),
        "move what the crashed operation left aside",
        _reach_stash,
        _set_debris_aside,
    ),
    StepName.END_BISECT: StepSpec(
        (Need.NO_LIVE_GIT, Need.BISECT_FINISHED), "go back to where the bisection began", _reach_bisect, _end_bisect
    ),
    StepName.RESOLVE_LOCKFILES: StepSpec(
        (Need.NO_LIVE_GIT, Need.ONLY_LOCKFILES_CONFLICT),
        "settle the generated lockfiles and stage them",
        _no_reach,
        _resolve_lockfiles,
    ),
    StepName.SET_CHANGES_ASIDE: StepSpec(
        (Need.NO_LIVE_GIT, Need.NO_OPERATION, Need.NOTHING_UNMERGED, Need.CHANGES_IN_THE_WAY),
        "move the local changes in the way aside",
        _reach_changes,
        _set_changes_aside,
    ),
    StepName.SET_UNTRACKED_ASIDE: StepSpec(
        (Need.NO_LIVE_GIT, Need.NO_OPERATION, Need.UNTRACKED_IN_THE_WAY),
        "move the untracked files in the way aside",
        _reach_untracked,
        _set_untracked_aside,
    ),
    StepName.FETCH_REVISION: StepSpec(
        (Need.REVISION_AT_REMOTE,), "fetch the revision from the remote", _reach_revision, _fetch_revision
    ),
    StepName.DEEPEN_HISTORY: StepSpec(
        (Need.NO_LIVE_GIT, Need.HISTORY_SHALLOW), "fetch more of the history", _reach_shallow, _deepen_history
    ),
    StepName.INIT_SUBMODULE: StepSpec(
        (Need.NO_LIVE_GIT, Need.NO_OPERATION, Need.SUBMODULE_EMPTY),
        "check the submodule out",
        _reach_config,
        _init_submodule,
    ),
    StepName.WIDEN_SPARSE: StepSpec(
        (Need.NO_LIVE_GIT, Need.NO_OPERATION, Need.OUTSIDE_SPARSE),
        "include the path's directory in the sparse checkout",
        _reach_cone,
        _widen_sparse,
    ),
    StepName.REBUILD_INDEX: StepSpec(
        (Need.NO_LIVE_GIT, Need.INDEX_REBUILDABLE), "build the index again from HEAD", _reach_salvage, _rebuild_index
    ),
    StepName.RESTORE_REF: StepSpec(
        (Need.NO_LIVE_GIT, Need.REF_IN_REFLOG), "restore the ref from its reflog", _reach_lost_refs, _restore_ref
    ),
    StepName.RESTORE_HEAD: StepSpec(
        (Need.NO_LIVE_GIT, Need.HEAD_IN_REFLOG), "restore HEAD from its reflog", _no_reach, _restore_head
    ),
    StepName.RENEW_CACHES: StepSpec(
        (Need.CACHES_DAMAGED, Need.NO_LIVE_GIT), "move the damaged derived files aside", _reach_caches, _renew_caches
    ),
    StepName.REFETCH_OBJECTS: StepSpec(
        (Need.OBJECTS_MISSING, Need.NO_LIVE_GIT),
        "fetch the missing objects again from the remote",
        _reach_missing,
        _refetch_objects,
    ),
    StepName.DROP_TRACKING_REFS: StepSpec(
        (Need.TRACKING_REF_STALE, Need.NO_LIVE_GIT),
        "drop the remote-tracking refs whose branches are gone",
        _reach_stale_tracking,
        _drop_tracking_refs,
    ),
}
