"""Running a command under the user's eyes: live, captured, with its signals, and ended for sure when it must end.

What a finished command means is for `rerail.evidence` and the rules to say.
"""

from __future__ import annotations

from rerail.process.capture import Capture, CaptureCaps, Captured
from rerail.process.child import run_child
from rerail.process.result import Finished
from rerail.process.signals import EndRequest
from rerail.process.spawn import (
    CommandNotExecutable,
    CommandNotFound,
    SpawnError,
    WorkingDirectoryGone,
    finished_from_spawn_error,
)

__all__ = [
    "Capture",
    "CaptureCaps",
    "Captured",
    "CommandNotExecutable",
    "CommandNotFound",
    "EndRequest",
    "Finished",
    "SpawnError",
    "WorkingDirectoryGone",
    "finished_from_spawn_error",
    "run_child",
]
