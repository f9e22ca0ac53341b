"""What a killed supervisor left running is found by its mark, with all that it has started, and nothing else is."""

from __future__ import annotations

import os
import subprocess
import sys
from typing import TYPE_CHECKING

import pytest

from rerail.process.survivors import VARIABLE, Survivor, mark, marked, survivors

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

MINE = mark("run-1", "unit", 1)


@pytest.fixture
def start() -> Iterator[Callable[..., subprocess.Popen[str]]]:
    """Starts a process that has printed a line and waits for its stdin to close."""
    started: list[subprocess.Popen[str]] = []

    def begin(code: str, env: dict[str, str]) -> subprocess.Popen[str]:
        process = subprocess.Popen(
            [sys.executable, "-c", code], env=env, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
        )
        started.append(process)
        assert process.stdout is not None
        process.stdout.readline()
        return process

    yield begin
    for process in started:
        process.communicate()


WAITS = "import sys; print('here', flush=True); sys.stdin.read()"


def test_a_process_is_found_by_its_mark_until_it_has_ended(start: Callable[..., subprocess.Popen[str]]) -> None:
    other = start(WAITS, marked(mark("run-1", "unit", 2)))
    process = start(WAITS, marked(MINE))
    (found,) = survivors(MINE)
    assert found.pid == process.pid != other.pid
    assert str(found) == f"{process.pid} ({found.name})"
    process.communicate()
    assert survivors(MINE) == ()


def test_who_was_started_by_it_and_has_lost_it_is_found(start: Callable[..., subprocess.Popen[str]]) -> None:
    code = f"import subprocess, sys; subprocess.Popen([sys.executable, '-c', {WAITS!r}])"
    parent = start(code, marked(MINE))
    parent.wait()
    (found,) = survivors(MINE)
    assert found.pid != parent.pid


def test_a_zombie_runs_no_more(start: Callable[..., subprocess.Popen[str]]) -> None:
    zombie = start("print('here', flush=True)", marked(MINE))
    os.waitid(os.P_PID, zombie.pid, os.WEXITED | os.WNOWAIT)
    assert survivors(MINE) == ()


def test_who_asks_is_none() -> None:
    """An agent that its killed supervisor left behind runs its unit again."""
    code = f"from rerail.process.survivors import survivors; print(survivors({MINE!r}), flush=True)"
    done = subprocess.run([sys.executable, "-c", code], env=marked(MINE), capture_output=True, text=True, check=True)
    assert done.stdout == "()\n"


def test_each_attempt_of_each_run_of_each_unit_has_its_own_mark() -> None:
    attempts = [("r", "u", 1), ("r", "u", 2), ("r", "u1", 1), ("ru", "", 1), ("r\udcff", "u\ud800", 1)]
    assert len({mark(*attempt) for attempt in attempts}) == len(attempts)
    assert all(value.isalnum() and value.isascii() for value in (mark(*attempt) for attempt in attempts))


def test_a_mark_adds_one_variable_to_our_own(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(VARIABLE, "of the attempt that started us")
    assert marked(MINE) == {**os.environ, VARIABLE: MINE}


def test_a_program_with_an_odd_name_is_shown_in_one_line() -> None:
    assert str(Survivor(7, "a b")) == "7 (a b)"
