"""Real repositories for tests: made in a temporary directory, cut off from the user's own configuration, and photographed."""

from __future__ import annotations

import os
import stat
import subprocess
import tomllib
from pathlib import Path
from typing import TYPE_CHECKING

import attrs

from rerail.evidence.model import Evidence, Segment, Source, Stream, StreamName
from rerail.git.case import HealRequest, Pace
from rerail.git.heal import heal
from rerail.recipes.heal_schema import HealTable, heal_recipe

if TYPE_CHECKING:
    from collections.abc import Sequence

    from rerail.git.report import HealReport
    from rerail.recipes.heals import HealRecipe

QUICK = Pace(patience_s=0, watch_s=0.02)
OWN = ("rerail", "refs/rerail", "logs/refs/rerail")
RECIPES = Path(__file__).parents[1] / "recipes"


def built_in_recipes() -> tuple[HealRecipe, ...]:
    """The git heals that ship with rerail, and then the guides."""
    return tuple(
        attrs.evolve(heal_recipe(HealTable.model_validate(each), pack=pack), is_shipped=True)
        for pack in ("heal-git", "guide-git")
        for each in tomllib.loads((RECIPES / f"{pack}.toml").read_text(encoding="utf-8"))["heal"]
    )


def isolated(home: Path) -> dict[str, str]:
    """An environment in which git knows nothing of the machine that it runs on."""
    kept = {name: value for name, value in os.environ.items() if not name.startswith(("GIT_", "SSH_"))}
    home.mkdir(parents=True, exist_ok=True)
    config = home / ".gitconfig"
    if not config.exists():
        config.write_text(
            "[user]\n\tname = Ada\n\temail = ada@example.invalid\n[init]\n\tdefaultBranch = main\n"
            '[gc]\n\tauto = 0\n[core]\n\tfsync = none\n[protocol "file"]\n\tallow = always\n'
        )
    return {
        **kept,
        "HOME": str(home),
        "XDG_CONFIG_HOME": str(home / ".config"),
        "GIT_CONFIG_GLOBAL": str(config),
        "GIT_CONFIG_NOSYSTEM": "1",
        "GIT_CEILING_DIRECTORIES": str(home.parent),
        "GIT_EDITOR": "true",
        "LC_ALL": "C",
    }


@attrs.frozen
class Repo:
    """One work tree of a repository."""

    path: Path

    @property
    def git_dir(self) -> Path:
        return Path(self.git("rev-parse", "--absolute-git-dir"))

    def git(self, *args: str, stdin: bytes | None = None, check: bool = True, env: dict[str, str] | None = None) -> str:
        done = self.run("git", *args, stdin=stdin, env=env)
        assert not check or done.returncode == 0, f"git {args}: {done.stdout!r} {done.stderr!r}"
        return os.fsdecode(done.stdout).rstrip("\n")

    def run(
        self, *argv: str, stdin: bytes | None = None, env: dict[str, str] | None = None
    ) -> subprocess.CompletedProcess[bytes]:
        environ = {**os.environ, **(env or {})}
        return subprocess.run(argv, cwd=self.path, input=stdin or b"", capture_output=True, env=environ, check=False)

    def write(self, path: str, text: str | bytes = "") -> Path:
        file = self.path / path
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_bytes(text if isinstance(text, bytes) else text.encode())
        return file

    def read(self, path: str) -> str:
        return (self.path / path).read_text()

    def commit(self, message: str, **files: str) -> str:
        """Commit files given by name, with ``__`` for ``/`` and ``_dot_`` for a dot."""
        for name, text in files.items():
            path = name.replace("__", "/").replace("_dot_", ".")
            self.write(path, text)
            self.git("add", "--", path)
        self.git("commit", "-q", "-m", message)
        return self.head()

    def head(self, revision: str = "HEAD") -> str:
        return self.git("rev-parse", "--verify", revision)

    def fails(self, *argv: str, env: dict[str, str] | None = None) -> Evidence:
        """Run a command that must fail, and return the evidence of it."""
        done = self.run(*argv, env=env)
        assert done.returncode != 0, f"{argv} passed: {done.stdout!r}"
        return evidence(argv, done.returncode, done.stdout, done.stderr, str(self.path))

    def passes(self, *argv: str) -> bool:
        done = self.run(*argv)
        assert done.returncode == 0, f"{argv}: {done.stdout!r} {done.stderr!r}"
        return True

    def heal(self, failure: Evidence, full_reason: str, recipes: Sequence[HealRecipe] | None = None) -> HealReport:
        """Heal a failure that the rules have named."""
        class_, _, reason = full_reason.partition("/")
        request = HealRequest(self.path, class_, reason, failure)
        return heal(request, built_in_recipes() if recipes is None else recipes, pace=QUICK)


def evidence(argv: Sequence[str], exit_code: int, stdout: bytes, stderr: bytes, cwd: str) -> Evidence:
    texts = ((StreamName.STDERR, stderr), (StreamName.STDOUT, stdout))
    streams = tuple(
        Stream(name, (Segment(1, data.decode(errors="replace").rstrip("\n")),), data.count(b"\n"), len(data))
        for name, data in texts
        if data
    )
    return Evidence(Source.PROCESS, tuple(argv), "git", exit_code, streams=streams, cwd=cwd)


def new_repo(path: Path) -> Repo:
    """An empty repository."""
    path.mkdir(parents=True, exist_ok=True)
    repo = Repo(path)
    repo.git("init", "-q")
    return repo


def lived_in(path: Path) -> Repo:
    """A repository with history, a topic branch, a stash, an amended-away commit, untracked and ignored files."""
    repo = new_repo(path)
    repo.commit(
        "import", _dot_gitignore="*.log\nbuild/\n", src__app_dot_py=lines("app"), src__util_dot_py=lines("util")
    )
    repo.commit("docs", docs__guide_dot_md=lines("guide"))
    repo.git("commit", "-q", "--amend", "-m", "better docs")
    repo.git("checkout", "-q", "-b", "topic")
    repo.commit("topic work", src__topic_dot_txt=lines("topic"))
    repo.git("checkout", "-q", "main")
    repo.write("src/util.py", lines("util") + "stashed\n")
    repo.git("stash", "push", "-q", "-m", "earlier experiment")
    repo.write("notes.txt", "untracked\n")
    repo.write("build/cache.bin", b"\0\1\2")
    return repo


def with_origin(repo: Repo) -> Repo:
    """Give a repository a bare origin that has its branches; return the origin."""
    path = repo.path.parent / f"{repo.path.name}-origin.git"
    repo.git("init", "-q", "--bare", str(path))
    repo.git("remote", "add", "origin", str(path))
    repo.git("push", "-q", "-u", "origin", "main")
    return Repo(path)


def colleague_commits(repo: Repo, path: str, text: str, branch: str = "main") -> str:
    """Somebody else pushes one commit to origin; return it."""
    other = Repo(repo.path.parent / "colleague")
    if not other.path.exists():
        repo.git("clone", "-q", repo.git("remote", "get-url", "origin"), str(other.path))
    other.git("fetch", "-q")
    other.git("checkout", "-q", "-B", branch, f"origin/{branch}")
    other.write(path, text)
    other.git("add", "--", path)
    other.git("commit", "-q", "-m", f"change {path}")
    other.git("push", "-q", "origin", branch)
    return other.head()


def lines(label: str, count: int = 8) -> str:
    return "".join(f"{label} {number}\n" for number in range(count))


def photograph(path: Path, *, objects: bool = False) -> dict[str, tuple[int, bytes]]:
    """Every file below a directory with its mode and bytes, rerail's own area and (unless asked for) objects left out."""
    picture = {}
    for folder, names, files in os.walk(path):
        here = Path(folder)
        names[:] = [name for name in names if not _is_left_out(here / name, objects=objects)]
        for name in (*files, *names):
            file = here / name
            if file.is_symlink():
                picture[str(file.relative_to(path))] = (0, os.fsencode(file.readlink()))
            elif file.is_file():
                picture[str(file.relative_to(path))] = (stat.S_IMODE(file.stat().st_mode), file.read_bytes())
            elif ".git" not in file.parts:
                picture[str(file.relative_to(path))] = (stat.S_IMODE(file.stat().st_mode), b"")
    return picture


def _is_left_out(folder: Path, *, objects: bool) -> bool:
    inside = str(folder).rpartition("/.git/")[2]
    if inside == str(folder):
        return False
    inside = inside.split("/", 2)[2] if inside.startswith("worktrees/") and inside.count("/") >= 2 else inside
    return inside in OWN or (inside == "objects" and not objects)
