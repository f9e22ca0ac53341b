"""Worktree safety: may anything be started in this directory? Five lines, each with its own verdict, resolved anew every time.

The facts are read from files, which takes less than a millisecond; git itself is asked where files are ambiguous (another
owner, a configured work tree, a ref format of its own). What cannot be made sure of fails. There is no fallback to another
checkout: a line that fails is a failure of class worktree.
"""

from __future__ import annotations

import os
import re
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING

import attrs

from rerail.git.command import Git
from rerail.git.operation import find
from rerail.git.place import Kind, NoPlace, Place, locate
from rerail.git.probe import refusal
from rerail.git.worktrees import linked, read_head, registered
from rerail.plain_file import read_plain
from rerail.taxonomy import FailureClass

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

_TITLE = "worktree-safety (resolved):"
_BRANCH = re.compile(r"ref: refs/heads/(?P<name>[^\s~^:?*\[\\]+)")
_OID = re.compile(r"[0-9a-f]{40}(?:[0-9a-f]{24})?")
# What makes files an incomplete answer: another work tree, settings that come from elsewhere, formats that keep HEAD elsewhere.
_AMBIGUOUS_SETTING = re.compile(
    rb"^\s*(?:worktree\s*=|bare\s*=\s*(?!\s|false)|\[(?:include|includeIf|extensions)\b)", re.MULTILINE | re.IGNORECASE
)


class Verdict(StrEnum):
    """How a line came out."""

    OK = "ok"
    FAIL = "FAIL"
    NOT_APPLICABLE = "n/a"


@attrs.frozen
class Expectations:
    """What a unit was told about its worktree; None: anything sound will do."""

    root: Path | None = None
    branch: str | None = None
    """With or without ``refs/heads/``."""
    head: str | None = None
    """The commit that HEAD is at."""


@attrs.frozen
class LeaseState:
    """Who holds the worktree's lease, as the ledger tells."""

    holder: str
    """For people."""
    is_ours: bool
    is_live: bool


@attrs.frozen
class SafetyLine:
    """One line of the check."""

    name: str
    verdict: Verdict
    text: str
    """What was found, for people: one line, without control characters."""
    reason: str = ""
    """The reason of class worktree when it fails."""


@attrs.frozen
class SafetyReport:
    """The five lines: root, .git, registration, branch, lease."""

    lines: tuple[SafetyLine, ...]

    @property
    def ok(self) -> bool:
        """Whether work may start: no line fails."""
        return self.failed is None

    @property
    def failed(self) -> SafetyLine | None:
        """The first line that fails."""
        return next((line for line in self.lines if line.verdict is Verdict.FAIL), None)

    def block_lines(self) -> tuple[str, ...]:
        """Return the lines of the block that is printed."""
        return block_lines((line.name, line.verdict, line.text) for line in self.lines)


def block_lines(rows: Iterable[tuple[str, str, str]]) -> tuple[str, ...]:
    """Return the lines of a block from each line's name, verdict and text."""
    lines = tuple(rows)
    width = max(len(name) for name, _, _ in lines) + 1
    return (_TITLE, *(f"  {f'{name}:':<{width}} {verdict:<4} {text}" for name, verdict, text in lines))


def check_worktree(cwd: Path, *, expected: Expectations | None = None, lease: LeaseState | None = None) -> SafetyReport:
    """Check the worktree that a directory belongs to.

    Args:
        cwd: Where the unit would run.
        expected: What it was told about its worktree.
        lease: Who holds the worktree; None: nobody keeps leases here.

    Raises:
        GitError: git had to be asked and could not be run.
    """
    wanted = expected or Expectations()
    place = locate(cwd)
    lease_line = _lease(lease)
    if isinstance(place, NoPlace):
        name = "root" if place.reason in {"cwd-gone", "not-a-repository"} else ".git"
        other = ".git" if name == "root" else "root"
        failed = _fail(name, place.detail, place.reason)
        rest = {line: _unknown(line) for line in (other, "registration", "branch")} | {name: failed}
        return SafetyReport((rest["root"], rest[".git"], rest["registration"], rest["branch"], lease_line))
    refusal = _git_refusal(place)
    lines = [check(place, wanted) for check in _CHECKS]
    if refusal is not None:
        lines[1] = refusal
    return SafetyReport((*lines, lease_line))


def _root(place: Place, wanted: Expectations) -> SafetyLine:
    if place.root is None:
        return _fail(
            "root", f"{place.cwd} is a git directory, or in a bare repository: there is no work tree", "invalid-root"
        )
    if wanted.root is not None and Path(os.path.realpath(wanted.root)) != place.root:
        return _fail("root", f"{place.root} is not the root that was declared: {wanted.root}", "invalid-root")
    return _ok("root", str(place.root))


def _git_dir(place: Place, _wanted: Expectations) -> SafetyLine:
    head = read_head(place.git_dir)
    if not (_OID.fullmatch(head) or head.startswith("ref: refs/")):
        # It is git's to heal, but nothing can be started in it as it is: git sees no repository.
        return _fail(".git", f"HEAD of {place.git_dir} cannot be read", "missing-git-dir")
    if not (place.common_dir / "config").is_file():
        return _fail(".git", f"{place.common_dir} has no config", "missing-git-dir")
    return _ok(".git", f"{place.kind} {place.git_dir}")


def _registration(place: Place, _wanted: Expectations) -> SafetyLine:
    if place.kind is not Kind.FILE:
        return _ok("registration", "main worktree")
    if not place.is_linked:
        return _ok("registration", f"its git directory is kept at {place.git_dir}, as a submodule's")
    tree = linked(place.git_dir)
    if tree.root != place.root:
        where = tree.root or "nowhere"
        return _fail(
            "registration", f"registered at {where}: it was moved; git worktree repair links it again", "prunable"
        )
    note = "" if tree.locked is None else f", locked{': ' * bool(tree.locked)}{tree.locked}"
    return _ok("registration", f"{place.git_dir.name} of {place.common_dir}{note}")


def _branch(place: Place, wanted: Expectations) -> SafetyLine:
    head = read_head(place.git_dir)
    match = _BRANCH.fullmatch(head)
    operation = find(place.git_dir)
    note = f", {operation.kind} in progress" if operation is not None else ""
    want = wanted.branch.removeprefix("refs/heads/") if wanted.branch else None
    if match is None:
        if want is not None or not _OID.fullmatch(head):
            return _fail("branch", f"HEAD is {head[:48] or 'empty'}, not on branch {want or 'any'}", "invalid-root")
        return _at(place, wanted, f"detached at {head[:10]}{note}")
    name = match["name"]
    if want is not None and name != want:
        return _fail("branch", f"{name} is checked out, not {want}", "invalid-root")
    for tree in registered(place.common_dir):
        if tree.branch == f"refs/heads/{name}" and tree.git_dir != place.git_dir and not tree.is_missing:
            return _fail("branch", f"{name} is checked out at {tree.root} too", "branch-elsewhere")
    return _at(place, wanted, f"{name}{note}")


def _at(place: Place, wanted: Expectations, text: str) -> SafetyLine:
    """Check the commit too, where one was declared: only git knows what a ref stands for in every format."""
    if wanted.head is None:
        return _ok("branch", text)
    oid = Git(place.root or place.git_dir).line("rev-parse", "-q", "--verify", "HEAD^{commit}", check=False)
    if oid != wanted.head:
        return _fail("branch", f"{text}, at {oid[:10] or 'no commit'} instead of {wanted.head[:10]}", "invalid-root")
    return _ok("branch", text)


def _lease(lease: LeaseState | None) -> SafetyLine:
    if lease is None:
        return SafetyLine("lease", Verdict.NOT_APPLICABLE, "no lease is kept for this worktree")
    if lease.is_ours:
        return _ok("lease", f"held by this run: {lease.holder}")
    if lease.is_live:
        return _fail("lease", f"held by {lease.holder}", "lease-lost")
    return _ok("lease", f"free: its last holder is gone ({lease.holder})")


def _git_refusal(place: Place) -> SafetyLine | None:
    """Ask git where files do not say it all; None: they do, or git agrees."""
    if not (_has_other_owner(place) or _is_ambiguous(place)):
        return None
    trouble = refusal(place)
    if trouble is None:
        return None
    is_worktree = trouble.class_ == FailureClass.WORKTREE
    return _fail(".git", trouble.detail, trouble.reason if is_worktree else "missing-git-dir")


def _has_other_owner(place: Place) -> bool:
    if os.name != "posix":
        return True
    try:
        owners = {path.stat().st_uid for path in (place.root, place.git_dir) if path is not None}
    except OSError:
        return True
    return owners != {os.geteuid()} or "GIT_TEST_ASSUME_DIFFERENT_OWNER" in os.environ


def _is_ambiguous(place: Place) -> bool:
    try:
        return _AMBIGUOUS_SETTING.search(read_plain(place.common_dir / "config")) is not None
    except OSError:
        return True


def _ok(name: str, text: str) -> SafetyLine:
    return SafetyLine(name, Verdict.OK, _plain(text))


def _fail(name: str, text: str, reason: str) -> SafetyLine:
    return SafetyLine(name, Verdict.FAIL, _plain(text), reason)


def _unknown(name: str) -> SafetyLine:
    return SafetyLine(name, Verdict.NOT_APPLICABLE, "cannot be told")


def _plain(text: str) -> str:
    """A path may hold anything, a newline included: it must not become another line of the block."""
    return "".join(char if char.isprintable() else "?" for char in text)


_CHECKS: tuple[Callable[[Place, Expectations], SafetyLine], ...] = (_root, _git_dir, _registration, _branch)
