"""Taking a heal back later, on somebody's word: a step forward, which can itself be looked up and taken back by hand."""

from __future__ import annotations

from typing import TYPE_CHECKING

from rerail.errors import GitError, UsageError
from rerail.git import lease
from rerail.git.backup import Backup, Base, Outcome, outcome_ref, read_outcome
from rerail.git.backups import all_refs, load
from rerail.git.case import Pace
from rerail.git.moves import REFLOG_MARK
from rerail.git.outcome import blobs_now
from rerail.git.probe import probe
from rerail.git.restore import bring_back
from rerail.git.snapshot import Reach, snapshot

if TYPE_CHECKING:
    from pathlib import Path

    from rerail.git.command import Git
    from rerail.git.place import Place

_LOGS = (f"{Base.GIT}/logs/", f"{Base.COMMON}/logs/")


class UndoRefusedError(UsageError):
    """An undo would write over work that came after the heal."""

    slug = "undo-refused"


def undo(backup_id: str, cwd: Path, *, lease_dir: Path | None = None, pace: Pace | None = None) -> Backup:
    """Take a heal back; return the backup of the state before that, from which it could be brought back by hand.

    Raises:
        GitError: There is no such backup, or the repository cannot be read or written.
        UndoRefusedError: Work has gone on since on what would be written; nothing was changed.
    """
    pace = pace or Pace()
    state = probe(cwd)
    if state.place is None or state.trouble is not None:
        raise GitError(state.trouble.detail if state.trouble else f"{cwd} is in no repository")
    directory = lease_dir or lease.default_dir(state.place.common_dir)
    with lease.hold(directory, patience_s=pace.lease_s, sleep=pace.sleep) as is_held:
        if not is_held:
            raise GitError("another heal is at work in this repository", hint="try again when it has ended")
        return _undo(cwd, backup_id)


def _undo(cwd: Path, backup_id: str) -> Backup:
    state = probe(cwd)
    git, place = state.git, state.here
    backup = load(git, backup_id)
    record = git("cat-file", "blob", outcome_ref(backup_id), check=False)
    if not record.ok:
        message = f"backup {backup_id} belongs to a heal that changed nothing"
        raise UndoRefusedError(message, hint="there is nothing to undo")
    outcome = read_outcome(record.out)
    _refuse_if_work_went_on(git, place, backup, outcome)
    reach = Reach(
        paths=frozenset(file.path for file in backup.saved(Base.WORK)),
        refs=frozenset(move.ref for move in outcome.moves),
        everything=backup.reaches_everything,
    )
    now = snapshot(state, reach, note="before an undo")
    message = f"{REFLOG_MARK}undo {backup_id}"
    bring_back(git, place, backup, outcome.moves, under=now, message=message, with_logs=False)
    return now


def _refuse_if_work_went_on(git: Git, place: Place, backup: Backup, outcome: Outcome) -> None:
    refs = all_refs(git)
    latest = {move.ref: move.new for move in outcome.moves if move.ref != "HEAD"}
    moved = [ref for ref, new in latest.items() if refs.get(ref, "0" * len(new)) != new]
    now = dict(blobs_now(git, place, backup.files))
    changed = [path for path, oid in outcome.after if not path.startswith(_LOGS) and now.get(path) != oid]
    if moved or changed:
        what = ", ".join((*moved, *changed)[:5])
        raise UndoRefusedError(
            f"work has gone on since the heal: {what}",
            hint=f"take single files from the backup: git show {backup.ref}:work/PATH",
        )
