"""A child and its descendants, so that all of them can be told to end and made to.

The child shares our process group (Ctrl-C must reach it), so the group cannot be signalled for it; the tree is walked
instead. Members are remembered by pid and start time, before their parents die and the kernel forgets whose they
were. Who had left the tree before the first look (a daemon) stays.
"""

from __future__ import annotations

from contextlib import suppress
from typing import TYPE_CHECKING

from rerail.process import platform

if TYPE_CHECKING:
    import psutil


class Tree:
    """The processes below and including *pid*, which may have ended."""

    def __init__(self, pid: int) -> None:
        import psutil  # 25 ms that only a run in trouble pays

        self._psutil = psutil
        self._pid = pid
        self._members: dict[int, psutil.Process] = {}
        try:
            self._members[pid] = psutil.Process(pid)
        except psutil.NoSuchProcess:
            return
        self.look()

    def look(self) -> None:
        """Find what the living members have started since."""
        for member in self._living():
            try:
                found = member.children(recursive=True)
            except self._psutil.Error:
                continue
            for process in found:
                self._members.setdefault(process.pid, process)

    def send(self, signum: int, *, group_has_it: bool) -> None:
        """Send *signum* once to every member; if *group_has_it*, to those outside our process group."""
        self.look()
        for member in self._living():
            if not (group_has_it and platform.is_in_our_group(member.pid)):
                with suppress(self._psutil.Error):
                    platform.send(member, signum)

    def kill(self) -> None:
        """End every member, for sure and at once."""
        # Stopped first: then nobody starts another child between the look and the kill.
        known = -1
        while len(self._members) > known:
            known = len(self._members)
            for member in self._living():
                with suppress(self._psutil.Error):
                    member.suspend()
            self.look()
        for member in self._living():
            with suppress(self._psutil.Error):
                member.kill()

    def has_survivors(self) -> bool:
        """Return whether a member other than the child itself still runs."""
        return any(member.pid != self._pid for member in self._living())

    def _living(self) -> list[psutil.Process]:
        return [member for member in self._members.values() if self._is_alive(member)]

    def _is_alive(self, member: psutil.Process) -> bool:
        try:
            return member.is_running() and member.status() != self._psutil.STATUS_ZOMBIE
        except self._psutil.Error:
            return False
