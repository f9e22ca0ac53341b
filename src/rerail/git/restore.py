"""Bringing a repository back to what a backup holds.

`roll_back` follows a heal that failed, in the same breath: everything is as before, reflogs included. `undo` comes later, on
somebody's word: it refuses where the work has gone on, and it is a step forward that can be undone itself.

Neither deletes. A file that has to go is moved below ``<git dir>/rerail/aside/``, after a backup of the present state holds it.
"""

from __future__ import annotations

import os
import stat
from typing import TYPE_CHECKING

from rerail.errors import GitError, UsageError
from rerail.git import reflog
from rerail.git.backup import Backup, Base, Kind, Outcome, RefMove, SavedFile, outcome_json, outcome_ref, read_outcome
from rerail.git.backups import all_refs, aside_dir, load
from rerail.git.files import free_name, link_over, move_aside, write_locked, write_over
from rerail.git.operation import MARKER_DIRS, marker_files
from rerail.git.place import own_dir
from rerail.git.probe import probe
from rerail.git.snapshot import ZERO, Reach, snapshot

if TYPE_CHECKING:
    from collections.abc import Iterable
    from pathlib import Path

    from rerail.git.command import Git
    from rerail.git.place import Place

REFLOG_MARK = "rerail: "
"""How every reflog entry begins that a heal makes."""

_LOGS = (f"{Base.GIT}/logs/", f"{Base.COMMON}/logs/")


class UndoRefusedError(UsageError):
    """An undo would write over work that came after the heal."""

    slug = "undo-refused"


def roll_back(git: Git, place: Place, backup: Backup, moves: Iterable[RefMove]) -> None:
    """Bring everything that the backup holds back to what it was, byte for byte.

    Args:
        git: The repository.
        place: The worktree that the backup was made in.
        backup: What to go back to.
        moves: The ref moves of the heal that failed. A ref that somebody else has moved since stays.

    Raises:
        GitError: A lock is held, or an object of the backup cannot be read; going on is safe, and so is calling it again.
    """
    _clear_new_paths(git, place, backup, backup)
    _move_refs_back(git, moves)
    _put_markers_back(place, backup)
    *others, index, head = _in_order(backup.files)
    for file in others:
        if file.path.startswith("logs/") and file.base is not Base.WORK:
            _shorten_log(git, place, backup, file)
        else:
            _put_back(git, place, backup, backup, file)
    _put_back(git, place, backup, backup, index)
    _refill_clean_paths(git, place, backup)
    _put_back(git, place, backup, backup, head)


def undo(cwd: Path, backup_id: str) -> Backup:
    """Take a heal back and return the backup of the state before this undo.

    Raises:
        GitError: There is no such backup, or the repository cannot be read or written.
        UndoRefusedError: Work has gone on since on what would be written; nothing was changed.
    """
    state = probe(cwd)
    if state.place is None or state.trouble is not None:
        raise GitError(state.trouble.detail if state.trouble else f"{cwd} is in no repository")
    git, place = state.git, state.place
    backup = load(git, backup_id)
    record = git("cat-file", "blob", outcome_ref(backup_id), check=False)
    if not record.ok:
        raise UndoRefusedError(
            f"backup {backup_id} belongs to a heal that changed nothing", hint="there is nothing to undo"
        )
    outcome = read_outcome(record.out)
    _refuse_if_work_went_on(git, place, backup, outcome)
    paths = frozenset(file.path for file in backup.saved(Base.WORK))
    now = snapshot(state, Reach(paths=paths, refs=frozenset(move.ref for move in outcome.moves)), note="before an undo")
    _clear_new_paths(git, place, backup, now)
    _move_refs_back(git, outcome.moves, message=f"{REFLOG_MARK}undo {backup_id}")
    _put_markers_back(place, backup)
    for file in _in_order(backup.files):
        if not file.path.startswith("logs/") or file.base is Base.WORK:
            _put_back(git, place, backup, now, file)
    return now


def all_moves(
    git: Git, place: Place, backup: Backup, noted: tuple[RefMove, ...], refs: Iterable[str]
) -> tuple[RefMove, ...]:
    """Return the moves of some refs since a backup: those that were noted, and those that git made in a command of the heal's.

    A ref that somebody else has moved, as its reflog tells, is left out: what came of it is theirs.
    """
    now = all_refs(git)
    last = dict(backup.refs) | {move.ref: move.new for move in noted}
    by_file = {file.path for file in backup.saved(Base.COMMON)}  # a broken ref comes back as the file that it was
    made = (RefMove(ref, last.get(ref, ZERO), now.get(ref, ZERO)) for ref in sorted(set(refs) - by_file))
    return (*noted, *(move for move in made if move.old != move.new and is_ours(git, place, backup, move.ref)))


def is_ours(git: Git, place: Place, backup: Backup, ref: str) -> bool:
    """Return whether every entry of a ref's reflog since a backup was made by a heal."""
    log = next((file for file in backup.files if file.path == f"logs/{ref}" and file.base is not Base.WORK), None)
    if log is None:
        return True
    saved = git("cat-file", "blob", log.oid).out if log.oid else b""
    added = reflog.read(log.where(place))[len(reflog.parse(saved)) :]
    return all(entry.message.startswith(REFLOG_MARK) for entry in added)


def record_outcome(git: Git, place: Place, backup: Backup, recipe: str, moves: tuple[RefMove, ...]) -> None:
    """Write down beside a backup what was done after it: an undo goes by that."""
    outcome = Outcome(recipe, moves, blobs_now(git, place, backup.files))
    oid = git("hash-object", "-w", "--no-filters", "--stdin", stdin=outcome_json(outcome)).text
    git("update-ref", outcome_ref(backup.id), oid, "0" * len(oid))


def blobs_now(git: Git, place: Place, files: Iterable[SavedFile]) -> tuple[tuple[str, str], ...]:
    """Return each saved path with its base, and the blob id of what is there now; ``""``: nothing with bytes."""
    return tuple((f"{file.base}/{file.path}", _blob_now(git, file.where(place))) for file in files)


def _blob_now(git: Git, where: Path) -> str:
    if where.is_symlink():
        data = os.fsencode(os.readlink(where))  # noqa: PTH115  bytes, not a path that is normalised
    elif where.is_file():
        data = where.read_bytes()
    else:
        return ""
    return git("hash-object", "--no-filters", "--stdin", stdin=data).text


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


def _put_back(git: Git, place: Place, backup: Backup, under: Backup, file: SavedFile) -> None:
    """Make one path what it was; one that is so already is not written. What has to go is in the backup *under*."""
    where = file.where(place)
    if file.kind is Kind.ABSENT:
        if where.is_symlink() or where.is_file():
            _aside(place, under, where)
            if file.base is Base.WORK and place.root is not None:
                _prune_dirs(place.root, where.parent, backup.missing_dirs)
        return
    data = git("cat-file", "blob", file.oid).out
    if _holds(where, file, data):
        return
    if where.is_dir() and not where.is_symlink():
        _aside(place, under, where)
    if file.kind is Kind.LINK:
        link_over(where, data, scratch=own_dir(place))
    elif file.base is Base.WORK or file.path.startswith("logs/"):
        write_over(where, data, scratch=own_dir(place), mode=file.mode, mtime_ns=file.mtime_ns)
    else:
        write_locked(where, data, mode=file.mode, mtime_ns=file.mtime_ns)


def _holds(where: Path, file: SavedFile, data: bytes) -> bool:
    try:
        facts = where.lstat()
        if file.kind is Kind.LINK:
            return stat.S_ISLNK(facts.st_mode) and os.fsencode(os.readlink(where)) == data  # noqa: PTH115
        return stat.S_ISREG(facts.st_mode) and stat.S_IMODE(facts.st_mode) == file.mode and where.read_bytes() == data
    except OSError:
        return False


def _aside(place: Place, backup: Backup, path: Path) -> None:
    move_aside(path, free_name(aside_dir(place, backup.id), path.name))


def _clear_new_paths(git: Git, place: Place, backup: Backup, under: Backup) -> None:
    """Move aside what git has put into the work tree since: tracked now, and neither tracked nor there then.

    Only after steps whose reach is not known path by path: those run hooks or a project's command.
    """
    if place.root is None or not backup.reaches_everything:
        return
    listing = git("ls-files", "-z", check=False)
    known = {*backup.tracked, *(file.path for file in backup.saved(Base.WORK) if file.kind is not Kind.ABSENT)}
    for path in dict.fromkeys(listing.records()):
        where = place.root / path
        if path not in known and (where.is_symlink() or where.is_file()):
            _aside(place, under, where)
            _prune_dirs(place.root, where.parent, backup.missing_dirs)


def _prune_dirs(root: Path, folder: Path, missing: Iterable[str]) -> None:
    """Remove directories that have become empty and were not there when the backup was made."""
    gone = {root / name for name in missing}
    while folder in gone:
        try:
            folder.rmdir()
        except OSError:
            return
        folder = folder.parent


def _shorten_log(git: Git, place: Place, backup: Backup, file: SavedFile) -> None:
    """Take a reflog back to what it was, when the heal alone has added to it, or taken from its end."""
    where = file.where(place)
    saved = git("cat-file", "blob", file.oid).out if file.oid else b""
    try:
        now = where.read_bytes()
    except OSError:
        now = b""
    added = now[len(saved) :].splitlines()
    is_ours = now.startswith(saved) and all(b"\t" + REFLOG_MARK.encode() in line for line in added)
    if is_ours or saved.startswith(now):
        _put_back(git, place, backup, backup, file)


def _move_refs_back(git: Git, moves: Iterable[RefMove], message: str = f"{REFLOG_MARK}restore") -> None:
    for move in reversed(tuple(moves)):
        if move.ref == "HEAD":
            continue  # its file is among the saved ones
        now = git.line("rev-parse", "-q", "--verify", move.ref, check=False) or "0" * len(move.new)
        if now != move.new:
            continue  # never made, or somebody else's by now
        if move.old.strip("0"):
            git("update-ref", "-m", message, move.ref, move.old, move.new)
        else:
            git("update-ref", "-d", move.ref, move.new)


def _put_markers_back(place: Place, backup: Backup) -> None:
    """Remove the operation state that was not there; what was is put back with the other files."""
    saved = {file.path for file in backup.saved(Base.GIT)}
    for name in tuple(marker_files(place.git_dir)):
        if name not in saved:
            _aside(place, backup, place.git_dir / name)
    for name in MARKER_DIRS:
        folder = place.git_dir / name
        if folder.is_dir() and not any(path.startswith(f"{name}/") for path in saved):
            _aside(place, backup, folder)


def _in_order(files: Iterable[SavedFile]) -> list[SavedFile]:
    """Put the index and HEAD last: git compares everything else with the one, and sees no repository without the other."""
    last = {"index": 1, "HEAD": 2}
    return sorted(files, key=lambda file: last.get(file.path, 0) if file.base is Base.GIT else 0)


def _refill_clean_paths(git: Git, place: Place, backup: Backup) -> None:
    """Check out what was clean and is not so now: its bytes are the index's, and were not saved one by one."""
    if place.root is None:
        return
    saved = {file.path for file in backup.saved(Base.WORK)}
    listing = git("diff-files", "--name-only", "-z", "--ignore-submodules=all", check=False)
    stale = [path for path in listing.records() if path not in saved]
    contents = [path for path in stale if _differs(git, place.root / path, path)]
    for path in contents:
        if os.path.lexists(place.root / path):
            _aside(place, backup, place.root / path)
    if contents:
        # Without -u: the index keeps its bytes.
        git("checkout-index", "-z", "--stdin", stdin=b"".join(os.fsencode(path) + b"\0" for path in contents))


def _differs(git: Git, where: Path, path: str) -> bool:
    """Whether a file's content differs from the index; a newer time alone is no difference."""
    if not where.is_file() or where.is_symlink():
        return True
    want = git.line("rev-parse", "-q", "--verify", f":{path}", check=False)
    have = git("hash-object", f"--path={path}", "--stdin", stdin=where.read_bytes(), check=False)
    return not have.ok or have.text != want
