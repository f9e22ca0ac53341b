"""rerail puts agent loops back on the rails: each failure is named before the first retry, and its name chooses the action.

The names below are the library's promise. They are imported when they are first used: a program that imports rerail and never
fails does not pay for what happens after a failure.
"""

from __future__ import annotations

from rerail._version import __version__

TYPE_CHECKING = False  # type checkers know the name; importing typing for it would cost 13 ms
if TYPE_CHECKING:
    from typing import Any

    from rerail.app import Loop
    from rerail.boundary.block import Block, parse_block
    from rerail.decisions.effects import FailureRecord
    from rerail.decisions.model import Answer, Effects, Landing, Why
    from rerail.decisions.policy import Backoff, Ceiling, Policy
    from rerail.errors import LedgerError, RecipeError, RerailError, SettingsError, UsageError
    from rerail.evidence.model import Evidence
    from rerail.handlers.repair import RepairRequest
    from rerail.ledger.store import PauseRecord, UnitBusyError
    from rerail.process import EndRequest, Finished
    from rerail.rules.model import Classification
    from rerail.runner.outcome import (
        Cancelled,
        HandedBack,
        HandedBackError,
        NotRecoveredError,
        Outcome,
        Paused,
        PausedError,
        Stopped,
        StoppedError,
        Succeeded,
    )
    from rerail.runner.unit import Unit
    from rerail.taxonomy import Action, FailureClass

_HOMES = {
    "Action": "rerail.taxonomy",
    "Answer": "rerail.decisions.model",
    "Backoff": "rerail.decisions.policy",
    "Block": "rerail.boundary.block",
    "Cancelled": "rerail.runner.outcome",
    "Ceiling": "rerail.decisions.policy",
    "Classification": "rerail.rules.model",
    "Effects": "rerail.decisions.model",
    "EndRequest": "rerail.process",
    "Evidence": "rerail.evidence.model",
    "FailureClass": "rerail.taxonomy",
    "FailureRecord": "rerail.decisions.effects",
    "Finished": "rerail.process",
    "HandedBack": "rerail.runner.outcome",
    "HandedBackError": "rerail.runner.outcome",
    "Landing": "rerail.decisions.model",
    "LedgerError": "rerail.errors",
    "Loop": "rerail.app",
    "NotRecoveredError": "rerail.runner.outcome",
    "Outcome": "rerail.runner.outcome",
    "PauseRecord": "rerail.ledger.store",
    "Paused": "rerail.runner.outcome",
    "PausedError": "rerail.runner.outcome",
    "Policy": "rerail.decisions.policy",
    "RecipeError": "rerail.errors",
    "RepairRequest": "rerail.handlers.repair",
    "RerailError": "rerail.errors",
    "SettingsError": "rerail.errors",
    "Stopped": "rerail.runner.outcome",
    "StoppedError": "rerail.runner.outcome",
    "Succeeded": "rerail.runner.outcome",
    "Unit": "rerail.runner.unit",
    "UnitBusyError": "rerail.ledger.store",
    "UsageError": "rerail.errors",
    "Why": "rerail.decisions.model",
    "parse_block": "rerail.boundary.block",
}

__all__ = [
    "Action",
    "Answer",
    "Backoff",
    "Block",
    "Cancelled",
    "Ceiling",
    "Classification",
    "Effects",
    "EndRequest",
    "Evidence",
    "FailureClass",
    "FailureRecord",
    "Finished",
    "HandedBack",
    "HandedBackError",
    "Landing",
    "LedgerError",
    "Loop",
    "NotRecoveredError",
    "Outcome",
    "PauseRecord",
    "Paused",
    "PausedError",
    "Policy",
    "RecipeError",
    "RepairRequest",
    "RerailError",
    "SettingsError",
    "Stopped",
    "StoppedError",
    "Succeeded",
    "Unit",
    "UnitBusyError",
    "UsageError",
    "Why",
    "__version__",
    "parse_block",
]


def __getattr__(name: str) -> Any:
    home = _HOMES.get(name)
    if home is None:
        raise AttributeError(f"module 'rerail' has no attribute {name!r}")
    from importlib import import_module

    value = getattr(import_module(home), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted(__all__)
