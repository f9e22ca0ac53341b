"""Backups: they change nothing, they hold everything, and what they hold comes back byte for byte."""

from __future__ import annotations

import os
import shutil
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from tests.git_states import ACTIONS
from tests.repositories import Repo, isolated, lines, lived_in, photograph, with_origin

from rerail.errors import GitError, UnknownNameError
from rerail.git.backup import Base, Kind, RefMove
from rerail.git.backups import expire, list_backups, load
from rerail.git.probe import probe
from rerail.git.restore import roll_back
from rerail.git.snapshot import Reach, snapshot
from rerail.settings import BackupSettings

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

EVERYTHING = Reach(everything=True, paths=frozenset({"build/cache.bin"}))


@pytest.fixture(scope="module")
def template() -> Iterator[Path]:
    """A repository that each example works on a copy of."""
    with tempfile.TemporaryDirectory() as folder, pytest.MonkeyPatch.context() as patch:
        for name, value in isolated(Path(folder) / "home").items():
            patch.setenv(name, value)
        repo = lived_in(Path(folder) / "template")
        repo.git("checkout", "-q", "topic")
        repo.commit("theirs", src__app_dot_py=lines("theirs"))
        repo.git("checkout", "-q", "main")
        repo.commit("ours", src__app_dot_py=lines("ours"), bin__tool="#!/bin/sh\n")
        yield repo.path


def scribble(repo: Repo, saved: set[str]) -> None:
    """Break everything that a heal could break: files, index, HEAD, operation state."""
    for path in saved:
        file = repo.path / path
        if file.is_symlink() or len(path) % 3 == 0:
            file.unlink(missing_ok=True)
        elif file.is_file():
            file.write_bytes(b"scribbled\n")
    git_dir = repo.git_dir
    (git_dir / "index").write_bytes(b"scribbled")
    (git_dir / "MERGE_MSG").write_text("scribbled")
    (git_dir / "REVERT_HEAD").write_text("scribbled")
    for name in ("MERGE_HEAD", "CHERRY_PICK_HEAD"):
        (git_dir / name).unlink(missing_ok=True)
    shutil.rmtree(git_dir / "rebase-merge", ignore_errors=True)
    (git_dir / "HEAD").write_text("ref: refs/heads/elsewhere\n")


@settings(max_examples=40, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(actions=st.lists(st.sampled_from(ACTIONS), max_size=6))
def test_a_backup_changes_nothing_and_brings_everything_back(
    template: Path, actions: list[Callable[[Repo], None]]
) -> None:
    with tempfile.TemporaryDirectory() as folder:
        repo = Repo(Path(folder) / "repo")
        shutil.copytree(template, repo.path, symlinks=True)
        for action in actions:
            action(repo)
        before = photograph(repo.path)
        state = probe(repo.path)
        backup = snapshot(state, EVERYTHING)
        assert photograph(repo.path) == before, "a backup touches neither work tree nor index nor stash"
        tracked = set(repo.git("ls-files").splitlines())
        scribble(repo, {file.path for file in backup.saved(Base.WORK)} | {path for path in tracked if '"' not in path})
        roll_back(state.git, state.here, load(state.git, backup.id), ())
        after = photograph(repo.path)
        assert after == before
        # Racy or not, git sees the same state again.
        assert probe(repo.path).changes == state.changes
        assert probe(repo.path).untracked == state.untracked


def test_every_blob_of_a_conflicted_index_survives_the_loss_of_the_index(repo: Repo) -> None:
    repo.git("checkout", "-q", "topic")
    repo.commit("theirs", src__app_dot_py=lines("theirs"))
    repo.git("checkout", "-q", "main")
    repo.commit("ours", src__app_dot_py=lines("ours"))
    repo.git("merge", "topic", check=False)
    repo.write("only-staged.txt", "only staged\n")
    repo.git("add", "only-staged.txt")
    (repo.path / "only-staged.txt").unlink()
    blobs = {row.split()[1] for row in repo.git("ls-files", "-s").splitlines()}
    snapshot(probe(repo.path))
    (repo.git_dir / "index").unlink()
    repo.git("reflog", "expire", "--expire=now", "--all")
    repo.git("gc", "-q", "--prune=now")
    assert all(repo.git("cat-file", "-t", blob) == "blob" for blob in blobs)


def test_commits_that_only_operation_state_names_stay_reachable(repo: Repo) -> None:
    repo.git("checkout", "-q", "topic")
    repo.commit("theirs", src__app_dot_py=lines("theirs"))
    repo.write("docs/guide.md", "stashed by the rebase\n")
    repo.git("update-ref", "refs/heads/other", "main")
    repo.git("checkout", "-q", "other", check=False)
    repo.write("src/app.py", lines("ours"))
    repo.git("commit", "-q", "-m", "ours", "src/app.py")
    repo.git("rebase", "--autostash", "topic", check=False)
    autostash = (repo.git_dir / "rebase-merge" / "autostash").read_text().strip()
    snapshot(probe(repo.path))
    shutil.rmtree(repo.git_dir / "rebase-merge")
    repo.git("gc", "-q", "--prune=now")
    assert repo.git("cat-file", "-t", autostash) == "commit"


def test_a_moved_ref_goes_back_with_its_reflog(repo: Repo) -> None:
    state = probe(repo.path)
    old, new = repo.head("main"), repo.head("topic")
    backup = snapshot(state, Reach(refs=frozenset({"refs/heads/main"})))
    before = photograph(repo.path)
    repo.git("update-ref", "-m", "rerail: a step", "refs/heads/main", new, old)
    roll_back(state.git, state.here, backup, [RefMove("refs/heads/main", old, new)])
    assert photograph(repo.path) == before


def test_a_ref_that_somebody_else_moved_since_is_left_to_them(repo: Repo) -> None:
    state = probe(repo.path)
    old, new = repo.head("main"), repo.head("topic")
    backup = snapshot(state, Reach(refs=frozenset({"refs/heads/main"})))
    repo.git("update-ref", "-m", "rerail: a step", "refs/heads/main", new, old)
    repo.git("commit", "-q", "--allow-empty", "-m", "somebody's")
    theirs = repo.head()
    roll_back(state.git, state.here, backup, [RefMove("refs/heads/main", old, new)])
    assert repo.head("main") == theirs
    assert "somebody's" in repo.git("reflog", "main")


def test_a_file_that_a_step_made_goes_and_so_does_its_directory(repo: Repo) -> None:
    state = probe(repo.path)
    backup = snapshot(state, Reach(paths=frozenset({"made/by/step.txt"})))
    repo.write("made/by/step.txt", "made\n")
    repo.git("add", "made/by/step.txt")
    roll_back(state.git, state.here, backup, ())
    assert not (repo.path / "made").exists()


def test_a_deleted_tracking_ref_comes_back(repo: Repo) -> None:
    with_origin(repo)
    state = probe(repo.path)
    ref, oid = "refs/remotes/origin/main", repo.head("origin/main")
    backup = snapshot(state, Reach(refs=frozenset({ref})))
    repo.git("update-ref", "-d", ref)
    roll_back(state.git, state.here, backup, [RefMove(ref, oid, "0" * 40)])
    assert repo.head("origin/main") == oid


def test_a_pipe_in_the_work_tree_does_not_hold_a_backup_up(repo: Repo) -> None:
    os.mkfifo(repo.path / "pipe")
    backup = snapshot(probe(repo.path), Reach(everything=True, paths=frozenset({"pipe"})))
    assert "pipe" not in {file.path for file in backup.files}


def test_a_backup_needs_no_identity(repo: Repo) -> None:
    repo.git("config", "--global", "--remove-section", "user")
    repo.git("config", "--global", "user.useConfigOnly", "true")
    assert snapshot(probe(repo.path)).commit


def test_backups_are_listed_and_let_go_by_policy_only(repo: Repo) -> None:
    state = probe(repo.path)
    backups = [snapshot(state, note=f"number {number}") for number in range(3)]
    assert [backup.note for backup in list_backups(state.git)] == ["number 0", "number 1", "number 2"]
    later = backups[-1].made_at + 100.0
    assert expire(state.git, state.here, BackupSettings(1000.0, 1), now_s=later).ids == ()
    assert expire(state.git, state.here, BackupSettings(10.0, 2), now_s=later).ids == (backups[0].id,)
    assert [backup.id for backup in list_backups(state.git)] == [backup.id for backup in backups[1:]]
    with pytest.raises(UnknownNameError, match="no backup"):
        load(state.git, backups[0].id)


def test_a_backup_read_again_is_the_backup_that_was_made(repo: Repo) -> None:
    repo.write(os.fsdecode(b"not-\xff-utf8"), "x")
    backup = snapshot(probe(repo.path), Reach(everything=True))
    assert load(probe(repo.path).git, backup.id) == backup
    assert any(file.kind is Kind.FILE and "utf8" in file.path for file in backup.files)


def test_a_linked_worktree_is_backed_up_with_its_own_index_and_head(repo: Repo, tmp_path: Path) -> None:
    repo.git("worktree", "add", "-q", str(tmp_path / "linked"), "topic")
    linked = Repo(tmp_path / "linked")
    linked.write("src/app.py", "edited in the linked one\n")
    linked.git("add", "src/app.py")
    before = photograph(linked.path)
    state = probe(linked.path)
    backup = snapshot(state)
    (linked.git_dir / "index").write_bytes(b"scribbled")
    linked.write("src/app.py", "scribbled\n")
    roll_back(state.git, state.here, backup, ())
    assert photograph(linked.path) == before
    assert linked.git("status", "--porcelain") == "M  src/app.py"


def test_a_damaged_backup_hides_no_other_and_hinders_no_expiry(repo: Repo) -> None:
    state = probe(repo.path)
    backups = [snapshot(state, note=f"number {number}") for number in range(4)]
    damaged = repo.git("commit-tree", "HEAD^{tree}", "-m", "not a backup")
    repo.git("update-ref", backups[1].ref, damaged)
    repo.git("update-ref", f"refs/rerail/backup/{backups[1].id}-x/state", repo.head("HEAD:src/app.py"))
    assert [backup.note for backup in list_backups(state.git)] == ["number 0", "number 2", "number 3"]
    with pytest.raises(GitError, match="cannot be read"):
        load(state.git, backups[1].id)
    later = backups[-1].made_at + 100.0
    gone = expire(state.git, state.here, BackupSettings(10.0, 1), now_s=later)
    assert (gone.ids, gone.fault) == ((backups[0].id, backups[2].id), "")
    assert [backup.id for backup in list_backups(state.git)] == [backups[3].id]


def test_the_backup_of_a_heal_that_has_not_ended_never_expires(repo: Repo, tmp_path: Path) -> None:
    from rerail.git.journal import Journal, forget

    state = probe(repo.path)
    cut, *others = [snapshot(state, note=f"number {number}") for number in range(3)]
    repo.git("worktree", "add", "-q", str(tmp_path / "linked"))
    linked = probe(tmp_path / "linked")
    in_linked = snapshot(linked, note="in the linked one")
    Journal(state.here, cut.id, "some-heal")
    Journal(linked.here, in_linked.id, "another-heal")
    later, policy = cut.made_at + 1e9, BackupSettings(10.0, 1)
    snapshot(state, note="the newest")
    assert expire(state.git, state.here, policy, now_s=later).ids == tuple(each.id for each in others)
    (state.here.git_dir / "rerail" / "open-heal.json").write_text("{")
    assert expire(state.git, state.here, policy, now_s=later).ids == (), "what cannot be read counts as in use"
    forget(state.here)
    assert expire(linked.git, linked.here, policy, now_s=later).ids == (cut.id,)
