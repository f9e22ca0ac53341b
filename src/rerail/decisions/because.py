"""Why a unit pauses or stops, in words: the one place that says it for blocks, questions and messages."""

from __future__ import annotations

from types import MappingProxyType
from typing import TYPE_CHECKING

from rerail.decisions.model import Why

if TYPE_CHECKING:
    from collections.abc import Mapping

BECAUSE: Mapping[Why, str] = MappingProxyType(
    {
        Why.CLASS: "this kind of failure is the operator's to decide",
        Why.BUDGET_SPENT: "the budget of this class is spent",
        Why.WINDOW_SPENT: "this class was recovered too often in a short time",
        Why.LEDGER_UNUSABLE: "the ledger cannot be used, so its budgets count as spent",
        Why.ATTEMPT_CEILING: "the run has made all the attempts that it may",
        Why.TIME_CEILING: "the run has taken all the time that it may",
        Why.TOTAL_WAIT: "the run has waited as long as it may",
        Why.SAME_EVIDENCE: "the same failure came back after an action that should have changed it",
        Why.UNKNOWN_OUTCOME: "it was cut off, and nobody can say whether its effect landed",
        Why.RESUME_LATER: "the server named a time that is too far off to wait for",
        Why.NO_CORRECTION: "nothing says what input would be accepted",
        Why.SAME_INPUT: "the repair gave an input that was already rejected",
        Why.NOT_HEALED: "no recipe could heal it; nothing was changed",
        Why.REFUSED_WORKTREE: "the worktree is refused until a check passes",
        Why.SKIPPED: "the operator skipped it",
        Why.ABORTED: "it was ended by the operator, the caller or a signal",
    }
)
"""Every reason, as a clause that can follow "because"."""
