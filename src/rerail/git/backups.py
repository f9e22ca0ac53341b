"""The backups that a repository has: listing, loading, and letting old ones go."""

from __future__ import annotations

import os
import shutil
from typing import TYPE_CHECKING

import attrs

from rerail.errors import GitError, UnknownNameError
from rerail.git import journal
from rerail.git.backup import PREFIX, Backup, read_manifest, state_ref
from rerail.git.place import Place, own_dir

if TYPE_CHECKING:
    from collections.abc import Iterable
    from pathlib import Path

    from rerail.git.command import Git
    from rerail.settings import BackupSettings


@attrs.frozen
class Expired:
    """What became of the backups that the policy lets go."""

    ids: tuple[str, ...] = ()
    """Those that are gone."""
    fault: str = ""
    """Why others could not go, for people; nothing is broken by it, and the next heal tries again."""


def backup_ids(git: Git) -> tuple[str, ...]:
    """Return the ids of a repository's backups, oldest first; some of them may be damaged."""
    listing = git("for-each-ref", "--format=%(refname)", PREFIX).lines()
    return tuple(sorted(ref[len(PREFIX) : -len("/state")] for ref in listing if ref.endswith("/state")))


def list_backups(git: Git) -> tuple[Backup, ...]:
    """Return the backups of a repository that can be read, oldest first."""
    ids = backup_ids(git)
    names = [f"{state_ref(backup_id)}^{{commit}}" for backup_id in ids]
    commits = _objects(git, names) if names else []
    manifests = _objects(git, [f"{state_ref(backup_id)}:manifest.json" for backup_id in ids]) if names else []
    found = []
    for backup_id, (commit, _), (_, data) in zip(ids, commits, manifests, strict=True):
        try:
            found.append(read_manifest(data, backup_id, commit))
        except ValueError:
            continue
    return tuple(sorted(found, key=lambda backup: backup.made_at))


def _objects(git: Git, names: list[str]) -> list[tuple[str, bytes]]:
    """Return the id and the content of every named object, by one process; both empty where there is none."""
    rest, found = git("cat-file", "--batch", stdin="".join(f"{name}\n" for name in names).encode()).out, []
    for _ in names:
        head, _, rest = rest.partition(b"\n")
        words = head.split(b" ")
        size = int(words[2]) if len(words) == 3 and words[2].isdigit() else -1
        found.append((words[0].decode(), rest[:size]) if size >= 0 else ("", b""))
        rest = rest[size + 1 :]
    return found


def load(git: Git, backup_id: str) -> Backup:
    """Return a backup by its id.

    Raises:
        UnknownNameError: There is none.
        GitError: It cannot be read.
    """
    # Looked up and not built into a name: what somebody typed may hold anything.
    if backup_id not in (known := backup_ids(git)):
        raise UnknownNameError("backup", backup_id, known)
    (commit, _), (_, data) = _objects(
        git, [f"{state_ref(backup_id)}^{{commit}}", f"{state_ref(backup_id)}:manifest.json"]
    )
    try:
        return read_manifest(data, backup_id, commit)
    except ValueError as error:
        raise GitError(f"backup {backup_id} cannot be read: {error}", hint="git fsck says what is missing") from error


def due(backups: Iterable[Backup], place: Place, policy: BackupSettings, now_s: float) -> tuple[Backup, ...]:
    """Return the backups that the policy lets go, oldest first.

    A backup goes once it is older than ``age_s`` and ``count`` newer ones are there: never the newest, and never that of a
    heal or undo that has not ended.

    Args:
        backups: All of a repository's.
        place: Any worktree of it.
        policy: How long they stay.
        now_s: Wall clock, seconds since the epoch.
    """
    ordered = sorted(backups, key=lambda backup: backup.made_at)
    in_use = journal.open_backups(place.common_dir)
    if in_use is None:
        return ()
    old = ordered[: max(0, len(ordered) - max(1, policy.count))]
    return tuple(one for one in old if now_s - one.made_at > policy.age_s and one.id not in in_use)


def expire(git: Git, place: Place, policy: BackupSettings, *, now_s: float) -> Expired:
    """Let the backups go that are due, with what was moved aside under them, and say which: none expires silently.

    The caller holds the repository's lease. What cannot go stays, and fails nothing.
    """
    gone: list[str] = []
    try:
        for backup in due(list_backups(git), place, policy, now_s):
            listing = git("for-each-ref", "--format=%(refname) %(objectname)", f"{PREFIX}{backup.id}/")
            # The state last: until it is gone, the backup is listed, and the next heal goes on with it.
            for ref, oid in reversed([line.split(" ") for line in listing.lines()]):
                if ref != backup.ref:
                    git("update-ref", "-d", ref, oid)
            git("update-ref", "-d", backup.ref, backup.commit)
            made_in = os.path.normpath(place.common_dir / backup.worktree)
            aside = os.path.join(made_in, "rerail", "aside", backup.id)  # noqa: PTH118
            if (
                os.path.realpath(aside) == aside
            ):  # no link on the way: what lies behind one was never put there by rerail
                shutil.rmtree(aside, ignore_errors=True)
            gone.append(backup.id)
    except (GitError, OSError) as error:
        return Expired(tuple(gone), f"old backups could not all be let go: {error}")
    return Expired(tuple(gone))


def aside_dir(place: Place, backup_id: str) -> Path:
    """Return where files are moved that give way under a backup."""
    return own_dir(place) / "aside" / backup_id


def all_refs(git: Git) -> dict[str, str]:
    """Return every ref but rerail's own, and its value."""
    listing = git("for-each-ref", "--format=%(refname) %(objectname)")
    rows = (line.rsplit(" ", 1) for line in listing.lines())
    return {ref: oid for ref, oid in rows if not ref.startswith("refs/rerail/")}
