"""What a backup is: values, and their one JSON form. `rerail.git.snapshot` makes backups, `rerail.git.restore` uses them.

A backup is a commit under ``refs/rerail/backup/<id>/state``. Its tree holds ``manifest.json``; ``work/``, ``git/`` and
``common/`` with the raw bytes of files; ``stage-0/`` to ``stage-3/`` with what the index named; ``kept/`` with other content
that nothing else names. Its parents are the commits that a heal could otherwise lose. Once a heal has ended, ``.../outcome``
says what it did.
"""

from __future__ import annotations

import json
import os
from enum import StrEnum
from typing import TYPE_CHECKING, Any

import attrs

if TYPE_CHECKING:
    from collections.abc import Iterable
    from pathlib import Path

    from rerail.git.place import Place

PREFIX = "refs/rerail/backup/"
VERSION = 1


class Base(StrEnum):
    """What a saved path is relative to."""

    WORK = "work"
    GIT = "git"
    COMMON = "common"


class Kind(StrEnum):
    """What was at a saved path."""

    FILE = "file"
    LINK = "link"
    ABSENT = "absent"


@attrs.frozen
class SavedFile:
    """One path as it was."""

    base: Base
    path: str
    kind: Kind
    oid: str = ""
    """The blob of its raw bytes, or of its target; ``""`` when nothing was there."""
    mode: int = 0
    """Permission bits."""
    mtime_ns: int = 0

    def where(self, place: Place) -> Path:
        """Return its absolute path."""
        base = {Base.WORK: place.root, Base.GIT: place.git_dir, Base.COMMON: place.common_dir}[self.base]
        if base is None:
            raise ValueError(f"{self.path}: there is no work tree")
        return base / self.path


@attrs.frozen
class RefMove:
    """A ref that a heal moved, made or deleted; ids of zeros stand for "not there"."""

    ref: str
    old: str
    new: str


@attrs.frozen
class Backup:
    """One backup, as read or made."""

    id: str
    commit: str
    note: str
    made_at: float
    """Seconds since the epoch, UTC."""
    root: str
    refs: tuple[tuple[str, str], ...]
    """Every ref but rerail's own, and its value."""
    files: tuple[SavedFile, ...]
    tracked: tuple[str, ...]
    """Paths that the index had."""
    missing_dirs: tuple[str, ...] = ()
    """Directories that saved work tree paths would need and that were not there."""
    reaches_everything: bool = False
    """Made for steps that may change any path: untracked files are saved too."""
    worktree: str = "."
    """The git directory of the worktree that it was made in, relative to the common one: where a repository lies may change."""

    @property
    def ref(self) -> str:
        """The ref that holds it."""
        return state_ref(self.id)

    def saved(self, base: Base) -> tuple[SavedFile, ...]:
        """Return the saved files of one base."""
        return tuple(file for file in self.files if file.base is base)


@attrs.frozen
class Outcome:
    """What a heal did after its backup: what an undo must find unchanged."""

    recipe: str
    moves: tuple[RefMove, ...]
    after: tuple[tuple[str, str], ...]
    """Each path that an undo may write, with its base (``work/src/a.py``), and the blob of what was there when it ended; ``""``:
    nothing."""
    head: str = ""
    """The commit that HEAD led to when it ended; ``""``: to none."""
    index: str = ""
    """What identifies the entries of the index when it ended; ``""`` where git could not read them. Its bytes change with a mere
    look."""


def state_ref(backup_id: str) -> str:
    """Return the ref that holds a backup."""
    return f"{PREFIX}{backup_id}/state"


def outcome_ref(backup_id: str) -> str:
    """Return the ref that says what the heal did after it."""
    return f"{PREFIX}{backup_id}/outcome"


def worktree_of(place: Place) -> str:
    """Return how a backup names the worktree that it is made in."""
    return os.path.relpath(place.git_dir, place.common_dir)


def manifest(backup: Backup) -> bytes:
    """Return a backup's manifest. File names keep their bytes: JSON escapes lone surrogates."""
    return _json({"version": VERSION, **attrs.asdict(backup, filter=lambda field, _: field.name != "commit")})


def read_manifest(data: bytes, commit: str) -> Backup:
    """Return the backup that a manifest describes.

    Raises:
        ValueError: It is of another version.
    """
    table = json.loads(data)
    if table["version"] != VERSION:
        raise ValueError(f"backup {commit}: its manifest is not of version {VERSION}")
    files = tuple(
        SavedFile(**{**file, "base": Base(file["base"]), "kind": Kind(file["kind"])}) for file in table["files"]
    )
    return Backup(
        id=table["id"],
        commit=commit,
        note=table["note"],
        made_at=table["made_at"],
        root=table["root"],
        refs=_pairs(table["refs"]),
        files=files,
        tracked=tuple(table["tracked"]),
        missing_dirs=tuple(table["missing_dirs"]),
        reaches_everything=table["reaches_everything"],
        worktree=table["worktree"],
    )


def outcome_json(outcome: Outcome) -> bytes:
    """Return the JSON form of an outcome."""
    return _json(attrs.asdict(outcome))


def read_outcome(data: bytes) -> Outcome:
    """Return the outcome that its JSON form describes."""
    table = json.loads(data)
    moves = tuple(RefMove(**move) for move in table["moves"])
    return Outcome(table["recipe"], moves, _pairs(table["after"]), table["head"], table["index"])


def _json(table: dict[str, Any]) -> bytes:
    return json.dumps(table, indent=1, sort_keys=True).encode()


def _pairs(rows: Iterable[Iterable[str]]) -> tuple[tuple[str, str], ...]:
    return tuple((first, second) for first, second in rows)
