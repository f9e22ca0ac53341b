"""One ledger per repository, outside of its work tree, wherever one stands in it; and a place for it where that cannot be."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import tempfile
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from tests.ledgers import charge, files, finished, python, without_rights

from rerail.errors import UsageError
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
        inner.parent.mkdir(parents=True)
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

        def place(state: str) -> str:
            return str(locate(base / "proj", {"XDG_STATE_HOME": str(base / state)}).path)

        places = {name: without_rights(partial(place, name)) for name in ("closed", "open", "secret")}
        shutil.rmtree(base)
        assert places == dict.fromkeys(("closed", "open", "secret"), str(base / "proj" / ".rerail" / "ledger.sqlite3"))

    def test_a_sandbox_that_forbids_what_the_permissions_allow_is_noticed(self) -> None:
        base = Path(tempfile.mkdtemp())
        base.chmod(0o755)
        for name in ("proj", "state"):
            (base / name).mkdir()
            (base / name).chmod(0o777)

        def look() -> str:
            if not forbid_files_outside(base / "proj"):
                return "no Landlock"
            assert os.access(base / "state", os.W_OK)
            return str(locate(base / "proj", {"XDG_STATE_HOME": str(base / "state")}).path)

        said = without_rights(look)
        shutil.rmtree(base)
        if said == "no Landlock":
            pytest.skip("this kernel has no Landlock")
        assert said == str(base / "proj" / ".rerail" / "ledger.sqlite3")

    def test_a_sandbox_hides_a_ledger_that_was_made_outside_of_it(self) -> None:
        base = Path(tempfile.mkdtemp())
        base.chmod(0o755)
        for name in ("proj", "state"):
            (base / name).mkdir()
            (base / name).chmod(0o777)
        environ = {"XDG_STATE_HOME": str(base / "state")}

        def look() -> str:
            ledger = open_ledger(locate(base / "proj", environ))
            ledger.charge(charge())
            ledger.close()
            if not forbid_files_outside(base / "proj"):
                return "no Landlock"
            return str(locate(base / "proj", environ).path)

        said = without_rights(look)
        shutil.rmtree(base)
        if said == "no Landlock":
            pytest.skip("this kernel has no Landlock")
        assert said == str(base / "proj" / ".rerail" / "ledger.sqlite3")

    @pytest.mark.skipif(not Path("/proc/self").exists(), reason="Linux has these file systems")
    @pytest.mark.parametrize(
        "state", ["/proc", "/proc/self", "/proc/sys", "/sys", "/sys/kernel", "/dev/null", "/dev/pts"]
    )
    def test_the_file_systems_of_the_kernel_take_no_ledger_though_root_may_write_there(
        self, tmp_path: Path, state: str
    ) -> None:
        found = locate(tmp_path, {"XDG_STATE_HOME": state})
        assert found.path == tmp_path / ".rerail" / "ledger.sqlite3"
        assert f"{state}/rerail' cannot be written" in found.note

    @pytest.mark.skipif(shutil.which("unshare") is None, reason="a disk of its own needs Linux")
    @pytest.mark.parametrize(
        ("disk", "filled", "is_in_state"),
        [
            ("size=1m", "", True),
            ("size=1m,ro", "", False),
            ("size=1m", "data", False),
            ("size=1m", "ledger, data", True),
        ],
    )
    def test_a_disk_that_is_full_or_read_only_takes_no_new_ledger_and_keeps_the_one_it_has(
        self, tmp_path: Path, disk: str, filled: str, is_in_state: bool
    ) -> None:
        code = """
import os, subprocess, sys
from pathlib import Path
from rerail.ledger.location import locate, open_ledger
from tests.ledgers import charge
state, options, filled = Path(sys.argv[1]), sys.argv[2], sys.argv[3]
state.mkdir()
project = state.parent / "project"
project.mkdir()
if subprocess.run(["mount", "-t", "tmpfs", "-o", options, "disk", state]).returncode:
    sys.exit("no mounts")
if "ledger" in filled:
    ledger = open_ledger(locate(project, os.environ))
    ledger.charge(charge())
    ledger.close()
if "data" in filled:
    with (state / "data").open("wb", buffering=0) as data:
        try:
            while True:
                data.write(bytes(4096))
        except OSError:
            pass
print(locate(project, os.environ).path.is_relative_to(state))
"""
        state = tmp_path / "state"
        own = ["unshare", "--mount", *([] if os.geteuid() == 0 else ["--map-root-user"]), sys.executable, "-c", code]
        done = subprocess.run(
            [*own, str(state), disk, filled],
            env={**os.environ, "XDG_STATE_HOME": str(state)},
            capture_output=True,
            text=True,
            check=False,
        )
        if done.stderr.strip().endswith("no mounts") or done.stderr.startswith("unshare"):
            pytest.skip("no mounts here")
        assert done.stdout == f"{is_in_state}\n", done.stderr

    def test_looking_leaves_no_trace(self, tmp_path: Path, environ: Mapping[str, str], state: Path) -> None:
        state.mkdir()
        before = state.stat().st_mtime_ns
        locate(tmp_path, environ)
        assert files(state) == {}
        assert list(state.iterdir()) == []
        assert state.stat().st_mtime_ns == before

    @pytest.mark.skipif(os.geteuid() != 0, reason="only root can become somebody who has no home")
    @pytest.mark.parametrize("home", [None, "", "relative"])
    def test_without_a_home_there_is_still_a_place(self, home: str | None) -> None:
        """Nobody in the password database either: as in many containers."""
        base = Path(tempfile.mkdtemp())
        base.chmod(0o777)

        def look() -> str:
            os.environ.pop("HOME", None)
            os.environ.pop("XDG_STATE_HOME", None)
            if home is not None:
                os.environ["HOME"] = home
            found = locate(base, os.environ)
            return f"{found.path}\n{found.note}"

        path, note = without_rights(look, uid=54321).splitlines()
        shutil.rmtree(base)
        assert path == str(base / ".rerail" / "ledger.sqlite3")
        assert "there is no home directory" in note

    def test_by_default_it_is_where_the_platform_keeps_state(
        self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        from platformdirs import user_state_path

        monkeypatch.setenv("HOME", str(tmp_path))
        monkeypatch.delenv("XDG_STATE_HOME", raising=False)
        found = locate(tmp_path, {"XDG_STATE_HOME": "relative/is/ignored"})
        assert found.path.parent == user_state_path("rerail", appauthor=False)
        assert found.path.is_relative_to(tmp_path)


def forbid_files_outside(directory: Path) -> bool:
    """Let this process make and write files below *directory* only, for good; False where the kernel has no Landlock."""
    import ctypes

    create_ruleset, add_rule, restrict_self = 444, 445, 446
    write_file, make_regular, no_new_privileges = 1 << 1, 1 << 8, 38
    libc = ctypes.CDLL(None)
    forbidden = ctypes.c_uint64(write_file | make_regular)
    ruleset = libc.syscall(create_ruleset, ctypes.byref(forbidden), 8, 0)
    if ruleset < 0:
        return False
    beneath = forbidden.value.to_bytes(8, "little") + os.open(directory, os.O_PATH).to_bytes(4, "little")
    libc.syscall(add_rule, ruleset, 1, beneath, 0)
    libc.prctl(no_new_privileges, 1, 0, 0, 0)
    return bool(libc.syscall(restrict_self, ruleset, 0) == 0)
