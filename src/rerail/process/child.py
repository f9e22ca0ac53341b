"""Running one command: its output flows through live and untouched, and is captured meanwhile.

What was decided, and why:

- **Pty or pipe, per stream.** A stream that is shown in a terminal gets a pty of that terminal's size, so the child
  keeps its colours, its width and its line-by-line output; any other stream gets a pipe, so redirected output is what
  it would be without rerail. Each stream has its own, so stdout and stderr are never merged. Where no pty is to be
  had, the width goes into COLUMNS and LINES. A full-screen program that sets the terminal through stdout instead of
  stdin finds the pty there, not the keyboard.
- **stdin, session and process group are ours.** The child reads the real terminal, job control works, and Ctrl-C
  reaches it directly.
- **A signal is passed on once.** What came to the whole group (Ctrl-C, a harness that ends its group) has reached the
  child; only what was aimed at this process is sent on, to the child's tree, as the terminal would have. Then the
  tree has *grace_s* to end before SIGKILL. Only Ctrl-C from the terminal sets no such limit: an interpreter's prompt
  survives it, and its user is there to decide.
- **One thread, no waiting in writes.** One loop watches the streams, the sinks, the child and the signals, so a sink
  that stands still delays neither a signal nor a timeout. A sink that fails ends nothing: the stream is captured to
  its end.
- **The child's end is the end.** What it wrote is read; a grandchild that still holds the stream is heard until it is
  silent for 0.1 s, for 1 s or 1 MiB at most. Its later writes fail, as they do when any reader leaves.
- A run that timed out or was told to end leaves nothing of its tree behind; a run that ended by itself leaves its
  background processes alone.
"""

from __future__ import annotations

import os
from contextlib import ExitStack
from typing import TYPE_CHECKING, BinaryIO

from rerail.clock import Clock, SystemClock
from rerail.process import platform, spawn
from rerail.process.capture import DEFAULT_CAPS, CaptureCaps
from rerail.process.result import Finished
from rerail.process.signals import SignalWatch
from rerail.process.streams import OutputStream, Sink
from rerail.process.supervisor import Supervisor

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from rerail.process.signals import EndRequest

DEFAULT_GRACE_S = 5.0
SYSTEM_CLOCK = SystemClock()


def run_child(
    argv: Sequence[str],
    *,
    cwd: str | os.PathLike[str] | None = None,
    env: Mapping[str, str] | None = None,
    stdout_to: BinaryIO | None,
    stderr_to: BinaryIO | None,
    timeout_s: float | None = None,
    caps: CaptureCaps = DEFAULT_CAPS,
    grace_s: float = DEFAULT_GRACE_S,
    clock: Clock = SYSTEM_CLOCK,
    end: EndRequest | None = None,
) -> Finished:
    """Run *argv* to its end, show its output as it comes, and return what happened.

    On the main thread, signals are handled as the module says, and their handlers are put back afterwards; elsewhere
    they are the caller's business.

    Args:
        argv: The command and its arguments; no shell reads them.
        cwd: Where to run; None for our own working directory.
        env: The whole environment; None for our own.
        stdout_to: Where stdout is shown, chunk by chunk; None to capture it only. May be the same object as *stderr_to*.
        stderr_to: The same for stderr.
        timeout_s: After so long the tree gets SIGTERM, and after *grace_s* more SIGKILL.
        caps: How much of each stream is kept.
        grace_s: How long the tree may take to end once it was told to.
        clock: Measures the duration and the limits.
        end: Another thread's way to tell the command to end, as SIGTERM to this process would; it counts as interrupted then.

    Raises:
        SpawnError: The command could not be started; see `rerail.process.spawn` for the kinds.
        ValueError: *argv* is empty.
    """
    command = tuple(argv)
    if not command:
        msg = "argv must name a command, got nothing"
        raise ValueError(msg)
    directory = spawn.working_directory(cwd, command)
    with ExitStack() as closing:
        signals = closing.enter_context(SignalWatch(end))
        with spawn.named_failures(command, directory, env):
            streams = _open_streams(closing, (("stdout", stdout_to), ("stderr", stderr_to)), caps)
        started_s = clock.monotonic_s()
        child = spawn.start(
            command,
            cwd=directory,
            env=_with_terminal_size(env, streams),
            stdout=streams[0].channel.child_fd,
            stderr=streams[1].channel.child_fd,
        )
        for stream in streams:
            stream.channel.close_child_end()
        run = Supervisor(child, streams, signals, clock, timeout_s=timeout_s, grace_s=grace_s)
        ended = run.to_the_end()
    return Finished(
        argv=command,
        cwd=directory,
        exit_code=ended.code,
        signal=ended.signal,
        stdout=streams[0].captured(),
        stderr=streams[1].captured(),
        duration_s=clock.monotonic_s() - started_s,
        timed_out=run.timed_out,
        interrupted_by=run.interrupted_by,
        core_dumped=ended.core_dumped,
        closed_sinks=tuple(stream.name for stream in streams if stream.sink is not None and stream.sink.failed),
        full_sink=next((stream.sink.full for stream in streams if stream.sink is not None and stream.sink.full), None),
    )


def _open_streams(
    closing: ExitStack, outs: Sequence[tuple[str, BinaryIO | None]], caps: CaptureCaps
) -> list[OutputStream]:
    sinks: dict[int, Sink] = {}
    streams: list[OutputStream] = []
    for name, out in outs:
        # One sink for one object: two would tear each other's chunks apart.
        if out is not None and id(out) not in sinks:
            sinks[id(out)] = Sink(out)
            closing.callback(sinks[id(out)].close)
        channel = platform.Channel(platform.terminal_fd(out))
        closing.callback(channel.close_child_end)
        stream = OutputStream(name, channel, sinks.get(id(out)), caps)
        closing.callback(stream.close)
        streams.append(stream)
    return streams


def _with_terminal_size(env: Mapping[str, str] | None, streams: Sequence[OutputStream]) -> Mapping[str, str] | None:
    """Return *env* with COLUMNS and LINES for a child that is shown in a terminal but got a pipe."""
    for stream in streams:
        if stream.channel.like is not None and not stream.channel.is_terminal:
            size = platform.window_size(stream.channel.like)
            if size is not None:
                told = {"COLUMNS": str(size.columns), "LINES": str(size.lines)}
                return told | dict(os.environ if env is None else env)
    return env
