"""Keeps which patterns of rules were judged: that is most of what compiling recipes costs, and an edit changes few of them.

A pattern is judged by itself, whatever file it stands in, so what was found of it holds wherever it stands next.
"""

from __future__ import annotations

import os
from contextlib import contextmanager
from typing import TYPE_CHECKING

from rerail import kept
from rerail._version import __version__
from rerail.rules.packing import packed, unpacked
from rerail.rules.patterns import believe, remembered

if TYPE_CHECKING:
    from collections.abc import Iterator

FILE = "judged-patterns.bin"

_FORMAT = b"1"
"""Rises when patterns are judged in another way."""

MOST_PATTERNS = 20_000
"""Five times as many as rerail brings. When more are kept, most are of recipes that were edited since, and all are forgotten."""


@contextmanager
def judged_before(cache_dir: str | None) -> Iterator[None]:
    """Know what was judged before, and keep what is judged meanwhile.

    Args:
        cache_dir: A directory of the user's own; None to know and keep nothing.
    """
    if cache_dir is None:
        yield
        return
    path = os.path.join(cache_dir, FILE)  # noqa: PTH118
    key = kept.digest(_FORMAT, __version__.encode())
    parts = kept.read(path, key)
    known = unpacked(parts["needs"]) if parts is not None else {}
    if len(known) <= MOST_PATTERNS:
        believe(known)
    try:
        yield
    finally:  # also after a fault: whoever mends the file comes again
        if remembered().keys() - known.keys():
            kept.write(path, key, {"needs": packed(dict(remembered()))})
