from __future__ import annotations

import fcntl
import os
import signal
import subprocess
import termios
import threading
from typing import TYPE_CHECKING

import pytest
from tests.processes import COLUMNS, LINES, PATIENCE_S, Terminal, python

from rerail.process import run_child

if TYPE_CHECKING:
    from collections.abc import Callable

    from tests.processes import Fifo, Host


LOOK = """
import os, sys
for fd in (1, 2):
    print(os.isatty(fd), tuple(os.get_terminal_size(fd)) if os.isatty(fd) else None, end=" ")
print(os.environ.get("COLUMNS"), os.environ.get("LINES"))
"""


def test_a_child_shown_in_a_terminal_sees_a_terminal_of_that_size(terminal: Terminal) -> None:
    finished = run_child(python(LOOK), env={}, stdout_to=terminal.sink, stderr_to=terminal.sink)
    size = f"True ({COLUMNS}, {LINES})"
    assert finished.stdout.head.decode() == f"{size} {size} None None\n"
    assert terminal.all().decode() == f"{size} {size} None None\r\n"


@pytest.mark.parametrize("shown", ["stdout", "stderr"])
def test_each_stream_is_a_terminal_only_when_its_own_sink_is_one(terminal: Terminal, shown: str) -> None:
    out, err = (terminal.sink if name == shown else None for name in ("stdout", "stderr"))
    finished = run_child(python(LOOK), env={}, stdout_to=out, stderr_to=err)
    one, none = f"True ({COLUMNS}, {LINES})", "False None"
    expected = f"{one} {none}" if shown == "stdout" else f"{none} {one}"
    assert finished.stdout.head.decode() == f"{expected} None None\n"


def test_streams_of_one_terminal_are_captured_apart(terminal: Terminal) -> None:
    finished = run_child(["sh", "-c", "echo out; echo err >&2"], stdout_to=terminal.sink, stderr_to=terminal.sink)
    assert (finished.stdout.head, finished.stderr.head) == (b"out\n", b"err\n")
    assert sorted(terminal.all().split()) == [b"err", b"out"]


def test_bytes_pass_a_terminal_untouched(terminal: Terminal) -> None:
    every = bytes(range(256)) * 40 + b"a\nb\r\n\x1b[31mred\x1b[0m\t10%\r100%"
    write = "import os, sys; data = bytes.fromhex(sys.argv[1]); os.write(1, data)"
    finished = run_child(python(write, every.hex()), stdout_to=terminal.sink, stderr_to=None)
    assert finished.stdout.head == every
    assert terminal.all() == every.replace(b"\n", b"\r\n")  # by the terminal itself, once


def test_a_large_output_passes_a_terminal_whole(terminal: Terminal) -> None:
    finished = run_child(["seq", "1", "300000"], stdout_to=terminal.sink, stderr_to=None)
    assert (finished.exit_code, finished.stdout.total_lines) == (0, 300_000)
    assert terminal.all() == b"".join(b"%d\r\n" % n for n in range(1, 300_001))


def test_output_in_a_terminal_is_live_without_a_newline(fifo: Callable[[str], Fifo]) -> None:
    ack = fifo("ack")
    terminal = Terminal(is_read=False)

    def watch() -> None:
        terminal.shown.extend(os.read(terminal.master, 100))
        ack.say("seen")

    watching = threading.Thread(target=watch)
    watching.start()
    code = (
        "import sys; sys.stdout.write('sure? '); sys.stdout.flush(); assert open(sys.argv[1]).readline() == 'seen\\n'"
    )
    finished = run_child(python(code, ack.path), stdout_to=terminal.sink, stderr_to=None, timeout_s=PATIENCE_S)
    watching.join()
    assert finished.exit_code == 0
    assert terminal.all() == b"sure? "


def test_a_terminal_that_stands_still_delays_no_timeout() -> None:
    terminal = Terminal(is_read=False)
    finished = run_child(["yes"], stdout_to=terminal.sink, stderr_to=None, timeout_s=0.2, grace_s=0.1)
    assert (finished.timed_out, finished.signal, finished.closed_sinks) == (True, "SIGTERM", ("stdout",))
    terminal.all()


def test_a_terminal_that_went_away_is_a_closed_sink() -> None:
    terminal = Terminal(is_read=False)
    os.close(terminal.master)
    finished = run_child(["echo", "x"], stdout_to=terminal.sink, stderr_to=None)
    assert (finished.stdout.head, finished.closed_sinks) == (b"x\n", ("stdout",))
    terminal.sink.close()
    os.close(terminal.slave)


def test_a_grandchild_that_holds_the_terminal_does_not_hold_us(terminal: Terminal) -> None:
    finished = run_child(["sh", "-c", "sleep 30 & echo $!"], stdout_to=terminal.sink, stderr_to=None)
    assert finished.duration_s < 5
    os.kill(int(finished.stdout.head), signal.SIGKILL)


def test_where_no_pty_is_to_be_had_the_width_is_told_in_the_environment(
    terminal: Terminal, monkeypatch: pytest.MonkeyPatch
) -> None:
    def none_left() -> tuple[int, int]:
        raise OSError(28, "out of pty devices")

    monkeypatch.setattr(os, "openpty", none_left)
    finished = run_child(python(LOOK), env={}, stdout_to=terminal.sink, stderr_to=None)
    assert finished.stdout.head.decode() == f"False None False None {COLUMNS} {LINES}\n"
    finished = run_child(python(LOOK), env={"COLUMNS": "42"}, stdout_to=terminal.sink, stderr_to=None)
    assert finished.stdout.head.decode() == f"False None False None 42 {LINES}\n"


# --- a terminal that is ours: its keys and its size -----------------------------------------------------------------

WATCHES = r"""
import os, signal, sys
log = os.open(sys.argv[1], os.O_WRONLY)
def say(*words): os.write(log, " ".join(map(str, words)).encode() + b"\n")
signal.signal(signal.SIGINT, lambda *_: say("SIGINT"))
signal.signal(signal.SIGWINCH, lambda *_: say(*os.get_terminal_size(1)))
say("ready")
sys.exit(int(open(sys.argv[2]).readline()))
"""


def in_terminal(terminal: Terminal) -> dict[str, object]:
    """Make *terminal* the controlling one, as a login does."""

    def log_in() -> None:
        os.setsid()
        fcntl.ioctl(terminal.slave, termios.TIOCSCTTY, 0)

    streams = dict.fromkeys(("stdin", "stdout", "stderr"), terminal.slave)
    return {**streams, "process_group": None, "preexec_fn": log_in, "pass_fds": (terminal.slave,)}


def test_ctrl_c_reaches_the_child_once_and_its_answer_is_its_own(
    host: Callable[..., Host], fifo: Callable[[str], Fifo], terminal: Terminal
) -> None:
    log, gate = fifo("log"), fifo("gate")
    running = host(python(WATCHES, log.path, gate.path), popen=in_terminal(terminal), grace_s=0.0)
    log.hear_until("ready")
    for width in (50, 60):
        terminal.press(b"\x03")
        assert log.hear() == "SIGINT"
        # Two sizes, seen through us: by the second we have long dealt with the key, and have not killed the child.
        for columns in (width, width + 1):
            terminal.resize(10, columns)
            log.hear_until(f"{columns} 10")
    gate.say("7")
    finished = running.finished()
    assert (finished["exit_code"], finished["signal"], finished["interrupted_by"]) == (7, None, "SIGINT")


def test_a_child_that_ends_by_ctrl_c_is_reported_so(
    host: Callable[..., Host], fifo: Callable[[str], Fifo], terminal: Terminal
) -> None:
    log = fifo("log")
    running = host(["sh", "-c", 'echo ready >"$0"; exec sleep 60', str(log.path)], popen=in_terminal(terminal))
    log.hear_until("ready")
    terminal.press(b"\x03")
    finished = running.finished()
    assert (finished["signal"], finished["interrupted_by"]) == ("SIGINT", "SIGINT")


def test_a_signal_aimed_at_us_alone_is_passed_on_in_a_terminal_too(
    host: Callable[..., Host], fifo: Callable[[str], Fifo], terminal: Terminal
) -> None:
    log, gate = fifo("log"), fifo("gate")
    running = host(python(WATCHES, log.path, gate.path), popen=in_terminal(terminal), grace_s=PATIENCE_S)
    log.hear_until("ready")
    os.kill(running.pid, signal.SIGINT)
    assert log.hear() == "SIGINT"
    gate.say("0")
    assert running.finished()["interrupted_by"] == "SIGINT"


def test_the_child_types_at_the_real_terminal(
    host: Callable[..., Host], fifo: Callable[[str], Fifo], terminal: Terminal
) -> None:
    log = fifo("log")
    code = "import sys; open(sys.argv[1], 'w').write(input('name? ') + '\\n')"
    running = host(python(code, log.path), popen=in_terminal(terminal))
    terminal.press(b"Ada\n")
    assert log.hear() == "Ada"
    assert running.finished()["exit_code"] == 0


def test_our_terminal_hanging_up_ends_the_child(host: Callable[..., Host], fifo: Callable[[str], Fifo]) -> None:
    log = fifo("log")
    terminal = Terminal(is_read=False)
    popen = {**in_terminal(terminal), "stderr": subprocess.PIPE}
    running = host(["sh", "-c", 'echo ready >"$0"; exec sleep 60', str(log.path)], popen=popen, grace_s=PATIENCE_S)
    log.hear_until("ready")
    terminal.sink.close()
    os.close(terminal.slave)
    os.close(terminal.master)
    finished = running.finished()
    assert (finished["signal"], finished["interrupted_by"]) == ("SIGHUP", "SIGHUP")
