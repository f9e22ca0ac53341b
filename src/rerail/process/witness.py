"""Whether a signal came to our whole process group or to this process alone.

The kernel does not tell a receiver, and it matters: a second SIGINT or SIGTERM makes many programs drop their clean-up.
"""

from __future__ import annotations

import os
import subprocess

from rerail.process import platform


class GroupWitness:
    """A ``cat`` in our process group.

    It echoes while it lives, and a signal to the group ends it before it can echo again: the kernel signals the newest
    members first, and a pending signal is taken before a read returns. It costs 0.3 ms, and ends by itself when this
    process is killed.
    """

    def __init__(self) -> None:
        self._cat: subprocess.Popen[bytes] | None = None
        self._post()

    def was_hit(self) -> bool | None:
        """Return whether the group got an ending signal since the last call; None when nobody can tell."""
        if self._cat is None:
            return None
        if self._echoes(self._cat):
            return False
        self.close()
        hit = -self._cat.returncode in platform.ENDING_SIGNALS
        self._post()
        return hit

    def close(self) -> None:
        """Let the witness go."""
        if self._cat is not None:
            self._cat.kill()  # a stopped one too
            self._cat.wait()
            for pipe in (self._cat.stdin, self._cat.stdout):
                if pipe is not None:
                    pipe.close()

    def _post(self) -> None:
        try:
            self._cat = subprocess.Popen(
                ["cat"],  # noqa: S607  found on the system's path alone
                bufsize=0,
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=subprocess.DEVNULL,
                cwd="/",
                env={"PATH": os.defpath},
            )
        except OSError:
            self._cat = None

    @staticmethod
    def _echoes(cat: subprocess.Popen[bytes]) -> bool:
        if cat.stdin is None or cat.stdout is None:
            return False
        try:
            cat.stdin.write(b"?")
        except BrokenPipeError:
            return False
        answered = platform.ready([cat.stdout.fileno()], [], timeout_s=1.0)  # no answer: someone stopped it
        return bool(answered) and bool(cat.stdout.read(1))
