"""The property that no heal loses a byte: generated repositories, failures, and things that go wrong in the middle of a heal."""

from __future__ import annotations

import shutil
import tempfile
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from hypothesis import event
from hypothesis import strategies as st
from tests.git_states import ACTIONS
from tests.repositories import (
    QUICK,
    Repo,
    built_in_recipes,
    colleague_commits,
    evidence,
    isolated,
    lines,
    lived_in,
    photograph,
    with_origin,
)

from rerail.git.case import HealRequest
from rerail.git.heal import heal, plan
from rerail.git.undo import undo

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

RECIPES = built_in_recipes()
FAILURES: list[tuple[str, str, list[str]]] = [
    ("git", "index-lock", ["git", "add", "-A"]),
    ("git", "ref-lock", ["git", "commit", "-m", "x"]),
    ("git", "hook-reformatted", ["git", "commit", "-m", "x"]),
    ("git", "unmerged", ["git", "commit", "-m", "x"]),
    ("git", "operation-in-progress", ["git", "switch", "side"]),
    ("git", "operation-in-progress", ["git", "pull"]),
    ("git", "dirty-tree", ["git", "checkout", "topic"]),
    ("git", "dirty-tree", ["git", "rebase", "topic"]),
    ("git", "untracked-in-way", ["git", "merge", "topic"]),
    ("git", "non-fast-forward", ["git", "push", "origin", "main"]),
    ("git", "diverged", ["git", "pull"]),
    ("git", "detached-head", ["git", "push"]),
    ("git", "no-upstream", ["git", "push"]),
    ("git", "unknown-revision", ["git", "checkout", "elsewhere"]),
    ("git", "corrupt-index", ["git", "status"]),
    ("git", "broken-ref", ["git", "log"]),
    ("worktree", "not-a-repository", ["git", "status"]),
    ("unclassified", "no-evidence", ["git", "frobnicate"]),
]


class InjectedError(Exception):
    """What goes wrong in the middle of a heal."""


def stale_lock(repo: Repo) -> None:
    (repo.git_dir / "index.lock").write_bytes((repo.git_dir / "index").read_bytes())


def break_index(repo: Repo) -> None:
    (repo.git_dir / "index").write_bytes(b"junk" * 64)


def break_head(repo: Repo) -> None:
    (repo.path / ".git" / "HEAD").write_bytes(b"\0" * 41)


def break_branch(repo: Repo) -> None:
    (repo.path / ".git" / "refs" / "heads" / "main").write_bytes(b"")


DAMAGES: list[Callable[[Repo], None] | None] = [None, None, None, stale_lock, break_index, break_head, break_branch]

EXAMPLES = {
    "actions": st.lists(st.sampled_from(ACTIONS), max_size=5),
    "damage": st.sampled_from(DAMAGES),
    "failure": st.sampled_from(FAILURES),
    "failing_moment": st.integers(0, 12),
}


@contextmanager
def template() -> Iterator[Path]:
    """A directory with a repository, its origin and a colleague who was faster; each example works on a copy."""
    with tempfile.TemporaryDirectory() as folder, pytest.MonkeyPatch.context() as patch:
        for name, value in isolated(Path(folder) / "home").items():
            patch.setenv(name, value)
        repo = lived_in(Path(folder) / "all" / "repo")
        with_origin(repo)
        repo.git("remote", "set-url", "origin", "../repo-origin.git")
        colleague_commits(repo, "src/theirs.txt", "theirs\n")
        repo.git("checkout", "-q", "topic")
        repo.commit("theirs", src__app_dot_py=lines("theirs"))
        repo.git("checkout", "-q", "main")
        repo.commit("ours", src__app_dot_py=lines("ours"), bin__tool="#!/bin/sh\n")
        repo.git("branch", "side", "topic")
        yield Path(folder) / "all"


def check(
    made: Path,
    actions: list[Callable[[Repo], None]],
    damage: Callable[[Repo], None] | None,
    failure: tuple[str, str, list[str]],
    failing_moment: int,
) -> None:
    """Heal one generated repository; hold that no byte is lost, that what is not healed is not touched, and that what is can be
    taken back; and that a heal of which the plan says that it cannot begin does not."""
    with tempfile.TemporaryDirectory() as folder:
        shutil.copytree(made, Path(folder) / "all", symlinks=True)
        repo = Repo(Path(folder) / "all" / "repo")
        for action in actions:
            action(repo)
        contents = _contents(repo)
        if damage is not None:
            damage(repo)
        before = photograph(repo.path.parent)
        request = _request(repo, failure)
        planned = plan(request, RECIPES)
        assert photograph(repo.path.parent) == before, "a plan changes nothing"
        outcome, backup = _outcome(request, failing_moment)
        event(outcome)
        if planned.not_begun is not None and not outcome.startswith("failed"):
            assert outcome == planned.not_begun.outcome, planned
        if outcome != "healed":
            assert photograph(repo.path.parent) == before
            return
        assert _contents(repo).keys() | _reachable(repo) >= contents.keys(), "bytes are gone"
        if backup is not None:
            healed = _but_logs(photograph(repo.path.parent))
            undone = undo(backup, repo.path, pace=QUICK)
            assert _but_logs(photograph(repo.path.parent)) == _but_logs(before), "not undone"
            undo(undone.backup, repo.path, pace=QUICK)
            assert _but_logs(photograph(repo.path.parent)) == healed, "the undo was not taken back"


def _request(repo: Repo, failure: tuple[str, str, list[str]]) -> HealRequest:
    class_, reason, command = failure
    listing = "".join(f"\t{path}\n" for path in _paths(repo))
    evidence_ = evidence(
        command, 1, b"", f"error: would be overwritten:\n{listing}".encode(errors="surrogateescape"), str(repo.path)
    )
    return HealRequest(repo.path, class_, reason, evidence_)


def _outcome(request: HealRequest, failing_moment: int) -> tuple[str, str | None]:
    passed: list[str] = []

    def at(moment: str) -> None:
        passed.append(moment)
        if len(passed) == failing_moment and moment != "put back":
            raise InjectedError(moment)

    try:
        report = heal(request, RECIPES, pace=QUICK, on_moment=at)
    except InjectedError as error:
        return ("healed" if str(error) == "done" else f"failed at {error}"), None
    return report.outcome, report.backup if report.outcome == "healed" else None


def _but_logs(picture: dict[str, tuple[int, bytes]]) -> dict[str, tuple[int, bytes]]:
    """An undo is a step forward: reflogs grow."""
    return {path: facts for path, facts in picture.items() if "/.git/logs/" not in path}


def _paths(repo: Repo) -> list[str]:
    listing = repo.run("git", "ls-files", "-z", "-m", "-o", "--exclude-standard").stdout
    return [path.decode(errors="surrogateescape") for path in listing.split(b"\0") if path]


def _contents(repo: Repo) -> dict[str, str]:
    """The blob of every regular file of the work tree and of every index entry, with its path."""
    files = [
        path for path in repo.path.rglob("*") if path.is_file() and not path.is_symlink() and ".git" not in path.parts
    ]
    found = {Repo(repo.path.parent).git("hash-object", "--no-filters", "--", str(path)): str(path) for path in files}
    rows = repo.run("git", "ls-files", "-s", "-z").stdout.split(b"\0")
    return found | {row.split()[1].decode(): "index" for row in rows if row}


def _reachable(repo: Repo) -> set[str]:
    """What refs, reflogs and the index reach; by the refs' own values, for git gives up at a broken one."""
    refs = repo.git("for-each-ref", "--format=%(objectname)", check=False)
    listing = repo.git("rev-list", "--objects", "--reflog", "--indexed-objects", "--stdin", stdin=refs.encode() + b"\n")
    return {line.split()[0] for line in listing.splitlines()}
