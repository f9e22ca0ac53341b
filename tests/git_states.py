"""States that a repository can be in: small actions, drawn in any number and order, to be healed or backed up from."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

from tests.repositories import Repo, lines

if TYPE_CHECKING:
    from collections.abc import Callable


def edit(repo: Repo) -> None:
    repo.write("src/util.py", "edited, not staged\n")


def stage(repo: Repo) -> None:
    repo.write("docs/guide.md", "staged\n")
    repo.git("add", "docs/guide.md")


def stage_and_edit(repo: Repo) -> None:
    stage(repo)
    repo.write("docs/guide.md", "and edited again\n")


def stage_new(repo: Repo) -> None:
    repo.write("new/file.txt", "new\n")
    repo.git("add", "new/file.txt")


def intend_to_add(repo: Repo) -> None:
    repo.write("intended.txt", "not staged yet\n")
    repo.git("add", "-N", "intended.txt")


def remove(repo: Repo) -> None:
    (repo.path / "src" / "util.py").unlink(missing_ok=True)


def remove_from_index(repo: Repo) -> None:
    repo.git("rm", "-q", "--cached", "src/util.py", check=False)


def make_executable(repo: Repo) -> None:
    (repo.path / "docs" / "guide.md").chmod(0o755)


def become_a_link(repo: Repo) -> None:
    path = repo.path / "bin" / "tool"
    path.unlink()
    path.symlink_to("../src/app.py")


def dangle(repo: Repo) -> None:
    path = repo.path / "dangling"
    path.unlink(missing_ok=True)
    path.symlink_to("no/where")


def odd_names(repo: Repo) -> None:
    for name in (
        "with space",
        "tab\there",
        "new\nline",
        "back\\slash",
        "ünïcode",
        ".rerail-looks-like-ours",
        "git~1",
        "aux",
    ):
        repo.write(f"odd/{name}", f"{name}\n")
    (repo.path / os.fsdecode(b"odd/not-\xff-utf8")).write_bytes(b"bytes\n")


def special_files(repo: Repo) -> None:
    if not (repo.path / "pipe").exists():
        os.mkfifo(repo.path / "pipe")


def empty_and_large(repo: Repo) -> None:
    repo.write("empty", "")
    repo.write("large.bin", bytes(range(256)) * 4096)


def crlf(repo: Repo) -> None:
    repo.write("src/util.py", lines("util").replace("\n", "\r\n"))


def merge(repo: Repo) -> None:
    repo.git("merge", "topic", check=False)


def resolve_half(repo: Repo) -> None:
    repo.write("src/app.py", "half resolved\n")


def pick(repo: Repo) -> None:
    repo.git("cherry-pick", "topic", check=False)


def rebase(repo: Repo) -> None:
    repo.git("rebase", "--autostash", "topic", check=False)


def detach(repo: Repo) -> None:
    repo.git("checkout", "-q", "--detach", check=False)


def lock(repo: Repo) -> None:
    (repo.git_dir / "index.lock").write_text("somebody's")


ACTIONS: list[Callable[[Repo], None]] = [
    *(edit, stage, stage_and_edit, stage_new, intend_to_add, remove, remove_from_index, make_executable, become_a_link),
    *(dangle, odd_names, special_files, empty_and_large, crlf, merge, resolve_half, pick, rebase, detach),
]
