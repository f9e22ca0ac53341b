"""Taking a heal back later, on somebody's word: a step forward under a backup of its own, which can itself be taken back.

It writes only over what the heal has left. Where work has gone on since, nothing is changed, and it is said what and where.
"""

from __future__ import annotations

import os
import time
from typing import TYPE_CHECKING

import attrs

from rerail.errors import RerailError, UsageError
from rerail.git import lease
from rerail.git.backup import Backup, Base, Kind, RefMove, worktree_of
from rerail.git.backups import Expired, all_refs, expire, list_backups, load
from rerail.git.case import Pace, unheard
from rerail.git.journal import Journal
from rerail.git.moves import REFLOG_MARK, ZERO
from rerail.git.outcome import blobs_now, files_of_interest, index_id, outcome_of, readable_outcome_of, record_outcome
from rerail.git.probe import probe
from rerail.git.processes import outlasting_git
from rerail.git.recovery import StillAtWorkError, finish_cut_heal
from rerail.git.restore import bring_back, roll_back
from rerail.git.snapshot import Reach, snapshot
from rerail.settings import BackupSettings

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

    from rerail.git.backup import Outcome, SavedFile
    from rerail.git.place import Place
    from rerail.git.state import RepoState

_LOGS = (f"{Base.GIT}/logs/", f"{Base.COMMON}/logs/")
# git writes these as it goes; nobody works in them.
_SCRATCH = frozenset(f"{Base.GIT}/{name}" for name in ("COMMIT_EDITMSG", "ORIG_HEAD", "AUTO_MERGE"))
_INDEX = f"{Base.GIT}/index"


class UndoRefusedError(RerailError):
    """An undo would cost work that came after the heal, or cannot be made here and now; nothing was changed.

    Args:
        message: Why.
        hint: What to do instead.
        found: What stands in its way, one thing each: refs, and paths with their base.
        waits: Whether it is only somebody else's turn.
    """

    slug = "undo-refused"

    def __init__(self, message: str, *, hint: str, found: tuple[str, ...] = (), waits: bool = False) -> None:
        super().__init__(message, hint=hint)
        self.found, self.waits = found, waits


@attrs.frozen
class Undone:
    """What an undo did."""

    undid: str
    """The backup that was gone back to."""
    recipe: str
    """The heal that was taken back."""
    backup: str
    """The backup of what was before the undo: an undo of this one takes the undo back."""
    paths: tuple[str, ...]
    """The paths that are other than before, with their base."""
    refs: tuple[str, ...]
    """The refs that are."""
    note: str
    """What else was put right first, for people; ``""`` for nothing."""
    expired: Expired


def undo(
    backup_id: str,
    cwd: Path,
    *,
    lease_dir: Path | None = None,
    pace: Pace | None = None,
    policy: BackupSettings | None = None,
    on_moment: Callable[[str], None] = unheard,
) -> Undone:
    """Take a heal, or an undo, back.

    Args:
        backup_id: The backup that the heal has made.
        cwd: A directory of the worktree that it was made in.
        lease_dir: Where the repository's lease lies; None: beside rerail's other files in its git directory.
        pace: How long to wait for others.
        policy: How long backups stay.
        on_moment: Called with the name of each moment as it is reached.

    Raises:
        UnknownNameError: There is no such backup.
        UndoRefusedError: Work has gone on since, or somebody is at work; nothing was changed.
        UsageError: *cwd* is in no repository that can be worked in.
        GitError: The repository cannot be read or written; what was changed was put back, or will be by the next heal.
    """
    pace = pace or Pace()
    state = _looked_at(cwd)
    directory = lease_dir or lease.default_dir(state.here.common_dir)
    try:
        with lease.hold(directory, patience_s=pace.lease_s, sleep=pace.sleep) as is_held:
            if not is_held:
                raise UndoRefusedError(
                    "another heal is at work in this repository", hint="try again when it has ended", waits=True
                )
            on_moment("lease")
            note = finish_cut_heal(state, pace)
            return _Undo(_looked_at(cwd), backup_id, on_moment).run(pace, note, policy or BackupSettings())
    except StillAtWorkError as busy:
        raise UndoRefusedError(busy.message, hint="try again when it has ended", waits=True) from busy
    except OSError as error:
        raise UsageError(
            f"the repository cannot be written: {error}", hint="give the rights that are missing"
        ) from error


def _looked_at(cwd: Path) -> RepoState:
    state = probe(cwd)
    if state.place is None or state.trouble is not None:
        detail = state.trouble.detail if state.trouble else f"{cwd} is in no repository"
        raise UsageError(detail, hint="name the repository with --repo")
    return state


class _Undo:
    """One undo under its lease."""

    def __init__(self, state: RepoState, backup_id: str, mark: Callable[[str], None]) -> None:
        self._state, self._mark = state, mark
        self._backup = load(state.git, backup_id)
        self._recipe = f"undo {backup_id}"

    def run(self, pace: Pace, note: str, policy: BackupSettings) -> Undone:
        outcome = self._outcome()
        self._refuse_elsewhere()
        self._refuse_if_taken_back()
        _refuse_beside_git(self._state.here, pace)
        if found := tuple(dict.fromkeys(_gone_on(self._state, self._backup, outcome))):
            raise UndoRefusedError(
                f"work has gone on since {outcome.recipe}: {', '.join(found[:5])}{' and more' if found[5:] else ''}",
                hint=f"take single files from the backup: git show {self._backup.ref}:work/PATH",
                found=found,
            )
        return self._carry_out(outcome, note, policy)

    def _outcome(self) -> Outcome:
        backup = self._backup
        try:
            outcome = outcome_of(self._state.git, backup.id)
        except ValueError as error:
            raise UndoRefusedError(
                f"what was done after backup {backup.id} cannot be read: {error}",
                hint=f"take single files from the backup: git show {backup.ref}:work/PATH",
            ) from error
        if outcome is None:
            raise UndoRefusedError(
                f"backup {backup.id} ({backup.note}) belongs to a heal that changed nothing, or was put back at once",
                hint="there is nothing to undo",
            )
        return outcome

    def _refuse_elsewhere(self) -> None:
        if self._backup.worktree != worktree_of(self._state.here):
            raise UndoRefusedError(
                f"backup {self._backup.id} was made in another worktree, {self._backup.root}",
                hint="undo it there: its files belong to that work tree",
            )

    def _refuse_if_taken_back(self) -> None:
        """An undo that is repeated is told so, and not that "work has gone on"."""
        newer = [each for each in list_backups(self._state.git) if each.made_at > self._backup.made_at]
        for later in reversed(newer):
            done = readable_outcome_of(self._state.git, later.id)
            if done is None:
                continue
            if done.recipe == self._recipe:
                raise UndoRefusedError(
                    f"backup {self._backup.id} was gone back to already",
                    hint=f"rerail heal --undo {later.id} takes that back",
                )
            return

    def _carry_out(self, outcome: Outcome, note: str, policy: BackupSettings) -> Undone:
        state, backup, mark = self._state, self._backup, self._mark
        git, place = state.git, state.here
        before = dict(blobs_now(git, place, backup.files))
        under = snapshot(state, _reach(place, backup, outcome), note=f"before {self._recipe}", by_name=True)
        mark("backup")
        moves = tuple(RefMove(move.ref, move.new, move.old) for move in reversed(outcome.moves) if move.ref != "HEAD")
        journal = Journal(place, under.id, self._recipe, frozenset(move.ref for move in moves))
        journal.will_move(*moves)
        mark("journal")
        message = f"{REFLOG_MARK}{self._recipe}"
        try:
            bring_back(git, place, backup, outcome.moves, under=under, message=message, with_logs=False, mark=mark)
            record_outcome(probe(place.root or place.git_dir), under, self._recipe, moves)
        except (RerailError, OSError) as error:
            # Where this fails too, the journal stays open, and the next heal or undo goes on with it.
            roll_back(git, place, under, moves)
            journal.close()
            raise UndoRefusedError(
                f"it could not be carried through, and everything was put back: {error}",
                hint="remove what stands in its way, then try again",
            ) from error
        except BaseException:
            roll_back(git, place, under, moves)
            journal.close()
            raise
        journal.close()
        mark("done")
        after = blobs_now(git, place, backup.files)
        paths = tuple(path for path, oid in after if before[path] != oid and not path.startswith(_LOGS))
        refs = tuple(dict.fromkeys(move.ref for move in moves))
        gone = expire(git, place, policy, now_s=time.time())
        return Undone(backup.id, outcome.recipe, under.id, paths, refs, note, gone)


def _reach(place: Place, backup: Backup, outcome: Outcome) -> Reach:
    """Return what an undo may change: what the heal could."""
    files = frozenset(file.where(place) for file in backup.files if file.base is not Base.WORK)
    return Reach(
        paths=frozenset(file.path for file in backup.saved(Base.WORK)),
        git_files=files,
        refs=frozenset(move.ref for move in outcome.moves if move.ref != "HEAD"),
        indexes=frozenset(path for path in files if path.name == "index.lock"),
        everything=backup.reaches_everything,
    )


def _refuse_beside_git(place: Place, pace: Pace) -> None:
    if (worker := outlasting_git(place, pace)) is not None:
        raise UndoRefusedError(
            f"process {worker.pid} works in this worktree: {worker.what}",
            hint="try again when it has ended",
            waits=True,
        )


def _gone_on(state: RepoState, backup: Backup, outcome: Outcome) -> Iterator[str]:
    """Yield what is not as the heal has left it, among all that an undo writes."""
    refs = all_refs(state.git)
    latest = {move.ref: move.new for move in outcome.moves if move.ref != "HEAD"}
    for ref, new in latest.items():
        if refs.get(ref, ZERO) != new:
            yield ref
        elif (other := state.elsewhere(ref)) is not None:
            yield f"{ref}, which {other.root} has checked out"
    if (state.head.oid or "") != outcome.head:
        yield "HEAD"
    after = dict(outcome.after)
    for path, oid in blobs_now(state.git, state.here, files_of_interest(state, backup)):
        if path.startswith(_LOGS) or path in _SCRATCH:
            continue
        if path == _INDEX and outcome.index and index_id(state) == outcome.index:
            continue
        if after.get(path, "") != oid or (path not in after and oid == ""):
            yield path
    for file in backup.saved(Base.WORK):
        yield from _in_the_way(state.root, file)


def _in_the_way(root: Path, file: SavedFile) -> Iterator[str]:
    """Yield what now stands where a file would come back, and is no file: a directory there, or something else above it."""
    where = root / file.path
    if file.kind is not Kind.ABSENT and where.is_dir() and not where.is_symlink():
        yield f"{Base.WORK}/{file.path}/"
    for folder in where.parents:
        if folder == root:
            return
        if os.path.lexists(folder) and (folder.is_symlink() or not folder.is_dir()):
            yield f"{Base.WORK}/{folder.relative_to(root)}"


__all__ = ["UndoRefusedError", "Undone", "undo"]
