"""One heal at a time in one repository: an advisory lock that the system lets go of when its holder dies.

It is taken before anything is looked at, so that no heal takes another's probes for somebody at work. The calls that exist on one
system only are here.
"""

from __future__ import annotations

import os
import sys
import time
from contextlib import contextmanager
from typing import IO, TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

FILE_NAME = "lease"
_POLL_S = 0.05


def default_dir(common_dir: Path) -> Path:
    """Return where the lease of a repository lies: beside everything else that rerail keeps in its git directory."""
    return common_dir / "rerail"


@contextmanager
def hold(directory: Path, *, patience_s: float, sleep: Callable[[float], None] = time.sleep) -> Iterator[bool]:
    """Hold a repository's lease for a while; yields False when another holder did not let go in time.

    Args:
        directory: Where the lease lies; it is made when it is missing.
        patience_s: How long to wait for another holder, in seconds.
        sleep: Waits that many seconds.

    Raises:
        OSError: The directory cannot be written.
    """
    directory.mkdir(parents=True, exist_ok=True)
    with (directory / FILE_NAME).open("a+b") as file:
        waited_s = 0.0
        while not (is_held := _try_lock(file)) and waited_s < patience_s:
            sleep(_POLL_S)
            waited_s += _POLL_S
        yield is_held
        # Closing lets go, and so does dying.


if sys.platform == "win32":  # pragma: no cover
    import msvcrt

    def _try_lock(file: IO[bytes]) -> bool:
        file.seek(0)
        try:
            msvcrt.locking(file.fileno(), msvcrt.LK_NBLCK, 1)
        except OSError:
            return False
        return True

else:
    import fcntl

    def _try_lock(file: IO[bytes]) -> bool:
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            return False
        return True


def is_writable(directory: Path) -> bool:
    """Return whether a lease could be taken there, judged without writing."""
    existing = next(folder for folder in (directory, *directory.parents) if folder.exists())
    return os.access(existing, os.W_OK)
