"""Which limit binds. Every store asks this one function, so that they cannot differ."""

from __future__ import annotations

from rerail.budget.model import Limit
from rerail.light_typing import TYPE_CHECKING

if TYPE_CHECKING:
    from rerail.budget.model import Charge


def binding_limit(charge: Charge, *, spent: int, spent_in_window: int) -> Limit | None:
    """Return the limit that refuses *charge*, or None when it can be made.

    Args:
        charge: What is asked for.
        spent: Charges of this (unit, class) since the unit last succeeded.
        spent_in_window: Charges of this (unit, class) within the window that ends at ``charge.at_s``, successes or not.
    """
    if spent >= charge.budget:
        return Limit.CLASS
    if spent_in_window >= charge.window.charges:
        return Limit.WINDOW
    return None
