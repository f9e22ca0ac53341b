"""Ctrl-C where no unit runs yet: the shell's own code, and no traceback."""

from __future__ import annotations

import signal
import subprocess
import sys
import time
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from pathlib import Path

PATIENCE_S = 30.0


@pytest.mark.skipif(sys.platform == "win32", reason="POSIX signals")
@pytest.mark.parametrize("verb", [["classify", "-"], ["hook", "claude-code"], ["heal", "--failure", "-"]], ids=" ".join)
def test_ctrl_c_while_a_verb_reads_ends_it_with_130_and_no_traceback(
    tmp_path: Path, environ: dict[str, str], verb: list[str]
) -> None:
    import fcntl
    import termios

    process = subprocess.Popen(
        [sys.executable, "-m", "rerail", *verb],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        cwd=tmp_path,
        env=environ,
    )
    with process:
        assert process.stdin is not None
        process.stdin.write(b"{")
        process.stdin.flush()
        end_s = time.monotonic() + PATIENCE_S
        while fcntl.ioctl(process.stdin, termios.FIONREAD, b"\0" * 4) != b"\0" * 4:  # it has not read it yet
            assert time.monotonic() < end_s
            time.sleep(0.01)
        process.send_signal(signal.SIGINT)
        _, told = process.communicate(timeout=PATIENCE_S)
    assert process.returncode == 130
    assert b"Traceback" not in told
