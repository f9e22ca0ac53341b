"""Regular expressions for what a hook imports: compiled by `re`, unless a process has them ready (see `rerail.cli.ready`).

Importing `re` costs a hook a fifth of what starting Python costs, and one that has its patterns ready needs nothing of it.
"""

from __future__ import annotations

from rerail.light_typing import TYPE_CHECKING

if TYPE_CHECKING:
    import re
    from collections.abc import Callable

IGNORECASE, MULTILINE, DOTALL, ASCII = 2, 8, 16, 256
"""Flags, as `re` has them."""


def compiled(pattern: str, flags: int = 0) -> re.Pattern[str]:
    """Return *pattern* compiled.

    Raises:
        re.error: It is not a regular expression.
    """
    return _compile(pattern, flags)


def compile_with(compiler: Callable[[str, int], re.Pattern[str]]) -> None:
    """Have *compiler* do the work of `compiled` from now on."""
    global _compile
    _compile = compiler


def _with_re(pattern: str, flags: int) -> re.Pattern[str]:
    import re

    return re.compile(pattern, flags)


_compile: Callable[[str, int], re.Pattern[str]] = _with_re
