"""A heal that was killed before its end: taken back by the next one, or left to a person where work has gone on since."""

from __future__ import annotations

from typing import TYPE_CHECKING

from rerail.errors import GitError, UnknownNameError
from rerail.git import journal
from rerail.git.backup import Backup, Base, SavedFile
from rerail.git.backups import load
from rerail.git.case import Pace
from rerail.git.moves import all_moves, is_ours
from rerail.git.outcome import blobs_now, has_outcome, record_outcome
from rerail.git.processes import outlasting_git
from rerail.git.restore import roll_back
from rerail.git.snapshot import Reach, snapshot

if TYPE_CHECKING:
    from rerail.git.backup import RefMove
    from rerail.git.journal import OpenHeal
    from rerail.git.state import RepoState

_INDEX_SLACK_NS = 60 * 10**9
"""How long after the last note an index may have been written by the heal itself, and not by somebody since."""


class StillAtWorkError(GitError):
    """The git of a heal that was cut short lives on: what it does can be taken back only when it has ended."""


def finish_cut_heal(state: RepoState, pace: Pace | None = None) -> str:
    """Take back what a killed heal did; return what to tell people about it, ``""`` when no heal was cut short.

    The caller holds the lease. Nothing is lost either way: the present state gets a backup of its own first.

    Args:
        state: The repository.
        pace: How long to wait for a git that the killed heal has left behind.

    Raises:
        StillAtWorkError: It did not end in time; nothing was touched.
    """
    if state.place is None or state.trouble is not None:
        return ""
    cut = journal.open_heal(state.place)
    if cut is None:
        return ""
    if (worker := outlasting_git(state.place, pace or Pace())) is not None:
        raise StillAtWorkError(
            f"a heal was cut short, and a git still works here that may be its own: process {worker.pid}, {worker.what}"
        )
    try:
        backup = load(state.git, cut.backup_id)
    except (GitError, UnknownNameError):
        journal.forget(state.place)  # killed before its backup was whole, and so before its first step
        return ""
    try:
        if has_outcome(state.git, backup.id):
            return ""  # killed after its end was written down: it has ended, and an undo takes it back
        return _taken_back(state, cut, backup)
    except (GitError, OSError) as error:
        record_outcome(state, backup, cut.recipe, _moves(state, cut, backup))
        return f"heal {cut.recipe} was cut short and could not be taken back ({error}); backup {backup.id} holds it"
    finally:
        journal.forget(state.place)


def _taken_back(state: RepoState, cut: OpenHeal, backup: Backup) -> str:
    place = state.here
    if _has_gone_on(state, backup):
        record_outcome(state, backup, cut.recipe, _moves(state, cut, backup))
        return f"heal {cut.recipe} was cut short, and work has gone on since; backup {backup.id} holds what was before"
    paths = frozenset(file.path for file in backup.saved(Base.WORK))
    note, by_name = f"before taking back the cut heal {backup.id}", not backup.reaches_everything
    snapshot(state, Reach(paths=paths, refs=cut.refs), note=note, by_name=by_name)
    roll_back(state.git, place, backup, _moves(state, cut, backup))
    return f"heal {cut.recipe}, which was cut short, was taken back first"


def _moves(state: RepoState, cut: OpenHeal, backup: Backup) -> tuple[RefMove, ...]:
    return all_moves(state.git, state.here, backup, cut.moves, cut.refs)


def _has_gone_on(state: RepoState, backup: Backup) -> bool:
    """Whether somebody has worked here since the heal was cut short."""
    return any(_is_new_work(state, file) for file in backup.saved(Base.WORK)) or any(
        (not is_ours(state.git, state.here, backup, "HEAD"), _index_written(state, backup))
    )


def _is_new_work(state: RepoState, file: SavedFile) -> bool:
    """Whether a saved path holds content that git does not know: no step makes such."""
    (_, oid), *_ = blobs_now(state.git, state.here, [file])
    return oid not in {"", file.oid} and not state.git.ask("cat-file", "-e", oid)


def _index_written(state: RepoState, backup: Backup) -> bool:
    index = next(file for file in backup.saved(Base.GIT) if file.path == "index")
    (_, oid), *_ = blobs_now(state.git, state.here, [index])
    if oid == index.oid or not oid:
        return False
    noted_ns = journal.noted_at_ns(state.here)
    return index.where(state.here).stat().st_mtime_ns > noted_ns + _INDEX_SLACK_NS
