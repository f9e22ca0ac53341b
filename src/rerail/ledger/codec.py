"""Values of a run as plain JSON, and back exactly: what a durable store writes into its rows.

Reading is strict: a key that is missing or unknown, a word outside its closed set, a value of another type raise `LedgerError`.
What the rows mean is the stores'.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, assert_never

from rerail.budget.model import Balance
from rerail.decisions.effects import FailureRecord
from rerail.decisions.model import (
    Again,
    Decision,
    Effects,
    HandBack,
    Heal,
    Pause,
    Phase,
    Probe,
    Proceed,
    Repair,
    Retry,
    RunState,
    Stop,
    Why,
)
from rerail.errors import EvidenceError
from rerail.ids import Fingerprint, PauseId, RuleSlug, RunId, UnitName
from rerail.ledger.columns import count, each, fields, maybe, number, read, text, truth
from rerail.ledger.named import classification_to_json, failure_to_json
from rerail.ledger.store import Owner, PauseRecord
from rerail.rules.model import Candidate, Citation, Classification, Trust
from rerail.taxonomy import Action

if TYPE_CHECKING:
    from rerail.evidence.model import Evidence


def state_to_json(state: RunState) -> dict[str, object]:
    """Return a run state as JSON values."""
    return {
        "run": state.run,
        "unit": state.unit,
        "started_at_s": state.started_at_s,
        "effects": state.effects.value,
        "phase": state.phase.value,
        "attempt": state.attempt,
        "failures": list(state.failures),
        "waited_s": state.waited_s,
        "rejected": sorted(state.rejected),
        "seen": sorted(state.seen),
        "last": None if state.last is None else classification_to_json(state.last),
    }


def state_from_json(value: object) -> RunState:
    """Return the run state again.

    Raises:
        LedgerError: It is not one.
    """
    return read("run state", _state, value)


def classification_from_json(value: object) -> Classification:
    """Return the classification again.

    Raises:
        LedgerError: It is not one.
    """
    return read("classification", _classification, value)


def decision_to_json(decision: Decision) -> dict[str, object]:
    """Return a decision as JSON values: its ``kind``, and what else it says."""
    match decision:
        case Retry(wait_s):
            return {"kind": "retry", "wait_s": wait_s}
        case Repair():
            return {"kind": "repair"}
        case Heal():
            return {"kind": "heal"}
        case Probe():
            return {"kind": "probe"}
        case Pause(why, resume_at_s):
            return {"kind": "pause", "why": why.value, "resume_at_s": resume_at_s}
        case Stop(why):
            return {"kind": "stop", "why": why.value}
        case HandBack():
            return {"kind": "hand-back"}
        case Proceed(landed):
            return {"kind": "proceed", "landed": landed}
        case Again():
            return {"kind": "again"}
    assert_never(decision)


def decision_from_json(value: object) -> Decision:
    """Return the decision again.

    Raises:
        LedgerError: It is not one.
    """
    return read("decision", _decision, value)


def record_to_json(record: FailureRecord) -> dict[str, object]:
    """Return a named failure as JSON values, its evidence as evidence JSON."""
    return failure_to_json(
        run=record.run,
        unit=record.unit,
        attempt=record.attempt,
        at_s=record.at_s,
        evidence=record.evidence,
        classification=record.classification,
        decision=decision_to_json(record.decision),
        plan=record.plan,
        balance=record.balance,
    )


def record_from_json(value: object) -> FailureRecord:
    """Return the named failure again.

    Raises:
        LedgerError: It is not one.
    """
    return read("failure record", _record, value)


def ending_to_json(state: RunState, decision: Decision, pause: PauseId | None) -> dict[str, object]:
    """Return a run's terminal record as JSON values."""
    return {
        "outcome": state.ended_as.value,
        "decision": decision_to_json(decision),
        "attempts": state.attempt,
        "failures": list(state.failures),
        "started_at_s": state.started_at_s,
        "waited_s": state.waited_s,
        "class": None if state.last is None else state.last.class_,
        "reason": None if state.last is None else state.last.reason,
        "pause": pause,
    }


def answer_to_json(pause: PauseRecord) -> dict[str, object]:
    """Return what the operator said as JSON values."""
    return {"pause": pause.id, "answer": pause.answer, "note": pause.note}


def owner_to_json(owner: Owner) -> dict[str, object]:
    """Return an owner as JSON values."""
    return owner._asdict()


def owner_from_json(value: object) -> Owner:
    """Return the owner again.

    Raises:
        LedgerError: It is not one.
    """
    return read("owner", _owner, value)


def question_to_json(pause: PauseRecord) -> dict[str, object]:
    """Return what a pause asks as JSON values; its answer is not part of it."""
    return {
        "id": pause.id,
        "unit": pause.unit,
        "run": pause.run,
        "asked_at_s": pause.asked_at_s,
        "why": pause.why.value,
        "question": pause.question,
        "class": pause.class_,
        "reason": pause.reason,
        "rule": pause.rule,
        "evidence": pause.evidence,
        "resume_at_s": pause.resume_at_s,
        "command": None if pause.command is None else list(pause.command),
        "cwd": pause.cwd,
    }


def question_from_json(value: object) -> PauseRecord:
    """Return the pause again, unanswered.

    Raises:
        LedgerError: It is not one.
    """
    return read("pause", _question, value)


# -- reading


def _state(value: object) -> RunState:
    run, unit, started_at_s, effects, phase, attempt, failures, waited_s, rejected, seen, last = fields(
        value, "run unit started_at_s effects phase attempt failures waited_s rejected seen last"
    )
    return RunState(
        run=RunId(text(run)),
        unit=UnitName(text(unit)),
        started_at_s=number(started_at_s),
        effects=Effects(text(effects)),
        phase=Phase(text(phase)),
        attempt=count(attempt),
        failures=each(text, failures),
        waited_s=number(waited_s),
        rejected=frozenset(map(Fingerprint, each(text, rejected))),
        seen=frozenset(map(Fingerprint, each(text, seen))),
        last=maybe(_classification, last),
    )


def _classification(value: object) -> Classification:
    class_, reason, rule, summary, evidence, action, retry_after_s, resets_at, may_have_landed, trace = fields(
        value, "class reason rule summary evidence action retry_after_s resets_at may_have_landed trace"
    )
    return Classification(
        class_=text(class_),
        reason=text(reason),
        rule=RuleSlug(text(rule)),
        summary=text(summary),
        evidence=each(_citation, evidence),
        action=Action(text(action)),
        retry_after_s=maybe(number, retry_after_s),
        resets_at=maybe(number, resets_at),
        may_have_landed=truth(may_have_landed),
        trace=each(_candidate, trace),
    )


def _citation(value: object) -> Citation:
    stream, line, cited = fields(value, "stream line text")
    return Citation(text(stream), count(line), text(cited))


def _candidate(value: object) -> Candidate:
    rule, class_, reason, trust, evidence, verdict = fields(value, "rule class reason trust evidence verdict")
    return Candidate(
        rule=RuleSlug(text(rule)),
        class_=text(class_),
        reason=text(reason),
        trust=Trust[text(trust).upper()],
        evidence=each(_citation, evidence),
        verdict=text(verdict),
    )


def _decision(value: object) -> Decision:
    kind = value.get("kind") if isinstance(value, dict) else None
    match kind:
        case "retry":
            return Retry(number(fields(value, "kind wait_s")[1]))
        case "pause":
            _, why, resume_at_s = fields(value, "kind why resume_at_s")
            return Pause(Why(text(why)), maybe(number, resume_at_s))
        case "stop":
            return Stop(Why(text(fields(value, "kind why")[1])))
        case "proceed":
            return Proceed(truth(fields(value, "kind landed")[1]))
        case "repair" | "heal" | "probe" | "hand-back" | "again":
            fields(value, "kind")
            return _BARE[kind]
        case _:
            raise ValueError(f"expected a decision, got {value!r:.80}")


_BARE: dict[str, Decision] = {
    "repair": Repair(),
    "heal": Heal(),
    "probe": Probe(),
    "hand-back": HandBack(),
    "again": Again(),
}


def _record(value: object) -> FailureRecord:
    run, unit, attempt, at_s, evidence, classification, decision, plan, balance = fields(
        value, "run unit attempt at_s evidence classification decision plan balance"
    )
    return FailureRecord(
        run=RunId(text(run)),
        unit=UnitName(text(unit)),
        attempt=count(attempt),
        at_s=number(at_s),
        evidence=_evidence(evidence),
        classification=_classification(classification),
        decision=_decision(decision),
        plan=text(plan),
        balance=maybe(_balance, balance),
    )


def _evidence(value: object) -> Evidence:
    from rerail.evidence.payload import from_payload

    try:
        return from_payload(value)
    except EvidenceError as error:
        raise ValueError(error.message.replace("\n", " ")) from error


def _balance(value: object) -> Balance:
    unit, class_, budget, spent = fields(value, "unit class budget spent")
    return Balance(UnitName(text(unit)), text(class_), count(budget), count(spent))


def _owner(value: object) -> Owner:
    pid, started, boot, host = fields(value, "pid started boot host")
    return Owner(count(pid), text(started), text(boot), text(host))


def _question(value: object) -> PauseRecord:
    id_, unit, run, asked_at_s, why, question, class_, reason, rule, evidence, resume_at_s, command, cwd = fields(
        value, "id unit run asked_at_s why question class reason rule evidence resume_at_s command cwd"
    )
    return PauseRecord(
        id=PauseId(text(id_)),
        unit=UnitName(text(unit)),
        run=RunId(text(run)),
        asked_at_s=number(asked_at_s),
        why=Why(text(why)),
        question=text(question),
        class_=text(class_),
        reason=text(reason),
        rule=text(rule),
        evidence=text(evidence),
        resume_at_s=maybe(number, resume_at_s),
        command=maybe(lambda argv: each(text, argv), command),
        cwd=text(cwd),
        answer=None,
        answered_at_s=None,
        note="",
    )
