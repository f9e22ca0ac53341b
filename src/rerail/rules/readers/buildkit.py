"""Reads what BuildKit prints twice: when a step fails, it repeats the last lines of a step that it has shown already.

Read again out of their report, they would say what the report did not. Source: BuildKit, ``util/progress/progressui``; observed.
"""

from __future__ import annotations

from rerail.light_typing import TYPE_CHECKING
from rerail.regex import compiled

if TYPE_CHECKING:
    from collections.abc import Sequence

    from rerail.rules.readers.model import Draft, Scene

_STEP = compiled(r"#\d{1,4} \d{1,6}\.\d{1,3} ")
_REPEATED = compiled(r" > \[.{0,200}\].{0,2000}:$")
_EDGE = "------"


def read(drafts: Sequence[Draft], scene: Scene) -> None:
    """Hide the lines that a failed step's report repeats, where the step itself is there."""
    del scene
    for draft in drafts:
        if not any(_STEP.match(line) for line in draft.raws):
            continue
        inside = False
        for index, line in enumerate(draft.raws):
            if index and draft.raws[index - 1] == _EDGE and _REPEATED.match(line):
                inside = True
            elif line == _EDGE:
                inside = False
            if inside:
                draft.mask(index)
