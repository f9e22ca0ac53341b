"""Reads the errors of Python's jsonschema: the first line says what is wrong; the schema and instance quoted below it do not."""

from __future__ import annotations

from rerail.light_typing import TYPE_CHECKING
from rerail.regex import compiled
from rerail.rules.readers.model import Weight

if TYPE_CHECKING:
    from collections.abc import Sequence

    from rerail.rules.readers.model import Draft, Scene

_QUOTING = compiled(r"^\s*(?:E\s+)?(?:Failed validating ['\"]|On (?:instance|schema)\b.{0,300}:$)")
_QUOTED = compiled(r"^(?:E\s+)?\s|^$|^E\s*$")


def read(drafts: Sequence[Draft], scene: Scene) -> None:
    """Mask what is quoted, and let the message above it decide."""
    del scene
    for draft in drafts:
        index = 0
        while index < len(draft):
            if not _QUOTING.match(draft.lines[index]):
                index += 1
                continue
            _mark_message(draft, index)
            draft.mask(index)
            index += 1
            while index < len(draft) and _QUOTED.match(draft.lines[index]) and not _QUOTING.match(draft.lines[index]):
                draft.mask(index)
                index += 1


def _mark_message(draft: Draft, quoting: int) -> None:
    """Mark the last line of text above a quotation, with a blank line between; a caller's own words decide anyway."""
    if draft.name not in ("stderr", "stdout"):
        return
    above = quoting - 1
    while above >= 0 and not draft.lines[above].strip(" E"):
        above -= 1
    if above >= 0:
        draft.mark(Weight.ERROR, above)
