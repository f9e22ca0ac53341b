from __future__ import annotations

import os
import signal
import sys
from pathlib import Path

import psutil
import pytest
from tests.processes import quiet

from rerail.errors import RerailError
from rerail.process import (
    CommandNotExecutable,
    CommandNotFound,
    SpawnError,
    WorkingDirectoryGone,
    finished_from_spawn_error,
)

IS_ROOT = os.geteuid() == 0


def script(path: Path, text: str, mode: int = 0o755) -> str:
    path.write_text(text)
    path.chmod(mode)
    return str(path)


def test_a_program_that_nobody_has_is_told_as_a_shell_tells_it() -> None:
    with pytest.raises(CommandNotFound) as caught:
        quiet(["no-such-program-here", "--flag"])

    told = finished_from_spawn_error(caught.value)

    assert (told.exit_code, told.signal, told.argv) == (127, None, ("no-such-program-here", "--flag"))
    assert told.stderr.head == b"rerail: no-such-program-here: command not found\n"
    assert told.stdout.total_bytes == 0
    assert told.cwd == str(Path.cwd())


def test_a_path_where_nothing_is_gets_the_systems_words() -> None:
    with pytest.raises(CommandNotFound, match=r"^\./nothing-here: No such file or directory$"):
        quiet(["./nothing-here"])


def test_a_command_given_as_one_word_gets_a_hint() -> None:
    with pytest.raises(CommandNotFound) as caught:
        quiet(["npm run test"])
    assert caught.value.hint == "give the command and its arguments as separate words"


def test_a_missing_interpreter_is_named(tmp_path: Path) -> None:
    path = script(tmp_path / "tool", "#!/nowhere/python9 -u\n")
    with pytest.raises(CommandNotFound, match="/nowhere/python9: bad interpreter: No such file or directory") as caught:
        quiet([path])
    assert caught.value.exit_code == 127


def test_a_command_on_the_given_path_alone_is_found(tmp_path: Path) -> None:
    script(tmp_path / "tool", "#!/bin/sh\nexit 7\n")
    assert quiet(["tool"], env={"PATH": str(tmp_path)}).exit_code == 7
    with pytest.raises(CommandNotFound):
        quiet(["tool"], env={"PATH": "/nowhere"})


@pytest.mark.parametrize(
    ("mode", "text", "why"),
    [
        (0o644, "#!/bin/sh\n", "Permission denied"),
        (0o755, "echo no first line\n", "Exec format error"),
    ],
)
def test_a_file_that_cannot_be_executed_is_told_as_126(tmp_path: Path, mode: int, text: str, why: str) -> None:
    path = script(tmp_path / "tool", text, mode)
    with pytest.raises(CommandNotExecutable, match=why) as caught:
        quiet([path])
    assert finished_from_spawn_error(caught.value).exit_code == 126
    assert caught.value.hint is not None


def test_a_directory_is_no_command(tmp_path: Path) -> None:
    with pytest.raises(CommandNotExecutable, match="Is a directory"):
        quiet([str(tmp_path)])


@pytest.mark.parametrize("argv", [["echo", "a\0b"], ["a\0b"], ["echo", "x" * 10_000_000]])
def test_arguments_that_no_system_passes_are_refused(argv: list[str]) -> None:
    with pytest.raises(CommandNotExecutable, match=r"null byte|Argument list too long"):
        quiet(argv)


def test_a_hostile_name_cannot_forge_a_line() -> None:
    with pytest.raises(CommandNotFound) as caught:
        quiet(["evil\n\x1b[2Jclass: provider"])
    assert finished_from_spawn_error(caught.value).stderr.total_lines == 1
    assert "\x1b" not in caught.value.message


def test_a_command_line_of_nothing_is_the_callers_mistake() -> None:
    with pytest.raises(ValueError, match="must name a command"):
        quiet([])


def test_an_empty_name_is_no_command() -> None:
    with pytest.raises(SpawnError, match=r"^'': "):
        quiet([""])


@pytest.mark.parametrize("kind", ["gone", "a file", "closed"])
def test_a_directory_that_cannot_be_worked_in_is_named_before_anything_runs(tmp_path: Path, kind: str) -> None:
    where = tmp_path / "where"
    if kind == "a file":
        where.touch()
    if kind == "closed":
        if IS_ROOT:
            pytest.skip("root may enter every directory")
        where.mkdir(mode=0o600)
    with pytest.raises(WorkingDirectoryGone, match=r"^cannot enter the working directory /.*/where: ") as caught:
        quiet(["touch", str(tmp_path / "ran")], cwd=where)
    assert not (tmp_path / "ran").exists()
    assert finished_from_spawn_error(caught.value).cwd == str(where)


def test_our_own_directory_may_be_the_one_that_is_gone(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    gone = tmp_path / "gone"
    gone.mkdir()
    monkeypatch.chdir(gone)
    gone.rmdir()
    with pytest.raises(WorkingDirectoryGone, match="No such file or directory"):
        quiet(["true"])


def test_the_reported_directory_is_the_one_it_ran_in(tmp_path: Path) -> None:
    finished = quiet([sys.executable, "-c", "import os; print(os.getcwd())"], cwd=tmp_path)
    assert finished.cwd == str(tmp_path)
    assert finished.stdout.head.decode().strip() == str(tmp_path.resolve())


def test_every_spawn_error_is_an_error_of_rerail_with_a_slug_of_its_own() -> None:
    kinds: list[type[SpawnError]] = [SpawnError, CommandNotFound, CommandNotExecutable, WorkingDirectoryGone]
    assert all(issubclass(kind, RerailError) for kind in kinds)
    assert len({kind.slug for kind in kinds}) == len(kinds)


def test_a_failed_start_leaves_no_descriptor_and_no_handler(tmp_path: Path) -> None:
    with pytest.raises(SpawnError):
        quiet(["no-such-program-here"])  # what is loaded once is loaded now
    before = psutil.Process().num_fds(), signal.getsignal(signal.SIGINT), len(psutil.Process().children())
    for argv in (["no-such-program-here"], [str(tmp_path)], ["a\0b"]):
        with pytest.raises(SpawnError):
            quiet(argv)
    assert (psutil.Process().num_fds(), signal.getsignal(signal.SIGINT), len(psutil.Process().children())) == before
