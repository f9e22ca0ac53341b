"""The ``packed-refs`` file as far as it can be read. git gives up at its first bad line, and then sees no ref at all."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

import attrs

from rerail.plain_file import read_plain

if TYPE_CHECKING:
    from pathlib import Path

NAME = "packed-refs"
_GOOD = re.compile(
    rb"#[^\n]*|(?:[0-9a-f]{40}|[0-9a-f]{64}) refs/[^\x00-\x20\x7f~^:?*\[\\]+|\^(?:[0-9a-f]{40}|[0-9a-f]{64})"
)


@attrs.frozen
class PackedRefs:
    """What a ``packed-refs`` file says."""

    good: bytes
    """Its lines that can be read."""
    bad: int
    """How many cannot."""


def read(common_dir: Path) -> PackedRefs:
    """Return a repository's packed refs; nothing where it has none."""
    try:
        data = read_plain(common_dir / NAME, None)
    except OSError:
        return PackedRefs(b"", 0)
    *lines, torn = data.split(b"\n")
    good: list[bytes] = []
    has_ref = False
    for line in lines:
        is_peeled = line.startswith(b"^")
        is_good = _GOOD.fullmatch(line) is not None and (has_ref or not is_peeled)
        if is_good:
            good.append(line + b"\n")
        has_ref = is_good and not is_peeled and not line.startswith(b"#")
    # What a crash tore has no end, and its name may be half of one.
    return PackedRefs(b"".join(good), len(lines) - len(good) + bool(torn))
