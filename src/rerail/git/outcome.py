"""What a heal did after its backup, written down beside the backup: an undo goes by that."""

from __future__ import annotations

from typing import TYPE_CHECKING

from rerail.git.backup import Backup, Outcome, RefMove, SavedFile, outcome_json, outcome_ref
from rerail.git.blobs import hash_files, hash_link

if TYPE_CHECKING:
    from collections.abc import Iterable

    from rerail.git.command import Git
    from rerail.git.place import Place


def record_outcome(git: Git, place: Place, backup: Backup, recipe: str, moves: tuple[RefMove, ...]) -> None:
    """Write down beside a backup what was done after it: an undo goes by that."""
    outcome = Outcome(recipe, moves, blobs_now(git, place, backup.files))
    oid = git("hash-object", "-w", "--no-filters", "--stdin", stdin=outcome_json(outcome)).text
    git("update-ref", outcome_ref(backup.id), oid, "0" * len(oid))


def blobs_now(git: Git, place: Place, files: Iterable[SavedFile]) -> tuple[tuple[str, str], ...]:
    """Return each saved path with its base, and the blob id of what is there now; ``""``: nothing with bytes."""
    places = {f"{file.base}/{file.path}": file.where(place) for file in files}
    regular = [name for name, where in places.items() if where.is_file() and not where.is_symlink()]
    found = dict(zip(regular, hash_files(git, [places[name] for name in regular]), strict=True))
    found |= {name: hash_link(git, where) for name, where in places.items() if where.is_symlink()}
    return tuple((name, found.get(name, "")) for name in places)
