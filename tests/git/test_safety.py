"""Worktree safety: five lines, each with its verdict; what cannot be made sure of fails, and looking writes nothing."""

from __future__ import annotations

import os
import shutil
from typing import TYPE_CHECKING

import pytest
from tests.repositories import Repo, lived_in, new_repo, photograph

from rerail.git.safety import Expectations, LeaseState, Verdict, check_worktree
from rerail.taxonomy import BUILT_IN

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path


@pytest.fixture
def linked(repo: Repo, tmp_path: Path) -> Repo:
    repo.git("worktree", "add", "-q", str(tmp_path / "linked ü"), "topic")
    return Repo(tmp_path / "linked ü")


def verdicts(path: Path, expected: Expectations | None = None) -> dict[str, str]:
    return {line.name: line.verdict.value for line in check_worktree(path, expected=expected).lines}


def test_a_sound_worktree_passes_on_every_line(repo: Repo, linked: Repo) -> None:
    for path in (repo.path, repo.path / "src", linked.path, linked.path / "docs"):
        report = check_worktree(path)
        assert report.ok
        assert [line.name for line in report.lines] == ["root", ".git", "registration", "branch", "lease"]
        assert [line.verdict for line in report.lines[:4]] == [Verdict.OK] * 4
        assert report.lines[4].verdict is Verdict.NOT_APPLICABLE


def test_what_was_declared_must_be_so(repo: Repo) -> None:
    sound = Expectations(root=repo.path, branch="main", head=repo.head())
    assert check_worktree(repo.path, expected=sound).ok
    assert verdicts(repo.path, Expectations(root=repo.path / "src"))["root"] == "FAIL"
    assert verdicts(repo.path, Expectations(branch="topic"))["branch"] == "FAIL"
    assert verdicts(repo.path, Expectations(head=repo.head("topic")))["branch"] == "FAIL"


def test_a_symbolic_link_to_the_root_is_the_root(repo: Repo, tmp_path: Path) -> None:
    (tmp_path / "link").symlink_to(repo.path)
    assert check_worktree(tmp_path / "link", expected=Expectations(root=repo.path)).ok


def _no_directory(repo: Repo, _linked: Repo) -> Path:
    return repo.path / "gone"


def _no_repository(repo: Repo, _linked: Repo) -> Path:
    return repo.path.parent


def _emptied_git_dir(repo: Repo, _linked: Repo) -> Path:
    (repo.path / "inner" / ".git").mkdir(parents=True)
    return repo.path / "inner"


def _pointer_to_nowhere(repo: Repo, linked: Repo) -> Path:
    repo.path.rename(repo.path.parent / "moved")
    return linked.path


def _pointer_without_a_target(_repo: Repo, linked: Repo) -> Path:
    (linked.path / ".git").write_text("not a pointer\n")
    return linked.path


def _registration_removed(repo: Repo, linked: Repo) -> Path:
    shutil.rmtree(repo.git_dir / "worktrees")
    return linked.path


def _moved_by_hand(_repo: Repo, linked: Repo) -> Path:
    target = linked.path.parent / "moved by hand"
    linked.path.rename(target)
    return target


def _copied(_repo: Repo, linked: Repo) -> Path:
    target = linked.path.parent / "copy"
    shutil.copytree(linked.path, target)
    return target


def _branch_in_two_worktrees(repo: Repo, linked: Repo) -> Path:
    (linked.git_dir / "HEAD").write_text("ref: refs/heads/main\n")
    return linked.path


def _broken_head(repo: Repo, _linked: Repo) -> Path:
    (repo.git_dir / "HEAD").write_bytes(b"\0" * 41)
    return repo.path


def _inside_the_git_dir(repo: Repo, _linked: Repo) -> Path:
    return repo.git_dir / "hooks"


def _bare(repo: Repo, _linked: Repo) -> Path:
    repo.git("clone", "-q", "--bare", ".", "../bare.git")
    return repo.path.parent / "bare.git"


def _work_tree_elsewhere(repo: Repo, _linked: Repo) -> Path:
    repo.git("config", "core.bare", "true")
    repo.git("config", "core.repositoryFormatVersion", "99")
    return repo.path


def _a_file(repo: Repo, _linked: Repo) -> Path:
    return repo.path / "notes.txt"


BROKEN: list[tuple[Callable[[Repo, Repo], Path], str, str]] = [
    (_no_directory, "root", "cwd-gone"),
    (_a_file, "root", "cwd-gone"),
    (_no_repository, "root", "not-a-repository"),
    (_emptied_git_dir, ".git", "missing-git-dir"),
    (_pointer_to_nowhere, ".git", "broken-link"),
    (_pointer_without_a_target, ".git", "broken-link"),
    (_registration_removed, ".git", "broken-link"),
    (_moved_by_hand, "registration", "prunable"),
    (_copied, "registration", "prunable"),
    (_branch_in_two_worktrees, "branch", "branch-elsewhere"),
    (_broken_head, ".git", "missing-git-dir"),
    (_inside_the_git_dir, "root", "invalid-root"),
    (_bare, "root", "invalid-root"),
    (_work_tree_elsewhere, ".git", "missing-git-dir"),
]


@pytest.mark.parametrize(("damage", "line", "reason"), BROKEN, ids=[row[0].__name__[1:] for row in BROKEN])
def test_what_is_broken_fails_on_its_own_line_and_nothing_is_written(
    repo: Repo, linked: Repo, tmp_path: Path, damage: Callable[[Repo, Repo], Path], line: str, reason: str
) -> None:
    path = damage(repo, linked)
    before = photograph(tmp_path, objects=True)
    report = check_worktree(path)
    assert not report.ok
    assert report.failed is not None
    assert (report.failed.name, report.failed.reason) == (line, reason)
    assert BUILT_IN.reason_spec("worktree", reason)
    assert photograph(tmp_path, objects=True) == before


@pytest.mark.skipif(os.geteuid() != 0, reason="only root can give files away")
def test_a_repository_of_another_owner_is_a_foreign_session(tmp_path: Path) -> None:
    repo = lived_in(tmp_path / "theirs")
    for path in (repo.path, *repo.path.rglob("*")):
        os.chown(path, 65534, 65534, follow_symlinks=False)
    report = check_worktree(repo.path)
    assert report.failed is not None
    assert (report.failed.name, report.failed.reason) == (".git", "foreign-session")
    repo.git("config", "--global", "safe.directory", str(repo.path))
    assert check_worktree(repo.path).ok, "git's own word decides"


def test_a_locked_worktree_may_be_worked_in_and_says_so(repo: Repo, linked: Repo) -> None:
    repo.git("worktree", "lock", "--reason", "agent 7 is here", str(linked.path))
    report = check_worktree(linked.path)
    assert report.ok
    assert "agent 7 is here" in report.lines[2].text


def test_a_submodule_is_a_worktree_of_its_own(repo: Repo, tmp_path: Path) -> None:
    library = new_repo(tmp_path / "library")
    library.commit("lib", lib_dot_c="x\n")
    repo.git("submodule", "--quiet", "add", str(library.path), "vendor/lib")
    report = check_worktree(repo.path / "vendor" / "lib")
    assert report.ok
    assert report.lines[0].text == str(repo.path / "vendor" / "lib")


@pytest.mark.parametrize(
    ("lease", "verdict"),
    [
        (LeaseState("run-1", is_ours=True, is_live=True), Verdict.OK),
        (LeaseState("run-2, pid 4711", is_ours=False, is_live=True), Verdict.FAIL),
        (LeaseState("run-2, pid 4711", is_ours=False, is_live=False), Verdict.OK),
    ],
)
def test_a_lease_that_somebody_alive_holds_fails(repo: Repo, lease: LeaseState, verdict: Verdict) -> None:
    report = check_worktree(repo.path, lease=lease)
    assert report.lines[4].verdict is verdict
    assert report.ok == (verdict is Verdict.OK)


def test_the_block_cannot_be_forged_by_a_name(tmp_path: Path) -> None:
    repo = lived_in(tmp_path / "repo\n  lease:        ok   held by you\x1b[2J")
    lines = check_worktree(repo.path).block_lines()
    assert lines[0] == "worktree-safety (resolved):"
    assert len(lines) == 6
    assert all(line.isprintable() for line in lines)
    assert lines[1].startswith("  root:         ok   ")
