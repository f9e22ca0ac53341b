"""A finished process as evidence."""

from __future__ import annotations

import os
import signal
import subprocess
import sys

import pytest

from rerail.evidence import notes
from rerail.evidence.clip import clip_stream
from rerail.evidence.model import Source, StreamName
from rerail.evidence.process import from_process


def test_a_failed_program_brings_everything_it_told() -> None:
    script = "import sys; print('out'); print('fatal: no', file=sys.stderr); sys.exit(3)"
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, check=False)
    evidence = from_process(
        done.args, exit_code=done.returncode, stdout=done.stdout, stderr=done.stderr, cwd="/w", duration_s=0.5
    )
    assert evidence.source is Source.PROCESS
    assert evidence.command == (sys.executable, "-c", script)
    assert evidence.tool.startswith("python")
    assert (evidence.exit_code, evidence.signal) == (3, None)
    assert [(stream.name, stream.text) for stream in evidence.streams] == [
        (StreamName.STDERR, "fatal: no"),
        (StreamName.STDOUT, "out"),
    ]
    assert (evidence.cwd, evidence.duration_s, evidence.notes) == ("/w", 0.5, ())


@pytest.mark.skipif(os.name == "nt", reason="signals are POSIX")
@pytest.mark.parametrize("killer", [signal.SIGKILL, signal.SIGTERM, signal.SIGSEGV])
def test_a_negative_exit_code_is_the_signal_that_ended_it(killer: signal.Signals) -> None:
    script = f"import os; os.kill(os.getpid(), {killer.value})"
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, check=False)
    evidence = from_process(done.args, exit_code=done.returncode)
    assert (evidence.exit_code, evidence.signal) == (None, killer.name)


@pytest.mark.parametrize("code", [137, -1073741819, 0, 255])
def test_other_codes_stay_codes(code: int) -> None:
    evidence = from_process("x", exit_code=code)
    assert (evidence.exit_code, evidence.signal) == (code, None)


def test_a_signal_that_is_named_is_kept() -> None:
    assert from_process("x", exit_code=None, signal="SIGKILL").signal == "SIGKILL"


def test_streams_already_made_are_taken_as_they_are_and_empty_ones_left_out() -> None:
    stream = clip_stream(StreamName.STDERR, "fatal: no")
    evidence = from_process("git push", exit_code=1, stderr=stream, stdout=b"")
    assert evidence.streams == (stream,)
    assert evidence.command == ("git", "push")


def test_a_time_limit_is_noted() -> None:
    assert from_process("x", exit_code=-15, timed_out=True).notes == (notes.TIMED_OUT,)


def test_secrets_of_the_command_line_and_the_directory_are_gone() -> None:
    evidence = from_process(["x", "--password", "hunter2"], exit_code=1, cwd="/w?token=hunter2")
    assert "hunter2" not in repr(evidence)
