"""The closed set of actions that a failure's name can choose."""

from __future__ import annotations

from enum import StrEnum


class Action(StrEnum):
    """What rerail does about a failure. One word, one meaning, in code, docs and output."""

    RETRY = "retry"
    """Wait with exponential backoff, then run the unit again."""
    REPAIR = "repair"
    """Change the input, then run the unit again; never the same input twice."""
    HEAL = "heal"
    """Bring the repository back by a known recipe; without one, pause."""
    PAUSE = "pause"
    """Ask the operator, durably, and wait for the answer."""
    STOP = "stop"
    """Surface it and end; nothing is spawned into what is broken."""
