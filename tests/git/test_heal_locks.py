"""Stale locks: healed only when their owner is dead, by exactly one of many, and never at anybody's expense."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import textwrap
import time
from typing import TYPE_CHECKING

import pytest
from tests.repositories import Repo, built_in_recipes, evidence, photograph

from rerail.git import processes
from rerail.git.case import HealRequest, Pace
from rerail.git.heal import heal
from rerail.git.probe import probe
from rerail.git.processes import git_workers
from rerail.git.repairs import locks

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

STALE = [
    ("index.lock", "git add src/app.py", "git/index-lock"),
    ("HEAD.lock", "git checkout topic", "git/ref-lock"),
    ("refs/heads/main.lock", "git commit -q --allow-empty -m more", "git/ref-lock"),
    ("config.lock", "git config pull.rebase true", "git/ref-lock"),
    ("packed-refs.lock", "git branch -D topic", "git/ref-lock"),
    ("refs/stash.lock", "git stash push -q", "git/ref-lock"),
]


@pytest.mark.parametrize(("lock", "command", "named"), STALE, ids=[row[0] for row in STALE])
def test_a_lock_of_a_dead_owner_is_moved_aside_and_its_bytes_are_kept(
    repo: Repo, lock: str, command: str, named: str
) -> None:
    repo.git("pack-refs", "--all")
    repo.write("src/app.py", "edited\n")
    (repo.git_dir / lock).parent.mkdir(parents=True, exist_ok=True)
    (repo.git_dir / lock).write_text("half-written")
    report = repo.heal(repo.fails(*command.split()), named)
    assert (report.outcome, report.recipe) == ("healed", "stale-lock")
    assert not (repo.git_dir / lock).exists()
    saved = repo.git("show", f"refs/rerail/backup/{report.backup}/state:git/{lock}")
    assert saved == "half-written"
    assert repo.passes(*command.split())


def test_the_lock_of_a_linked_worktree_is_found_where_it_is(repo: Repo, tmp_path: Path) -> None:
    repo.git("worktree", "add", "-q", str(tmp_path / "with space ü"), "topic")
    linked = Repo(tmp_path / "with space ü")
    (linked.git_dir / "index.lock").touch()
    linked.write("src/app.py", "edited\n")
    report = linked.heal(linked.fails("git", "add", "src/app.py"), "git/index-lock")
    assert report.outcome == "healed"
    assert linked.passes("git", "add", "src/app.py")


def test_all_stale_locks_go_at_once(repo: Repo) -> None:
    for lock in ("index.lock", "HEAD.lock", "refs/heads/main.lock"):
        (repo.git_dir / lock).touch()
    report = repo.heal(repo.fails("git", "commit", "--allow-empty", "-m", "x"), "git/index-lock")
    assert report.outcome == "healed"
    assert len(report.steps) == 3
    assert repo.passes("git", "commit", "-q", "--allow-empty", "-m", "x")


def test_what_only_a_dead_gits_index_names_stays_reachable(repo: Repo) -> None:
    """A killed git may leave a whole new index as its lock, with blobs that nothing else names."""
    repo.write("lost.txt", "staged by the process that died\n")
    repo.git("add", "lost.txt")
    blob = repo.head(":lost.txt")
    index = (repo.git_dir / "index").read_bytes()
    repo.git("rm", "-q", "--cached", "lost.txt")
    (repo.path / "lost.txt").unlink()
    (repo.git_dir / "index.lock").write_bytes(index)
    report = repo.heal(repo.fails("git", "add", "-u"), "git/index-lock")
    assert report.outcome == "healed"
    repo.git("reflog", "expire", "--expire=now", "--all")
    repo.git("gc", "-q", "--prune=now")
    assert repo.git("cat-file", "-p", blob) == "staged by the process that died"


@pytest.fixture
def holder(repo: Repo) -> Iterator[subprocess.Popen[str]]:
    """A process that has the index lock open."""
    script = "import sys; f = open(sys.argv[1], 'x'); print('held', flush=True); sys.stdin.read()"
    process = subprocess.Popen(
        [sys.executable, "-c", script, str(repo.git_dir / "index.lock")],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    )
    assert process.stdout is not None
    assert process.stdout.readline() == "held\n"
    yield process
    process.communicate("")


def test_a_lock_that_a_process_has_open_is_its_own_however_old(repo: Repo, holder: subprocess.Popen[str]) -> None:
    lock = repo.git_dir / "index.lock"
    os.utime(lock, (0, 0))
    failure = repo.fails("git", "add", "src/app.py")
    before = photograph(repo.path, objects=True)
    report = repo.heal(failure, "git/index-lock")
    assert report.outcome == "retry"
    assert str(holder.pid) in report.detail
    assert photograph(repo.path, objects=True) == before
    assert holder.poll() is None


LIBRARY = """
import os, sys
lock, text = sys.argv[1:]
with open(lock, "x") as file:
    file.write(text.replace("PID", str(os.getpid())))
print("held", flush=True)
sys.stdin.read()
"""


@pytest.mark.parametrize(
    ("text", "is_there", "is_older", "owns"),
    [
        ("", True, True, True),
        ("PID", False, True, True),
        ("PID host-1", False, True, True),
        ("", False, True, False),
        ("", True, False, False),
    ],
    ids=["works here", "is named", "is named with its host", "works elsewhere", "is younger than the lock"],
)
def test_a_program_with_a_git_library_owns_a_lock_that_it_has_closed(
    repo: Repo, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, text: str, is_there: bool, is_older: bool, owns: bool
) -> None:
    lock = repo.git_dir / "index.lock"
    process = subprocess.Popen(
        [sys.executable, "-c", LIBRARY, str(lock), text],
        cwd=repo.path if is_there else tmp_path,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    )
    assert process.stdout is not None
    assert process.stdout.readline() == "held\n"
    if not is_older:
        monkeypatch.setattr(processes, "_CLOCK_SLACK_S", -3600.0)  # as if the lock had been made an hour before
    try:
        (found,) = locks.present_locks(probe(repo.path))
        owners = {worker.pid for worker in locks.owners(found)}
    finally:
        process.communicate("")
    assert (process.pid in owners) is owns


def test_a_git_at_work_owns_its_lock_without_having_it_open(repo: Repo, tmp_path: Path) -> None:
    """``git commit -a`` waits for its hook with the lock taken and no descriptor on it."""
    pipe = tmp_path / "release"
    os.mkfifo(pipe)
    started = tmp_path / "started"
    os.mkfifo(started)
    hook = repo.git_dir / "hooks" / "pre-commit"
    hook.parent.mkdir(exist_ok=True)
    hook.write_text(f"#!/bin/sh\necho started > '{started}'\ncat '{pipe}' > /dev/null\n")
    hook.chmod(0o755)
    repo.write("src/app.py", "edited\n")
    commit = subprocess.Popen(["git", "commit", "-q", "-a", "-m", "slow"], cwd=repo.path)
    assert started.read_text() == "started\n"
    failure = repo.fails("git", "add", "src/util.py")
    report = repo.heal(failure, "git/index-lock")
    pipe.write_text("")
    assert commit.wait() == 0, "the commit could finish"
    assert report.outcome == "retry"
    assert str(commit.pid) in report.detail
    assert repo.git("log", "-1", "--format=%s") == "slow"


def test_a_git_in_another_worktree_does_not_own_this_ones_index_lock(repo: Repo, tmp_path: Path) -> None:
    repo.git("worktree", "add", "-q", str(tmp_path / "other"), "topic")
    waiting = subprocess.Popen(["git", "hash-object", "-w", "--stdin"], cwd=tmp_path / "other", stdin=subprocess.PIPE)
    try:
        here = probe(repo.path).here
        assert git_workers(here, all_worktrees=False) == ()
        assert [worker.pid for worker in git_workers(here, all_worktrees=True)] == [waiting.pid]
    finally:
        waiting.communicate(b"")


def test_a_lock_that_comes_into_being_at_the_last_moment_stays_its_owners(repo: Repo, tmp_path: Path) -> None:
    """Between the last look and the move somebody removed the stale lock, and a live git took its own."""
    path = repo.git_dir / "index.lock"
    path.write_text("stale")
    seen = next(lock for lock in locks.present_locks(probe(repo.path)) if lock.path == path)
    path.unlink()
    (repo.git_dir / "spacer").touch()  # so that the new file does not get the old one's number
    path.write_text("a live owner's")
    assert locks.set_aside(seen, tmp_path / "aside") is False
    assert path.read_text() == "a live owner's"


def test_a_lock_outside_of_the_repository_is_not_rerails_to_judge(repo: Repo, tmp_path: Path) -> None:
    stray = tmp_path / "home" / ".gitconfig.lock"
    stray.touch()
    failure = repo.fails("git", "config", "--global", "user.name", "X")
    report = repo.heal(failure, "git/ref-lock")
    assert report.outcome == "paused"
    assert stray.exists()


def test_a_lock_on_a_file_system_that_others_share_is_left_to_a_person(
    repo: Repo, monkeypatch: pytest.MonkeyPatch
) -> None:
    (repo.git_dir / "index.lock").touch()
    failure = repo.fails("git", "add", "src/app.py")
    monkeypatch.setattr(locks, "remote_file_system", lambda _path: "nfs4")
    report = repo.heal(failure, "git/index-lock")
    assert report.outcome == "paused"
    assert "nfs4" in report.detail
    assert (repo.git_dir / "index.lock").exists()


def test_a_lock_that_grows_while_it_is_watched_has_an_owner(repo: Repo) -> None:
    path = repo.git_dir / "index.lock"
    path.touch()
    failure = repo.fails("git", "add", "src/app.py")

    def somebody_writes(_wait_s: float) -> None:
        with path.open("a") as file:
            file.write("x")

    request = HealRequest(repo.path, "git", "index-lock", failure)
    report = heal(request, built_in_recipes(), pace=Pace(patience_s=0, watch_s=0.1, sleep=somebody_writes))
    assert report.outcome == "retry"
    assert path.exists()


def test_a_lock_that_is_gone_by_itself_needs_no_heal(repo: Repo) -> None:
    stderr = f"fatal: Unable to create '{repo.git_dir}/index.lock': File exists.\n"
    failure = evidence(("git", "add", "x"), 128, b"", stderr.encode(), str(repo.path))
    report = repo.heal(failure, "git/index-lock")
    assert (report.outcome, report.backup) == ("retry", None)


@pytest.mark.parametrize(
    "text", ["'", "'a", "a", ".lock", "'.lock", "could not lock config file ", "refs/heads/", "Unable to create '"]
)
def test_a_hostile_line_of_any_length_is_read_in_no_time(text: str) -> None:
    began = time.process_time()
    locks.names_a_lock(text * (1_000_000 // len(text)))
    assert time.process_time() - began < 1.0


RACER = """
import json, sys
from pathlib import Path
from rerail.git.case import HealRequest, Pace
from rerail.git.heal import heal
from tests.repositories import built_in_recipes, evidence

path = sys.argv[1]
stderr = f"fatal: Unable to create '{path}/.git/index.lock': File exists."
failure = evidence(("git", "add", "x"), 128, b"", stderr.encode(), path)
print("ready", flush=True)
sys.stdin.readline()
report = heal(HealRequest(Path(path), "git", "index-lock", failure), built_in_recipes(), pace=Pace(patience_s=0, watch_s=0.02))
print(json.dumps([report.outcome, report.detail]), flush=True)
"""


def test_of_eight_processes_exactly_one_heals_and_all_go_on(repo: Repo) -> None:
    (repo.git_dir / "index.lock").write_text("stale")
    environ = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)}
    racers = [
        subprocess.Popen(
            [sys.executable, "-c", textwrap.dedent(RACER), str(repo.path)],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
            env=environ,
        )
        for _ in range(8)
    ]
    for racer in racers:
        assert racer.stdout is not None
        assert racer.stdout.readline() == "ready\n"
    for racer in racers:
        assert racer.stdin is not None
        racer.stdin.write("go\n")
        racer.stdin.flush()
    reports = [json.loads(racer.communicate()[0]) for racer in racers]
    assert sorted(outcome for outcome, _ in reports) == ["healed", *["retry"] * 7]
    assert all("gone already" in detail for outcome, detail in reports if outcome == "retry"), reports
    assert repo.passes("git", "add", "-A")
