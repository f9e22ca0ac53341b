"""Short fields made safe to keep: names, directories, error codes."""

from __future__ import annotations

from rerail.evidence.ansi import strip
from rerail.evidence.clip import clip_line
from rerail.evidence.redact import redact
from rerail.light_typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Collection

_MAX_CODES = 32


def label(text: str, limit_chars: int = 512) -> str:
    """Return *text* (a tool's name, a directory) redacted, clipped and on one line."""
    return clip_line(redact(strip(text)).replace("\n", " ").strip(), limit_chars)


def distinct_codes(codes: Collection[str]) -> tuple[str, ...]:
    """Return the error codes without repeats, in order, and without any that is a secret."""
    if not codes:
        return ()
    return tuple([code for code in dict.fromkeys(codes) if redact(code) == code])[:_MAX_CODES]
