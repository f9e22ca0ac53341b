"""One ledger per repository, outside of its work tree, wherever one stands in it; and a place for it where that cannot be."""

from __future__ import annotations

import os
import shutil
import subprocess
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from tests.ledgers import charge, files, finished, python

from rerail.errors import UsageError
from rerail.ledger import location
from rerail.ledger.location import locate, open_ledger

if TYPE_CHECKING:
    from collections.abc import Mapping


@pytest.fixture
def state(tmp_path: Path) -> Path:
    return tmp_path / "state"


@pytest.fixture
def environ(state: Path) -> Mapping[str, str]:
    return {"XDG_STATE_HOME": str(state)}


@pytest.fixture
def repository(tmp_path: Path) -> Path:
    """A repository with one commit and a linked worktree beside it, ``wt``."""
    root = tmp_path / "My Repo é"
    git(tmp_path, "init", "-q", str(root))
    git(root, "-c", "user.name=a", "-c", "user.email=a@b", "commit", "-q", "--allow-empty", "-m", "x")
    git(root, "worktree", "add", "-q", str(tmp_path / "wt"))
    return root


def git(cwd: Path, *arguments: str) -> None:
    environ = {name: value for name, value in os.environ.items() if not name.startswith("GIT_")}
    subprocess.run(["git", *arguments], cwd=cwd, check=True, env=environ)


class TestRepository:
    def test_the_ledger_lies_in_the_state_directory_under_the_name_of_the_repository(
        self, repository: Path, state: Path, environ: Mapping[str, str]
    ) -> None:
        found = locate(repository, environ)
        assert found.path.parent == state / "rerail"
        assert found.path.name == f"{found.key}.sqlite3"
        assert found.key.startswith("My-Repo-")
        assert found.key.isascii()
        assert found.note == ""

    def test_every_directory_and_worktree_of_it_has_the_same(
        self, repository: Path, tmp_path: Path, environ: Mapping[str, str]
    ) -> None:
        (repository / "a" / "b").mkdir(parents=True)
        (tmp_path / "wt" / "sub").mkdir()
        (tmp_path / "link").symlink_to(repository / "a", target_is_directory=True)
        places = [
            repository,
            repository / "a" / "b",
            repository / "a" / ".." / "a",
            repository / ".git",
            repository / ".git" / "refs" / "heads",
            repository / ".git" / "worktrees" / "wt",
            tmp_path / "wt",
            tmp_path / "wt" / "sub",
            tmp_path / "link" / "b",
        ]
        assert {locate(place, environ) for place in places} == {locate(repository, environ)}

    @pytest.mark.parametrize("broken", ["its entry is gone", "its entry lost commondir", "its repository is gone"])
    def test_a_broken_worktree_keeps_the_ledger_that_it_had(
        self, repository: Path, tmp_path: Path, environ: Mapping[str, str], broken: str
    ) -> None:
        whole = locate(tmp_path / "wt", environ)
        entry = repository / ".git" / "worktrees" / "wt"
        if broken == "its entry is gone":
            shutil.rmtree(entry)
        elif broken == "its entry lost commondir":
            (entry / "commondir").unlink()
        else:
            shutil.rmtree(repository)
        assert locate(tmp_path / "wt", environ) == whole

    def test_a_repository_that_lost_its_head_keeps_its_ledger(
        self, repository: Path, environ: Mapping[str, str]
    ) -> None:
        whole = locate(repository, environ)
        (repository / ".git" / "HEAD").unlink()
        assert locate(repository, environ) == whole

    @pytest.mark.parametrize("said", [b"", b"gitdir:", b"\xff\0garbage\n" * 1000, b"gitdir: nowhere\n", b"x" * 10**6])
    def test_a_git_file_of_nonsense_is_a_place_of_its_own(
        self, tmp_path: Path, environ: Mapping[str, str], said: bytes
    ) -> None:
        (tmp_path / "proj" / "sub").mkdir(parents=True)
        (tmp_path / "proj" / ".git").write_bytes(said)
        assert locate(tmp_path / "proj", environ) == locate(tmp_path / "proj" / "sub", environ)

    def test_a_git_file_that_cannot_be_read_is_no_crash(self, tmp_path: Path, environ: Mapping[str, str]) -> None:
        os.mkfifo(tmp_path / ".git")
        assert locate(tmp_path, environ).key

    def test_a_bare_repository_is_one(self, tmp_path: Path, environ: Mapping[str, str]) -> None:
        git(tmp_path, "init", "-q", "--bare", "bare.git")
        assert locate(tmp_path / "bare.git" / "refs", environ) == locate(tmp_path / "bare.git", environ)
        assert locate(tmp_path / "bare.git", environ).key.startswith("bare-git-")

    def test_a_submodule_is_a_repository_of_its_own(self, repository: Path, environ: Mapping[str, str]) -> None:
        inner = repository / ".git" / "modules" / "worktrees" / "lib"
        git(repository, "init", "-q", "--separate-git-dir", str(inner), "lib")
        assert locate(repository / "lib", environ).key != locate(repository, environ).key
        assert locate(repository / "lib", environ).key == locate(inner, environ).key

    def test_two_repositories_of_one_name_are_two(self, tmp_path: Path, environ: Mapping[str, str]) -> None:
        for parent in ("a", "b"):
            git(tmp_path, "init", "-q", f"{parent}/same")
        keys = {locate(tmp_path / parent / "same", environ).key for parent in ("a", "b")}
        assert len(keys) == 2

    def test_git_need_not_be_there(self, repository: Path, state: Path) -> None:
        code = """
import sys, os
from pathlib import Path
from rerail.ledger.location import locate
print(locate(Path(sys.argv[1]), os.environ).key)
assert "subprocess" not in sys.modules
"""
        environ = {"XDG_STATE_HOME": str(state), "PATH": "/nowhere"}
        assert finished(python(code, repository, env=environ)).strip() == locate(repository, environ).key


class TestProject:
    def test_outside_of_git_the_project_root_names_it(self, tmp_path: Path, environ: Mapping[str, str]) -> None:
        (tmp_path / "proj" / "deep" / "er").mkdir(parents=True)
        (tmp_path / "proj" / "rerail.toml").touch()
        assert locate(tmp_path / "proj" / "deep" / "er", environ) == locate(tmp_path / "proj", environ)
        assert locate(tmp_path / "proj", environ).key.startswith("proj-")

    def test_outside_of_everything_the_directory_names_it(self, tmp_path: Path, environ: Mapping[str, str]) -> None:
        (tmp_path / "a").mkdir()
        assert locate(tmp_path, environ).key != locate(tmp_path / "a", environ).key

    def test_a_directory_that_is_gone_still_has_a_place(self, tmp_path: Path, environ: Mapping[str, str]) -> None:
        assert locate(tmp_path / "gone", environ).path.parent == Path(environ["XDG_STATE_HOME"]) / "rerail"

    @pytest.mark.parametrize("name", [os.fsdecode(b"\xff\xfe"), "日本語", "...", "n" * 255, "a\nb; rm -rf"])
    def test_any_directory_name_gives_a_file_name(self, tmp_path: Path, environ: Mapping[str, str], name: str) -> None:
        (tmp_path / name).mkdir()
        found = locate(tmp_path / name, environ)
        assert found.path.name.removesuffix(".sqlite3").replace("-", "").isalnum()
        assert len(found.path.name) < 100


class TestChosen:
    @pytest.mark.parametrize(
        ("value", "place"),
        [
            ("/abs/ledger.sqlite3", "/abs/ledger.sqlite3"),
            ("rel/ledger.db", "{cwd}/rel/ledger.db"),
            ("~/ledger.db", "{home}/ledger.db"),
            ("a:b", "{cwd}/a:b"),
        ],
    )
    def test_the_variable_takes_a_path(
        self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, value: str, place: str
    ) -> None:
        monkeypatch.setenv("HOME", "/home/me")
        found = locate(tmp_path, {"RERAIL_LEDGER": value})
        assert str(found.path) == place.format(cwd=tmp_path, home="/home/me")
        assert found.note == ""
        assert found.key == locate(tmp_path, {"XDG_STATE_HOME": "/x"}).key

    def test_an_empty_one_is_as_none(self, tmp_path: Path, environ: Mapping[str, str]) -> None:
        assert locate(tmp_path, {**environ, "RERAIL_LEDGER": ""}) == locate(tmp_path, environ)

    @pytest.mark.parametrize("scheme", ["postgres", "postgresql"])
    def test_a_postgresql_url_is_told_what_to_use_and_its_password_is_not_repeated(
        self, tmp_path: Path, scheme: str
    ) -> None:
        with pytest.raises(UsageError, match="keeps its ledger in a SQLite file only") as raised:
            locate(tmp_path, {"RERAIL_LEDGER": f"{scheme}://me:hunter2@db/rerail"})
        assert "hunter2" not in f"{raised.value.message} {raised.value.hint}"
        assert "set RERAIL_LEDGER to a path" in str(raised.value.hint)

    def test_another_url_is_no_path(self, tmp_path: Path) -> None:
        with pytest.raises(UsageError, match="must be the path of a file, got a 'sqlite' URL"):
            locate(tmp_path, {"RERAIL_LEDGER": "sqlite:///x"})


class TestFallback:
    def test_where_the_state_directory_cannot_be_written_the_project_holds_it_and_it_says_so(
        self, repository: Path, tmp_path: Path
    ) -> None:
        (tmp_path / "file").touch()
        for cwd in (repository, repository / ".git"):
            found = locate(cwd, {"XDG_STATE_HOME": str(tmp_path / "file")})
            assert found.key == locate(cwd, {"XDG_STATE_HOME": str(tmp_path)}).key
            assert "cannot be written" in found.note
            assert repr(str(tmp_path / "file" / "rerail")) in found.note
        (repository / "sub").mkdir()
        found = locate(repository / "sub", {"XDG_STATE_HOME": str(tmp_path / "file")})
        assert found.path == repository / ".rerail" / "ledger.sqlite3"

    def test_the_project_stays_clean(self, repository: Path, tmp_path: Path) -> None:
        (tmp_path / "file").touch()
        ledger = open_ledger(locate(repository, {"XDG_STATE_HOME": str(tmp_path / "file")}))
        assert not (repository / ".rerail").exists()
        ledger.charge(charge())
        assert (repository / ".rerail" / "ledger.sqlite3").is_file()
        assert (repository / ".rerail" / ".gitignore").read_text().startswith("*\n")
        status = subprocess.run(["git", "-C", repository, "status", "--porcelain"], check=True, capture_output=True)
        assert status.stdout == b""
        ledger.close()

    def test_a_user_without_rights_there_gets_the_project(self) -> None:
        """Real permissions: root has all of them, so a process of somebody else looks."""
        base = Path(tempfile.mkdtemp())
        base.chmod(0o777)
        for name, mode in (("closed", 0o555), ("open", 0o777), ("secret", 0o700)):
            (base / name).mkdir()
            (base / name).chmod(mode)
        (base / "proj").mkdir()
        (base / "open" / "rerail").mkdir(mode=0o755)
        places = {name: said(base / "proj", base / name) for name in ("closed", "open", "secret")}
        shutil.rmtree(base)
        assert places == dict.fromkeys(("closed", "open", "secret"), str(base / "proj" / ".rerail" / "ledger.sqlite3"))

    def test_a_sandbox_that_forbids_what_the_permissions_allow_is_noticed(
        self, tmp_path: Path, environ: Mapping[str, str], monkeypatch: pytest.MonkeyPatch
    ) -> None:
        """Landlock answers so; the refusal of the one call stands for it."""
        opened = os.open

        def forbidden(path: object, flags: int, *rest: int) -> int:
            if flags & os.O_TMPFILE == os.O_TMPFILE:
                raise PermissionError
            return opened(path, flags, *rest)  # type: ignore[arg-type]  # as it was called

        monkeypatch.setattr(os, "open", forbidden)
        assert "cannot be written" in locate(tmp_path, environ).note

    def test_looking_leaves_no_trace(self, tmp_path: Path, environ: Mapping[str, str], state: Path) -> None:
        state.mkdir()
        before = state.stat().st_mtime_ns
        locate(tmp_path, environ)
        assert files(state) == {}
        assert list(state.iterdir()) == []
        assert state.stat().st_mtime_ns == before

    @pytest.mark.parametrize("home", [None, "", "relative"])
    def test_without_a_home_there_is_still_a_place(self, tmp_path: Path, home: str | None) -> None:
        """Nobody in the password database either: as in many containers."""
        code = """
import os, sys
from pathlib import Path
if os.geteuid() == 0:
    os.setuid(54321)
from rerail.ledger.location import locate
found = locate(Path(sys.argv[1]), os.environ)
print(found.path, found.note, sep="\\n")
"""
        base = Path(tempfile.mkdtemp())
        base.chmod(0o777)
        environ = {name: value for name, value in os.environ.items() if name not in ("HOME", "XDG_STATE_HOME")}
        if home is not None:
            environ["HOME"] = home
        code = code.replace("os.setuid(54321)", "import rerail.ledger.location, platformdirs.unix; os.setuid(54321)")
        path, note = finished(python(code, base, env=environ)).splitlines()
        shutil.rmtree(base)
        if os.geteuid() == 0:
            assert path == str(base / ".rerail" / "ledger.sqlite3")
            assert note
        assert Path(path).is_absolute()

    def test_by_default_it_is_where_the_platform_keeps_state(
        self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        from platformdirs import user_state_path

        monkeypatch.setenv("HOME", str(tmp_path))
        monkeypatch.delenv("XDG_STATE_HOME", raising=False)
        found = locate(tmp_path, {"XDG_STATE_HOME": "relative/is/ignored"})
        assert found.path.parent == user_state_path("rerail", appauthor=False)
        assert found.path.is_relative_to(tmp_path)


def said(cwd: Path, state: Path) -> str:
    """Where a user without rights would keep the ledger."""
    reader, writer = os.pipe()
    pid = os.fork()
    if pid == 0:
        try:
            if os.geteuid() == 0:
                os.setgroups([])
                os.setgid(65534)
                os.setuid(65534)
            os.write(writer, str(location.locate(cwd, {"XDG_STATE_HOME": str(state)}).path).encode())
        except BaseException as error:
            os.write(writer, repr(error).encode())
        finally:
            os._exit(0)
    os.close(writer)
    with os.fdopen(reader, encoding="utf-8") as pipe:
        told = pipe.read()
    os.waitpid(pid, 0)
    return told
