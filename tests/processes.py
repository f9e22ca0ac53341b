"""Real processes, pipes and terminals for tests, and the means to stay in step with them without sleeping."""

from __future__ import annotations

import json
import os
import select
import subprocess
import sys
import termios
import threading
import time
from typing import TYPE_CHECKING, Any, BinaryIO, cast

import psutil
import pytest

from rerail.process import Finished, run_child

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

PATIENCE_S = 20.0
"""How long a test waits for what must happen; only a failing test waits so long."""
LINES, COLUMNS = 33, 99
"""The size of a `Terminal`."""

HOST = """
import json, signal, sys
from rerail.process import run_child

options = json.loads(sys.argv[1])
result = options.pop("result")
finished = run_child(options.pop("argv"), stdout_to=sys.stdout.buffer, stderr_to=sys.stderr.buffer, **options)
handlers = [signal.getsignal(number) is before for number, before in (
    (signal.SIGINT, signal.default_int_handler), (signal.SIGTERM, signal.SIG_DFL), (signal.SIGWINCH, signal.SIG_DFL))]
with open(result, "w") as file:
    json.dump({
        "exit_code": finished.exit_code, "signal": finished.signal, "interrupted_by": finished.interrupted_by,
        "timed_out": finished.timed_out, "stdout": finished.stdout.head.decode(), "closed_sinks": finished.closed_sinks,
        "handlers_are_back": all(handlers),
    }, file)
"""


class Fifo:
    """A named pipe between a test and a child; a child opens `path`."""

    def __init__(self, path: Path) -> None:
        self.path = path
        os.mkfifo(path)
        # Both ways at once: opening never waits for the other side.
        self._fd = os.open(path, os.O_RDWR)
        self._read = b""

    def say(self, line: str) -> None:
        os.write(self._fd, line.encode() + b"\n")

    def hear(self) -> str:
        """Return the next line."""
        return self._line()

    def hear_until(self, line: str) -> None:
        while self._line() != line:
            pass

    def close(self) -> None:
        os.close(self._fd)

    def _line(self) -> str:
        while b"\n" not in self._read:
            if not select.select([self._fd], [], [], PATIENCE_S)[0]:
                pytest.fail(f"nothing came through {self.path.name}, only {self._read!r}")
            self._read += os.read(self._fd, 4096)
        line, _, self._read = self._read.partition(b"\n")
        return line.decode()


class Host:
    """A process that runs one child through `run_child`."""

    def __init__(self, result: Path, options: dict[str, Any], popen: dict[str, Any]) -> None:
        self._result = result
        told = json.dumps({**options, "result": str(result)})
        popen = {"stdin": subprocess.DEVNULL, "stdout": subprocess.PIPE, "stderr": subprocess.PIPE, **popen}
        self.process = subprocess.Popen([sys.executable, "-c", HOST, told], **popen)

    @property
    def pid(self) -> int:
        return self.process.pid

    def finished(self) -> dict[str, Any]:
        """Wait for the end, and return what `run_child` returned."""
        _, stderr = self.process.communicate(timeout=PATIENCE_S)
        assert self.process.returncode == 0, stderr
        result: dict[str, Any] = json.loads(self._result.read_text())
        assert result.pop("handlers_are_back")
        return result


class Pipe:
    """A sink that is a pipe, read by a thread."""

    def __init__(self, on_chunk: Callable[[bytes], object] = lambda _: None) -> None:
        self._read_end, write_end = os.pipe()
        self.sink = cast("BinaryIO", os.fdopen(write_end, "wb"))
        self.got = bytearray()
        self._on_chunk = on_chunk
        self._thread = threading.Thread(target=self._read)
        self._thread.start()

    def all(self) -> bytes:
        self.sink.close()
        self._thread.join(PATIENCE_S)
        return bytes(self.got)

    def _read(self) -> None:
        with os.fdopen(self._read_end, "rb", buffering=0) as file:
            while chunk := file.read(65536):
                self.got += chunk
                self._on_chunk(chunk)


class HandMoved:
    """A clock that stands still until it is moved, or let go."""

    def __init__(self) -> None:
        self._now_s = 0.0
        self._started_s: float | None = None

    def move(self, seconds: float) -> None:
        self._now_s += seconds

    def let_go(self) -> None:
        self._started_s = time.monotonic()

    def monotonic_s(self) -> float:
        return self._now_s + (0.0 if self._started_s is None else time.monotonic() - self._started_s)

    def wall_s(self) -> float:
        raise AssertionError


class Terminal:
    """A terminal, and what it shows."""

    def __init__(self, *, is_read: bool = True) -> None:
        self.master, self.slave = os.openpty()
        termios.tcsetwinsize(self.slave, (LINES, COLUMNS))
        self.sink = cast("BinaryIO", os.fdopen(os.dup(self.slave), "wb", buffering=0))
        self.shown = bytearray()
        self._reader = threading.Thread(target=self._read) if is_read else None
        if self._reader is not None:
            self._reader.start()

    def all(self) -> bytes:
        """Close it, and return all that it showed."""
        self.sink.close()
        os.close(self.slave)
        if self._reader is not None:
            self._reader.join(PATIENCE_S)
        os.close(self.master)
        return bytes(self.shown)

    def press(self, keys: bytes) -> None:
        os.write(self.master, keys)

    def resize(self, lines: int, columns: int) -> None:
        termios.tcsetwinsize(self.master, (lines, columns))

    def _read(self) -> None:
        try:
            while chunk := os.read(self.master, 65536):
                self.shown += chunk
        except OSError:
            return


def python(code: str, *argv: object) -> list[str]:
    return [sys.executable, "-c", code, *map(str, argv)]


def quiet(argv: list[str], **options: object) -> Finished:
    return run_child(argv, stdout_to=None, stderr_to=None, **options)  # type: ignore[arg-type]


def is_alive(pid: int) -> bool:
    try:
        return psutil.Process(pid).status() != psutil.STATUS_ZOMBIE
    except psutil.NoSuchProcess:
        return False
