"""One output stream of a child: read from its channel, captured, and shown at once in a sink.

Nothing here waits. A stream is not read while its sink still has something to take, so a slow reader slows the child,
as it would without rerail in between, and at most one chunk is ever held. A sink that fails is remembered and left
alone; the stream goes on being captured.
"""

from __future__ import annotations

import errno
import io
import math
import os
from typing import TYPE_CHECKING, BinaryIO

from rerail.process import platform
from rerail.process.capture import Capture

if TYPE_CHECKING:
    from rerail.process.capture import CaptureCaps, Captured
    from rerail.process.platform import Channel

QUIET_S = 0.1
"""After the child's end: who still holds the stream has said all that belongs to it when it is silent for so long."""
LINGER_S = 1.0
"""After the child's end: even a talkative holder is not listened to for longer."""
LINGER_BYTES = 1024 * 1024
"""After the child's end: more than a pipe can hold was written later, and is not the child's."""


_NO_ROOM = frozenset({errno.ENOSPC, errno.EFBIG, getattr(errno, "EDQUOT", errno.ENOSPC)})


class Sink:
    """Where a stream is shown.

    Pipes, sockets and terminals are written without blocking; other objects through their own ``write``.
    """

    def __init__(self, out: BinaryIO) -> None:
        self._out = out
        self._pending = memoryview(b"")
        self.failed = False
        self.full: OSError | None = None
        """Why it failed, where it had no room for more: nobody chose to stop reading, and what was to be kept is lost."""
        self.fd: int | None = None
        try:
            out.flush()  # what the caller wrote before comes first
            raw = out.raw if isinstance(out, io.BufferedWriter) else out
            # Only a plain file's descriptor means what its write() means; a compressor has one too.
            if isinstance(raw, io.FileIO):
                self.fd = platform.open_unblocked(raw.fileno())
        except (OSError, ValueError) as error:
            self._fail(error)

    @property
    def is_blocked(self) -> bool:
        """Return whether a chunk is waiting for the sink to become writable."""
        return bool(self._pending)

    def show(self, chunk: bytes) -> None:
        """Write *chunk*, as much of it as goes now. Only while not blocked."""
        if self.failed:
            return
        if self.fd is not None:
            self._pending = memoryview(chunk)
            self.proceed()
            return
        try:
            while chunk:
                # A raw file on a full disk takes a part and refuses the rest; who does not count took all.
                written = self._out.write(chunk)
                chunk = chunk[written:] if written else b""
            self._out.flush()
        except (OSError, ValueError) as error:
            self._fail(error)

    def proceed(self) -> None:
        """Write what is pending, as far as the sink takes it."""
        if self.fd is None:
            return
        try:
            while self._pending and platform.ready([], [self.fd], 0):
                written = os.write(self.fd, self._pending[: platform.WRITE_BYTES])
                self._pending = self._pending[written:]
        except BlockingIOError:  # someone else filled it first
            return
        except OSError as error:
            self._fail(error)

    def abandon(self) -> None:
        """Stop waiting for a sink that takes no more."""
        if self.is_blocked:
            self._fail()

    def close(self) -> None:
        """Release what was opened here; the caller's object stays open."""
        if self.fd is not None:
            os.close(self.fd)
            self.fd = None

    def _fail(self, error: OSError | ValueError | None = None) -> None:
        self.failed = True
        if isinstance(error, OSError) and error.errno in _NO_ROOM:
            self.full = error
        self._pending = memoryview(b"")


class OutputStream:
    """A child's stdout or stderr."""

    def __init__(self, name: str, channel: Channel, sink: Sink | None, caps: CaptureCaps) -> None:
        self.name = name
        self.channel = channel
        self.sink = sink
        self.is_open = True
        self._capture = Capture(caps)
        self._quiet_at_s = math.inf
        self._linger_until_s = math.inf
        self._late_bytes: int | None = None

    @property
    def wants_reading(self) -> bool:
        """Return whether the next chunk can be taken now."""
        return self.is_open and not (self.sink is not None and self.sink.is_blocked)

    @property
    def due_s(self) -> float:
        """When `settle` has something to do, on the clock that *now_s* is read from."""
        return min(self._quiet_at_s, self._linger_until_s)

    def pump(self, now_s: float) -> None:
        """Take the chunk that is ready: capture it and show it."""
        chunk = self.channel.read()
        if not chunk:
            self.close()
            return
        self._capture.feed(chunk)
        if self.sink is not None:
            self.sink.show(chunk)
        if self._late_bytes is not None:
            self._late_bytes += len(chunk)
            self._quiet_at_s = now_s + QUIET_S
            if self._late_bytes > LINGER_BYTES:
                self.close()

    def child_ended(self, now_s: float) -> None:
        """Listen only a little longer: what the child wrote is there, and a grandchild may hold the stream for ever."""
        self._late_bytes = 0
        self._quiet_at_s = now_s + QUIET_S
        self._linger_until_s = now_s + LINGER_S

    def settle(self, now_s: float) -> None:
        """End the stream when its time is over.

        Only after nothing was ready to be read: a late look must not cost output.
        """
        if self.is_open and now_s >= self.due_s:
            self.close()

    def captured(self) -> Captured:
        """Return what was kept."""
        return self._capture.captured()

    def close(self) -> None:
        """End the stream; who writes to it later gets an error."""
        if self.is_open:
            self.is_open = False
            self.channel.close()
