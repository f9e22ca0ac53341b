"""Repositories that a heal puts right, one for each kind of step: to be killed in, and to be taken back.

And the killing itself: what is run in a process of its own ends at one of the moments that it passes, by SIGKILL.
"""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
import sys
from typing import TYPE_CHECKING

from tests.repositories import Repo, colleague_commits, lines, with_origin

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence
    from pathlib import Path


def stale_locks(repo: Repo) -> list[str]:
    for name in ("index.lock", "refs/heads/main.lock"):
        (repo.git_dir / name).write_text("stale")
    return ["git", "commit", "--allow-empty", "-m", "x"]


def reformatted(repo: Repo) -> list[str]:
    hook = repo.git_dir / "hooks" / "pre-commit"
    hook.parent.mkdir(exist_ok=True)
    hook.write_text(
        "#!/bin/sh\ngrep -q ' $' f.txt || exit 0\nsed -i 's/ *$//' f.txt\necho files were modified by this hook\nexit 1\n"
    )
    hook.chmod(0o755)
    repo.write("f.txt", "a  \nb\n")
    repo.git("add", "f.txt")
    return ["git", "commit", "-m", "f"]


def behind(repo: Repo) -> list[str]:
    with_origin(repo)
    colleague_commits(repo, "deep/er/theirs.txt", "theirs\n")
    repo.commit("ours", src__ours_dot_txt="ours\n")
    repo.write("docs/guide.md", "a draft\n")
    return ["git", "push", "origin", "main"]


def detached(repo: Repo) -> list[str]:
    with_origin(repo)
    repo.git("checkout", "-q", "--detach")
    repo.commit("on it", src__ours_dot_txt="ours\n")
    return ["git", "push"]


def conflicting(repo: Repo) -> None:
    repo.git("checkout", "-q", "topic")
    repo.commit("theirs", src__app_dot_py=lines("theirs"))
    repo.git("checkout", "-q", "main")
    repo.commit("ours", src__app_dot_py=lines("ours"))


def resolved(repo: Repo) -> list[str]:
    with_origin(repo)
    conflicting(repo)
    repo.git("merge", "topic", check=False)
    repo.write("src/app.py", "resolved\n")
    repo.git("add", "src/app.py")
    return ["git", "pull"]


def in_the_way(repo: Repo) -> list[str]:
    conflicting(repo)
    repo.write("src/app.py", "staged\n")
    repo.git("add", "src/app.py")
    repo.write("src/app.py", "and edited\n")
    return ["git", "checkout", "topic"]


def untracked(repo: Repo) -> list[str]:
    repo.write("src/topic.txt", "mine\n")
    return ["git", "merge", "topic"]


def index_damaged(repo: Repo) -> list[str]:
    repo.write("src/app.py", "edited\n")
    (repo.git_dir / "index").write_bytes(b"junk" * 50)
    return ["git", "add", "src/app.py"]


def head_damaged(repo: Repo) -> list[str]:
    (repo.git_dir / "HEAD").write_bytes(b"\0" * 41)
    return ["git", "log", "-1"]


CASES: list[tuple[Callable[[Repo], list[str]], str]] = [
    (stale_locks, "git/index-lock"),
    (reformatted, "git/hook-reformatted"),
    (behind, "git/non-fast-forward"),
    (detached, "git/detached-head"),
    (resolved, "git/operation-in-progress"),
    (in_the_way, "git/dirty-tree"),
    (untracked, "git/untracked-in-way"),
    (index_damaged, "git/corrupt-index"),
    (head_damaged, "worktree/not-a-repository"),
]

_AT = """
import os, signal, sys
passed = []

def at(moment):
    passed.append(moment)
    if len(passed) == int(sys.argv[1]):
        os.kill(os.getpid(), signal.SIGKILL)
"""


def failed(repo: Repo, command: list[str]) -> dict[str, object]:
    """Run a command, and return what became of it as evidence JSON."""
    done = repo.run(*command)
    return {
        "command": command,
        "exit_code": done.returncode,
        "stdout": done.stdout.decode(),
        "stderr": done.stderr.decode(),
        "cwd": str(repo.path),
    }


def killed_at(nth: int, code: str, *arguments: str) -> int:
    """Run code that calls ``at`` at each of its moments, end it at the *nth*, counted from 1, and return its exit code.

    Args:
        nth: The moment.
        code: What is run; its arguments begin with ``sys.argv[2]``.
        arguments: Those.
    """
    environ = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)}
    argv = [sys.executable, "-c", _AT + code, str(nth), *arguments]
    return subprocess.run(argv, env=environ, capture_output=True, check=False).returncode


def at_each_of(moments: Sequence[str], repo: Repo, kept: Path, code: str, *arguments: str) -> Iterator[str]:
    """Yield each moment once the repository was brought back to what is *kept*, and code was killed there at that moment."""
    for nth, moment in enumerate(moments, start=1):
        shutil.rmtree(repo.path)
        shutil.copytree(kept, repo.path, symlinks=True)
        assert killed_at(nth, code, *arguments) == -signal.SIGKILL, moment
        yield moment
