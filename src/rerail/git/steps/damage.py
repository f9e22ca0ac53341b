"""Steps on damage: a broken HEAD or ref, an unreadable index, and the object store."""

from __future__ import annotations

from typing import TYPE_CHECKING

from rerail.git import found, packed
from rerail.git.files import write_locked
from rerail.git.finding import Finding, Verdict
from rerail.git.place import own_dir
from rerail.git.repairs import heads, index, objects, regrow
from rerail.git.snapshot import NO_REACH, Reach
from rerail.git.steps.spec import StepRefusedError, StepSpec, reach_nothing, sure
from rerail.recipes.heals import Need

if TYPE_CHECKING:
    from collections.abc import Iterable

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
    return tuple(f"restored {one.ref} to {one.oid[:10]}, {one.told_by}" for one in lost)


def _reach_packed(case: Case) -> Reach:
    lost = case.once(found.unpacked_refs)
    if isinstance(lost, Finding):
        return NO_REACH
    common = case.state.here.common_dir
    files = frozenset({common / packed.NAME, *(common / one.ref for one in lost)})
    # What only the bad lines may have named is kept too.
    return Reach(git_files=files, refs=frozenset(one.ref for one in lost), salvage=True)


def _rebuild_packed(case: Case) -> tuple[str, ...]:
    lost = sure(case.once(found.unpacked_refs))
    common = case.state.here.common_dir
    refs = packed.read(common)
    write_locked(common / packed.NAME, refs.good, scratch=own_dir(case.state.here))
    case.mark(f"wrote {packed.NAME}")
    for one in lost:
        heads.put_ref(case.state, one)
        case.mark(f"restored {one.ref}")
    left_out = f"left {refs.bad} line{'s' * (refs.bad != 1)} that git cannot read out of {packed.NAME}"
    return (left_out, *(f"restored {one.ref} to {one.oid[:10]}, {one.told_by}" for one in lost))


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
    return NO_REACH if isinstance(missing, Finding) else _reach_loose(case, missing)


def _reach_sources(case: Case) -> Reach:
    some = case.once(found.object_sources)
    return NO_REACH if isinstance(some, Finding) else _reach_loose(case, [source.oid for source in some])


def _reach_loose(case: Case, oids: Iterable[str]) -> Reach:
    files = (objects.loose_file(case.state, oid) for oid in oids)
    return Reach(git_files=frozenset(path for path in files if path.is_file()))


def _regrow_objects(case: Case) -> tuple[str, ...]:
    some = sure(case.once(found.object_sources))
    regrow.regrow(case.state, some, case.aside / "objects")
    return tuple(f"stored object {source.oid[:10]} again from {source.path}" for source in some)


def _refetch_objects(case: Case) -> tuple[str, ...]:
    missing = sure(case.once(found.missing_objects))
    came = objects.refetch(case.state, missing, case.aside / "objects")
    if came.verdict is not Verdict.HOLDS:
        raise StepRefusedError(came.text, finding=came)
    return (f"fetched {len(missing)} missing object{'s' * (len(missing) != 1)} again from the remote",)


REBUILD_PACKED_REFS = StepSpec(
    (Need.PACKED_REFS_DAMAGED, Need.NO_LIVE_GIT),
    "write packed-refs again without its bad lines, and restore from reflogs what they held",
    _reach_packed,
    _rebuild_packed,
)
RESTORE_REF = StepSpec(
    (Need.REF_IN_REFLOG, Need.NO_LIVE_GIT),
    "restore the ref from its reflog, or from the remote",
    _reach_lost_refs,
    _restore_ref,
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
REGROW_OBJECTS = StepSpec(
    (Need.OBJECTS_HERE, Need.NO_LIVE_GIT),
    "store the missing objects again from the work tree and the index",
    _reach_sources,
    _regrow_objects,
)
REFETCH_OBJECTS = StepSpec(
    (Need.OBJECTS_MISSING, Need.NO_LIVE_GIT),
    "fetch the missing objects again from the remote",
    _reach_missing,
    _refetch_objects,
)
