"""The raw bytes of files as git names them: many files in one process, without filters."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable
    from pathlib import Path

    from rerail.git.command import Git


def hash_files(git: Git, paths: Iterable[Path], *, write: bool = False) -> list[str]:
    """Return the blob ids of regular files, in order; *write* stores the blobs too.

    Raises:
        GitError: A file could not be read, or its blob not be stored.
    """
    ordered = list(paths)
    args = ("hash-object", *(("-w",) if write else ()), "--no-filters")
    plain = [path for path in ordered if "\n" not in str(path)]
    listing = b"".join(os.fsencode(path) + b"\n" for path in plain)
    ids = dict(zip(plain, git(*args, "--stdin-paths", stdin=listing).lines() if plain else (), strict=True))
    for path in ordered:
        if path not in ids:  # git reads one name a line
            ids[path] = git(*args, "--stdin", stdin=path.read_bytes()).text
    return [ids[path] for path in ordered]


def hash_link(git: Git, path: Path, *, write: bool = False) -> str:
    """Return the blob id of a symbolic link's target."""
    target = os.fsencode(os.readlink(path))  # noqa: PTH115  bytes, not a path that is normalised
    return git("hash-object", *(("-w",) if write else ()), "--no-filters", "--stdin", stdin=target).text
