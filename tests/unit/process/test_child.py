from __future__ import annotations

import io
import os
import signal
import subprocess
import threading
import time
import zlib
from typing import TYPE_CHECKING, BinaryIO, cast

import psutil
import pytest
from tests.processes import PATIENCE_S, HandMoved, Pipe, is_alive, python, quiet

from rerail.process import CaptureCaps, Finished, run_child

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from tests.processes import Fifo, Host

MIB = 1024 * 1024
STEP_S = 0.02
"""A limit on a clock that is moved by hand: how often the loop looks whether it was moved."""


class Checksum(io.RawIOBase):
    """A sink that is no file and keeps nothing."""

    def __init__(self) -> None:
        self.crc = 0
        self.longest_write = 0

    def write(self, chunk: object) -> int:
        assert isinstance(chunk, bytes)
        self.crc = zlib.crc32(chunk, self.crc)
        self.longest_write = max(self.longest_write, len(chunk))
        return len(chunk)


# --- how a command ended --------------------------------------------------------------------------------------------


@pytest.mark.parametrize("code", [0, 1, 2, 70, 126, 127, 128, 137, 143, 255])
def test_an_exit_code_is_what_the_command_reported_also_above_128(code: int) -> None:
    finished = quiet(["sh", "-c", f"exit {code}"])
    assert (finished.exit_code, finished.signal, finished.core_dumped) == (code, None, False)


@pytest.mark.parametrize(
    "name", ["SIGKILL", "SIGTERM", "SIGINT", "SIGHUP", "SIGSEGV", "SIGABRT", "SIGBUS", "SIGPIPE", "SIGUSR1", "SIGXCPU"]
)
def test_an_end_by_a_signal_has_its_name_and_no_code(name: str) -> None:
    die = "import os, resource, signal, sys\nresource.setrlimit(resource.RLIMIT_CORE, (0, 0))\n"
    die += "number = signal.Signals[sys.argv[1]]\n"
    die += "if number != signal.SIGKILL: signal.signal(number, signal.SIG_DFL)\nos.kill(os.getpid(), number)"
    finished = quiet(python(die, name))
    assert (finished.exit_code, finished.signal) == (None, name)
    assert finished.interrupted_by is None


def test_a_signal_without_a_name_in_python_still_has_one() -> None:
    number = signal.SIGRTMIN + 1
    assert quiet(python(f"import os; os.kill(os.getpid(), {number})")).signal == f"SIG{number}"


def test_a_core_dump_is_reported_when_the_kernel_made_one(tmp_path: Path) -> None:
    crash = "import os, resource as r; r.setrlimit(r.RLIMIT_CORE, (r.getrlimit(r.RLIMIT_CORE)[1],) * 2); os.abort()"
    with subprocess.Popen(python(crash), cwd=tmp_path) as same:
        status = os.waitpid(same.pid, 0)[1]
        same.returncode = -signal.SIGABRT
    assert quiet(python(crash), cwd=tmp_path).core_dumped == os.WCOREDUMP(status)


def test_the_command_is_never_read_by_a_shell() -> None:
    finished = quiet(["echo", "$HOME; exit 3", "`id`", "*"])
    assert (finished.exit_code, finished.stdout.head) == (0, b"$HOME; exit 3 `id` *\n")


def test_the_environment_is_the_given_one_and_else_ours(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("RERAIL_TEST", "ours")
    show = "import os; print(os.environ.get('RERAIL_TEST'), sorted(os.environ))"
    assert quiet(python(show)).stdout.head.startswith(b"ours [")
    alone = quiet(python(show), env={"RERAIL_TEST": "given", "LC_CTYPE": "C.UTF-8"})
    assert alone.stdout.head == b"given ['LC_CTYPE', 'RERAIL_TEST']\n"


def test_the_duration_is_read_from_the_given_clock() -> None:
    class MovesTheClock(io.BytesIO):
        def write(self, chunk: object) -> int:
            clock.move(42.0)
            return 0

    clock = HandMoved()
    finished = run_child(["echo", "x"], stdout_to=MovesTheClock(), stderr_to=None, clock=clock)
    assert finished.duration_s == 42.0


# --- what it wrote --------------------------------------------------------------------------------------------------


def test_every_byte_passes_untouched_on_its_own_stream() -> None:
    every = bytes(range(256)) * 3 + b"10%\r100%\r\n\xff\xfe\x00 no newline at the end"
    out, err = Pipe(), Pipe()
    write = "import os, sys; os.write(1, bytes.fromhex(sys.argv[1])); os.write(2, bytes.fromhex(sys.argv[1])[::-1])"
    finished = run_child(python(write, every.hex()), stdout_to=out.sink, stderr_to=err.sink)
    assert (out.all(), err.all()) == (every, every[::-1])
    assert (finished.stdout.head, finished.stderr.head) == (every, every[::-1])
    assert finished.closed_sinks == ()


def test_output_is_shown_while_the_child_runs_even_half_a_line(fifo: Callable[[str], Fifo]) -> None:
    ack = fifo("ack")
    shown = Pipe(on_chunk=lambda _: ack.say("seen"))
    code = """
import os, sys
ack = open(sys.argv[1])
for fd, text in ((1, b"half a line"), (2, b"a prompt? "), (1, b", the rest\\n")):
    os.write(fd, text)
    assert ack.readline() == "seen\\n"  # goes on only when a reader has it
"""
    finished = run_child(python(code, ack.path), stdout_to=shown.sink, stderr_to=shown.sink, timeout_s=PATIENCE_S)
    assert (finished.exit_code, finished.timed_out) == (0, False)
    assert shown.all() == b"half a linea prompt? , the rest\n"
    assert finished.stdout.head == b"half a line, the rest\n"
    assert finished.stderr.head == b"a prompt? "


def test_two_streams_that_flood_one_sink_lose_nothing() -> None:
    shown = Pipe(on_chunk=lambda _: threading.Event().wait(0.0005))
    flood = "for fd in 1 2; do (yes $fd$fd$fd$fd | head -c 1000000 >&$fd) & done; wait"
    finished = run_child(["sh", "-c", flood], stdout_to=shown.sink, stderr_to=shown.sink)
    got = shown.all()
    assert finished.stdout.total_bytes == finished.stderr.total_bytes == 1_000_000
    assert (len(got), got.count(b"1"), got.count(b"2")) == (2_000_000, 800_000, 800_000)


def test_what_the_caller_wrote_before_comes_first() -> None:
    shown = Pipe()
    shown.sink.write(b"before ")
    run_child(["echo", "after"], stdout_to=shown.sink, stderr_to=None)
    assert shown.all() == b"before after\n"


def test_a_regular_file_and_an_object_that_is_no_file_are_sinks_too(tmp_path: Path) -> None:
    in_memory = io.BytesIO()
    with (tmp_path / "log").open("wb") as file:
        run_child(["sh", "-c", "echo out; echo err >&2"], stdout_to=file, stderr_to=in_memory)
        assert (tmp_path / "log").read_bytes() == b"out\n"
    assert in_memory.getvalue() == b"err\n"


def test_200_mb_pass_whole_and_only_head_and_tail_are_kept() -> None:
    line = b"%099d\n"
    code = """
import os
block = b"".join(b"%099d\\n" % n for n in range(10_000))
for _ in range(200):
    view = memoryview(block)
    while view:
        view = view[os.write(1, view):]
os.write(1, b"the last line")
"""
    block = b"".join(line % n for n in range(10_000))
    crc = 0
    for _ in range(200):
        crc = zlib.crc32(block, crc)
    crc = zlib.crc32(b"the last line", crc)
    shown = Checksum()

    finished = run_child(python(code), stdout_to=cast("BinaryIO", shown), stderr_to=None)

    got = finished.stdout
    assert finished.exit_code == 0
    assert shown.crc == crc
    assert shown.longest_write <= 65536  # one chunk at a time is all that is in flight
    assert (got.total_bytes, got.total_lines) == (200_000_013, 2_000_001)
    assert (len(got.head), len(got.tail)) == (256 * 1024, 768 * 1024)
    assert got.head == block[: 256 * 1024]
    assert got.tail.endswith(b"9999\nthe last line")
    # Line n holds the number (n - 1) % 10 000: the first whole line of the tail says whether its number is true.
    first_whole = got.tail.split(b"\n", 1)[1][:99]
    assert int(first_whole) == (got.tail_first_line - 1) % 10_000


def test_200_mb_pass_through_a_pipe_that_is_read_slowly_at_first(tmp_path: Path) -> None:
    total = 200_000_000
    gate = threading.Event()
    counted = [0]

    def count(chunk: bytes) -> None:
        gate.wait(0.05)  # the writer meets a full pipe
        counted[0] += len(chunk)
        shown.got.clear()
        if counted[0] > MIB:
            gate.set()

    shown = Pipe(on_chunk=count)
    finished = run_child(["head", "-c", str(total), "/dev/zero"], stdout_to=shown.sink, stderr_to=None)
    shown.all()
    assert finished.stdout.total_bytes == counted[0] == total
    assert finished.closed_sinks == ()


def test_dropped_lines_are_counted_so_numbers_stay_true() -> None:
    finished = quiet(["seq", "1", "100000"], caps=CaptureCaps(head_bytes=100, tail_bytes=200))
    got = finished.stdout
    first_whole = got.tail.split(b"\n")[1]
    assert got.total_lines == 100_000
    assert int(first_whole) == got.tail_first_line
    assert got.tail.endswith(b"\n100000\n")


# --- sinks that fail ------------------------------------------------------------------------------------------------


def test_a_sink_closed_from_the_start_costs_no_captured_byte() -> None:
    read_end, write_end = os.pipe()
    os.close(read_end)
    with os.fdopen(write_end, "wb") as sink:
        finished = run_child(python("print('x' * 10**6)"), stdout_to=cast("BinaryIO", sink), stderr_to=None)
    assert (finished.exit_code, finished.stdout.total_bytes) == (0, 1_000_001)
    assert finished.closed_sinks == ("stdout",)


def test_a_reader_that_leaves_midway_does_not_end_the_child() -> None:
    read_end, write_end = os.pipe()

    def read_a_little() -> None:
        os.read(read_end, 10)
        os.close(read_end)

    leave = threading.Thread(target=read_a_little)
    leave.start()
    with os.fdopen(write_end, "wb") as sink:
        finished = run_child(python("print('x' * 10**7)"), stdout_to=cast("BinaryIO", sink), stderr_to=None)
    leave.join()
    assert (finished.exit_code, finished.signal, finished.stdout.total_bytes) == (0, None, 10_000_001)
    assert finished.closed_sinks == ("stdout",)


@pytest.mark.skipif(not os.path.exists("/dev/full"), reason="needs a device that is always full")  # noqa: PTH110
def test_a_full_disk_under_the_sink_is_remembered() -> None:
    with open("/dev/full", "wb", buffering=0) as sink:  # noqa: PTH123
        finished = run_child(["sh", "-c", "echo out; echo err >&2"], stdout_to=sink, stderr_to=sink)
    assert (finished.stdout.head, finished.stderr.head) == (b"out\n", b"err\n")
    assert finished.closed_sinks == ("stdout", "stderr")


def test_a_file_that_takes_a_part_of_a_chunk_gets_the_rest(tmp_path: Path) -> None:
    class TakesThree(io.BytesIO):
        def write(self, chunk: object) -> int:
            assert isinstance(chunk, bytes)
            return super().write(chunk[:3])

    shown = TakesThree()
    run_child(["echo", "0123456789"], stdout_to=shown, stderr_to=None)
    assert shown.getvalue() == b"0123456789\n"


def test_an_object_that_was_closed_is_a_closed_sink() -> None:
    closed = io.BytesIO()
    closed.close()
    finished = run_child(["echo", "x"], stdout_to=closed, stderr_to=None)
    assert (finished.stdout.head, finished.closed_sinks) == (b"x\n", ("stdout",))


def test_a_sink_that_takes_nothing_delays_no_timeout() -> None:
    read_end, write_end = os.pipe()
    with os.fdopen(write_end, "wb") as sink:
        finished = run_child(["yes"], stdout_to=cast("BinaryIO", sink), stderr_to=None, timeout_s=0.1, grace_s=0.1)
    os.close(read_end)
    assert finished.timed_out
    assert finished.closed_sinks == ("stdout",)


def test_a_sink_that_others_made_nonblocking_is_waited_for() -> None:
    shown = Pipe()
    os.set_blocking(shown.sink.fileno(), False)
    finished = run_child(python("print('x' * 10**6)"), stdout_to=shown.sink, stderr_to=None)
    assert len(shown.all()) == finished.stdout.total_bytes == 1_000_001
    assert finished.closed_sinks == ()


# --- stdin ----------------------------------------------------------------------------------------------------------


def test_the_child_prompts_and_reads_our_stdin(host: Callable[..., Host]) -> None:
    running = host(
        python("name = input('name? '); print('hello', name)"), popen={"stdin": subprocess.PIPE}, timeout_s=PATIENCE_S
    )
    assert running.process.stdin is not None
    assert running.process.stdout is not None
    assert os.read(running.process.stdout.fileno(), 100) == b"name? "
    running.process.stdin.write(b"Ada\n")
    running.process.stdin.flush()
    finished = running.finished()
    assert finished["stdout"] == "name? hello Ada\n"


# --- the end of the run ---------------------------------------------------------------------------------------------


def test_a_grandchild_that_holds_the_pipe_does_not_hold_us(fifo: Callable[[str], Fifo]) -> None:
    gate, told = fifo("gate"), fifo("told")
    later = 'trap \'\' PIPE; read go <"$0"; echo late; echo failed $? >"$1"'
    started = time.monotonic()
    finished = quiet(["sh", "-c", f"({later}) & echo done", str(gate.path), str(told.path)])
    assert time.monotonic() - started < 5
    assert (finished.exit_code, finished.stdout.head) == (0, b"done\n")
    gate.say("go")
    assert told.hear() == "failed 1"  # it was left alive, and what it writes now is not ours


def test_a_sleeping_grandchild_does_not_hold_us() -> None:
    started = time.monotonic()
    finished = quiet(["sh", "-c", "sleep 30 & echo $!; echo done"])
    assert time.monotonic() - started < 5
    pid, done = finished.stdout.head.split()
    assert done == b"done"
    psutil.Process(int(pid)).kill()  # it was left alone


@pytest.mark.parametrize("talk", ["yes", "while sleep 0.02; do echo x || exit; done"])
def test_a_grandchild_that_never_stops_talking_does_not_hold_us(talk: str) -> None:
    started = time.monotonic()
    finished = quiet(["sh", "-c", f"({talk}) & echo done"])
    assert time.monotonic() - started < 10
    assert finished.exit_code == 0
    assert b"done\n" in finished.stdout.head
    assert finished.stdout.total_bytes < 8 * MIB


def test_a_child_that_closes_its_streams_is_waited_for(fifo: Callable[[str], Fifo]) -> None:
    gate = fifo("gate")
    threading.Timer(0.2, gate.say, ["go"]).start()
    finished = quiet(["sh", "-c", 'exec >&- 2>&-; read go <"$0"; exit 9', str(gate.path)])
    assert finished.exit_code == 9


def test_a_system_without_exit_descriptors_is_polled(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delattr(os, "pidfd_open")
    assert quiet(["sh", "-c", "echo x; exit 3"]).exit_code == 3
    assert quiet(["sh", "-c", "exec >&- 2>&-; sleep 0.1; exit 4"]).exit_code == 4
    assert quiet(["sleep", "60"], timeout_s=0.05).signal == "SIGTERM"


def test_all_of_a_large_last_word_is_read_though_the_sink_is_slow() -> None:
    shown = Pipe(on_chunk=lambda _: threading.Event().wait(0.03))
    finished = run_child(
        python("import os; os.write(1, b'x' * 65536); os._exit(1)"), stdout_to=shown.sink, stderr_to=None
    )
    assert len(shown.all()) == finished.stdout.total_bytes == 65536


def test_a_timeout_ends_the_whole_tree(fifo: Callable[[str], Fifo]) -> None:
    pids = fifo("pids")
    code = """
import os, signal, subprocess, sys
generation = len(sys.argv) - 1  # the child is the first, and the only one that ends when it is asked to
if generation > 1:
    signal.signal(signal.SIGTERM, signal.SIG_IGN)
if generation < 4:
    subprocess.Popen([sys.executable, *sys.orig_argv[1:], "older"])
open(sys.argv[1], "w").write(f"{os.getpid()}\\n")
signal.pause()
"""
    family: list[int] = []
    clock = HandMoved()

    def wait_for_all() -> None:
        try:
            family.extend(int(pids.hear()) for _ in range(4))
        finally:
            clock.let_go()

    all_run = threading.Thread(target=wait_for_all)
    all_run.start()
    finished = quiet(python(code, pids.path), timeout_s=STEP_S, grace_s=0.3, clock=clock)
    all_run.join()
    assert (finished.timed_out, finished.signal, finished.exit_code) == (True, "SIGTERM", None)
    assert [pid for pid in family if is_alive(pid)] == []


def test_a_child_that_will_not_end_is_killed_after_its_grace(fifo: Callable[[str], Fifo]) -> None:
    log = fifo("log")
    code = r"""
import os, signal, sys
log = os.open(sys.argv[1], os.O_WRONLY)
signal.signal(signal.SIGTERM, lambda *_: os.write(log, b"asked\n"))
os.write(log, b"ready\n")
while True: signal.pause()
"""
    clock = HandMoved()

    def move() -> None:
        try:
            for line in ("ready", "asked"):
                assert log.hear() == line
                clock.move(9)
        finally:
            clock.let_go()

    moving = threading.Thread(target=move)
    moving.start()
    finished = quiet(python(code, log.path), timeout_s=STEP_S, grace_s=STEP_S, clock=clock)
    moving.join()
    assert (finished.timed_out, finished.signal) == (True, "SIGKILL")


def test_a_child_may_end_in_its_own_way_when_its_time_is_over() -> None:
    clock = HandMoved()
    shown = Pipe(on_chunk=lambda _: clock.move(9))
    code = "import signal, sys\nsignal.signal(signal.SIGTERM, lambda *_: sys.exit(3))\nprint(1, flush=True)\nsignal.pause()"
    finished = run_child(
        python(code), stdout_to=shown.sink, stderr_to=None, timeout_s=STEP_S, grace_s=PATIENCE_S, clock=clock
    )
    shown.all()
    assert (finished.timed_out, finished.exit_code, finished.signal) == (True, 3, None)


def test_a_child_that_is_in_time_is_not_timed_out() -> None:
    finished = quiet(["sh", "-c", "sleep 5 & exit 0"], timeout_s=PATIENCE_S)
    assert (finished.timed_out, finished.exit_code) == (False, 0)


def test_it_works_on_a_thread_where_signals_are_the_callers_business() -> None:
    got: list[Finished] = []
    handler = signal.getsignal(signal.SIGINT)
    running = threading.Thread(target=lambda: got.append(quiet(["sh", "-c", "echo x; exit 2"], timeout_s=PATIENCE_S)))
    running.start()
    running.join(PATIENCE_S)
    assert (got[0].exit_code, got[0].stdout.head) == (2, b"x\n")
    assert signal.getsignal(signal.SIGINT) is handler


def test_a_sink_that_breaks_in_a_way_nobody_expects_leaves_no_child_behind(fifo: Callable[[str], Fifo]) -> None:
    class Broken(io.RawIOBase):
        def write(self, chunk: object) -> int:
            raise ZeroDivisionError

    pids = fifo("pids")
    code = "import os, signal, sys; open(sys.argv[1], 'w').write(f'{os.getpid()}\\n'); print(1, flush=True); signal.pause()"
    with pytest.raises(ZeroDivisionError):
        run_child(python(code, pids.path), stdout_to=cast("BinaryIO", Broken()), stderr_to=None)
    assert not is_alive(int(pids.hear()))
    assert psutil.Process().children() == []


def test_nothing_is_left_open(fifo: Callable[[str], Fifo]) -> None:
    quiet(["sleep", "9"], timeout_s=0.01)  # what is loaded once is loaded now
    before = psutil.Process().num_fds()
    shown = Pipe()
    run_child(["echo", "x"], stdout_to=shown.sink, stderr_to=shown.sink)
    shown.all()
    quiet(["sleep", "9"], timeout_s=0.01)
    quiet(["sh", "-c", "exit 3"])
    assert psutil.Process().num_fds() == before
    assert psutil.Process().children() == []
