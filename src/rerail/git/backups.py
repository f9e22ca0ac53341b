"""The backups that a repository has: listing, loading, and letting old ones go."""

from __future__ import annotations

import shutil
from typing import TYPE_CHECKING

from rerail.errors import GitError
from rerail.git.backup import PREFIX, Backup, read_manifest, state_ref
from rerail.git.place import Place, own_dir

if TYPE_CHECKING:
    from pathlib import Path

    from rerail.git.command import Git


def list_backups(git: Git) -> tuple[Backup, ...]:
    """Return the backups of a repository, oldest first."""
    listing = git("for-each-ref", "--format=%(refname)", PREFIX).lines()
    ids = [ref[len(PREFIX) : -len("/state")] for ref in listing if ref.endswith("/state")]
    return tuple(sorted((load(git, backup_id) for backup_id in ids), key=lambda backup: backup.made_at))


def load(git: Git, backup_id: str) -> Backup:
    """Return a backup by its id.

    Raises:
        GitError: There is none, or it cannot be read.
    """
    commit = git.line("rev-parse", "-q", "--verify", state_ref(backup_id), check=False)
    if not commit:
        raise GitError(f"there is no backup {backup_id} in this repository")
    try:
        return read_manifest(git("cat-file", "blob", f"{commit}:manifest.json").out, commit)
    except (ValueError, KeyError, TypeError) as error:
        raise GitError(f"backup {backup_id} cannot be read: {error}") from error


def expire(git: Git, place: Place, *, older_than_s: float, keep: int, now_s: float) -> tuple[str, ...]:
    """Let old backups go, with what was moved aside under them, and return their ids: nothing expires silently.

    Args:
        git: The repository.
        place: The worktree.
        older_than_s: Only those made longer ago than this, in seconds.
        keep: The newest that stay whatever their age.
        now_s: The time, in seconds since the epoch.
    """
    backups = list_backups(git)
    old = [backup for backup in backups[: max(0, len(backups) - keep)] if now_s - backup.made_at > older_than_s]
    for backup in old:
        listing = git("for-each-ref", "--format=%(refname) %(objectname)", f"{PREFIX}{backup.id}/")
        for ref, oid in (line.split(" ") for line in listing.lines()):
            git("update-ref", "-d", ref, oid)
        shutil.rmtree(aside_dir(place, backup.id), ignore_errors=True)
    return tuple(backup.id for backup in old)


def aside_dir(place: Place, backup_id: str) -> Path:
    """Return where files are moved that give way under a backup."""
    return own_dir(place) / "aside" / backup_id


def all_refs(git: Git) -> dict[str, str]:
    """Return every ref but rerail's own, and its value."""
    listing = git("for-each-ref", "--format=%(refname) %(objectname)")
    rows = (line.rsplit(" ", 1) for line in listing.lines())
    return {ref: oid for ref, oid in rows if not ref.startswith("refs/rerail/")}
