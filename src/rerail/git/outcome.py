"""What a heal did after its backup, written down beside the backup: an undo goes by that."""

from __future__ import annotations

from hashlib import sha256
from typing import TYPE_CHECKING

from rerail.git.backup import Backup, Base, Kind, Outcome, RefMove, SavedFile, outcome_json, outcome_ref, read_outcome
from rerail.git.blobs import hash_files, hash_link
from rerail.git.operation import marker_files

if TYPE_CHECKING:
    from collections.abc import Iterable

    from rerail.git.command import Git
    from rerail.git.place import Place
    from rerail.git.state import RepoState


def record_outcome(now: RepoState, backup: Backup, recipe: str, moves: tuple[RefMove, ...]) -> None:
    """Write down beside a backup how the repository is now that it ended: an undo must find it so."""
    git = now.git
    after = blobs_now(git, now.here, files_of_interest(now, backup))
    outcome = Outcome(recipe, moves, after, now.head.oid or "", index_id(now))
    oid = git("hash-object", "-w", "--no-filters", "--stdin", stdin=outcome_json(outcome)).text
    git("update-ref", outcome_ref(backup.id), oid, "0" * len(oid))


def has_outcome(git: Git, backup_id: str) -> bool:
    """Return whether it is written down what was done after a backup."""
    return git.ask("rev-parse", "-q", "--verify", outcome_ref(backup_id))


def outcome_of(git: Git, backup_id: str) -> Outcome | None:
    """Return what was done after a backup; None where nothing was, or it was put back at once.

    Raises:
        ValueError: What stands there is no outcome.
    """
    record = git("cat-file", "blob", outcome_ref(backup_id), check=False)
    return read_outcome(record.out) if record.ok else None


def readable_outcome_of(git: Git, backup_id: str) -> Outcome | None:
    """Return what was done after a backup; None also where that cannot be read."""
    try:
        return outcome_of(git, backup_id)
    except ValueError:
        return None


def files_of_interest(state: RepoState, backup: Backup) -> tuple[SavedFile, ...]:
    """Return the files that an undo of a heal may write as *state* is: those of its backup, and what has come to be since."""
    files = {(file.base, file.path): file for file in backup.files}
    since = [(Base.GIT, name) for name in marker_files(state.here.git_dir)]
    if backup.reaches_everything:
        # Taken back, paths that were clean are checked out again.
        since += [(Base.WORK, one.path) for one in state.changes if one.unstaged != "." and not one.is_submodule]
    for base, path in since:
        files.setdefault((base, path), SavedFile(base, path, Kind.ABSENT))
    return tuple(files.values())


def index_id(state: RepoState) -> str:
    """Return what identifies the entries of the index; ``""`` where git cannot read it."""
    if state.index_fault:
        return ""
    rows = (f"{entry.mode} {entry.oid} {entry.stage}\t{entry.path}" for entry in state.index)
    return sha256("\0".join(rows).encode("utf-8", "surrogateescape")).hexdigest()


def blobs_now(git: Git, place: Place, files: Iterable[SavedFile]) -> tuple[tuple[str, str], ...]:
    """Return each saved path with its base, and the blob id of what is there now; ``""``: nothing with bytes."""
    named = {f"{file.base}/{file.path}": file for file in files}
    places = {name: file.where(place) for name, file in named.items() if file.link_above(place) is None}
    regular = [name for name, where in places.items() if where.is_file() and not where.is_symlink()]
    found = dict(zip(regular, hash_files(git, [places[name] for name in regular]), strict=True))
    found |= {name: hash_link(git, where) for name, where in places.items() if where.is_symlink()}
    return tuple((name, found.get(name, "")) for name in named)
