"""Which process this is, and whether another one still lives. Nothing here goes by age.

A pid alone is reused; with the process's start time and the boot of its host it names one process for good. What cannot be seen
counts as alive, because a second attempt beside a living first one does harm: a process of another host, or any where the system
hides them. One thing is seen wrongly: a process in another pid namespace of this host (a sandbox, a container) is looked for by
its pid there, and counts as gone. The other way round, a sandbox that was killed would keep its unit for good.
"""

from __future__ import annotations

import os
import sys

from rerail.ledger.store import Owner

_STATE_FIELD, _START_FIELD = 0, 19
"""Of ``/proc/PID/stat`` after the command's name: fields 3 and 22 as proc(5) counts them."""

_current: Owner | None = None


def current_owner() -> Owner:
    """Return this process. Its start is ``""`` where the system hides it."""
    global _current
    pid = os.getpid()
    if _current is None or _current.pid != pid:
        try:
            _current = Owner(pid, _started(pid) or "", _boot(), _host())
        except OSError:
            _current = Owner(pid, "", "", _host())
    return _current


def is_alive(owner: Owner) -> bool:
    """Whether *owner* still runs. A zombie does not: it ended, and only waits to be collected."""
    here = current_owner()
    if owner == here or owner.host != here.host or not owner.started or not here.started:
        return True
    if owner.boot != here.boot:
        return False
    try:
        return _started(owner.pid) == owner.started
    except PermissionError:
        return True


if sys.platform == "linux":

    def _started(pid: int) -> str | None:
        """Return the process's start in clock ticks since boot; None when it is gone or a zombie."""
        try:
            with open(f"/proc/{pid}/stat", "rb") as stat:  # noqa: PTH123  pathlib costs more than the read
                # The name before the fields may hold blanks and parentheses; its end is the last one.
                fields = stat.read().rpartition(b")")[2].split()
        except (FileNotFoundError, ProcessLookupError):
            return None
        return None if fields[_STATE_FIELD] in (b"Z", b"X") else fields[_START_FIELD].decode()

    def _boot() -> str:
        with open("/proc/sys/kernel/random/boot_id", encoding="ascii") as boot_id:  # noqa: PTH123  as above
            return boot_id.read().strip()

    def _host() -> str:
        return os.uname().nodename

else:

    def _started(pid: int) -> str | None:
        """Return the process's start as seconds since the epoch; None when it is gone or a zombie."""
        # psutil costs 15 ms to import, and only what failed before asks.
        import psutil

        try:
            process = psutil.Process(pid)
            return None if process.status() == psutil.STATUS_ZOMBIE else repr(process.create_time())
        except psutil.NoSuchProcess:
            return None
        except psutil.AccessDenied as error:
            raise PermissionError(str(error)) from error

    def _boot() -> str:
        """Return nothing: here a start is a point in time, which no process of an earlier boot shares."""
        return ""

    def _host() -> str:
        from platform import node

        return node()
