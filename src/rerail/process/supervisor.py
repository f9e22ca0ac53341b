"""The loop that watches one running child: its streams, their sinks, its end, the signals and the limits.

Everything is waited for in one place, so nothing delays anything else. The policy is told in `rerail.process.child`.
"""

from __future__ import annotations

import math
import os
import signal
from typing import TYPE_CHECKING

from rerail.process import platform
from rerail.process.tree import Tree

if TYPE_CHECKING:
    import subprocess
    from collections.abc import Sequence

    from rerail.clock import Clock
    from rerail.process.signals import SignalWatch
    from rerail.process.streams import OutputStream

POLL_S = 0.02
"""How often to look at what cannot be waited for: a child without an exit descriptor, and orphans told to end."""
UNKILLABLE_S = 10.0
"""How long after SIGKILL to wait for a process that the kernel holds, before its end is called unknown."""


class Supervisor:
    """All that is waited for while one child runs."""

    def __init__(
        self,
        child: subprocess.Popen[bytes],
        streams: Sequence[OutputStream],
        signals: SignalWatch,
        clock: Clock,
        *,
        timeout_s: float | None,
        grace_s: float,
    ) -> None:
        self.timed_out = False
        self.interrupted_by: str | None = None
        self._child = child
        self._streams = streams
        self._sinks = {id(stream.sink): stream.sink for stream in streams if stream.sink is not None}.values()
        self._signals = signals
        self._clock = clock
        self._grace_s = grace_s
        self._timeout_at_s = math.inf if timeout_s is None else clock.monotonic_s() + timeout_s
        self._kill_at_s = math.inf
        self._give_up_at_s = math.inf
        self._end: platform.Exit | None = None
        self._exit_fd = platform.exit_fd(child.pid)
        self._tree: Tree | None = None
        self._tree_must_end = False

    def to_the_end(self) -> platform.Exit:
        """Return how the child ended, once it has, its output was read and shown, and what had to end has ended."""
        try:
            while self._end is None or not self._is_settled():
                self._turn()
        except BaseException:
            self._known_tree().kill()
            self._child.wait()
            raise
        finally:
            if self._exit_fd is not None:
                os.close(self._exit_fd)
        return self._end

    def _is_settled(self) -> bool:
        return not (
            any(stream.is_open for stream in self._streams)
            or any(sink.is_blocked for sink in self._sinks)
            or self._is_tree_ending()
        )

    def _is_tree_ending(self) -> bool:
        return self._tree_must_end and self._known_tree().has_survivors()

    def _turn(self) -> None:
        """Wait for the next thing to happen, and heed all that has."""
        listening = [stream for stream in self._streams if stream.wants_reading]
        blocked = [sink for sink in self._sinks if sink.is_blocked]
        readable = [stream.channel.fileno() for stream in listening]
        readable.append(self._signals.fileno())
        if self._exit_fd is not None and self._end is None:
            readable.append(self._exit_fd)
        writable = [sink.fd for sink in blocked if sink.fd is not None]
        ready = platform.ready(readable, writable, self._patience_s(listening))

        now_s = self._clock.monotonic_s()
        for sink in blocked:
            sink.proceed()
        for stream in listening:
            if stream.channel.fileno() not in ready:
                stream.settle(now_s)
            elif stream.wants_reading:  # the other stream may have filled their common sink
                stream.pump(now_s)
        self._heed_child(now_s)
        self._heed_signals(now_s)
        self._heed_limits(now_s)

    def _patience_s(self, listening: Sequence[OutputStream]) -> float | None:
        now_s = self._clock.monotonic_s()
        due_s = min([self._timeout_at_s, self._kill_at_s, self._give_up_at_s, *(stream.due_s for stream in listening)])
        must_look = self._exit_fd is None if self._end is None else self._is_tree_ending()
        if must_look:
            due_s = min(due_s, now_s + POLL_S)
        return None if math.isinf(due_s) else max(0.0, due_s - now_s)

    def _heed_child(self, now_s: float) -> None:
        if self._end is None:
            end = platform.collect(self._child)
            if end is not None:
                self._child_ended(end, now_s)

    def _child_ended(self, end: platform.Exit, now_s: float) -> None:
        self._end = end
        self._timeout_at_s = math.inf
        for stream in self._streams:
            stream.child_ended(now_s)

    def _heed_signals(self, now_s: float) -> None:
        heard = self._signals.take()
        if platform.RESIZE_SIGNAL in heard:
            resized = [stream.channel.fit() for stream in self._streams if stream.is_open]
            # The child may have looked at the size before we changed it, so it is told once more.
            if any(resized):
                platform.tell_group_of_resize()
        asked_to_end = [signum for signum in heard if signum != platform.RESIZE_SIGNAL]
        if asked_to_end:
            self._pass_on(asked_to_end, now_s)

    def _pass_on(self, signums: Sequence[int], now_s: float) -> None:
        group_has_them = self._signals.reached_the_group(signums[-1])
        for signum in signums:
            self.interrupted_by = platform.signal_name(signum)
            self._known_tree().send(signum, group_has_it=group_has_them)
            is_users_ctrl_c = signum == signal.SIGINT and group_has_them and platform.holds_the_terminal()
            if not is_users_ctrl_c:
                self._set_limit(now_s)

    def _heed_limits(self, now_s: float) -> None:
        if now_s >= self._timeout_at_s:
            self.timed_out = True
            self._known_tree().send(signal.SIGTERM, group_has_it=False)
            self._set_limit(now_s)
        if now_s >= self._kill_at_s:
            self._kill_at_s = math.inf
            self._give_up_at_s = now_s + UNKILLABLE_S
            self._known_tree().kill()
            for sink in self._sinks:
                sink.abandon()
        if now_s >= self._give_up_at_s:
            self._give_up_at_s = math.inf
            self._tree_must_end = False
            if self._end is None:
                self._child_ended(platform.Exit(None, None), now_s)

    def _set_limit(self, now_s: float) -> None:
        """Give the tree its grace, counted from the first time it was told to end."""
        self._timeout_at_s = math.inf
        if not self._tree_must_end:
            self._tree_must_end = True
            self._kill_at_s = now_s + self._grace_s

    def _known_tree(self) -> Tree:
        if self._tree is None:
            self._tree = Tree(self._child.pid)
        return self._tree
