"""A heal that is killed, at every moment that it passes: every byte is still there, and the next heal puts it right."""

from __future__ import annotations

import json
import os
import shutil
import signal
import subprocess
import sys
from typing import TYPE_CHECKING

import pytest
from tests.repositories import (
    QUICK,
    Repo,
    built_in_recipes,
    colleague_commits,
    lines,
    lived_in,
    photograph,
    with_origin,
)

from rerail.evidence.payload import from_payload
from rerail.git.case import HealRequest
from rerail.git.heal import heal
from rerail.git.probe import probe
from rerail.git.recovery import finish_cut_heal

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path


def _stale_locks(repo: Repo) -> list[str]:
    for name in ("index.lock", "refs/heads/main.lock"):
        (repo.git_dir / name).write_text("stale")
    return ["git", "commit", "--allow-empty", "-m", "x"]


def _reformatted(repo: Repo) -> list[str]:
    hook = repo.git_dir / "hooks" / "pre-commit"
    hook.parent.mkdir(exist_ok=True)
    hook.write_text(
        "#!/bin/sh\ngrep -q ' $' f.txt || exit 0\nsed -i 's/ *$//' f.txt\necho files were modified by this hook\nexit 1\n"
    )
    hook.chmod(0o755)
    repo.write("f.txt", "a  \nb\n")
    repo.git("add", "f.txt")
    return ["git", "commit", "-m", "f"]


def _behind(repo: Repo) -> list[str]:
    with_origin(repo)
    colleague_commits(repo, "deep/er/theirs.txt", "theirs\n")
    repo.commit("ours", src__ours_dot_txt="ours\n")
    repo.write("docs/guide.md", "a draft\n")
    return ["git", "push", "origin", "main"]


def _detached(repo: Repo) -> list[str]:
    with_origin(repo)
    repo.git("checkout", "-q", "--detach")
    repo.commit("on it", src__ours_dot_txt="ours\n")
    return ["git", "push"]


def _conflicting(repo: Repo) -> None:
    repo.git("checkout", "-q", "topic")
    repo.commit("theirs", src__app_dot_py=lines("theirs"))
    repo.git("checkout", "-q", "main")
    repo.commit("ours", src__app_dot_py=lines("ours"))


def _resolved(repo: Repo) -> list[str]:
    with_origin(repo)
    _conflicting(repo)
    repo.git("merge", "topic", check=False)
    repo.write("src/app.py", "resolved\n")
    repo.git("add", "src/app.py")
    return ["git", "pull"]


def _in_the_way(repo: Repo) -> list[str]:
    _conflicting(repo)
    repo.write("src/app.py", "staged\n")
    repo.git("add", "src/app.py")
    repo.write("src/app.py", "and edited\n")
    return ["git", "checkout", "topic"]


def _untracked(repo: Repo) -> list[str]:
    repo.write("src/topic.txt", "mine\n")
    return ["git", "merge", "topic"]


def _index_damaged(repo: Repo) -> list[str]:
    repo.write("src/app.py", "edited\n")
    (repo.git_dir / "index").write_bytes(b"junk" * 50)
    return ["git", "add", "src/app.py"]


def _head_damaged(repo: Repo) -> list[str]:
    (repo.git_dir / "HEAD").write_bytes(b"\0" * 41)
    return ["git", "log", "-1"]


CASES: list[tuple[Callable[[Repo], list[str]], str]] = [
    (_stale_locks, "git/index-lock"),
    (_reformatted, "git/hook-reformatted"),
    (_behind, "git/non-fast-forward"),
    (_detached, "git/detached-head"),
    (_resolved, "git/operation-in-progress"),
    (_in_the_way, "git/dirty-tree"),
    (_untracked, "git/untracked-in-way"),
    (_index_damaged, "git/corrupt-index"),
    (_head_damaged, "worktree/not-a-repository"),
]

KILLED = """
import json, os, signal, sys
from pathlib import Path
from rerail.evidence.payload import from_payload
from rerail.git.case import HealRequest, Pace
from rerail.git.heal import heal
from tests.repositories import built_in_recipes

class_, reason, nth, failure = sys.argv[1], sys.argv[2], int(sys.argv[3]), json.loads(sys.argv[4])
passed = []

def at(moment):
    passed.append(moment)
    if len(passed) == nth:
        os.kill(os.getpid(), signal.SIGKILL)

heal(
    HealRequest(Path(failure["cwd"]), class_, reason, from_payload(failure)),
    built_in_recipes(),
    pace=Pace(patience_s=0, watch_s=0.02),
    on_moment=at,
)
"""


@pytest.mark.slow
@pytest.mark.parametrize(("prepare", "named"), CASES, ids=[case[0].__name__[1:] for case in CASES])
def test_a_kill_at_any_moment_costs_nothing(tmp_path: Path, prepare: Callable[[Repo], list[str]], named: str) -> None:
    repo = lived_in(tmp_path / "repo")
    command = prepare(repo)
    done = repo.run(*command)
    failure = {
        "command": command,
        "exit_code": done.returncode,
        "stdout": done.stdout.decode(),
        "stderr": done.stderr.decode(),
        "cwd": str(repo.path),
    }
    before = photograph(repo.path)
    blobs = _contents(repo)
    kept = tmp_path / "kept"
    shutil.copytree(tmp_path / "repo", kept, symlinks=True)
    class_, _, reason = named.partition("/")
    request = HealRequest(repo.path, class_, reason, from_payload(failure))
    moments: list[str] = []
    assert heal(request, built_in_recipes(), pace=QUICK, on_moment=moments.append).outcome == "healed"
    assert moments[0] == "lease"
    assert moments[-1] == "done"

    for nth, moment in enumerate(moments, start=1):
        shutil.rmtree(repo.path)
        shutil.copytree(kept, repo.path, symlinks=True)
        assert _killed(class_, reason, nth, failure) == -signal.SIGKILL, moment
        assert blobs <= _reachable(repo), f"killed at {moment!r}: bytes are gone"
        if moment != "done":
            finish_cut_heal(probe(repo.path))
            assert photograph(repo.path) == before, f"killed at {moment!r}: not taken back exactly"
        assert heal(request, built_in_recipes(), pace=QUICK).outcome in {"healed", "retry"} or moment == "done"
        assert repo.passes(*command), f"killed at {moment!r}"


def test_work_that_went_on_after_a_kill_is_not_taken_back(tmp_path: Path) -> None:
    repo = lived_in(tmp_path / "repo")
    command = _in_the_way(repo)
    done = repo.run(*command)
    failure = {"command": command, "exit_code": 1, "stderr": done.stderr.decode(), "cwd": str(repo.path)}
    request = HealRequest(repo.path, "git", "dirty-tree", from_payload(failure))
    moments: list[str] = []
    copy = tmp_path / "copy"
    shutil.copytree(repo.path, copy, symlinks=True)
    heal(request, built_in_recipes(), pace=QUICK, on_moment=moments.append)
    shutil.rmtree(repo.path)
    shutil.copytree(copy, repo.path, symlinks=True)
    assert _killed("git", "dirty-tree", moments.index("check") + 1, failure) == -signal.SIGKILL
    repo.write("src/app.py", "somebody has worked here since\n")
    note = finish_cut_heal(probe(repo.path))
    assert "work has gone on since" in note
    assert repo.read("src/app.py") == "somebody has worked here since\n"
    assert finish_cut_heal(probe(repo.path)) == "", "it is told once"


def _killed(class_: str, reason: str, nth: int, failure: dict[str, object]) -> int:
    environ = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)}
    argv = [sys.executable, "-c", KILLED, class_, reason, str(nth), json.dumps(failure)]
    return subprocess.run(argv, env=environ, capture_output=True, check=False).returncode


def _contents(repo: Repo) -> set[str]:
    """The blob of every file of the work tree and of every readable index entry."""
    files = [path for path in repo.path.rglob("*") if path.is_file() and ".git" not in path.parts]
    found = {repo.git("hash-object", "--no-filters", str(path), check=False) for path in files}
    if len(found) < 2:  # a broken HEAD: git hashes outside of the repository
        found = {Repo(repo.path.parent).git("hash-object", "--no-filters", str(path)) for path in files}
    rows = repo.git("ls-files", "-s", check=False).splitlines()
    return found | {row.split()[1] for row in rows}


def _reachable(repo: Repo) -> set[str]:
    """What the work tree still has, and what refs, reflogs and the index reach."""
    listing = repo.git("rev-list", "--objects", "--all", "--reflog", "--indexed-objects", check=False)
    if not listing:  # a broken HEAD or index: by refs alone
        stand_in = {"GIT_DIR": str(repo.path.parent / "stand-in")}
        shutil.rmtree(stand_in["GIT_DIR"], ignore_errors=True)
        Repo(repo.path.parent).git("init", "-q", "--bare", stand_in["GIT_DIR"])
        shutil.copytree(repo.path / ".git" / "objects", f"{stand_in['GIT_DIR']}/objects", dirs_exist_ok=True)
        shutil.copytree(repo.path / ".git" / "refs", f"{stand_in['GIT_DIR']}/refs", dirs_exist_ok=True)
        listing = Repo(repo.path.parent).git("rev-list", "--objects", "--all", env=stand_in)
    return _contents(repo) | {line.split()[0] for line in listing.splitlines()}
