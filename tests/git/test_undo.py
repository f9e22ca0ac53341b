"""Taking a heal back: all of it, while nobody has gone on from it; otherwise nothing, and the bytes are one command away."""

from __future__ import annotations

import pytest
from tests.repositories import Repo, colleague_commits, lines, photograph, with_origin

from rerail.errors import GitError
from rerail.git.backups import list_backups
from rerail.git.probe import probe
from rerail.git.undo import UndoRefusedError, undo


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
    assert undone.note == "before an undo"
    assert [backup.id for backup in list_backups(probe(repo.path).git)] == [report.backup, undone.id]


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
    with pytest.raises(GitError, match="no backup"):
        undo("20260101T000000Z-000000", repo.path)
