"""Steps on local work: stale locks, what is staged, files in the way, and who commits."""

from __future__ import annotations

from typing import TYPE_CHECKING

from rerail.evidence.ansi import printable
from rerail.git import found
from rerail.git.finding import Finding
from rerail.git.looks import identity, phantoms
from rerail.git.repairs import aside, lockfiles, locks, reformat
from rerail.git.snapshot import NO_REACH, Reach
from rerail.git.steps.spec import StepRefusedError, StepSpec, reach_config, reach_nothing, sure
from rerail.recipes.heals import Need

if TYPE_CHECKING:
    from rerail.git.case import Case


def _reach_locks(case: Case) -> Reach:
    paths = frozenset(lock.path for lock in case.once(found.locks))
    # A dead git's index.lock may be a whole index: what it alone names is kept too.
    return Reach(git_files=paths, indexes=frozenset(path for path in paths if path.name == "index.lock"))


def _set_locks_aside(case: Case) -> tuple[str, ...]:
    done = []
    for lock in case.once(found.locks):
        if not locks.set_aside(lock, case.aside / "locks" / f"{lock.inode}-{lock.path.name}"):
            raise StepRefusedError(f"{lock.path} was taken by somebody at the last moment")
        case.mark(f"moved {lock.path.name}")
        done.append(f"moved the stale lock {lock.path} aside")
    return tuple(done)


def _restage(case: Case) -> tuple[str, ...]:
    changed = sure(case.once(found.reformatting))
    if not changed.paths:
        return ("nothing to stage: the commit takes the reformatted files from the work tree",)
    reformat.restage(case.state, changed.paths)
    return tuple(f"staged {path} again, as the hook formatted it" for path in changed.paths)


def _resolve_lockfiles(case: Case) -> tuple[str, ...]:
    return tuple(f"settled {line}" for line in lockfiles.resolve(case.state))


def _reach_changes(case: Case) -> Reach:
    changes = case.once(found.changes)
    return NO_REACH if isinstance(changes, Finding) else Reach(paths=frozenset(one.path for one in changes))


def _set_changes_aside(case: Case) -> tuple[str, ...]:
    changes = sure(case.once(found.changes))
    aside.move_changes(case.state, changes, case.aside / "work")
    return tuple(f"moved the local changes of {change.path} aside" for change in changes)


def _reach_untracked(case: Case) -> Reach:
    paths = case.once(found.untracked)
    return NO_REACH if isinstance(paths, Finding) else Reach(paths=frozenset(paths))


def _set_untracked_aside(case: Case) -> tuple[str, ...]:
    paths = sure(case.once(found.untracked))
    aside.move_untracked(case.state, paths, case.aside / "work")
    return tuple(f"moved the untracked {path} aside" for path in paths)


def _refresh_index(case: Case) -> tuple[str, ...]:
    stale = sure(case.once(found.stat_dirty))
    phantoms.refresh(case.state)
    return (f"let the index look again at {len(stale)} file{'s' * (len(stale) != 1)} that have not changed",)


def _set_identity(case: Case) -> tuple[str, ...]:
    who = case.request.identity
    if who is None:
        raise StepRefusedError("the operator has not said who commits here")
    identity.give(case.state, who)
    return (f"set {printable(who.name)} <{printable(who.email)}> as who commits in this repository",)


SET_LOCKS_ASIDE = StepSpec(
    (Need.LOCK_FOUND, Need.LOCK_ON_LOCAL_DISK, Need.LOCK_UNOWNED),
    "move the stale locks aside",
    _reach_locks,
    _set_locks_aside,
)
RESTAGE = StepSpec(
    (Need.ONLY_REFORMATTED, Need.NOTHING_UNMERGED, Need.NO_LIVE_GIT),
    "stage the files that the hook reformatted, exactly those that were staged",
    reach_nothing,
    _restage,
)
RESOLVE_LOCKFILES = StepSpec(
    (Need.ONLY_LOCKFILES_CONFLICT, Need.NO_LIVE_GIT),
    "settle the generated lockfiles and stage them",
    reach_nothing,
    _resolve_lockfiles,
)
SET_CHANGES_ASIDE = StepSpec(
    (Need.CHANGES_IN_THE_WAY, Need.NO_OPERATION, Need.NOTHING_UNMERGED, Need.NO_LIVE_GIT),
    "move the local changes in the way aside",
    _reach_changes,
    _set_changes_aside,
)
SET_UNTRACKED_ASIDE = StepSpec(
    (Need.UNTRACKED_IN_THE_WAY, Need.NO_OPERATION, Need.NO_LIVE_GIT),
    "move the untracked files in the way aside",
    _reach_untracked,
    _set_untracked_aside,
)
REFRESH_INDEX = StepSpec(
    (Need.ONLY_STAT_DIRTY, Need.NO_LIVE_GIT),
    "let the index look at the files again; its entries stay what they are",
    reach_nothing,
    _refresh_index,
)
SET_IDENTITY = StepSpec(
    (Need.IDENTITY_GIVEN, Need.NO_LIVE_GIT),
    "set the name and address that the operator has given for this repository",
    reach_config,
    _set_identity,
)
