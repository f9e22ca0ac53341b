"""The note that a heal is under way: written before its first step, removed after its last, found by whoever comes after a kill.

It names the backup and every ref move before it is made, so that a later process can tell what the heal did from what
somebody did since. It holds no content: all content is in the backup, under refs.
"""

from __future__ import annotations

import json
import os
from typing import TYPE_CHECKING

import attrs

from rerail.git.backup import RefMove, read_moves, read_refs, read_table
from rerail.git.place import Place, own_dir
from rerail.plain_file import read_plain

if TYPE_CHECKING:
    from pathlib import Path

_FILE_NAME = "open-heal.json"


@attrs.frozen
class OpenHeal:
    """A heal that began and has not ended."""

    backup_id: str
    recipe: str
    moves: tuple[RefMove, ...]
    refs: frozenset[str]
    """The refs within its reach: git may have moved them in a command of its own."""


class Journal:
    """The journal of one heal."""

    def __init__(self, place: Place, backup_id: str, recipe: str, refs: frozenset[str] = frozenset()) -> None:
        self._path = _path(place)
        self._backup_id, self._recipe, self._refs = backup_id, recipe, refs
        self._moves: list[RefMove] = []
        self._write()

    @property
    def refs(self) -> frozenset[str]:
        """The refs within the heal's reach."""
        return self._refs

    @property
    def moves(self) -> tuple[RefMove, ...]:
        """Every ref move noted so far, in order."""
        return tuple(self._moves)

    def will_move(self, *moves: RefMove) -> None:
        """Note ref moves that are about to be made."""
        self._moves += moves
        self._write()

    def close(self) -> None:
        """Note that the heal has ended."""
        self._path.unlink(missing_ok=True)

    def _write(self) -> None:
        table = {
            "backup": self._backup_id,
            "recipe": self._recipe,
            "moves": [attrs.asdict(move) for move in self._moves],
            "refs": sorted(self._refs),
        }
        self._path.parent.mkdir(parents=True, exist_ok=True)
        fresh = self._path.with_suffix(".new")
        with fresh.open("w", encoding="utf-8") as file:
            json.dump(table, file)
            file.flush()
            os.fsync(file.fileno())
        fresh.replace(self._path)


def open_heal(place: Place) -> OpenHeal | None:
    """Return the heal of this worktree that was cut short, or None."""
    try:
        table = read_table(read_plain(_path(place)))
        moves, refs = read_moves(table["moves"]), read_refs(table["refs"])
        return OpenHeal(str(table["backup"]), str(table["recipe"]), moves, refs)
    except (OSError, ValueError, KeyError):
        return None


def open_backups(common_dir: Path) -> frozenset[str] | None:
    """Return the backups of heals, in any worktree, that have not ended; None where a note is there that cannot be read."""
    notes = [common_dir / "rerail" / _FILE_NAME, *common_dir.glob(f"worktrees/*/rerail/{_FILE_NAME}")]
    try:
        return frozenset(str(read_table(read_plain(note))["backup"]) for note in notes if note.exists())
    except (OSError, ValueError, KeyError):
        return None


def noted_at_ns(place: Place) -> int:
    """Return when the last note was written, in nanoseconds since the epoch; 0 when there is none."""
    try:
        return _path(place).stat().st_mtime_ns
    except OSError:
        return 0


def forget(place: Place) -> None:
    """Remove the note of a heal that was cut short, once it has been dealt with."""
    _path(place).unlink(missing_ok=True)


def _path(place: Place) -> Path:
    return own_dir(place) / _FILE_NAME
