"""What an attempt started and nobody ended: found by a mark in its environment, which whatever it starts inherits.

A supervisor that is killed cannot say what it leaves behind, and a process whose parent is gone belongs to nobody. A mark costs
no write when the attempt starts, and also finds who left the tree. Not seen is a process of another user or host, or one that
was given an environment of its own.
"""

from __future__ import annotations

import os
from typing import NamedTuple

from rerail.evidence.ansi import printable
from rerail.kept import digest

VARIABLE = "RERAIL_ATTEMPT"
"""In the environment of every command that is run as a unit; it says which attempt that is."""


class Survivor(NamedTuple):
    """A process of an attempt whose supervisor is gone."""

    pid: int
    name: str
    """Of its program, fit to be shown. Its arguments may hold secrets."""

    def __str__(self) -> str:
        return f"{self.pid} ({self.name})"


def mark(run: str, unit: str, attempt: int) -> str:
    """Return what the variable holds for an attempt: the same in every process, and no other attempt's."""
    return digest(*(part.encode("utf-8", "surrogatepass") for part in (run, unit, str(attempt)))).hex()


def marked(value: str) -> dict[str, str]:
    """Return our environment with the mark of an attempt in it."""
    return {**os.environ, VARIABLE: value}


def survivors(value: str) -> tuple[Survivor, ...]:
    """Return the living processes that carry a mark, by pid; not this process, which may have been started by one of them."""
    import psutil  # 25 ms that only a unit pays whose host was killed

    found = []
    for process in psutil.process_iter():
        try:
            is_of_it = process.pid != os.getpid() and process.environ().get(VARIABLE) == value
            if is_of_it and process.status() != psutil.STATUS_ZOMBIE:
                found.append(Survivor(process.pid, printable(process.name())))
        except (psutil.Error, OSError):  # it has ended, or is none of ours
            continue
    return tuple(sorted(found))
