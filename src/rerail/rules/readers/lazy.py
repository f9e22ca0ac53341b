"""Patterns that are compiled when they are first used: a hook reads one short failure and needs few of all there are."""

from __future__ import annotations

from rerail.light_typing import TYPE_CHECKING, cast
from rerail.regex import compiled

if TYPE_CHECKING:
    import re


class _Lazy:
    """Stands for a compiled pattern until the first call, and costs nothing from then on."""

    def __init__(self, source: str) -> None:
        self._source = source

    def __getattr__(self, name: str) -> object:
        # Reached only for attributes that are not set: once. Compiling all patterns of the readers takes 13 ms.
        pattern = compiled(self._source)
        self.match, self.search = pattern.match, pattern.search
        self.findall, self.finditer, self.sub = pattern.findall, pattern.finditer, pattern.sub
        return getattr(pattern, name)


def lazy(source: str) -> re.Pattern[str]:
    """Return *source* as a pattern with the methods ``match``, ``search``, ``findall``, ``finditer`` and ``sub``."""
    return cast("re.Pattern[str]", _Lazy(source))
