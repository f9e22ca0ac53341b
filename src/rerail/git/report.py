"""What a heal, and a plan of one, hand back. Values only."""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal

import attrs

if TYPE_CHECKING:
    from rerail.git.finding import Finding
    from rerail.recipes.heals import Need

OutcomeName = Literal["healed", "paused", "stopped", "retry"]


@attrs.frozen
class WayOut:
    """One way out for a person, filled in."""

    to: str
    """What it leads to, as a phrase."""
    commands: tuple[str, ...]
    """In order, as a shell takes them; words in capitals are the person's to fill in."""


@attrs.frozen
class HealReport:
    """How a heal ended."""

    outcome: OutcomeName
    class_: str
    reason: str
    recipe: str | None
    """The recipe that healed or came nearest, or the guide that asks."""
    steps: tuple[str, ...]
    """What was done, for people; empty unless healed."""
    backup: str | None
    """The id of the backup, for an undo."""
    detail: str
    """Why it ended so, for people."""
    question: str | None = None
    """What a person is asked when it paused."""
    untrusted: str | None = None
    """The recipe file that would have to be trusted for it; None where trust is not what is missing."""
    expired: tuple[str, ...] = ()
    """The ids of old backups that were let go by the way."""
    ways: tuple[WayOut, ...] = ()
    """What the person who is asked can run, the best way first."""

    @property
    def undo(self) -> str | None:
        """The command that takes it back; None where there is nothing to take back."""
        return f"rerail heal --undo {self.backup}" if self.outcome == "healed" and self.backup else None


@attrs.frozen
class Condition:
    """One condition of a recipe, as it came out."""

    need: Need
    finding: Finding


@attrs.frozen
class HealPlan:
    """What a heal would do now."""

    class_: str
    reason: str
    recipe: str | None
    """The recipe that would run, or the guide that would ask; None: there is neither."""
    steps: tuple[str, ...]
    conditions: tuple[Condition, ...]
    """Those of the recipe that would run, or that came nearest."""
    detail: str
    not_begun: HealReport | None = None
    """How the heal would end without having begun; None: it would begin, if only to wait."""
