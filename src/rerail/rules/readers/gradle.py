"""Reads Gradle's own account of a failed build: what went wrong, each cause below what it caused.

Source: Gradle's `BuildExceptionReporter`; observed in public build logs.
"""

from __future__ import annotations

from rerail.light_typing import TYPE_CHECKING
from rerail.regex import compiled
from rerail.rules.readers.model import Weight

if TYPE_CHECKING:
    from collections.abc import Sequence

    from rerail.rules.readers.model import Draft, Scene

_CAUSE = compiled(r"^(?P<indent> *)> \S")


def read(drafts: Sequence[Draft], scene: Scene) -> None:
    """Mark the lines below "What went wrong"; the deeper a cause is indented, the nearer it is to the root."""
    del scene
    for draft in drafts:
        inside = False
        for index, line in enumerate(draft.bare):
            if line.startswith("* "):
                inside = line.startswith("* What went wrong")
                draft.mask(index)
            elif inside and line.strip():
                cause = _CAUSE.match(line)
                draft.mark(Weight.DECIDING, index)
                draft.shown_as(index, line.strip().removeprefix("> "))
                if cause:
                    draft.depths[index] = 1 + len(cause["indent"]) // 3
