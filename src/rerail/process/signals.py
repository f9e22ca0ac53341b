"""The signals that reach this process while a child runs: heard and told apart.

Signals are only heard on the main thread, as Python has it; elsewhere the caller's own handlers stay in force.
Afterwards the handlers of before are back. A signal that was ignored when the watch began (``nohup``, a shell's
background job) stays ignored, for this process as for the child.
"""

from __future__ import annotations

import signal
import socket
import threading
from collections import deque
from contextlib import suppress
from typing import TYPE_CHECKING, Any, Self

from rerail.process import platform
from rerail.process.witness import GroupWitness

if TYPE_CHECKING:
    from types import FrameType, TracebackType


class EndRequest:
    """Asks, from any thread and once, that the command which runs in another one ends: as SIGTERM to this process would.

    A command that is started later, under the same request, is told at once.
    """

    def __init__(self) -> None:
        self._made = threading.Event()
        self._lock = threading.Lock()
        self._watch: SignalWatch | None = None

    def make(self) -> None:
        """Ask for the end."""
        with self._lock:
            if not self._made.is_set():
                self._made.set()
                if self._watch is not None:
                    self._watch.hear(signal.SIGTERM)

    def wait(self, timeout_s: float) -> bool:
        """Wait for the request, so long at most; whether it was made."""
        return self._made.wait(timeout_s)

    def _watched_by(self, watch: SignalWatch | None) -> None:
        """Tell *watch* of the request from now on; None tells nobody any more."""
        with self._lock:
            self._watch = watch
            if watch is not None and self._made.is_set():
                watch.hear(signal.SIGTERM)


class SignalWatch:
    """While entered, signals are noted and `fileno` becomes readable, instead of what they did before.

    Args:
        end: Heard like a signal, on whatever thread the watch is.
    """

    def __init__(self, end: EndRequest | None = None) -> None:
        self._end = end
        self._heard: deque[int] = deque()
        self._before: dict[int, Any] = {}
        self._is_listening = False
        self._witness: GroupWitness | None = None
        self._ears, self._mouth = socket.socketpair()
        self._ears.setblocking(False)
        self._mouth.setblocking(False)
        self._wakeup_fd_before = -1

    def __enter__(self) -> Self:
        if threading.current_thread() is threading.main_thread():
            self._is_listening = True
            self._wakeup_fd_before = signal.set_wakeup_fd(self._mouth.fileno(), warn_on_full_buffer=False)
            self._note_signals()
            self._witness = GroupWitness() if platform.SIGNALS_REACH_GROUPS else None
        if self._end is not None:
            self._end._watched_by(self)  # noqa: SLF001  each is the other's half
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        if self._end is not None:
            self._end._watched_by(None)  # noqa: SLF001
        for signum, handler in self._before.items():
            signal.signal(signum, handler)
        if self._is_listening:
            signal.set_wakeup_fd(self._wakeup_fd_before)
        if self._witness is not None:
            self._witness.close()
        self._ears.close()
        self._mouth.close()

    def fileno(self) -> int:
        """Return the descriptor that is readable when a signal may have come."""
        return self._ears.fileno()

    def hear(self, signum: int) -> None:
        """Note a signal that somebody else passes on, from whatever thread."""
        self._heard.append(signum)
        with suppress(BlockingIOError):  # then the watch is awake already
            self._mouth.send(b"\0")

    def take(self) -> list[int]:
        """Return the signals heard since the last call, in order."""
        try:
            while self._ears.recv(4096):
                pass
        except BlockingIOError:
            pass
        heard = list(self._heard)
        self._heard.clear()
        return heard

    def reached_the_group(self, signum: int) -> bool:
        """Return whether *signum*, which was just taken, came to the whole process group, as a terminal's Ctrl-C does.

        To be asked once for all that was taken together: the answer begins a new watch.
        """
        if self._witness is None:
            return False
        hit = self._witness.was_hit()
        if hit is None:
            # A guess: the terminal's own signal, while the terminal is ours, came from the terminal.
            return signum == signal.SIGINT and platform.holds_the_terminal()
        return hit

    def _note_signals(self) -> None:
        for signum in platform.ENDING_SIGNALS:
            if signal.getsignal(signum) is not signal.SIG_IGN:
                self._set(signum, self._note)
        if platform.RESIZE_SIGNAL is not None:
            self._set(platform.RESIZE_SIGNAL, self._note)
        # An inherited SIG_IGN makes the kernel throw the child's status away.
        if platform.CHILD_SIGNAL is not None and signal.getsignal(platform.CHILD_SIGNAL) is signal.SIG_IGN:
            self._set(platform.CHILD_SIGNAL, signal.SIG_DFL)

    def _set(self, signum: int, handler: Any) -> None:
        # None: a handler that Python did not set and could not restore.
        if signal.getsignal(signum) is not None:
            self._before[signum] = signal.signal(signum, handler)

    def _note(self, signum: int, frame: FrameType | None) -> None:
        del frame
        self._heard.append(signum)
