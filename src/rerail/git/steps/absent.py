"""Steps that bring in what is not here: revisions, history, submodules, paths of a sparse checkout."""

from __future__ import annotations

from typing import TYPE_CHECKING

from rerail.git import found
from rerail.git.finding import Finding
from rerail.git.repairs import partial, shallow
from rerail.git.repairs.transport import fetch
from rerail.git.snapshot import NO_REACH, Reach
from rerail.git.steps.spec import StepSpec, move_ref, reach_config, sure
from rerail.recipes.heals import Need

if TYPE_CHECKING:
    from rerail.git.case import Case


def _reach_revision(case: Case) -> Reach:
    revision = case.once(found.revision)
    if isinstance(revision, Finding):
        return NO_REACH
    return Reach(refs=frozenset({revision.target})) | reach_config(case)


def _fetch_revision(case: Case) -> tuple[str, ...]:
    revision = sure(case.once(found.revision))
    git = case.state.git
    oid = sure(fetch(case.state, revision.remote, revision.source))
    old = git.line("rev-parse", "-q", "--verify", revision.target, check=False) or "0" * len(oid)
    move_ref(case, revision.target, old, oid, "fetch")
    if revision.refspec:
        git("config", "--local", "--add", f"remote.{revision.remote}.fetch", revision.refspec)
    return (f"fetched {revision.name} from {revision.remote}",)


def _reach_shallow(case: Case) -> Reach:
    return Reach(git_files=frozenset({case.state.here.common_dir / "shallow"}))


def _deepen_history(case: Case) -> tuple[str, ...]:
    return (f"fetched {sure(shallow.deepen(case.state, case.call()))}",)


def _init_submodule(case: Case) -> tuple[str, ...]:
    path = sure(case.once(found.submodule))
    partial.init_submodule(case.state, path, case.aside)
    return (f"checked out the submodule {path}",)


def _reach_cone(case: Case) -> Reach:
    folders = case.once(found.outside_cone)
    if isinstance(folders, Finding):
        return NO_REACH
    place = case.state.here
    files = (place.git_dir / "info" / "sparse-checkout", place.git_dir / "config.worktree", place.common_dir / "config")
    return Reach(paths=frozenset(partial.hidden_paths(case.state, folders)), git_files=frozenset(files))


def _widen_sparse(case: Case) -> tuple[str, ...]:
    folders = sure(case.once(found.outside_cone))
    partial.widen_cone(case.state, folders)
    return tuple(f"included {folder} in the sparse checkout" for folder in folders)


def _reach_stale_tracking(case: Case) -> Reach:
    stale = case.once(found.stale_tracking)
    return NO_REACH if isinstance(stale, Finding) else Reach(refs=frozenset(stale))


def _drop_tracking_refs(case: Case) -> tuple[str, ...]:
    stale = sure(case.once(found.stale_tracking))
    for ref, oid in stale.items():
        move_ref(case, ref, oid, "0" * len(oid), "drop a stale tracking ref")
    return tuple(f"dropped {ref}, whose branch the remote no longer has" for ref in stale)


FETCH_REVISION = StepSpec(
    (Need.REVISION_AT_REMOTE,), "fetch the revision from the remote", _reach_revision, _fetch_revision
)
DEEPEN_HISTORY = StepSpec(
    (Need.HISTORY_SHALLOW, Need.NO_LIVE_GIT), "fetch more of the history", _reach_shallow, _deepen_history
)
INIT_SUBMODULE = StepSpec(
    (Need.SUBMODULE_EMPTY, Need.NO_OPERATION, Need.NO_LIVE_GIT),
    "check the submodule out",
    reach_config,
    _init_submodule,
)
WIDEN_SPARSE = StepSpec(
    (Need.OUTSIDE_SPARSE, Need.NO_OPERATION, Need.NO_LIVE_GIT),
    "include the path's directory in the sparse checkout",
    _reach_cone,
    _widen_sparse,
)
DROP_TRACKING_REFS = StepSpec(
    (Need.TRACKING_REF_STALE, Need.NO_LIVE_GIT),
    "drop the remote-tracking refs whose branches are gone",
    _reach_stale_tracking,
    _drop_tracking_refs,
)
