"""Writes a failed tool call into the ledger: its charge, then its name, as any other failure of the project.

A tool call is nobody's unit, so its unit is the tool, and for a shell the program, within the session. What may follow is what
the class says, as long as its budget lasts; the agent does it, or its operator.
"""

from __future__ import annotations

import os

from rerail.budget.model import Balance, Charge, Limit, Window
from rerail.errors import LedgerError
from rerail.ids import RunId, UnitName
from rerail.ledger.named import FAILURE_NAMED, failure_to_json
from rerail.light_typing import TYPE_CHECKING, NamedTuple
from rerail.taxonomy.actions import Action

if TYPE_CHECKING:
    from rerail.evidence.model import Evidence
    from rerail.hook.payload import ToolCall
    from rerail.ledger.store import Ledger
    from rerail.rules.model import Classification

_WINDOW = Window(charges=20, length_s=3600.0)
_SPENT = {Limit.CLASS: "budget-spent", Limit.WINDOW: "window-spent", Limit.LEDGER: "ledger-unusable"}
_CHARGED = (Action.RETRY, Action.REPAIR, Action.HEAL)


class Written(NamedTuple):
    """What follows from a failed call."""

    action: Action
    """What the agent is to do; pause where the budget is spent."""
    why: str
    """A word of `rerail.decisions.model.Why`."""
    balance: Balance | None
    """None for a class that is not charged."""


def unit_of(evidence: Evidence, harness: str, session: str) -> UnitName:
    """Return the unit that a call belongs to: the tool and, for a shell, its program, within the session."""
    program = os.path.basename(evidence.command[0]) if evidence.command else ""  # noqa: PTH119  pathlib costs 5 ms
    parts = [harness, evidence.tool or "tool", *([program] if program and program != evidence.tool else [])]
    name = ":".join("".join(char if char.isalnum() or char in "._+-" else "_" for char in part)[:40] for part in parts)
    return UnitName(f"{name}@{session}" if session else name)


def write(
    ledger: Ledger, call: ToolCall, named: Classification, *, unit: UnitName, action: Action, budget: int, at_s: float
) -> Written:
    """Charge a failed call and write it down.

    Args:
        ledger: Where; one that cannot be used counts as spent.
        call: The failed call. Told twice, it is charged once.
        named: What its failure was named.
        unit: What it belongs to.
        action: What the policy says is done about it.
        budget: The class's budget.
        at_s: Wall clock, seconds since the epoch.
    """
    run = RunId(f"{call.session}/{call.call}" if call.call else os.urandom(6).hex())
    charge = Charge(run, unit, 1, named.class_, budget, _WINDOW, at_s)
    refused_by, balance = None, None
    try:
        if action in _CHARGED:
            refused_by, balance = ledger.charge(charge)
        written = _follows(action, refused_by, balance)
        fields = failure_to_json(
            run=run,
            unit=unit,
            attempt=1,
            at_s=at_s,
            evidence=call.evidence,
            classification=named,
            decision=_decision(written, named),
            plan="",
            balance=balance,
        )
        ledger.append(FAILURE_NAMED, run=run, unit=unit, attempt=1, at_s=at_s, fields=fields)
    except LedgerError:
        return _follows(action, Limit.LEDGER, Balance(unit, named.class_, budget, budget))
    return written


def give_back(ledger: Ledger, call: ToolCall, unit: UnitName, at_s: float) -> None:
    """Give a unit its budgets back after a call that succeeded. Nearly always none was used, and one read says so."""
    if not ledger.balances(unit):
        return
    from rerail.decisions.model import Phase, Proceed, RunState

    run = RunId(f"{call.session}/{call.call}" if call.call else os.urandom(6).hex())
    state = RunState(run, unit, at_s, phase=Phase.SUCCEEDED, attempt=1)
    ledger.finish(state, Proceed(), record=None, at_s=at_s)


def _follows(action: Action, refused_by: Limit | None, balance: Balance | None) -> Written:
    if refused_by is None or action not in _CHARGED:
        return Written(action, "class", balance)
    return Written(Action.PAUSE, _SPENT[refused_by], balance)


def _decision(written: Written, named: Classification) -> dict[str, object]:
    """Return the decision as the ledger's history has it; the agent, which is the caller, repairs and retries by itself."""
    match written.action:
        case Action.RETRY:
            return {"kind": "retry", "wait_s": named.retry_after_s or 0.0}
        case Action.REPAIR:
            return {"kind": "hand-back"}
        case Action.HEAL:
            return {"kind": "heal"}
        case Action.PAUSE:
            return {"kind": "pause", "why": written.why, "resume_at_s": None}
        case Action.STOP:
            return {"kind": "stop", "why": written.why}
