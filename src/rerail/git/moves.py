"""Ref moves of a heal: telling them from everybody else's, and taking them back."""

from __future__ import annotations

from typing import TYPE_CHECKING

from rerail.git import reflog
from rerail.git.backup import Backup, Base, RefMove
from rerail.git.backups import all_refs

if TYPE_CHECKING:
    from collections.abc import Iterable

    from rerail.git.command import Git
    from rerail.git.place import Place

REFLOG_MARK = "rerail: "
"""How every reflog entry begins that a heal makes."""

ZERO = "0" * 40
"""Stands for "not there" among object ids."""


def all_moves(
    git: Git, place: Place, backup: Backup, noted: tuple[RefMove, ...], refs: Iterable[str]
) -> tuple[RefMove, ...]:
    """Return the moves of some refs since a backup: those that were noted, and those that git made in a command of the heal's.

    A ref that somebody else has moved, as its reflog tells, is left out: what came of it is theirs.
    """
    now = all_refs(git)
    last = dict(backup.refs) | {move.ref: move.new for move in noted}
    by_file = {
        file.path for file in backup.files if file.base is not Base.WORK
    }  # a broken ref comes back as the file that it was
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


def move_back(git: Git, moves: Iterable[RefMove], message: str) -> None:
    """Take moves back, the last one first; a ref that is elsewhere by now stays."""
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
