"""Regular expressions that are ready: the process of a hook takes them from the user's cache instead of compiling them.

Python keeps what it compiles modules to, but not what it compiles patterns to, and the 50 patterns that one failure needs are a
third of the process's time. This does for patterns what ``__pycache__`` does for modules. It goes past `re` for that, so it is
only for a process of our own, and only as long as everything there is as it was: anything else is compiled as always.
"""

from __future__ import annotations

import _sre  # type: ignore[import-not-found]  # the engine, which `re` hands compiled patterns to
import sys
from binascii import crc32
from marshal import dumps, loads

from rerail import kept
from rerail.light_typing import TYPE_CHECKING
from rerail.regex import compile_with

if TYPE_CHECKING:
    import re

_MOST = 400
"""Patterns that are kept; a run needs 50, and more cost each run more to load than they save."""

_ENOUGH = 0.75
"""The share of a run's patterns from which on what is kept will do as it is, where there is no room for more."""


class ReadyPatterns:
    """Compiles patterns, and learns which ones this user's failures need.

    Args:
        path: The file of the user's own that keeps the patterns.
    """

    def __init__(self, path: str) -> None:
        self._path = path
        # The same Python on the same machine: what patterns are compiled to is its own affair.
        self._key = b"%08x%08x" % (crc32(sys.version.encode()), _sre.MAGIC)
        self._known = kept.read(path, self._key) or {}
        self._used: kept.Parts = {}
        self._missed = 0

    def install(self) -> None:
        """Compile for the whole process from now on."""
        compile_with(self.compile)

    def compile(self, pattern: str, flags: int = 0) -> re.Pattern[str]:
        """Return *pattern* compiled.

        Raises:
            re.error: It is not a regular expression.
        """
        name = f"{flags}:{pattern}"
        code = self._known.get(name)
        try:
            if code is None:
                code = dumps(_arguments(pattern, flags), kept.MARSHAL_FORMAT)
                self._missed += 1
            # The arguments were made by this Python, and it checks them: wrong code is refused, not run.
            compiled: re.Pattern[str] = _sre.compile(pattern, *loads(code))  # noqa: S302
        except (AttributeError, TypeError, ValueError, RuntimeError, EOFError):
            import re

            return re.compile(pattern, flags)
        self._used[name] = code
        return compiled

    def keep(self) -> None:
        """Keep what this run used, where some of it was not there yet: one pattern that is missing costs the import of `re`."""
        has_room = len(self._known) + self._missed <= _MOST
        if self._missed and (has_room or self._missed > (1 - _ENOUGH) * len(self._used)):
            newest = {**self._used, **self._known}
            kept.write(self._path, self._key, {name: newest[name] for name in list(newest)[:_MOST]})


def _arguments(pattern: str, flags: int) -> tuple[int, list[int], int, dict[str, int], tuple[str | None, ...]]:
    """Return what `re._compiler.compile` hands to the engine after the pattern."""
    from re import _compiler, _parser  # type: ignore[attr-defined]

    parsed = _parser.parse(pattern, flags)
    state = parsed.state
    names: list[str | None] = [None] * state.groups
    for name, number in state.groupdict.items():
        names[number] = name
    return (
        int(flags | state.flags),
        list(map(int, _compiler._code(parsed, flags))),  # noqa: SLF001
        state.groups - 1,
        dict(state.groupdict),
        tuple(names),
    )
