"""What a backup is: values, and their one JSON form. `rerail.git.snapshot` makes backups, `rerail.git.restore` uses them.

A backup is a commit under ``refs/rerail/backup/<id>/state``. Its tree holds ``manifest.json``; ``work/``, ``git/`` and
``common/`` with the raw bytes of files; ``stage-0/`` to ``stage-3/`` with what the index named; ``kept/`` with other content
that nothing else names. Its parents are the commits that a heal could otherwise lose. Once a heal has ended, ``.../outcome``
says what it did.

Whoever can write to a repository can write a backup into it, or clone one. So what a stored one says is checked where it is read:
it names nothing outside of its work tree and its git directories.
"""

from __future__ import annotations

import json
import math
import os
import re
from enum import StrEnum
from pathlib import PurePath
from typing import TYPE_CHECKING, Any

import attrs

if TYPE_CHECKING:
    from collections.abc import Iterable
    from pathlib import Path

    from rerail.git.place import Place

PREFIX = "refs/rerail/backup/"
VERSION = 1
_ALWAYS_SAVED = frozenset({"HEAD", "index"})
"""Files of the git directory that every backup knows of, there or not."""

_OID = r"[0-9a-f]{40}|[0-9a-f]{64}"
_REF = r"HEAD|refs/(?:(?!\.\.|//)[^\0-\x20\x7f])+"


def _stays_below(_instance: object, _field: object, path: str) -> None:
    parts = PurePath(path)  # a TypeError where it is no text
    if "\0" in path or not parts.parts or parts.is_absolute() or parts.drive or ".." in parts.parts:
        raise ValueError(f"{path!r} leads out of the repository")


def _matches(pattern: str) -> Any:
    return attrs.validators.matches_re(pattern, func=re.fullmatch)


def _whole(least: int, most: int) -> Any:
    return attrs.validators.and_(
        attrs.validators.instance_of(int), attrs.validators.ge(least), attrs.validators.le(most)
    )


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
    path: str = attrs.field(validator=_stays_below)
    kind: Kind
    oid: str = attrs.field(default="", validator=_matches(f"(?:{_OID})?"))
    """The blob of its raw bytes, or of its target; ``""`` when nothing was there."""
    mode: int = attrs.field(default=0, validator=_whole(0, 0o7777))
    """Permission bits."""
    mtime_ns: int = attrs.field(default=0, validator=_whole(-(2**63), 2**63 - 1))

    def where(self, place: Place) -> Path:
        """Return its absolute path."""
        return self._below(place) / self.path

    def link_above(self, place: Place) -> Path | None:
        """Return a symbolic link that its path leads through, or None.

        To git nothing is there then, and for rerail too: behind a link may lie anything, outside of the repository as well.
        """
        base = self._below(place)
        folders = (base / folder for folder in PurePath(self.path).parents)
        return next((folder for folder in folders if folder != base and folder.is_symlink()), None)

    def _below(self, place: Place) -> Path:
        base = {Base.WORK: place.root, Base.GIT: place.git_dir, Base.COMMON: place.common_dir}[self.base]
        if base is None:
            raise ValueError(f"{self.path}: there is no work tree")
        return base


@attrs.frozen
class RefMove:
    """A ref that a heal moved, made or deleted; ids of zeros stand for "not there"."""

    ref: str = attrs.field(validator=_matches(_REF))
    old: str = attrs.field(validator=_matches(_OID))
    new: str = attrs.field(validator=_matches(_OID))


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


def read_manifest(data: bytes, backup_id: str, commit: str) -> Backup:
    """Return the backup that a manifest describes.

    Args:
        data: The manifest.
        backup_id: The id in the name of the ref that leads to it.
        commit: The commit that holds it.

    Raises:
        ValueError: It is of another version or another backup, or says what no backup says.
    """
    table = read_table(data)
    try:
        if (table["version"], table["id"]) != (VERSION, backup_id):
            raise ValueError(f"backup {backup_id}: its manifest is not of version {VERSION}, or of another backup")
        backup = Backup(
            id=backup_id,
            commit=commit,
            note=str(table["note"]),
            made_at=float(table["made_at"]),
            root=str(table["root"]),
            refs=_pairs(table["refs"]),
            files=tuple(_saved_file(file) for file in table["files"]),
            tracked=tuple(map(str, table["tracked"])),
            missing_dirs=tuple(map(str, table["missing_dirs"])),
            reaches_everything=bool(table["reaches_everything"]),
            worktree=str(table["worktree"]),
        )
    except (KeyError, TypeError, OverflowError) as error:
        raise ValueError(f"backup {backup_id}: its manifest is not like one: {error}") from error
    _stays_below(None, None, f"{backup.worktree}/rerail")
    if not math.isfinite(backup.made_at) or _ALWAYS_SAVED - {file.path for file in backup.saved(Base.GIT)}:
        raise ValueError(f"backup {backup_id}: its manifest does not say when it was made, or knows no HEAD and index")
    return backup


def read_table(data: bytes) -> dict[str, Any]:
    """Return the JSON object that a stored note holds.

    Raises:
        ValueError: It holds none.
    """
    try:
        table = json.loads(data)
    except RecursionError:
        raise ValueError("nested too deeply") from None
    if not isinstance(table, dict):
        raise ValueError("no JSON object")  # noqa: TRY004  one error for whatever is not as it was written
    return table


def read_moves(rows: object) -> tuple[RefMove, ...]:
    """Return ref moves from their JSON form.

    Raises:
        ValueError: They are none.
    """
    try:
        return tuple(RefMove(**row) for row in rows)  # type: ignore[attr-defined]
    except TypeError as error:
        raise ValueError(f"no moves of refs: {error}") from error


def read_refs(names: object) -> frozenset[str]:
    """Return the names of refs from their JSON form.

    Raises:
        ValueError: They are none.
    """
    if not isinstance(names, list) or not all(isinstance(name, str) and re.fullmatch(_REF, name) for name in names):
        raise ValueError("no names of refs")
    return frozenset(names)


def _saved_file(row: dict[str, Any]) -> SavedFile:
    return SavedFile(**{**row, "base": Base(row["base"]), "kind": Kind(row["kind"])})


def outcome_json(outcome: Outcome) -> bytes:
    """Return the JSON form of an outcome."""
    return _json(attrs.asdict(outcome))


def read_outcome(data: bytes) -> Outcome:
    """Return the outcome that its JSON form describes.

    Raises:
        ValueError: It describes none.
    """
    table = read_table(data)
    try:
        moves, after = read_moves(table["moves"]), _pairs(table["after"])
        return Outcome(str(table["recipe"]), moves, after, str(table["head"]), str(table["index"]))
    except (KeyError, TypeError) as error:
        raise ValueError(f"no outcome of a heal: {error}") from error


def _json(table: dict[str, Any]) -> bytes:
    return json.dumps(table, indent=1, sort_keys=True).encode()


def _pairs(rows: Iterable[Iterable[str]]) -> tuple[tuple[str, str], ...]:
    return tuple((str(first), str(second)) for first, second in rows)
