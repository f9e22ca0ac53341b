"""Regular expressions that are ready: the process of a hook takes them from the user's cache instead of compiling them.

Python keeps what it compiles modules to, but not what it compiles patterns to, and the 50 patterns that one failure needs are a
third of the process's time. This does for patterns what ``__pycache__`` does for modules. It reaches into `re` for that, so it is
only for a process of our own, and only as long as everything there is as it was: anything else is compiled as always.
"""

from __future__ import annotations

import marshal
import re
import sys
from re import _compiler, _parser  # type: ignore[attr-defined]
from typing import TYPE_CHECKING, Any

from rerail import kept

if TYPE_CHECKING:
    from collections.abc import Callable

_MOST = 400
"""Patterns that are kept; a run needs 50, and more cost each run more to load than they save."""

_ENOUGH = 0.75
"""The share of a run's patterns from which on what is kept will do as it is."""


class ReadyPatterns:
    """Stands in for the compiler of `re`, and learns what it had to compile.

    Args:
        path: The file of the user's own that keeps the patterns.
    """

    def __init__(self, path: str) -> None:
        self._path = path
        # The same Python on the same machine: what patterns are compiled to is its own affair.
        self._key = kept.digest(sys.version.encode(), b"%d" % _compiler.MAGIC)
        self._known = kept.read(path, self._key) or {}
        self._used: dict[str, bytes] = {}
        self._missed = 0
        self._compile: Callable[[Any, int], re.Pattern[Any]] = _compiler.compile

    def install(self) -> None:
        """Answer for `re` from now on."""
        _compiler.compile = self.compile

    def compile(self, pattern: Any, flags: int = 0) -> re.Pattern[Any]:
        """Return *pattern* compiled.

        Raises:
            re.error: It is not a regular expression.
        """
        if type(pattern) is not str or flags & re.DEBUG.value:
            return self._compile(pattern, flags)
        name = f"{flags}:{pattern}"
        code = self._known.get(name)
        try:
            if code is None:
                code = marshal.dumps(_arguments(pattern, flags), kept.MARSHAL_FORMAT)
                self._missed += 1
            # The arguments were made by this Python, and it checks them: wrong code is refused, not run.
            compiled: re.Pattern[str] = _compiler._sre.compile(pattern, *marshal.loads(code))  # noqa: S302, SLF001
        except (AttributeError, TypeError, ValueError, RuntimeError, EOFError):
            return self._compile(pattern, flags)
        self._used[name] = code
        return compiled

    def keep(self) -> None:
        """Keep what this run used, where much of it was not there yet."""
        if self._missed > (1 - _ENOUGH) * len(self._used):
            newest = {**self._used, **self._known}
            kept.write(self._path, self._key, {name: newest[name] for name in list(newest)[:_MOST]})


def _arguments(pattern: str, flags: int) -> tuple[int, list[int], int, dict[str, int], tuple[str | None, ...]]:
    """Return what `re._compiler.compile` hands to the engine after the pattern."""
    parsed = _parser.parse(pattern, flags)
    state = parsed.state
    names: list[str | None] = [None] * state.groups
    for name, number in state.groupdict.items():
        names[number] = name
    return (
        flags | state.flags,
        list(map(int, _compiler._code(parsed, flags))),  # noqa: SLF001
        state.groups - 1,
        dict(state.groupdict),
        tuple(names),
    )
