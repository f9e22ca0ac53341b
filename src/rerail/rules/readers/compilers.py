"""Reads the diagnostics of compilers and checkers: what they quote from the code decides nothing, nor does what they suggest.

``'"socket hang up"' is not assignable to ...`` speaks of a literal in the code. Source: GCC, Clang, rustc, javac, tsc, go vet and
CMake: their diagnostics; observed.
"""

from __future__ import annotations

from rerail.light_typing import TYPE_CHECKING
from rerail.regex import compiled
from rerail.rules.readers.model import Draft, Scene, Weight

if TYPE_CHECKING:
    import re
    from collections.abc import Sequence

_DIAGNOSTIC = compiled(
    r"^(?:vet: )?[\w./\\@+\-]{1,300}\.(?:c|cc|cpp|cxx|h|hpp|m|mm|cu|go|rs|ts|tsx|mts|js|jsx|vue|java"
    r"|kt|kts|scala|swift|cs|py|pyi|rb|php|dart|zig|hs)"
    r"(?::\d+(?::\d+)?:? |\(\d+,\d+\): )"
)
_QUOTED = compiled(r"\"[^\"]{0,400}\"|(?<!\w)'[^']{0,400}'(?!\w)|\u2018[^\u2019]{0,400}\u2019|`[^`']{0,400}[`']")
_NAME = compiled(r"^[\w./@\-]*[a-z][\w./@\-]*$")
"""A name as code has it; what is all capitals may be a system error."""
_CMAKE_WARNING = compiled(r"^CMake (?:Deprecation )?Warning(?: \(dev\))?(?: at|:)")
_REWRITTEN = compiled(r"^Diff in \S")


def read(drafts: Sequence[Draft], scene: Scene) -> None:
    """Hide quotations in diagnostics, the text of CMake's warnings, and what rustfmt would rewrite."""
    del scene
    for draft in drafts:
        warned = rewritten = False
        for index, line in enumerate(draft.bare):
            warned = bool(_CMAKE_WARNING.match(line)) or (warned and (not line or line[0] == " "))
            rewritten = bool(_REWRITTEN.match(line)) or (rewritten and line[:1] in ("+", "-", " "))
            if warned:
                draft.mark(Weight.WENT_ON, index)
            elif rewritten and line[:1] in ("+", "-", " "):
                draft.mask(index)
            elif draft.weights[index] is None and _DIAGNOSTIC.match(line) and index not in draft.seen:
                draft.shown_as(index, without_quotations(line))


def without_quotations(line: str) -> str:
    """Return a diagnostic with what it quotes from the code taken out."""
    return _QUOTED.sub(_emptied, line[:2_000])


def _emptied(quoted: re.Match[str]) -> str:
    """Keep the quotes, and names of one word: patterns may need to know that something stands there."""
    text = quoted[0]
    return text if _NAME.match(text[1:-1]) else f"{text[0]}…{text[-1]}"
