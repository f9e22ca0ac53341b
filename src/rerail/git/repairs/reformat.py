"""A commit hook that rewrote staged files and then failed: what it changed, and staging exactly that.

Only formatting is staged again. A path that was staged in part, or that changed beyond its formatting, is a person's: then
nothing is staged at all, for a commit is one thing.
"""

from __future__ import annotations

import os
import re
from pathlib import PurePosixPath
from typing import TYPE_CHECKING

import attrs

from rerail.git.command import nul_ended
from rerail.git.finding import Finding, fails, holds

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from rerail.git.invocation import Invocation
    from rerail.git.state import Change, RepoState

_MAX_BYTES = 5_000_000
_FROM_WORK_TREE = ("-a", "--all", "-o", "--only", "-i", "--include")
_HOOK_SAYS_SO = re.compile(r"files were modified by this hook|\breformatted\b|\bfixed\b|\bfixing\b", re.IGNORECASE)
_HOOK_LINE = re.compile(r"\.{3,}(?:\([^()]{1,40}\))?(?P<verdict>Failed|Passed|Skipped)\s*$")
"""How pre-commit lists its hooks."""
_MODIFIED = "- files were modified by this hook"
_NEEDS_INDENT = frozenset(
    {
        *(".py", ".pyi", ".pyx", ".yaml", ".yml", ".mk", ".coffee", ".sass", ".styl", ".pug", ".haml", ".slim"),
        *(".nim", ".fs", ".hs", ".elm", ".gd", ".rst", ".md", ".ipynb"),
    }
)


@attrs.frozen
class Reformatted:
    """What a hook did to what was about to be committed."""

    paths: tuple[str, ...]
    """Staged paths to stage again; empty when the commit takes its content from the work tree anyway."""
    staged: tuple[str, ...]
    """Every staged path."""


def reformatted(state: RepoState, call: Invocation | None, lines: Sequence[str]) -> Reformatted | Finding:
    """Return what a commit hook rewrote, if that was formatting and nothing else."""
    if call is None or call.verb != "commit":
        return fails("it was not a commit")
    if not has_hook(state):
        return fails("no pre-commit hook is installed")
    if _other_hook_failed(lines):
        return fails("another hook failed too, and it changed no file: what it says has to be seen to first")
    staged = [change for change in state.changes if change.staged != "."]
    if call.has(*_FROM_WORK_TREE) or _names_paths(call):
        if any(_HOOK_SAYS_SO.search(line) for line in lines):
            return Reformatted((), tuple(change.path for change in staged))
        return fails("the hook does not say that it rewrote files")
    rewritten = [change for change in staged if change.unstaged != "."]
    if not rewritten:
        return fails("no staged file differs from its copy in the work tree: the hook refused the content itself")
    for change in rewritten:
        fault = _fault(state, change, lines)
        if fault:
            return fails(f"{change.path}: {fault}")
    return Reformatted(tuple(change.path for change in rewritten), tuple(change.path for change in staged))


def _other_hook_failed(lines: Sequence[str]) -> bool:
    """Whether, of a list of hooks, one failed that did not rewrite files."""
    failed = rewriting = 0
    for line in lines:
        match = _HOOK_LINE.search(line)
        failed += match is not None and match["verdict"] == "Failed"
        rewriting += line.startswith(_MODIFIED)
    return failed > rewriting


def restage(state: RepoState, paths: Iterable[str]) -> None:
    """Stage exactly these paths, as they are in the work tree."""
    state.git.at(state.root)("update-index", "-z", "--stdin", stdin=nul_ended(list(paths)))


def is_restaged(state: RepoState, done: Reformatted) -> Finding:
    """Return whether the same paths are staged as before, each as it is in the work tree."""
    staged = {change.path: change for change in state.changes if change.staged != "."}
    if not staged.keys() <= set(done.staged):
        return fails("more is staged than was")
    if any(path in staged and staged[path].unstaged != "." for path in done.paths):
        return fails("a rewritten file is still not staged as it is")
    return holds("what was staged is staged again")


def has_hook(state: RepoState) -> bool:
    """Return whether a pre-commit hook runs here, ``core.hooksPath`` honoured."""
    path = state.git.at(state.here.root or state.here.git_dir).line("rev-parse", "--git-path", "hooks/pre-commit")
    return os.access((state.here.root or state.here.git_dir) / path, os.X_OK)


def _names_paths(call: Invocation) -> bool:
    """Whether a commit names paths, which it then takes from the work tree."""
    if "--" in call.args:
        return True
    values = {
        index + 1
        for index, arg in enumerate(call.args)
        if re.fullmatch(
            r"-[a-zA-Z]*[mFCct]|--(message|file|author|date|trailer|fixup|squash|template|cleanup|reuse-message|reedit-message)",
            arg,
        )
    }
    return any(not arg.startswith("-") for index, arg in enumerate(call.args) if index not in values)


def _fault(state: RepoState, change: Change, lines: Sequence[str]) -> str:
    """Return why a rewritten path is not for rerail to stage, ``""`` when it is."""
    if change.unstaged != "M" or change.is_submodule:
        return "it was removed, or became something else"
    file = state.root / change.path
    if file.is_symlink() or file.stat().st_size > _MAX_BYTES:
        return "it is too large, or no regular file"
    staged, now = state.git("cat-file", "blob", change.index_oid).out, file.read_bytes()
    if b"\0" in staged + now:
        return "it is binary"
    if _same_but_spaces(staged, now, PurePosixPath(change.path).suffix.lower() in _NEEDS_INDENT):
        return ""
    is_named = any(change.path in line or PurePosixPath(change.path).name in line.split() for line in lines)
    if is_named and any(_HOOK_SAYS_SO.search(line) for line in lines) and _same_but_style(staged, now):
        return ""
    return "it differs from what was staged in more than its formatting, or was staged in part"


def _same_but_spaces(one: bytes, other: bytes, indent_counts: bool) -> bool:
    if not indent_counts:
        return b"".join(one.split()) == b"".join(other.split())
    # Where indentation means something, only the ends of lines and blank lines are formatting.
    return _full_lines(one) == _full_lines(other)


def _full_lines(text: bytes) -> list[bytes]:
    return [line.expandtabs(8).rstrip() for line in text.splitlines() if line.strip()]


def _same_but_style(one: bytes, other: bytes) -> bool:
    """Whether two texts differ in quotes, separators, brackets and spaces, or in the order of their lines, and no more."""
    drop = re.compile(rb"[\s'\"`,;()]+")
    if drop.sub(b"", one) == drop.sub(b"", other):
        return True
    return sorted(filter(None, map(bytes.strip, one.splitlines()))) == sorted(
        filter(None, map(bytes.strip, other.splitlines()))
    )
