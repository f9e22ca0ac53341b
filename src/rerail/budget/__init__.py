"""Budgets: how many recoveries a (unit, class) has, and which limit binds. Arithmetic only; `rerail.ledger` keeps the numbers."""

from __future__ import annotations

from rerail.budget.account import binding_limit
from rerail.budget.model import Balance, Charge, Grant, Limit, Window

__all__ = ["Balance", "Charge", "Grant", "Limit", "Window", "binding_limit"]
