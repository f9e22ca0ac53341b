"""Objects that are missing or damaged while their content is still here: in a file of the work tree, or in the index.

An object is named by its content, so what hashes to its name is the one that was lost; nothing is taken on trust. A blob is a
file's bytes, as they are or as git's filters would store them; a tree is what the index lists of its directory.
"""

from __future__ import annotations

import hashlib
from typing import TYPE_CHECKING

import attrs

from rerail.errors import GitError
from rerail.git.blobs import hash_files
from rerail.git.files import free_name, move_aside
from rerail.git.finding import Finding, absent, fails
from rerail.git.repairs.objects import lacking, loose_file, wanted_objects

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence
    from pathlib import Path

    from rerail.git.state import IndexEntry, RepoState

_MAX_FILES = 20_000
_MAX_BYTES = 50_000_000


@attrs.frozen
class Source:
    """Where an object's content is still to be had."""

    oid: str
    path: str
    """The file, or the directory that a tree stands for, relative to the root."""
    tree: bytes | None = None
    """A tree's content; None: a blob."""
    is_filtered: bool = False
    """Whether git's filters make the blob of the file."""


def sources(state: RepoState, lines: Iterable[str]) -> tuple[Source, ...] | Finding:
    """Return where the objects that the failure names can be had from, and others that are missing; writes nothing."""
    named = wanted_objects(state, lines)
    if not named:
        return absent("which objects are missing is not told")
    wanted = dict.fromkeys((*named, *lacking(state)))
    found = {**_trees(state, wanted), **_blobs(state, wanted)}
    lost = [oid for oid in named if oid not in found]
    if lost:
        return fails(f"the content of {lost[0][:10]} is neither in the work tree nor in the index")
    return tuple(found[oid] for oid in wanted if oid in found)


def regrow(state: RepoState, some: Iterable[Source], aside: Path) -> None:
    """Store the objects again; damaged loose ones go aside first, for git does not write over a file that is there.

    Raises:
        GitError: A file has changed since it was looked at.
    """
    git = state.git.at(state.root)
    for source in some:
        if loose_file(state, source.oid).exists():
            move_aside(loose_file(state, source.oid), free_name(aside, source.oid))
        if source.tree is not None:
            stored = git("hash-object", "-w", "-t", "tree", "--stdin", stdin=source.tree).text
        else:
            raw = () if source.is_filtered else ("--no-filters",)
            stored = git("hash-object", "-w", *raw, "--stdin-paths", stdin=f"{source.path}\n".encode()).text
        if stored != source.oid:
            raise GitError(f"{source.path} is no longer what {source.oid[:10]} was")


def _blobs(state: RepoState, wanted: Iterable[str]) -> dict[str, Source]:
    left = set(wanted)
    tracked = [entry.path for entry in state.index if entry.oid in left]
    # What is not staged under that name may still be a copy of it, under any.
    others = [*state.untracked, *(entry.path for entry in state.index)]
    found: dict[str, Source] = {}
    # A filter is a program of the project's: it is run for the very files alone that it made the blobs of.
    for paths, is_filtered in ((tracked, False), (tracked, True), (others, False)):
        for path, oid in _hashed(state, _usable(state, paths), is_filtered=is_filtered) if left else ():
            if oid in left:
                found[oid] = Source(oid, path, is_filtered=is_filtered)
                left.discard(oid)
    return found


def _usable(state: RepoState, paths: Iterable[str]) -> list[str]:
    """Return those of the paths that are regular files of a size to be read; git reads one name a line."""
    chosen = []
    for path in dict.fromkeys(paths):
        file = state.root / path
        if "\n" not in path and not file.is_symlink() and file.is_file() and file.stat().st_size <= _MAX_BYTES:
            chosen.append(path)
    return chosen[:_MAX_FILES]


def _hashed(state: RepoState, paths: Sequence[str], *, is_filtered: bool) -> Iterable[tuple[str, str]]:
    if not paths:
        return ()
    if not is_filtered:
        return zip(paths, hash_files(state.git, [state.root / path for path in paths]), strict=True)
    listing = b"".join(path.encode(errors="surrogateescape") + b"\n" for path in paths)
    hashed = state.git.at(state.root)("hash-object", "--stdin-paths", stdin=listing, check=False)
    return zip(paths, hashed.lines(), strict=True) if hashed.ok else ()


def _trees(state: RepoState, wanted: Iterable[str]) -> dict[str, Source]:
    left = set(wanted)
    if any(entry.stage for entry in state.index):
        return {}
    made = _made_trees("", [(entry.path.split("/"), entry) for entry in state.index])
    return {oid: Source(oid, path or ".", content) for path, oid, content in made if oid in left}


def _made_trees(path: str, entries: Sequence[tuple[list[str], IndexEntry]]) -> list[tuple[str, str, bytes]]:
    """Return the path, the name and the content of every tree that the index stands for, the top one last."""
    made: list[tuple[str, str, bytes]] = []
    rows: list[tuple[bytes, bytes]] = []
    below: dict[str, list[tuple[list[str], IndexEntry]]] = {}
    for words, entry in entries:
        if len(words) > 1:
            below.setdefault(words[0], []).append((words[1:], entry))
        else:
            name = words[0].encode(errors="surrogateescape")
            rows.append((name, _row(entry.mode, name, entry.oid)))
    for word, inner in below.items():
        made += _made_trees(f"{path}/{word}" if path else word, inner)
        name = word.encode(errors="surrogateescape")
        # git sorts a directory as if its name ended in a slash.
        rows.append((name + b"/", _row("40000", name, made[-1][1])))
    content = b"".join(row for _, row in sorted(rows))
    made.append((path, _name(content, entries), content))
    return made


def _row(mode: str, name: bytes, oid: str) -> bytes:
    return mode.encode() + b" " + name + b"\0" + bytes.fromhex(oid)


def _name(content: bytes, entries: Sequence[tuple[list[str], IndexEntry]]) -> str:
    is_long = bool(entries) and len(entries[0][1].oid) == 64
    algorithm = hashlib.sha256 if is_long else hashlib.sha1
    return algorithm(b"tree %d\0" % len(content) + content).hexdigest()
