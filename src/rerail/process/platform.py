"""What the operating systems do differently; the only module with calls that exist on POSIX alone.

Each name exists on both sides. On Windows there are no ptys, no process groups that a signal reaches and no exit
descriptors: a child gets pipes (a thread relays each into a socket, because only sockets can be waited for there),
its own console group, and CTRL_BREAK where POSIX sends a signal.
"""

from __future__ import annotations

import errno
import os
import select
import signal
import subprocess
import sys
from typing import TYPE_CHECKING

import attrs

if TYPE_CHECKING:
    from collections.abc import Iterable

    import psutil

READ_BYTES = 64 * 1024


@attrs.frozen
class Exit:
    """How a child ended; both None when its status went to someone else."""

    code: int | None
    signal: str | None
    core_dumped: bool = False


def terminal_fd(out: object) -> int | None:
    """Return the descriptor of *out* when that is a terminal that a child could be given the likeness of."""
    try:
        fd = out.fileno()  # type: ignore[attr-defined]  # not every sink is a file
        return fd if os.isatty(fd) else None
    except (AttributeError, OSError, ValueError):
        return None


def window_size(fd: int) -> os.terminal_size | None:
    """Return the size of the terminal *fd*, or None when it has none or says 0."""
    try:
        size = os.get_terminal_size(fd)
    except OSError:
        return None
    return size if size.columns and size.lines else None


def signal_name(signum: int) -> str:
    """Return ``SIGTERM`` for 15, also where Python has no name for the number."""
    try:
        return signal.Signals(signum).name
    except ValueError:
        return f"SIG{signum}"


if sys.platform == "win32":
    import socket
    import threading

    ENDING_SIGNALS: tuple[signal.Signals, ...] = (signal.SIGINT, signal.SIGTERM, signal.SIGBREAK)
    RESIZE_SIGNAL: signal.Signals | None = None
    CHILD_SIGNAL: signal.Signals | None = None
    # Its own group: the only kind that CTRL_BREAK can be sent to. Ctrl-C no longer reaches it by itself.
    SIGNALS_REACH_GROUPS = False
    CREATION_FLAGS = subprocess.CREATE_NEW_PROCESS_GROUP
    WRITE_BYTES = READ_BYTES

    class Channel:
        """One output stream of a child."""

        def __init__(self, like: int | None) -> None:
            self.like = like
            self.is_terminal = False
            pipe_end, self.child_fd = os.pipe()
            self._socket, relay_end = socket.socketpair()
            threading.Thread(target=_relay, args=(pipe_end, relay_end), daemon=True).start()

        def fileno(self) -> int:
            """Return what `ready` can wait for."""
            return self._socket.fileno()

        def read(self) -> bytes:
            """Return what has come; ``b""`` at the end."""
            return self._socket.recv(READ_BYTES)

        def fit(self) -> bool:
            """Return False: a pipe has no size."""
            return False

        def close_child_end(self) -> None:
            """Leave the child as the only writer."""
            if self.child_fd >= 0:
                os.close(self.child_fd)
                self.child_fd = -1

        def close(self) -> None:
            """Give the stream up; who writes to it later gets an error."""
            self._socket.close()

    def _relay(pipe_end: int, relay_end: socket.socket) -> None:
        with relay_end, os.fdopen(pipe_end, "rb", buffering=0) as pipe:
            try:
                while chunk := pipe.read(READ_BYTES):
                    relay_end.sendall(chunk)
            except OSError:
                return

    def open_unblocked(fd: int) -> int | None:
        """Return None: nothing but sockets can be waited for."""
        del fd
        return None

    def ready(readable: Iterable[int], writable: Iterable[int], timeout_s: float | None) -> set[int]:
        """Return the sockets that can be read or written, waiting up to *timeout_s* for the first."""
        got = select.select(list(readable), list(writable), [], timeout_s)
        return {*got[0], *got[1]}

    def exit_fd(pid: int) -> int | None:
        """Return None: the child must be polled."""
        del pid
        return None

    def collect(child: subprocess.Popen[bytes]) -> Exit | None:
        """Return how *child* ended, or None while it runs."""
        code = child.poll()
        return None if code is None else Exit(code, None)

    def is_in_our_group(pid: int) -> bool:
        """Return False: a child has its own group."""
        del pid
        return False

    def holds_the_terminal() -> bool:
        """Return False: what the console sends does not reach the child."""
        return False

    def tell_group_of_resize() -> None:
        """Do nothing: consoles tell their programs."""

    def send(process: psutil.Process, signum: int) -> None:
        """Ask *process* to end; only leaders of a console group can be asked."""
        del signum
        process.send_signal(signal.CTRL_BREAK_EVENT)

else:
    import stat
    import termios

    ENDING_SIGNALS: tuple[signal.Signals, ...] = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)
    RESIZE_SIGNAL: signal.Signals | None = signal.SIGWINCH
    CHILD_SIGNAL: signal.Signals | None = signal.SIGCHLD
    SIGNALS_REACH_GROUPS = True
    CREATION_FLAGS = 0
    WRITE_BYTES = select.PIPE_BUF
    """So much fits into a pipe that is `ready`; more could block."""

    class Channel:
        """One output stream of a child: a pty that looks like the terminal *like*, else a pipe.

        The pty is nobody's controlling terminal (the child stays in our session, and Ctrl-C is the real terminal's
        business), and it passes newlines on as they are: the real terminal turns them into CR LF, once.
        """

        def __init__(self, like: int | None) -> None:
            self.like = like
            self.is_terminal = False
            if like is not None:
                try:
                    self._fd, self.child_fd = os.openpty()
                    self.is_terminal = True
                except OSError:  # a sandbox without /dev/pts, or no ptys left
                    pass
            if not self.is_terminal:
                self._fd, self.child_fd = os.pipe()
                return
            modes = termios.tcgetattr(self.child_fd)
            modes[1] &= ~termios.OPOST
            termios.tcsetattr(self.child_fd, termios.TCSANOW, modes)
            self.fit()

        def fileno(self) -> int:
            """Return what `ready` can wait for."""
            return self._fd

        def read(self) -> bytes:
            """Return what has come; ``b""`` at the end."""
            try:
                return os.read(self._fd, READ_BYTES)
            except OSError as error:
                # Linux says EIO when the last writer of a pty has gone.
                if error.errno == errno.EIO:
                    return b""
                raise

        def fit(self) -> bool:
            """Give the pty the size of the real terminal; return whether that changed it."""
            if self.like is None or not self.is_terminal:
                return False
            size = window_size(self.like)
            if size is None or size == window_size(self._fd):
                return False
            termios.tcsetwinsize(self._fd, (size.lines, size.columns))
            return True

        def close_child_end(self) -> None:
            """Leave the child as the only writer."""
            if self.child_fd >= 0:
                os.close(self.child_fd)
                self.child_fd = -1

        def close(self) -> None:
            """Give the stream up; who writes to it later gets an error."""
            os.close(self._fd)

    def open_unblocked(fd: int) -> int | None:
        """Return another descriptor of *fd* that does not block when it is written while `ready`.

        For pipes, sockets and terminals; None for regular files, which never block for long. A terminal is opened anew,
        because O_NONBLOCK belongs to the open file and would be forced on everybody who shares *fd*. Into the others
        `WRITE_BYTES` fit when they are ready.
        """
        if stat.S_ISREG(os.fstat(fd).st_mode):
            return None
        if os.isatty(fd):
            try:
                return os.open(os.ttyname(fd), os.O_WRONLY | os.O_NOCTTY | os.O_NONBLOCK)
            except OSError:  # another user's terminal, after su
                pass
        return os.dup(fd)

    def ready(readable: Iterable[int], writable: Iterable[int], timeout_s: float | None) -> set[int]:
        """Return the descriptors that can be read or written, or have failed; wait up to *timeout_s* for the first."""
        if sys.platform == "darwin":  # its poll() has not always served terminals
            got = select.select(list(readable), list(writable), [], timeout_s)
            return {*got[0], *got[1]}
        else:  # noqa: RET505  the type checker reads one branch per system
            poll = select.poll()
            for fd in readable:
                poll.register(fd, select.POLLIN)
            for fd in writable:
                poll.register(fd, select.POLLOUT)
            return {fd for fd, _ in poll.poll(None if timeout_s is None else timeout_s * 1000)}

    def exit_fd(pid: int) -> int | None:
        """Return a descriptor that is readable once *pid* has ended; None where the child must be polled."""
        if sys.platform == "linux":
            try:
                return os.pidfd_open(pid)
            except (AttributeError, OSError):  # a libc or kernel before 5.3, or a sandbox that forbids it
                return None
        else:
            return None

    def collect(child: subprocess.Popen[bytes]) -> Exit | None:
        """Return how *child* ended, or None while it runs.

        Nobody else may wait for the child: until it is collected here, its pid cannot become someone else's.
        """
        try:
            pid, status = os.waitpid(child.pid, os.WNOHANG)
        except ChildProcessError:
            child.returncode = 0  # Popen must not wait for it any more
            return Exit(None, None)
        if pid == 0:
            return None
        child.returncode = os.waitstatus_to_exitcode(status)
        if os.WIFSIGNALED(status):
            return Exit(None, signal_name(os.WTERMSIG(status)), os.WCOREDUMP(status))
        return Exit(child.returncode, None)

    def is_in_our_group(pid: int) -> bool:
        """Return whether a signal to our process group reaches *pid*."""
        try:
            return os.getpgid(pid) == os.getpgrp()
        except ProcessLookupError:
            return False

    def holds_the_terminal() -> bool:
        """Return whether our process group is the one that Ctrl-C goes to."""
        try:
            fd = os.open("/dev/tty", os.O_RDONLY | os.O_NOCTTY)
        except OSError:
            return False
        try:
            return os.tcgetpgrp(fd) == os.getpgrp()
        except OSError:
            return False
        finally:
            os.close(fd)

    def tell_group_of_resize() -> None:
        """Send SIGWINCH to our process group, ourselves included."""
        os.killpg(os.getpgrp(), signal.SIGWINCH)

    def send(process: psutil.Process, signum: int) -> None:
        """Send a signal to *process*."""
        process.send_signal(signum)
