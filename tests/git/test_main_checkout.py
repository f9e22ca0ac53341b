"""What a unit in a linked worktree may not do to the main checkout, seen by the check after each attempt."""

from __future__ import annotations

import subprocess
from typing import TYPE_CHECKING

import pytest
from tests.repositories import Repo, lived_in

import rerail
from rerail.git.main_checkout import look, moved
from rerail.runner.outcome import Stopped, Succeeded

if TYPE_CHECKING:
    from pathlib import Path


@pytest.fixture
def linked(repo: Repo, tmp_path: Path) -> Repo:
    repo.git("worktree", "add", "-q", "-b", "agent/x", str(tmp_path / "linked"))
    return Repo(tmp_path / "linked")


HARM = {
    "a switch": ("switch", "-q", "topic"),
    "a detached HEAD": ("checkout", "-q", "--detach"),
    "a commit": ("commit", "-q", "--allow-empty", "-m", "x"),
    "a branch moved under it": ("update-ref", "refs/heads/main", "topic"),
    "a bisection": ("bisect", "start"),
}


@pytest.mark.parametrize("is_packed", [False, True])
@pytest.mark.parametrize("command", HARM.values(), ids=HARM)
def test_every_move_of_the_main_checkout_is_seen(
    repo: Repo, linked: Repo, command: tuple[str, ...], is_packed: bool
) -> None:
    if is_packed:
        repo.git("pack-refs", "--all")
    before = look(linked.path)
    assert before is not None
    assert moved(before) == ""
    repo.git(*command)
    assert f"the main checkout at {repo.path} was moved: " in moved(before)


def test_what_is_done_in_the_linked_worktree_is_its_own(repo: Repo, linked: Repo) -> None:
    before = look(linked.path)
    linked.commit("work", **{"new.txt": "n\n"})
    linked.git("switch", "-q", "-c", "agent/y")
    linked.git("pack-refs", "--all")
    repo.git("status")
    assert before is not None
    assert moved(before) == ""


def test_elsewhere_there_is_no_main_checkout_to_look_after(repo: Repo, linked: Repo, tmp_path: Path) -> None:
    assert look(repo.path) is None
    assert look(tmp_path) is None
    bare = tmp_path / "bare.git"
    repo.git("clone", "-q", "--bare", str(repo.path), str(bare))
    subprocess.run(["git", "worktree", "add", "-q", str(tmp_path / "of-bare")], cwd=bare, check=True)
    assert look(tmp_path / "of-bare") is None


def test_a_unit_that_moved_the_main_checkout_has_failed_whatever_it_returned(repo: Repo, linked: Repo) -> None:
    loop = rerail.Loop(root=linked.path, ledger="memory")
    outcome = loop.run("unit", lambda: repo.git("switch", "-q", "topic"))
    assert isinstance(outcome, Stopped)
    assert [str(each.classification.class_) for each in outcome.history] == ["worktree"]
    assert outcome.history[0].classification.reason == "main-checkout-moved"
    assert "HEAD was main and is topic" in outcome.history[0].classification.summary
    assert isinstance(loop.run("unit", lambda: 1), Succeeded), "the worktree itself resolves: the check readmits it"


def test_a_command_that_leaves_the_main_checkout_alone_succeeds(repo: Repo, linked: Repo) -> None:
    loop = rerail.Loop(root=linked.path, ledger="memory")
    done = loop.run_command("unit", ["git", "commit", "-q", "--allow-empty", "-m", "mine"])
    assert isinstance(done, Succeeded)
    stopped = loop.run_command("unit", ["git", "-C", str(repo.path), "commit", "-q", "--allow-empty", "-m", "theirs"])
    assert isinstance(stopped, Stopped)


def test_a_block_that_moved_the_main_checkout_has_failed(repo: Repo, linked: Repo) -> None:
    def work() -> None:
        for attempt in rerail.Loop(root=linked.path, ledger="memory").attempts("unit"):
            with attempt:
                repo.git("switch", "-q", "topic")

    with pytest.raises(rerail.StoppedError, match="main-checkout-moved"):
        work()


def test_the_main_worktree_s_own_units_may_do_as_they_like(tmp_path: Path) -> None:
    repo = lived_in(tmp_path / "own")
    loop = rerail.Loop(root=repo.path, ledger="memory")
    assert isinstance(loop.run_command("unit", ["git", "switch", "-q", "topic"]), Succeeded)
