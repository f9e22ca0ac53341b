"""Snapshots: everything that a heal could touch, as objects under a backup ref, before anything is touched.

Work tree, index and stash stay as they are; git's own stash could not hold unmerged stages anyway. Raw bytes are kept, without
filters: what is restored is what was there, not what git would make of it.
"""

from __future__ import annotations

import os
import secrets
import stat
import time
from pathlib import Path, PurePosixPath
from typing import TYPE_CHECKING

import attrs

from rerail.errors import GitError
from rerail.git.backup import PREFIX, Backup, Base, Kind, SavedFile, manifest, worktree_of
from rerail.git.backups import all_refs
from rerail.git.blobs import hash_files, hash_link
from rerail.git.command import GitFailedError, nul_ended
from rerail.git.moves import ZERO
from rerail.git.operation import marker_files, named_objects
from rerail.git.place import own_dir
from rerail.git.state import HeadCondition
from rerail.plain_file import read_plain

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from rerail.git.command import Git
    from rerail.git.place import Place
    from rerail.git.state import IndexEntry, RepoState

_IDENTITY = {
    f"GIT_{role}_{field}": value
    for role in ("AUTHOR", "COMMITTER")
    for field, value in (("NAME", "rerail"), ("EMAIL", "rerail@localhost"))
}


@attrs.frozen
class Reach:
    """What the steps of a heal may change: what its backup must hold beside HEAD, index, operation state and tracked changes."""

    paths: frozenset[str] = frozenset()
    """Work tree paths, there or not, tracked, untracked or ignored."""
    git_files: frozenset[Path] = frozenset()
    """Files of the git directories, absolute."""
    refs: frozenset[str] = frozenset()
    """Refs that are moved, made or deleted: their values and their reflogs."""
    indexes: frozenset[Path] = frozenset()
    """Other files that may be an index, a left-over ``index.lock``: the blobs that they name."""
    everything: bool = False
    """Untracked files too: for steps that run hooks or a project's command."""
    salvage: bool = False
    """Objects that no ref, reflog or index names: for a heal of what should have named them."""

    def __or__(self, other: Reach) -> Reach:
        return Reach(
            self.paths | other.paths,
            self.git_files | other.git_files,
            self.refs | other.refs,
            self.indexes | other.indexes,
            self.everything or other.everything,
            self.salvage or other.salvage,
        )


NO_REACH = Reach()


def snapshot(state: RepoState, reach: Reach = NO_REACH, *, note: str = "", by_name: bool = False) -> Backup:
    """Store a backup of a repository and return it.

    Args:
        state: The repository.
        reach: What the backup must hold beside what every one does.
        note: Why it is made, for people.
        by_name: Whether the reach names every path that will be written: then what git cannot compare is no matter.

    Raises:
        GitError: It could not be stored whole, or git cannot tell what the work tree holds; nothing but objects was written.
    """
    is_compared = state.head.condition is not HeadCondition.GARBAGE and not (state.index_fault or state.status_fault)
    if not is_compared and (reach.everything or (reach.paths and not by_name)):
        raise GitError(f"what is changed in the work tree cannot be told: {state.status_fault or state.index_fault}")
    return _Snapshot(state, reach, note).store()


class _Snapshot:
    """One snapshot in the making."""

    def __init__(self, state: RepoState, reach: Reach, note: str) -> None:
        self._state, self._reach, self._note = state, reach, note
        self._git, self._place = state.git, state.here
        made = time.gmtime()
        self._id = f"{time.strftime('%Y%m%dT%H%M%SZ', made)}-{secrets.token_hex(3)}"
        self._scratch = own_dir(self._place) / f"snapshot-{self._id}.index"

    def store(self) -> Backup:
        refs = all_refs(self._git)
        files = tuple(_saved_files(self._git, self._place, self._wanted()))
        tracked = tuple(dict.fromkeys(entry.path for entry in self._state.index))
        parents, blobs, others = self._loose_objects(refs)
        root = self._place.root
        backup = Backup(
            *(self._id, "", self._note, time.time(), str(root or ""), tuple(refs.items()), files, tracked),
            missing_dirs=_missing_dirs(root, self._reach.paths) if root else (),
            reaches_everything=self._reach.everything,
            worktree=worktree_of(self._place),
        )
        tree = self._tree(backup, blobs)
        commit = self._git(
            *("commit-tree", tree, *(word for oid in parents for word in ("-p", oid))),
            *("-m", f"rerail backup {self._id}: {self._note}"),
            env=_IDENTITY,
        ).text
        for number, oid in enumerate(others):
            self._make_ref(f"{PREFIX}{self._id}/kept-{number}", oid)
        self._make_ref(backup.ref, commit)
        return attrs.evolve(backup, commit=commit)

    def _make_ref(self, ref: str, oid: str) -> None:
        self._git("update-ref", ref, oid, "0" * len(oid))

    def _wanted(self) -> Iterator[tuple[Base, str]]:
        """Yield every path to save, each once."""
        state, place = self._state, self._place
        work = {change.path for change in state.changes if not change.is_submodule}
        work |= {*state.unmerged, *self._reach.paths}
        if self._reach.everything:
            work |= set(state.untracked)
        if place.root is not None:
            yield from ((Base.WORK, path) for path in sorted(work))
        private = {"HEAD", "index", "logs/HEAD", *marker_files(place.git_dir)}
        shared = set()
        for path in self._reach.git_files:
            if path.is_relative_to(place.git_dir):
                private.add(str(path.relative_to(place.git_dir)))
            else:
                shared.add(str(path.relative_to(place.common_dir)))
        shared |= {f"logs/{ref}" for ref in (*self._reach.refs, *((state.head.branch,) if state.head.branch else ()))}
        yield from ((Base.GIT, path) for path in sorted(private))
        yield from ((Base.COMMON, path) for path in sorted(shared))

    def _loose_objects(self, refs: dict[str, str]) -> tuple[list[str], list[str], list[str]]:
        """Return the commits, the blobs and the other objects that only this backup may be left to name."""
        names = {*named_objects(self._place.git_dir), *_log_ids(self._place, self._reach.refs)}
        names |= {oid for ref in (*self._reach.refs, "refs/stash") if (oid := refs.get(ref))}
        names |= {self._state.head.oid} if self._state.head.oid else set()
        for path in self._reach.git_files:
            names |= _ids_in(path)
        if self._reach.salvage:
            names |= unreachable(self._git)
        kinds: dict[str, list[str]] = {"commit": [], "blob": [], "tree": [], "tag": []}
        answers = self._git("cat-file", "--batch-check", stdin="".join(f"{oid}\n" for oid in sorted(names)).encode())
        for line in answers.lines():
            oid, kind, *_ = (*line.split(" "), "")
            if kind in kinds:
                kinds[kind].append(oid)
        return kinds["commit"], kinds["blob"], [*kinds["tree"], *kinds["tag"]]

    def _tree(self, backup: Backup, blobs: list[str]) -> str:
        """Write the backup's tree through an index of its own."""
        manifest_oid = self._git("hash-object", "-w", "--no-filters", "--stdin", stdin=manifest(backup)).text
        rows = [_row("100644", manifest_oid, "manifest.json")]
        rows += [_row(_tree_mode(file), file.oid, f"{file.base}/{file.path}") for file in backup.files if file.oid]
        rows += [_row(entry.mode, entry.oid, f"stage-{entry.stage}/{entry.path}") for entry in self._state.index]
        rows += [_row("100644", oid, f"kept/{oid}") for oid in blobs]
        for number, path in enumerate(sorted(self._reach.indexes)):
            entries = _entries_of(self._git, path)
            rows += [_row(entry.mode, entry.oid, f"index-{number}/{entry.stage}/{entry.path}") for entry in entries]
        self._scratch.parent.mkdir(parents=True, exist_ok=True)
        env = {"GIT_INDEX_FILE": str(self._scratch)}
        # A backup holds any name that the file system holds, also those that git refuses for other systems' sake.
        plain = ("-c", "core.protectNTFS=false", "-c", "core.protectHFS=false")
        try:
            self._git(*plain, "update-index", "-z", "--index-info", stdin=b"".join(rows), env=env)
            return self._git(*plain, "write-tree", "--missing-ok", env=env).text
        finally:
            self._scratch.unlink(missing_ok=True)


def _saved_files(git: Git, place: Place, wanted: Iterable[tuple[Base, str]]) -> Iterator[SavedFile]:
    regular: list[SavedFile] = []
    for base, path in wanted:
        try:
            file = SavedFile(base, path, Kind.ABSENT)
        except ValueError as error:
            raise GitError(f"no backup can hold {path!r}: {error}") from error
        if (link := file.link_above(place)) is not None:
            if base is not Base.WORK and not path.startswith("logs/"):
                raise GitError(f"{path} lies behind {link}, a symbolic link, and no backup reaches there")
            yield file  # to git there is nothing behind a link, and a reflog is no work
            continue
        where = file.where(place)
        try:
            facts = where.lstat()
        except (FileNotFoundError, NotADirectoryError):
            yield file
            continue
        if stat.S_ISLNK(facts.st_mode):
            oid = hash_link(git, where, write=True)
            yield SavedFile(base, path, Kind.LINK, oid, mtime_ns=facts.st_mtime_ns)
        elif stat.S_ISREG(facts.st_mode):
            mode = stat.S_IMODE(facts.st_mode)
            regular.append(SavedFile(base, path, Kind.FILE, "", mode, facts.st_mtime_ns))
        # A directory, a pipe or a device holds no bytes of its own; no step replaces one.
    ids = hash_files(git, [file.where(place) for file in regular], write=True)
    yield from (attrs.evolve(file, oid=oid) for file, oid in zip(regular, ids, strict=True))


def _missing_dirs(root: Path, paths: Iterable[str]) -> tuple[str, ...]:
    parents = {str(parent) for path in paths for parent in PurePosixPath(path).parents}
    return tuple(sorted(name for name in parents if not (root / name).is_dir()))


def unreachable(git: Git) -> frozenset[str]:
    """Return the blobs and commits that no ref, reflog or index names.

    Raises:
        GitError: git could not tell.
    """
    # The index is left out by naming one that does not exist: it is the thing that broke, or names nothing of interest here.
    listing = git(
        *("fsck", "--unreachable", "--connectivity-only", "--no-dangling", "--no-progress"),
        check=False,
        env={"GIT_INDEX_FILE": os.devnull + "-none"},
    )
    rows = (line.split(" ") for line in listing.out.decode(errors="replace").splitlines())
    return frozenset(
        row[2] for row in rows if len(row) == 3 and row[0] == "unreachable" and row[1] in {"blob", "commit"}
    )


def _entries_of(git: Git, index: Path) -> list[IndexEntry]:
    """Return the entries of another index file, none when it is not one."""
    from rerail.git.probe import index_entry

    try:
        return [
            index_entry(row) for row in git("ls-files", "--stage", "-z", env={"GIT_INDEX_FILE": str(index)}).records()
        ]
    except GitFailedError:
        return []


def _log_ids(place: Place, refs: Iterable[str]) -> set[str]:
    return {oid for ref in refs for oid in _ids_in(place.common_dir / "logs" / ref)}


def _ids_in(path: Path) -> set[str]:
    try:
        if path.stat().st_size > 4_000_000:
            return set()
        words = read_plain(path).split()
    except OSError:
        return set()
    return {word.decode() for word in words if len(word) in (40, 64) and not word.strip(b"0123456789abcdef")} - {ZERO}


def _row(mode: str, oid: str, path: str) -> bytes:
    return nul_ended([f"{mode} {oid} 0\t{path}"])


def _tree_mode(file: SavedFile) -> str:
    if file.kind is Kind.LINK:
        return "120000"
    return "100755" if file.mode & stat.S_IXUSR else "100644"
