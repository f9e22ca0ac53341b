"""Patterns compiled when they are first needed.

A hook runs at every tool call and compiling a large pattern takes a millisecond, so a pattern that most texts do not need is a
string until one does.
"""

from __future__ import annotations

import functools

from rerail import regex
from rerail.light_typing import TYPE_CHECKING

if TYPE_CHECKING:
    import re


@functools.cache
def compiled(pattern: str, flags: int = 0) -> re.Pattern[str]:
    """Return *pattern*, compiled once per process. Meant for a module's constants: what it is given is kept."""
    return regex.compiled(pattern, flags)
