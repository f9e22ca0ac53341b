from __future__ import annotations

import os
import signal
import sys
import threading
import time
from contextlib import suppress
from typing import TYPE_CHECKING, Any

import psutil
import pytest
from tests.processes import PATIENCE_S

from rerail.process import EndRequest, run_child

if TYPE_CHECKING:
    from collections.abc import Callable

    from tests.processes import Fifo, Host


NOTES_SIGNALS = r"""
import os, signal, sys
log, gate = os.open(sys.argv[1], os.O_WRONLY), sys.argv[2]
def say(line): os.write(log, line.encode() + b"\n")  # print() may not be interrupted by a handler that prints
for name in ("SIGINT", "SIGTERM", "SIGHUP"):
    if signal.getsignal(signal.Signals[name]) is not signal.SIG_IGN:
        signal.signal(signal.Signals[name], lambda number, _: say(signal.Signals(number).name))
say("ready")
sys.exit(int(open(gate).readline()))
"""
"""A child that writes the signals it gets to a pipe, and ends only when the other pipe says with which code."""


def notes_signals(log: Fifo, gate: Fifo) -> list[str]:
    return [sys.executable, "-c", NOTES_SIGNALS, str(log.path), str(gate.path)]


def all_heard(log: Fifo) -> list[str]:
    """Return every line that was written to *log*; its writer has ended."""
    log.say("end")
    heard = []
    while (line := log.hear()) != "end":
        heard.append(line)
    return heard


@pytest.mark.parametrize("name", ["SIGINT", "SIGTERM", "SIGHUP"])
def test_a_signal_aimed_at_us_is_passed_on_once_and_the_child_may_end_in_its_own_way(
    name: str, host: Callable[..., Host], fifo: Callable[[str], Fifo]
) -> None:
    log, gate = fifo("log"), fifo("gate")
    running = host(notes_signals(log, gate), grace_s=PATIENCE_S)
    log.hear_until("ready")

    os.kill(running.pid, signal.Signals[name])
    assert log.hear() == name
    gate.say("5")

    finished = running.finished()
    assert (finished["exit_code"], finished["interrupted_by"], finished["timed_out"]) == (5, name, False)
    assert all_heard(log) == []


@pytest.mark.parametrize("to", ["us", "the group"])
@pytest.mark.parametrize("name", ["SIGINT", "SIGTERM", "SIGHUP"])
def test_a_child_gets_each_signal_exactly_once_and_after_its_grace_is_killed(
    name: str, to: str, host: Callable[..., Host], fifo: Callable[[str], Fifo]
) -> None:
    log = fifo("log")
    running = host(notes_signals(log, fifo("gate")), grace_s=0.5)
    log.hear_until("ready")

    (os.kill if to == "us" else os.killpg)(running.pid, signal.Signals[name])

    finished = running.finished()
    assert (finished["exit_code"], finished["signal"], finished["interrupted_by"]) == (None, "SIGKILL", name)
    assert all_heard(log) == [name]


def test_a_child_that_does_not_trap_the_signal_ends_by_it(
    host: Callable[..., Host], fifo: Callable[[str], Fifo]
) -> None:
    log = fifo("log")
    running = host(["sh", "-c", 'echo ready >"$0"; exec sleep 60', str(log.path)])
    log.hear_until("ready")
    os.kill(running.pid, signal.SIGTERM)
    finished = running.finished()
    assert (finished["signal"], finished["interrupted_by"]) == ("SIGTERM", "SIGTERM")


def test_a_shell_that_waits_for_its_command_still_runs_its_trap(
    host: Callable[..., Host], fifo: Callable[[str], Fifo]
) -> None:
    log = fifo("log")
    script = """
        trap 'echo cleaned; exit 6' TERM
        sh -c 'echo ready >"$0"; exec sleep 60' "$0"
        echo no
    """
    running = host(["sh", "-c", script, str(log.path)], grace_s=PATIENCE_S)
    log.hear_until("ready")
    os.kill(running.pid, signal.SIGTERM)
    finished = running.finished()
    assert (finished["exit_code"], finished["stdout"]) == (6, "cleaned\n")


def test_a_second_signal_is_passed_on_too(host: Callable[..., Host], fifo: Callable[[str], Fifo]) -> None:
    log, gate = fifo("log"), fifo("gate")
    running = host(notes_signals(log, gate), grace_s=PATIENCE_S)
    log.hear_until("ready")
    for name in ("SIGINT", "SIGTERM", "SIGINT"):
        os.kill(running.pid, signal.Signals[name])
        assert log.hear() == name
    gate.say("0")
    assert running.finished()["interrupted_by"] == "SIGINT"
    assert all_heard(log) == []


def test_each_of_two_signals_to_the_group_reaches_the_child_once(
    host: Callable[..., Host], fifo: Callable[[str], Fifo]
) -> None:
    log = fifo("log")
    running = host(notes_signals(log, fifo("gate")), grace_s=1.5)
    log.hear_until("ready")
    witness = witness_of(running)
    os.killpg(running.pid, signal.SIGINT)
    assert log.hear() == "SIGINT"
    witness_of(running, after=witness)
    os.killpg(running.pid, signal.SIGTERM)
    assert log.hear() == "SIGTERM"
    assert running.finished()["signal"] == "SIGKILL"
    assert all_heard(log) == []


def test_a_child_that_left_our_group_is_told_what_the_group_was_told(
    host: Callable[..., Host], fifo: Callable[[str], Fifo]
) -> None:
    log, gate = fifo("log"), fifo("gate")
    leaves = [sys.executable, "-c", "import os, sys; os.setpgid(0, 0); os.execvp(sys.argv[1], sys.argv[1:])"]
    running = host([*leaves, *notes_signals(log, gate)], grace_s=PATIENCE_S)
    log.hear_until("ready")
    os.killpg(running.pid, signal.SIGTERM)
    assert log.hear() == "SIGTERM"
    gate.say("0")
    assert running.finished()["exit_code"] == 0
    assert all_heard(log) == []


def test_an_orphan_that_will_not_end_is_killed_with_its_tree(
    host: Callable[..., Host], fifo: Callable[[str], Fifo]
) -> None:
    log = fifo("log")
    script = """
        sh -c 'trap "" TERM; echo $$ >"$0"; while :; do sleep 60; done' "$0" &
        wait
    """
    running = host(["sh", "-c", script, str(log.path)], grace_s=0.3)
    orphan = psutil.Process(int(log.hear()))
    os.kill(running.pid, signal.SIGTERM)
    finished = running.finished()
    assert finished["signal"] == "SIGTERM"  # the child itself went at once
    assert not orphan.is_running() or orphan.status() == psutil.STATUS_ZOMBIE


def test_a_reader_that_stands_still_delays_no_signal(host: Callable[..., Host], fifo: Callable[[str], Fifo]) -> None:
    log = fifo("log")
    code = (
        "import os, sys; os.write(1, b'x' * 65536); open(sys.argv[1], 'w').write('full\\n'); os.write(1, b'x' * 10**7)"
    )
    running = host([sys.executable, "-c", code, str(log.path)], grace_s=0.3)
    log.hear_until("full")
    os.kill(running.pid, signal.SIGTERM)
    # Its output is not read before it has ended.
    running.process.wait(PATIENCE_S)
    finished = running.finished()
    assert (finished["signal"], finished["interrupted_by"]) == ("SIGTERM", "SIGTERM")
    assert finished["closed_sinks"] == ["stdout"]


def test_a_signal_that_was_ignored_before_us_stays_ignored(
    host: Callable[..., Host], fifo: Callable[[str], Fifo]
) -> None:
    log, gate = fifo("log"), fifo("gate")
    ignore = {"preexec_fn": lambda: signal.signal(signal.SIGHUP, signal.SIG_IGN)}
    running = host(notes_signals(log, gate), grace_s=0.0, popen=ignore)
    log.hear_until("ready")
    os.kill(running.pid, signal.SIGHUP)
    gate.say("4")
    finished = running.finished()
    assert (finished["exit_code"], finished["interrupted_by"]) == (4, None)
    assert all_heard(log) == []


def test_an_exit_code_survives_a_parent_that_ignored_sigchld(host: Callable[..., Host]) -> None:
    ignore: dict[str, Any] = {"preexec_fn": lambda: signal.signal(signal.SIGCHLD, signal.SIG_IGN)}
    assert host(["sh", "-c", "exit 9"], popen=ignore).finished()["exit_code"] == 9


def test_an_end_that_someone_else_collected_is_unknown_and_no_success(monkeypatch: pytest.MonkeyPatch) -> None:
    thief = signal.signal(signal.SIGCHLD, lambda *_: collect_all())

    def collect_all() -> None:
        try:
            while os.waitpid(-1, os.WNOHANG)[0]:
                pass
        except ChildProcessError:
            pass

    try:
        finished = run_child(["sh", "-c", "exit 0"], stdout_to=None, stderr_to=None)
    finally:
        signal.signal(signal.SIGCHLD, thief)
    assert (finished.exit_code, finished.signal) == (None, None)


def test_handlers_and_the_wakeup_descriptor_are_given_back() -> None:
    read_end, write_end = os.pipe()
    os.set_blocking(write_end, False)
    mine = {number: (lambda *_: None) for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP, signal.SIGWINCH)}
    before = {number: signal.signal(number, handler) for number, handler in mine.items()}
    fd_before = signal.set_wakeup_fd(write_end)
    try:
        run_child(["true"], stdout_to=None, stderr_to=None)
        assert {number: signal.getsignal(number) for number in mine} == mine
        assert signal.set_wakeup_fd(fd_before) == write_end
    finally:
        signal.set_wakeup_fd(fd_before)
        for number, handler in before.items():
            signal.signal(number, handler)
        os.close(read_end)
        os.close(write_end)


def test_the_witness_does_not_outlive_us(host: Callable[..., Host], fifo: Callable[[str], Fifo]) -> None:
    log, gate = fifo("log"), fifo("gate")
    running = host(notes_signals(log, gate))
    log.hear_until("ready")
    witness = witness_of(running)
    running.process.kill()
    running.process.wait()
    gone, _ = psutil.wait_procs([witness], timeout=PATIENCE_S)
    gate.say("0")
    assert gone == [witness]


def test_a_host_that_is_killed_leaves_its_child_running(host: Callable[..., Host], fifo: Callable[[str], Fifo]) -> None:
    """What a killed host leaves is found at the next start; killing its work from here could not be done for sure."""
    log, gate = fifo("log"), fifo("gate")
    running = host(notes_signals(log, gate))
    log.hear_until("ready")
    running.process.kill()
    running.process.wait()
    gate.say("0")
    assert all_heard(log) == []


def witness_of(running: Host, *, after: psutil.Process | None = None) -> psutil.Process:
    """Wait for the witness, or for the one *after* another."""
    deadline_s = time.monotonic() + PATIENCE_S
    while time.monotonic() < deadline_s:
        for child in psutil.Process(running.pid).children():
            with suppress(psutil.NoSuchProcess):
                if child != after and child.name() == "cat":
                    return child
    pytest.fail("there is no witness")


def test_another_thread_can_ask_for_the_end_wherever_the_command_runs(fifo: Callable[[str], Fifo]) -> None:
    log, end = fifo("log"), EndRequest()
    script = f"echo ready > {log.path}; sleep 600 & sleep 600"
    ended: list[Any] = []

    def run() -> None:
        ended.append(run_child(["sh", "-c", script], stdout_to=None, stderr_to=None, end=end))

    thread = threading.Thread(target=run)
    thread.start()
    log.hear_until("ready")
    end.make()
    thread.join(PATIENCE_S)
    (finished,) = ended
    assert (finished.signal, finished.interrupted_by, finished.timed_out) == ("SIGTERM", "SIGTERM", False)


def test_a_command_that_starts_after_the_end_was_asked_for_is_told_at_once() -> None:
    end = EndRequest()
    end.make()
    end.make()
    assert end.wait(0)
    for _ in range(2):
        finished = run_child(["sleep", "600"], stdout_to=None, stderr_to=None, end=end)
        assert finished.interrupted_by == "SIGTERM"


def test_a_request_that_is_never_made_changes_nothing() -> None:
    end = EndRequest()
    finished = run_child(["sh", "-c", "exit 3"], stdout_to=None, stderr_to=None, end=end)
    assert (finished.exit_code, finished.interrupted_by, end.wait(0)) == (3, None, False)
    end.make()
