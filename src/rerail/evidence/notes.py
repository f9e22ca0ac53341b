"""What `Evidence.notes` may say: facts about how the failure came about, beside the failure itself.

A note is one of these phrases; where a number adds to it, it follows after a colon: ``inner retries spent: 2``.
"""

from __future__ import annotations

from rerail.light_typing import TYPE_CHECKING

if TYPE_CHECKING:
    from typing import Final

RETRIES_SPENT: Final = "inner retries spent"
"""A layer below has already tried again and given up; the number is how often, where it is known."""

TIMED_OUT: Final = "timed out"
"""Whoever waited for the process ended it after a time limit."""

INTERRUPTED: Final = "interrupted"
"""The user or the harness broke the call off."""

INPUT: Final = "input"
"""A phase of verification judged this input: the fingerprint of its command, directory and files, after it had run."""

BODY_UNREAD: Final = "body not read"
"""The response was streamed and its body never fetched; reading it now would be network I/O."""

CHAIN_CLIPPED: Final = "exception chain clipped"
"""The chain or group had more exceptions than are kept."""
