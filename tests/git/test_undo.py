"""Taking a heal back: all of it, while nobody has gone on from it; otherwise nothing, and the bytes are one command away."""

from __future__ import annotations

import os
import subprocess
from typing import TYPE_CHECKING

import pytest
from tests.repositories import QUICK, Repo, colleague_commits, lines, photograph, with_origin

from rerail.errors import UnknownNameError, UsageError
from rerail.git.backups import list_backups
from rerail.git.probe import probe
from rerail.git.undo import UndoRefusedError, undo

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path


def without_logs(picture: dict[str, tuple[int, bytes]]) -> dict[str, tuple[int, bytes]]:
    """An undo is a step forward: reflogs grow, and so may what a fetch brought."""
    return {path: facts for path, facts in picture.items() if not path.startswith(".git/logs/")}


def conflicting(repo: Repo) -> None:
    repo.git("checkout", "-q", "topic")
    repo.commit("theirs", src__app_dot_py=lines("theirs"))
    repo.git("checkout", "-q", "main")
    repo.commit("ours", src__app_dot_py=lines("ours"))


def test_changes_that_were_moved_aside_come_back_staged_and_unstaged(repo: Repo) -> None:
    conflicting(repo)
    repo.write("src/app.py", "staged\n")
    repo.git("add", "src/app.py")
    repo.write("src/app.py", "and edited\n")
    failure = repo.fails("git", "checkout", "topic")
    before = photograph(repo.path)
    report = repo.heal(failure, "git/dirty-tree")
    assert report.backup is not None
    assert repo.git("status", "--porcelain") == "?? notes.txt"
    undo(report.backup, repo.path)
    assert without_logs(photograph(repo.path)) == without_logs(before)
    assert repo.git("status", "--porcelain") == "MM src/app.py\n?? notes.txt"


def test_an_integrated_branch_goes_back_to_its_own_commits(repo: Repo) -> None:
    with_origin(repo)
    colleague_commits(repo, "deep/theirs.txt", "theirs\n")
    tip = repo.commit("ours", src__ours_dot_txt="ours\n")
    repo.write("docs/guide.md", "a draft\n")
    failure = repo.fails("git", "push", "origin", "main")
    before = photograph(repo.path)
    report = repo.heal(failure, "git/non-fast-forward")
    assert report.backup is not None
    undo(report.backup, repo.path)
    assert repo.head() == tip
    assert without_logs(photograph(repo.path)) == without_logs(before)
    assert not (repo.path / "deep").exists()
    assert "rerail: undo" in repo.git("reflog", "main")


def test_a_concluded_merge_is_in_progress_again(repo: Repo) -> None:
    with_origin(repo)
    conflicting(repo)
    repo.git("merge", "topic", check=False)
    repo.write("src/app.py", "resolved\n")
    repo.git("add", "src/app.py")
    failure = repo.fails("git", "pull")
    before = photograph(repo.path)
    report = repo.heal(failure, "git/operation-in-progress")
    assert report.backup is not None
    undo(report.backup, repo.path)
    assert without_logs(photograph(repo.path)) == without_logs(before)
    assert repo.passes("git", "merge", "--continue")


def test_an_undo_can_itself_be_looked_up(repo: Repo) -> None:
    repo.write("src/topic.txt", "mine\n")
    report = repo.heal(repo.fails("git", "merge", "topic"), "git/untracked-in-way")
    assert report.backup is not None
    undone = undo(report.backup, repo.path)
    assert repo.read("src/topic.txt") == "mine\n"
    assert undone.recipe == "untracked-in-the-way"
    assert [backup.id for backup in list_backups(probe(repo.path).git)] == [report.backup, undone.backup]


def test_an_undo_does_not_write_over_what_came_after(repo: Repo) -> None:
    repo.write("src/topic.txt", "mine\n")
    report = repo.heal(repo.fails("git", "merge", "topic"), "git/untracked-in-way")
    assert report.backup is not None
    repo.git("merge", "-q", "topic")
    before = photograph(repo.path)
    with pytest.raises(UndoRefusedError, match="work has gone on") as refused:
        undo(report.backup, repo.path)
    assert photograph(repo.path) == before
    assert refused.value.hint is not None
    command = refused.value.hint.partition(": ")[2].replace("PATH", "src/topic.txt")
    assert repo.run(*command.split()).stdout == b"mine\n", "the hint is a command that works"


def test_a_backup_without_a_heal_has_nothing_to_undo(repo: Repo) -> None:
    from rerail.git.snapshot import snapshot

    backup = snapshot(probe(repo.path))
    with pytest.raises(UndoRefusedError, match="changed nothing"):
        undo(backup.id, repo.path)
    with pytest.raises(UnknownNameError, match="no backup"):
        undo("20260101T000000Z-000000", repo.path)


# --- what an undo looks at ----------------------------------------------------------------------------------------------


def healed_untracked(repo: Repo) -> str:
    repo.write("src/topic.txt", "mine\n")
    report = repo.heal(repo.fails("git", "merge", "topic"), "git/untracked-in-way")
    assert report.backup is not None
    return report.backup


def refused(repo: Repo, backup: str, where: str = "") -> UndoRefusedError:
    """An undo is refused, with what and why, and changes no byte."""
    before = photograph(repo.path)
    with pytest.raises(UndoRefusedError) as caught:
        undo(backup, repo.path, pace=QUICK)
    assert photograph(repo.path) == before
    assert caught.value.hint
    assert not where or where in caught.value.found, caught.value.found
    return caught.value


def test_a_mere_look_at_the_repository_is_no_work(repo: Repo) -> None:
    backup = healed_untracked(repo)
    for path in (repo.path / "src").iterdir():
        os.utime(path, (1, 1))
    index = (repo.git_dir / "index").read_bytes()
    repo.git("status")
    repo.git("update-index", "-q", "--refresh")
    assert (repo.git_dir / "index").read_bytes() != index, "git has written the index anew"
    undo(backup, repo.path)
    assert repo.read("src/topic.txt") == "mine\n"


def _a_commit(repo: Repo) -> None:
    repo.git("commit", "-q", "--allow-empty", "-m", "later")


def _staged(repo: Repo) -> None:
    repo.write("src/app.py", "later\n")
    repo.git("add", "src/app.py")


def _a_bisection(repo: Repo) -> None:
    repo.git("bisect", "start")


def _the_file_again(repo: Repo) -> None:
    repo.write("src/topic.txt", "written anew\n")


def _a_directory_there(repo: Repo) -> None:
    repo.write("src/topic.txt/inside", "somebody's\n")


def _a_link_above(repo: Repo) -> None:
    (repo.path / "src").rename(repo.path.parent / "moved-src")
    (repo.path / "src").symlink_to(repo.path.parent / "moved-src")


@pytest.mark.parametrize(
    ("change", "where"),
    [
        (_a_commit, "HEAD"),
        (_staged, "git/index"),
        (_a_bisection, "git/BISECT_START"),
        (_the_file_again, "work/src/topic.txt"),
        (_a_directory_there, "work/src/topic.txt/"),
        (_a_link_above, "work/src"),
    ],
)
def test_whatever_came_since_stays(repo: Repo, change: Callable[[Repo], None], where: str) -> None:
    backup = healed_untracked(repo)
    change(repo)
    refused(repo, backup, where)


def test_an_edit_of_a_file_that_was_clean_stays_where_the_heal_ran_hooks(repo: Repo) -> None:
    with_origin(repo)
    conflicting(repo)
    repo.git("merge", "topic", check=False)
    repo.write("src/app.py", "resolved\n")
    repo.git("add", "src/app.py")
    report = repo.heal(repo.fails("git", "pull"), "git/operation-in-progress")
    assert report.backup is not None
    repo.write("src/util.py", "a later edit\n")
    refused(repo, report.backup, "work/src/util.py")


def test_an_undo_is_made_in_the_worktree_of_its_heal(repo: Repo, tmp_path: Path) -> None:
    backup = healed_untracked(repo)
    repo.git("worktree", "add", "-q", str(tmp_path / "other"), "HEAD~1")
    other = Repo(tmp_path / "other")
    assert str(repo.path) in refused(other, backup).message
    assert not (other.path / "src" / "topic.txt").exists()
    undo(backup, repo.path)
    assert repo.read("src/topic.txt") == "mine\n"


def test_a_repository_that_was_moved_can_still_be_gone_back_in(repo: Repo, tmp_path: Path) -> None:
    backup = healed_untracked(repo)
    repo.path.rename(tmp_path / "elsewhere")
    undo(backup, tmp_path / "elsewhere")
    assert (tmp_path / "elsewhere" / "src" / "topic.txt").read_text() == "mine\n"


def test_an_undo_is_made_once_and_can_be_taken_back(repo: Repo) -> None:
    backup = healed_untracked(repo)
    healed = without_logs(photograph(repo.path))
    undone = undo(backup, repo.path)
    again = refused(repo, backup)
    assert again.hint is not None
    assert f"--undo {undone.backup}" in again.hint
    undo(undone.backup, repo.path)
    assert without_logs(photograph(repo.path)) == healed


def test_an_undo_that_cannot_be_carried_through_is_put_back(repo: Repo) -> None:
    repo.write("src/app.py", "staged\n")
    repo.git("add", "src/app.py")
    conflicting_tip(repo)
    report = repo.heal(repo.fails("git", "checkout", "topic"), "git/dirty-tree")
    assert report.backup is not None
    (repo.git_dir / "index.lock").touch()
    assert "put back" in refused(repo, report.backup).message
    (repo.git_dir / "index.lock").unlink()
    undo(report.backup, repo.path)
    assert repo.git("status", "--porcelain", "src") == "M  src/app.py"


def conflicting_tip(repo: Repo) -> None:
    """Make topic differ where the index does, without a checkout."""
    blob = repo.git("hash-object", "-w", "--stdin", stdin=b"theirs\n")
    env = {"GIT_INDEX_FILE": str(repo.path.parent / "scratch-index")}
    repo.git("read-tree", "topic", env=env)
    repo.git("update-index", "--cacheinfo", f"100644,{blob},src/app.py", env=env)
    tree = repo.git("write-tree", env=env)
    repo.git("update-ref", "refs/heads/topic", repo.git("commit-tree", tree, "-p", "topic", "-m", "theirs"))


def test_a_live_git_is_waited_for_and_never_robbed(repo: Repo) -> None:
    backup = healed_untracked(repo)
    with subprocess.Popen(
        ["git", "cat-file", "--batch"], cwd=repo.path, stdin=subprocess.PIPE, stdout=subprocess.DEVNULL
    ):
        pass  # it has ended: nobody is at work
    with subprocess.Popen(["git", "hash-object", "--stdin"], cwd=repo.path, stdin=subprocess.PIPE) as worker:
        while_at_work = refused(repo, backup)
        assert while_at_work.waits
        assert str(worker.pid) in while_at_work.message
        assert worker.stdin is not None
        worker.stdin.close()
    undo(backup, repo.path)


@pytest.mark.parametrize("name", ["20260101T000000Z-000000", "../../heads/main", "", "-x", "a b", "a\n"])
def test_a_backup_that_does_not_exist_is_said_so(repo: Repo, name: str) -> None:
    with pytest.raises(UnknownNameError, match="no backup"):
        undo(name, repo.path)


def test_outside_of_a_repository_there_is_nothing_to_undo(tmp_path: Path) -> None:
    (tmp_path / "plain").mkdir()
    with pytest.raises(UsageError) as caught:
        undo("20260101T000000Z-000000", tmp_path / "plain")
    assert caught.value.hint


@pytest.mark.parametrize("has_stash", [True, False])
def test_an_autostash_that_became_an_entry_is_none_again(repo: Repo, has_stash: bool) -> None:
    if not has_stash:
        repo.git("stash", "drop", "-q")
    repo.write("src/app.py", "autostashed\n")
    stashed = repo.git("stash", "create")
    repo.git("checkout", "-q", "src/app.py")
    state = repo.git_dir / "rebase-merge"
    state.mkdir()
    (state / "autostash").write_text(stashed + "\n")
    before, listed = without_logs(photograph(repo.path)), repo.git("stash", "list")
    report = repo.heal(repo.fails("git", "rebase", "topic"), "git/operation-in-progress")
    assert (report.outcome, report.recipe) == ("healed", "crashed-operation"), report
    assert report.backup is not None
    assert repo.head("refs/stash") == stashed
    undone = undo(report.backup, repo.path)
    assert without_logs(photograph(repo.path)) == before
    assert repo.git("stash", "list") == listed
    undo(undone.backup, repo.path)
    assert repo.head("refs/stash") == stashed
    assert len(repo.git("stash", "list").splitlines()) == len(listed.splitlines()) + 1
