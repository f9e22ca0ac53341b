"""What the worktree check before a unit costs, beside ``git status``, on 5,000 files: ``python benchmarks/check.py``.

In process, as a loop makes it; of a linked worktree as of a main checkout. Ends with 1 when it takes more than a fifth.
"""

from __future__ import annotations

import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import TYPE_CHECKING

from rerail.git.safety import check_worktree

if TYPE_CHECKING:
    from collections.abc import Callable

FILES, ROUNDS, MOST = 5_000, 25, 0.2


def git(cwd: Path, *words: str) -> None:
    subprocess.run(
        ("git", "-c", "user.name=a", "-c", "user.email=a@b", *words), cwd=cwd, check=True, capture_output=True
    )


def made(root: Path) -> Path:
    repo = root / "repo"
    for number in range(FILES):
        file = repo / f"d{number // 100}" / f"f{number}.txt"
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(f"{number}\n")
    git(repo, "init", "-q")
    git(repo, "add", "-A")
    git(repo, "commit", "-qm", "5,000 files")
    git(repo, "worktree", "add", "-q", "../linked")
    return repo


def best_ms(function: Callable[[], object]) -> float:
    best = float("inf")
    for _ in range(ROUNDS):
        started = time.perf_counter()
        function()
        best = min(best, time.perf_counter() - started)
    return best * 1000


def main() -> int:
    with tempfile.TemporaryDirectory() as directory:
        repo = made(Path(directory).resolve())
        worst = 0.0
        for tree in (repo, repo.parent / "linked"):
            assert check_worktree(tree).ok
            status_ms = best_ms(lambda tree=tree: git(tree, "status", "--porcelain"))  # type: ignore[misc]  # bound now
            check_ms = best_ms(lambda tree=tree: check_worktree(tree))  # type: ignore[misc]  # bound now
            worst = max(worst, check_ms / status_ms)
            print(f"{tree.name}: check {check_ms:.2f} ms, git status {status_ms:.1f} ms, {check_ms / status_ms:.3f}x")
    return 1 if worst > MOST else 0


if __name__ == "__main__":
    sys.exit(main())
