"""Filters that .gitattributes names: which are in use, and which of their programs is not here."""

from __future__ import annotations

import re
import shlex
import shutil
from typing import TYPE_CHECKING

import attrs

from rerail.git.command import nul_ended
from rerail.git.finding import Finding, absent

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from rerail.git.state import RepoState

LFS = "lfs"
_FAILED = re.compile(r"(?:clean|smudge) filter '?([\w.-]{1,100})'? failed")
"""git's words, in English."""
POINTER = b"version https://git-lfs.github.com/spec/"
"""What a file begins with that stands for another in Git LFS."""


@attrs.frozen
class Lacking:
    """A filter that is in use and cannot run."""

    name: str
    program: str
    """Its program; ``""`` where none is configured."""
    paths: tuple[str, ...]


def attributes(state: RepoState, name: str, paths: Iterable[str]) -> dict[str, str]:
    """Return what an attribute is for each path that has it."""
    rows = state.git("check-attr", "-z", "--stdin", name, stdin=nul_ended(tuple(paths))).out.split(b"\0")
    found = zip(rows[0::3], rows[2::3], strict=False)
    return {
        path.decode("utf-8", "surrogateescape"): value.decode("utf-8", "replace")
        for path, value in found
        if value not in (b"unspecified", b"unset")
    }


def lacking_lfs(state: RepoState, lines: Sequence[str]) -> Lacking | Finding:
    """Return the paths of Git LFS, where its program is not here."""
    return absent("git-lfs is here") if shutil.which("git-lfs") else _in_lfs(state, lines)


def idle_lfs(state: RepoState, lines: Sequence[str]) -> Lacking | Finding:
    """Return the paths of Git LFS, where git is not set up to run it."""
    if state.setting("filter.lfs.process") or state.setting("filter.lfs.clean"):
        return absent("git runs git-lfs")
    return _in_lfs(state, lines)


def _in_lfs(state: RepoState, lines: Sequence[str]) -> Lacking | Finding:
    paths = _filtered(state, LFS)
    if not paths and not any("git-lfs" in line for line in lines):
        return absent("nothing here is in Git LFS")
    return Lacking(LFS, "git-lfs", paths)


def lacking(state: RepoState) -> Lacking | Finding:
    """Return the first other filter in use whose program is not here or not configured."""
    used: dict[str, list[str]] = {}
    for path, name in attributes(state, "filter", (entry.path for entry in state.index)).items():
        used.setdefault(name, []).append(path)
    for name, paths in used.items():
        if name == LFS:
            continue
        commands = [state.setting(f"filter.{name}.{way}") for way in ("process", "smudge", "clean")]
        programs = [program for command in commands if command and (program := _program(command))]
        if not any(commands):
            return Lacking(name, "", tuple(paths))
        gone = next((program for program in programs if shutil.which(program) is None), None)
        if gone is not None:
            return Lacking(name, gone, tuple(paths))
    return absent("every filter that is in use has its program here")


def failing(lines: Iterable[str]) -> str | Finding:
    """Return the filter that a failure says has failed."""
    named = (match[1] for line in lines if (match := _FAILED.search(line)))
    return next(named, None) or absent("the failure names no filter")


def _filtered(state: RepoState, name: str) -> tuple[str, ...]:
    found = attributes(state, "filter", (entry.path for entry in state.index))
    return tuple(path for path, value in found.items() if value == name)


def _program(command: str) -> str:
    try:
        words = shlex.split(command)
    except ValueError:
        return ""
    return next((word for word in words if "=" not in word), "")
