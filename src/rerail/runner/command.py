"""A command as the work under recovery."""

from __future__ import annotations

import os
from collections.abc import Iterable
from typing import TYPE_CHECKING, BinaryIO, Protocol

import attrs

from rerail.errors import UsageError
from rerail.evidence.clip import stream_from_parts
from rerail.evidence.fingerprint import input_fingerprint
from rerail.evidence.model import StreamName
from rerail.evidence.process import from_process
from rerail.process import SpawnError, finished_from_spawn_error, run_child
from rerail.process.survivors import mark, marked, survivors
from rerail.runner.work import RunnableWork

if TYPE_CHECKING:
    from collections.abc import Mapping

    from rerail.clock import Clock
    from rerail.decisions.effects import Tried
    from rerail.decisions.model import RunState
    from rerail.evidence.model import Evidence, Stream
    from rerail.ids import Fingerprint
    from rerail.process import Captured, EndRequest, Finished
    from rerail.runner.unit import Unit


class Signalled(BaseException):
    """A signal told this process to end while its command ran. Not an `Exception`: nothing may recover from it."""

    def __init__(self, signal: str) -> None:
        super().__init__(signal)
        self.signal = signal
        """``"SIGINT"``, ``"SIGTERM"`` or ``"SIGHUP"``."""


class TreeState(Protocol):
    """Tells one state of the files that a command works on from another."""

    def __call__(self, cwd: str, /) -> str:
        """Return a text that differs whenever a tracked or untracked file does."""
        ...


@attrs.frozen
class Sinks:
    """Where a command's output is shown while it runs; None captures it only."""

    stdout: BinaryIO | None
    stderr: BinaryIO | None


class CommandWork(RunnableWork):
    """A command with its directory.

    Its input is the command line, the directory and the files there: an agent that was handed a failure back changes one of them.

    Args:
        unit: What the caller declared; its ``failure`` reads a `Finished` that exited with 0.
        argv: The command; no shell reads it.
        cwd: Where it runs.
        sinks: Where its output is shown.
        tree_state: Fingerprints the files.
        timeout_s: After so long it is ended, and counts as timed out; None for no limit.
        clock: Tells when an attempt failed.
        end: Another thread's way to end it; the run is cancelled then.
    """

    def __init__(
        self,
        unit: Unit,
        argv: tuple[str, ...],
        *,
        cwd: str,
        sinks: Sinks,
        tree_state: TreeState,
        timeout_s: float | None,
        clock: Clock,
        end: EndRequest | None = None,
    ) -> None:
        super().__init__(unit, argv, clock=clock, cwd=cwd)
        self.command = argv
        self._sinks, self._tree_state, self._timeout_s, self._end = sinks, tree_state, timeout_s, end
        self._env: Mapping[str, str] | None = None

    def marked_as(self, state: RunState) -> None:
        """Have the command, and whatever it starts, say which attempt it is."""
        self._env = marked(_mark(state))

    def survivors(self, lost: RunState) -> tuple[str, ...]:
        """Return the processes that say so of an attempt that never ended."""
        return tuple(map(str, survivors(_mark(lost))))

    def attempt(self) -> Tried:
        """Run the command once."""
        try:
            finished = run_child(
                self._started_as(),
                cwd=self.cwd,
                env=self._env,
                stdout_to=self._sinks.stdout,
                stderr_to=self._sinks.stderr,
                timeout_s=self._timeout_s,
                end=self._end,
            )
        except SpawnError as error:
            # A command that cannot be started is a failure like any other: it is named, and the name says what to do.
            finished = finished_from_spawn_error(error)
        if finished.interrupted_by is not None:
            return self.raised(Signalled(finished.interrupted_by))
        self.value = finished
        return self._judged(finished)

    def _started_as(self) -> tuple[str, ...]:
        """Return the words that the program gets in the attempt that begins."""
        assert self.command is not None
        return self.command

    def _judged(self, finished: Finished) -> Tried:
        """Take how an attempt ended."""
        if finished.exit_code == 0:
            # By itself the command would have failed on it; what it wrote was taken from it here, and lost.
            return self.returned(finished) if finished.full_sink is None else self.raised(finished.full_sink)
        return self._failed(evidence_of_finished(finished))

    def input_id(self) -> Fingerprint:
        """Return the fingerprint of command line, directory and files."""
        return input_fingerprint((self.command, self.cwd, self._tree_state(self.cwd)))


def _mark(state: RunState) -> str:
    return mark(state.run, state.unit, state.attempt)


def words(argv: object) -> tuple[str, ...]:
    """Return a command as the words that its program gets.

    Raises:
        UsageError: It is no sequence of texts or paths, or empty.
    """
    if isinstance(argv, str | bytes | os.PathLike) or not isinstance(argv, Iterable):
        raise UsageError(
            f"a command is a list of words, which no shell reads, got {argv!r}",
            hint="write ['ls', '-l'], or shlex.split(line); for a shell's own words ['sh', '-c', line]",
        )
    made = tuple(os.fspath(word) if isinstance(word, os.PathLike) else word for word in argv)
    if not made or not all(isinstance(word, str) for word in made):
        raise UsageError(
            f"a command is one or more words, each text or a path, got {argv!r}",
            hint="name at least the program to run",
        )
    return made


def streams_of(finished: Finished) -> tuple[Stream, Stream]:
    """Return a finished command's stdout and stderr, redacted and clipped."""
    return _stream(StreamName.STDOUT, finished.stdout), _stream(StreamName.STDERR, finished.stderr)


def evidence_of_finished(finished: Finished) -> Evidence:
    """Return the evidence that a finished command is."""
    stdout, stderr = streams_of(finished)
    return from_process(
        finished.argv,
        exit_code=finished.exit_code,
        signal=finished.signal,
        stdout=stdout,
        stderr=stderr,
        cwd=finished.cwd,
        duration_s=finished.duration_s,
        timed_out=finished.timed_out,
    )


def _stream(name: StreamName, captured: Captured) -> Stream:
    return stream_from_parts(
        name,
        captured.head,
        captured.tail,
        tail_first_line=captured.tail_first_line,
        total_lines=captured.total_lines,
        total_bytes=captured.total_bytes,
    )
