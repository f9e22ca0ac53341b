"""What a heal did after its backup, written down beside the backup: an undo goes by that."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

from rerail.git.backup import Backup, Outcome, RefMove, SavedFile, outcome_json, outcome_ref

if TYPE_CHECKING:
    from collections.abc import Iterable
    from pathlib import Path

    from rerail.git.command import Git
    from rerail.git.place import Place


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
