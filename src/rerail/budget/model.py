"""The values that budgets are made of."""

from __future__ import annotations

from enum import StrEnum

from rerail.light_typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from rerail.ids import ClassName, RunId, UnitName


class Limit(StrEnum):
    """What can refuse a charge."""

    CLASS = "class"
    """The class's budget for this unit; a verified success of the unit resets it."""
    WINDOW = "window"
    """The rolling window of the class for this unit; nothing but time resets it."""
    LEDGER = "ledger"
    """The ledger cannot be read or written: what it holds counts as spent."""


class Window(NamedTuple):
    """A rolling window: at most *charges* within any *length_s* seconds of wall-clock time."""

    charges: int
    length_s: float


class Charge(NamedTuple):
    """A request to spend one recovery; granted once per (run, unit, attempt), however often it is delivered."""

    run: RunId
    unit: UnitName
    attempt: int
    """The attempt that failed, counted from 1."""
    class_: ClassName
    budget: int
    """The class's budget in force now; the ledger holds what was spent, not what is allowed."""
    window: Window
    at_s: float
    """Wall clock, seconds since the epoch."""


class Balance(NamedTuple):
    """What a (unit, class) has spent since the unit last succeeded."""

    unit: UnitName
    class_: ClassName
    budget: int
    spent: int

    @property
    def remaining(self) -> int:
        """How many recoveries are left; never negative, even when a budget was lowered below what is spent."""
        return max(0, self.budget - self.spent)


class Grant(NamedTuple):
    """The ledger's answer to a charge."""

    refused_by: Limit | None
    """None: the charge was made, and is in *balance*."""
    balance: Balance

    @property
    def granted(self) -> bool:
        """Whether the recovery may go on."""
        return self.refused_by is None
