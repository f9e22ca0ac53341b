"""The name of a failure, once somebody has looked: state has the last word, within what a class allows."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from tests.repositories import QUICK, Repo, evidence, lines, with_origin

from rerail.git.case import Case, HealRequest, working_dir
from rerail.git.diagnose import diagnose
from rerail.git.probe import probe

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path


def named(repo: Repo, given: str, argv: list[str], stderr: str = "", cwd: Path | None = None) -> str:
    class_, _, reason = given.partition("/")
    where = cwd or repo.path
    failure = evidence(argv, 1, b"", stderr.encode(), str(where))
    request = HealRequest(where, class_, reason, failure)
    trouble = diagnose(Case(request, probe(working_dir(request)), pace=QUICK))
    return f"{trouble.class_}/{trouble.reason}"


def _nothing(_repo: Repo) -> None:
    """Nothing is wrong with the repository."""


def _broken_head(repo: Repo) -> None:
    (repo.git_dir / "HEAD").write_bytes(b"")


def _broken_index(repo: Repo) -> None:
    (repo.git_dir / "index").write_bytes(b"junk" * 50)


def _conflict(repo: Repo) -> None:
    repo.git("checkout", "-q", "topic")
    repo.commit("theirs", src__app_dot_py=lines("theirs"))
    repo.git("checkout", "-q", "main")
    repo.commit("ours", src__app_dot_py=lines("ours"))
    repo.git("merge", "topic", check=False)


def _resolved(repo: Repo) -> None:
    _conflict(repo)
    repo.write("src/app.py", "resolved\n")
    repo.git("add", "src/app.py")


def _stale_lock(repo: Repo) -> None:
    (repo.git_dir / "index.lock").touch()


def _detached(repo: Repo) -> None:
    with_origin(repo)
    repo.git("checkout", "-q", "--detach")


GIT_STATUS = ["git", "status"]
SEEN: list[tuple[Callable[[Repo], None], str, list[str], str, str]] = [
    (_broken_head, "worktree/not-a-repository", GIT_STATUS, "fatal: not a git repository", "git/broken-ref"),
    (_nothing, "worktree/not-a-repository", GIT_STATUS, "", "worktree/not-a-repository"),
    (_broken_index, "unclassified/no-evidence", GIT_STATUS, "", "git/corrupt-index"),
    (_conflict, "git/operation-in-progress", ["git", "pull"], "", "git/unmerged"),
    (_conflict, "git/conflict", ["git", "merge", "topic"], "CONFLICT", "git/conflict"),
    (_resolved, "git/dirty-tree", ["git", "revert", "HEAD"], "would be overwritten", "git/operation-in-progress"),
    (_stale_lock, "git/rejected", ["git", "add", "x"], "Unable to create '.git/index.lock': ", "git/index-lock"),
    (_detached, "git/no-upstream", ["git", "push"], "", "git/detached-head"),
    (_nothing, "provider/network", ["git", "push", "origin", "main"], "", "git/no-upstream"),
    (_nothing, "tool-schema/invalid-value", ["git", "checkout", "x"], "error: pathspec 'x'", "git/unknown-revision"),
]


@pytest.mark.parametrize(("prepare", "given", "argv", "stderr", "wanted"), SEEN)
def test_what_is_seen_outranks_what_was_said(
    repo: Repo, prepare: Callable[[Repo], None], given: str, argv: list[str], stderr: str, wanted: str
) -> None:
    prepare(repo)
    assert named(repo, given, argv, stderr) == wanted


@pytest.mark.parametrize("given", ["provider/server-error", "deterministic-policy/forbidden", "runtime/disk-full"])
@pytest.mark.parametrize("prepare", [_broken_head, _broken_index, _conflict, _stale_lock])
def test_an_outage_a_denial_and_a_full_disk_stay_what_they_are(
    repo: Repo, prepare: Callable[[Repo], None], given: str
) -> None:
    prepare(repo)
    assert named(repo, given, ["git", "fetch", "."]) == given


def test_a_command_in_another_worktree_of_the_project_is_about_that_one(repo: Repo, tmp_path: Path) -> None:
    repo.git("worktree", "add", "-q", str(tmp_path / "linked"), "topic")
    (Repo(tmp_path / "linked").git_dir / "HEAD").write_bytes(b"")
    argv = ["git", "-C", str(tmp_path / "linked"), "status"]
    assert named(repo, "worktree/not-a-repository", argv) == "git/broken-ref"


def test_a_command_in_a_foreign_repository_is_not_followed(repo: Repo, tmp_path: Path) -> None:
    other = tmp_path / "other"
    other.mkdir()
    Repo(other).git("init", "-q")
    (other / ".git" / "index").write_bytes(b"junk" * 50)
    assert named(repo, "git/rejected", ["git", "-C", str(other), "status"]) == "git/rejected"


def test_a_working_directory_that_is_gone_is_named_whatever_failed(repo: Repo) -> None:
    gone = repo.path / "gone"
    assert named(repo, "environment/missing-file", GIT_STATUS, cwd=gone) == "worktree/cwd-gone"
