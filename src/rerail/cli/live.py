"""What a person sees while rerail waits: the remaining time, on a terminal only."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from typing import TextIO

    from rerail.runner.blocking import Sleeper

_TICK_S = 0.25
_SHORTEST_SHOWN_S = 0.5


def live_sleep(stream: TextIO | None) -> Sleeper:
    """Return a sleeper that counts down on *stream* where that is a terminal, and just waits where it is not."""
    if stream is None or not stream.isatty():
        return time.sleep

    def sleep(wait_s: float, /) -> None:
        if wait_s < _SHORTEST_SHOWN_S:
            time.sleep(wait_s)
            return
        from rerail.cli.output import console_for

        until_s = time.monotonic() + wait_s
        console = console_for(stream)
        with console.status("") as status:
            while (left_s := until_s - time.monotonic()) > 0:
                status.update(f"waiting {left_s:.0f} s, then the next attempt (Ctrl-C ends the run)")
                time.sleep(min(_TICK_S, left_s))

    return sleep
