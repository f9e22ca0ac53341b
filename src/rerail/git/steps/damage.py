"""Steps on damage: a broken HEAD or ref, an unreadable index, and the object store."""

from __future__ import annotations

from typing import TYPE_CHECKING

from rerail.git import found
from rerail.git.finding import Finding, Verdict
from rerail.git.repairs import heads, index, objects
from rerail.git.snapshot import NO_REACH, Reach
from rerail.git.steps.spec import StepRefusedError, StepSpec, reach_nothing, sure
from rerail.recipes.heals import Need

if TYPE_CHECKING:
    from rerail.git.case import Case


def _reach_lost_refs(case: Case) -> Reach:
    lost = case.once(found.lost_refs)
    if isinstance(lost, Finding):
        return NO_REACH
    files = frozenset(case.state.here.common_dir / one.ref for one in lost)
    return Reach(git_files=files, refs=frozenset(one.ref for one in lost))


def _restore_ref(case: Case) -> tuple[str, ...]:
    lost = sure(case.once(found.lost_refs))
    for one in lost:
        heads.put_ref(case.state, one)
        case.mark(f"restored {one.ref}")
    return tuple(f"restored {one.ref} to {one.oid[:10]}, where its reflog ends" for one in lost)


def _restore_head(case: Case) -> tuple[str, ...]:
    content = sure(case.once(found.lost_head))
    heads.put_head(case.state, content)
    return (f"restored HEAD to {content.removeprefix('ref: refs/heads/')}, where its reflog ends",)


def _reach_unnamed(_case: Case) -> Reach:
    return Reach(salvage=True)


def _rebuild_index(case: Case) -> tuple[str, ...]:
    index.rebuild(case.state)
    return ("built the index again from HEAD; what was staged is in the work tree, or in the backup",)


def _reach_caches(case: Case) -> Reach:
    damaged = case.once(found.caches)
    files = () if isinstance(damaged, Finding) else tuple(path for path in damaged if path.is_file())
    return Reach(git_files=frozenset(files))


def _renew_caches(case: Case) -> tuple[str, ...]:
    damaged = sure(case.once(found.caches))
    objects.renew_caches(case.state, damaged, case.aside / "objects")
    return tuple(f"let git make {path.name} again" for path in damaged)


def _reach_missing(case: Case) -> Reach:
    missing = case.once(found.missing_objects)
    files = () if isinstance(missing, Finding) else tuple(objects.loose_file(case.state, oid) for oid in missing)
    return Reach(git_files=frozenset(path for path in files if path.is_file()))


def _refetch_objects(case: Case) -> tuple[str, ...]:
    missing = sure(case.once(found.missing_objects))
    came = objects.refetch(case.state, missing, case.aside / "objects")
    if came.verdict is not Verdict.HOLDS:
        raise StepRefusedError(came.text)
    return (f"fetched {len(missing)} missing object{'s' * (len(missing) != 1)} again from the remote",)


RESTORE_REF = StepSpec(
    (Need.REF_IN_REFLOG, Need.NO_LIVE_GIT), "restore the ref from its reflog", _reach_lost_refs, _restore_ref
)
RESTORE_HEAD = StepSpec(
    (Need.HEAD_IN_REFLOG, Need.NO_LIVE_GIT), "restore HEAD from its reflog", reach_nothing, _restore_head
)
REBUILD_INDEX = StepSpec(
    (Need.INDEX_REBUILDABLE, Need.NO_LIVE_GIT), "build the index again from HEAD", _reach_unnamed, _rebuild_index
)
RENEW_CACHES = StepSpec(
    (Need.CACHES_DAMAGED, Need.NO_LIVE_GIT), "move the damaged derived files aside", _reach_caches, _renew_caches
)
REFETCH_OBJECTS = StepSpec(
    (Need.OBJECTS_MISSING, Need.NO_LIVE_GIT),
    "fetch the missing objects again from the remote",
    _reach_missing,
    _refetch_objects,
)
