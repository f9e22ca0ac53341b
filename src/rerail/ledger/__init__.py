"""The ledger: budgets, pauses, events and where each unit stands, kept so that a kill loses nothing.

Here are the contract and the way to the default store. A store is imported from its own module, `memory` or `sqlite`: a hook that
spends from one does not pay for the other.
"""

from __future__ import annotations

from rerail.ledger.location import Location, locate, open_ledger
from rerail.ledger.store import (
    AlreadyAnsweredError,
    EventRow,
    Gap,
    Ledger,
    Owner,
    PauseRecord,
    Refusal,
    UnitBusyError,
)

__all__ = [
    "AlreadyAnsweredError",
    "EventRow",
    "Gap",
    "Ledger",
    "Location",
    "Owner",
    "PauseRecord",
    "Refusal",
    "UnitBusyError",
    "locate",
    "open_ledger",
]
