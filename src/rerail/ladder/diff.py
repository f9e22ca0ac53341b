"""The phase that rerail does itself: what changed since the base, and what in it nobody means to hand in.

It reads; nothing is written, and no command of the project runs.
"""

from __future__ import annotations

import re
from pathlib import Path
from typing import TYPE_CHECKING

import attrs

from rerail.evidence.clip import clip_stream
from rerail.evidence.fingerprint import input_fingerprint
from rerail.evidence.model import Evidence, Source, StreamName
from rerail.git.command import Git
from rerail.plain_file import read_plain
from rerail.reports.model import Check, Report, report_of
from rerail.runner.work import RunnableWork

if TYPE_CHECKING:
    from collections.abc import Iterator

    from rerail.clock import Clock
    from rerail.decisions.effects import Tried
    from rerail.ids import Fingerprint
    from rerail.runner.command import TreeState
    from rerail.runner.unit import Unit

COMMAND = ("rerail", "verify", "diff")
"""What the phase is called where others are commands."""

_READ_BYTES = 4 * 1024 * 1024
_MOST_READ = 5_000
_MAIN_LINES = ("refs/remotes/origin/HEAD", "refs/remotes/origin/main", "refs/remotes/origin/master", "main", "master")
_BEGINS, _PARTS, _ENDS = b"<<<<<<< ", b"=======", b">>>>>>> "
_LEFT_BEHIND = re.compile(r".*(?:\.orig|\.rej|~|\.sw[op])|\.#.*|.*_(?:BACKUP|BASE|LOCAL|REMOTE)_\d+(?:\..*)?")
"""What patch, editors and mergetools leave beside a file."""


@attrs.frozen
class Changed:
    """One file that changed."""

    path: str
    added: int | None
    """Lines; None for a binary file."""
    deleted: int | None


@attrs.frozen
class Changes:
    """What changed in a work tree."""

    base: str
    """The commit; ``""`` where there is none yet."""
    base_name: str
    """What it is: ``HEAD``, or where the branch left its main line."""
    files: tuple[Changed, ...] = ()
    untracked: tuple[str, ...] = ()
    unmerged: tuple[str, ...] = ()


class DiffWork(RunnableWork):
    """The phase as the work under recovery."""

    def __init__(self, unit: Unit, root: Path, *, clock: Clock, tree_state: TreeState) -> None:
        super().__init__(unit, COMMAND, clock=clock, cwd=str(root))
        self.changes: Changes | None = None
        self.report: Report | None = None
        self._tree_state = tree_state

    def attempt(self) -> Tried:
        """Look once."""
        try:
            git = Git(Path(self.cwd))
            self.changes = changes_of(git)
            self.report = report_of("rerail", findings(git, self.changes))
        except Exception as error:  # noqa: BLE001  git that cannot be asked is a failure like any other, and is named
            return self.raised(error)
        if not self.report.failed:
            return self.returned(self.changes)
        lines = clip_stream(StreamName.REPORT, "\n".join(self.report.lines("diff")))
        return self._failed(Evidence(Source.PROCESS, command=COMMAND, tool="rerail", streams=(lines,), cwd=self.cwd))

    def input_id(self) -> Fingerprint:
        """Return the fingerprint of the work tree."""
        return input_fingerprint((COMMAND, self.cwd, self._tree_state(self.cwd)))


def changes_of(git: Git) -> Changes:
    """Return what changed in a work tree since its base.

    Raises:
        GitError: git cannot be asked.
    """
    top = git.at(Path(git.line("rev-parse", "--show-toplevel")))
    head = top.line("rev-parse", "--verify", "-q", "HEAD", check=False)
    base, name = _base(top, head)
    files = tuple(_stat(top, base)) if base else ()
    status = top("status", "--porcelain=v2", "-z", "--untracked-files=all", "--no-renames").records()
    untracked = tuple(record[2:] for record in status if record.startswith("? "))
    unmerged = tuple(record.split(" ", 10)[-1] for record in status if record.startswith("u "))
    return Changes(base, name, files, untracked, unmerged)


def _base(git: Git, head: str) -> tuple[str, str]:
    """Return the commit to compare with: where the branch left its main line, or HEAD where it is on that."""
    if not head:
        return "", "no commit yet"
    for ref in _MAIN_LINES:
        tip = git.line("rev-parse", "--verify", "-q", f"{ref}^{{commit}}", check=False)
        if not tip:
            continue
        fork = git.line("merge-base", "HEAD", tip, check=False)
        if fork and fork != head:
            return fork, f"where the branch left {ref.removeprefix('refs/remotes/')}"
    return head, "HEAD"


def _stat(git: Git, base: str) -> Iterator[Changed]:
    for record in git("diff-index", "--numstat", "--no-renames", "--no-ext-diff", "-z", base, "--").records():
        added, deleted, path = record.split("\t", 2)
        if (added, deleted) != ("0", "0"):
            yield Changed(path, _count(added), _count(deleted))


def _count(text: str) -> int | None:
    return None if text == "-" else int(text)


def findings(git: Git, changes: Changes) -> Iterator[Check]:
    """Yield what is in the change and is not meant to be."""
    top = git.at(Path(git.line("rev-parse", "--show-toplevel")))
    for path in changes.unmerged:
        yield Check("unmerged", "its conflict is not resolved", path)
    paths = [*(changed.path for changed in changes.files if changed.added is not None), *changes.untracked]
    for path in paths[:_MOST_READ]:
        if path not in changes.unmerged:
            yield from _markers(top, changes.base, path)
        if _LEFT_BEHIND.fullmatch(Path(path).name) and not (
            changes.base and top.ask("cat-file", "-e", f"{changes.base}:{path}")
        ):
            yield Check("left-behind", "looks like a file that a tool left behind", path)


def _markers(git: Git, base: str, path: str) -> Iterator[Check]:
    """Yield the conflicts whose markers are in a file, where there are more of them than its base has."""
    try:
        content = read_plain(git.cwd / path, _READ_BYTES)
    except OSError:
        return  # deleted, or too large to be written by hand
    found = list(_conflicts(content))
    if found and base:
        before = git("cat-file", "-p", f"{base}:{path}", check=False)
        found = found[len(list(_conflicts(before.out))) if before.ok else 0 :]
    for line, text in found:
        yield Check("conflict-marker", text, path, line)


def _conflicts(content: bytes) -> Iterator[tuple[int, str]]:
    """Yield where a conflict begins that has all its markers: line, counted from 1, and text."""
    if _BEGINS not in content or b"\0" in content[:8000]:
        return
    begun: tuple[int, str] | None = None
    is_parted = False
    for number, line in enumerate(content.split(b"\n"), start=1):
        line = line.rstrip(b"\r")
        if line.startswith(_BEGINS):
            begun, is_parted = (number, line[:200].decode("utf-8", "replace")), False
        elif line == _PARTS:
            is_parted = begun is not None
        elif line.startswith(_ENDS) and begun is not None and is_parted:
            yield begun
            begun, is_parted = None, False
