"""Reads the errors of PowerShell, which stand inside the frame that quotes the script: what follows the underlined place speaks.

    Line |
       3 |  Get-Thing -Nmae x
         |            ~~~~~
         | A parameter cannot be found that matches parameter name 'Nmae'.

Source: PowerShell 7, ``$ErrorView = 'ConciseView'``; observed.
"""

from __future__ import annotations

from rerail.light_typing import TYPE_CHECKING
from rerail.regex import compiled
from rerail.rules.readers.model import Weight

if TYPE_CHECKING:
    from collections.abc import Sequence

    from rerail.rules.readers.model import Draft, Scene

_HEAD = compiled(r"^Line \|$")
_FRAMED = compiled(r"^\s*\d*\s+\|\s{1,2}")
_UNDERLINED = compiled(r"^\s+\|\s+~+\s*$")


def read(drafts: Sequence[Draft], scene: Scene) -> None:
    """Mark the message of every frame, shown without its margin, and hide the script that is quoted."""
    del scene
    for draft in drafts:
        inside = speaks = False
        for index, line in enumerate(draft.bare):
            if _HEAD.match(line):
                inside, speaks = True, False
            elif inside and (framed := _FRAMED.match(line)):
                if speaks:
                    draft.mark(Weight.DECIDING, index)
                    draft.shown_as(index, line[framed.end() :])
                elif _UNDERLINED.match(line):
                    speaks = True
                    draft.mask(index)
                else:
                    draft.mask(index)
            else:
                inside = False
