"""What named a failure, what lost, and why."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING

from rerail.boundary import hints
from rerail.boundary.result import Result
from rerail.errors import UnknownNameError, UsageError
from rerail.evidence.payload import from_payload
from rerail.ids import EventId
from rerail.ledger.codec import record_from_json
from rerail.ledger.named import FAILURE_NAMED
from rerail.quality.excerpts import excerpts
from rerail.rules.engine import classify
from rerail.taxonomy import FailureClass
from rerail.verbs.classify import to_json_value
from rerail.verbs.history import failure_of, known_units, last_failure
from rerail.verbs.units import scoped

if TYPE_CHECKING:
    from collections.abc import Iterable

    from rerail.app import Project
    from rerail.evidence.model import Evidence
    from rerail.ledger.store import EventRow, Ledger
    from rerail.rules.model import Candidate, Citation, Classification

LAST = "last"
"""Asks for the last named failure of all."""


def why(project: Project, asked: str = LAST) -> Result:
    """Return what named a recorded failure.

    Args:
        project: Whose ledger and recipes.
        asked: An event's number, a pause's id, a unit for its last failure, or `LAST`.

    Raises:
        UsageError: There is no such failure.
    """
    ledger = project.open_ledger()
    try:
        row = _row(ledger, asked)
    finally:
        ledger.close()
    record = record_from_json(row.fields)
    about = {"event": row.id, "unit": record.unit, "attempt": record.attempt, "at_s": record.at_s}
    return _result(project, record.evidence, record.classification, about)


def why_named(project: Project, failure: object) -> Result:
    """Return what names a failure that nobody has recorded.

    Args:
        project: Whose recipes.
        failure: Evidence JSON, parsed.

    Raises:
        EvidenceError: It is none.
    """
    evidence = from_payload(failure)
    named = classify(evidence, project.loaded.rules, now=time.time())
    return _result(project, evidence, named, dict.fromkeys(("event", "unit", "attempt", "at_s")))


def _result(project: Project, evidence: Evidence, named: Classification, about: dict[str, object]) -> Result:
    text = project.loaded.texts.get(named.rule)
    data = {
        **about,
        "classification": to_json_value(named),
        "why": text.why if text else None,
        "source": text.source if text else None,
        "recipe": text.pack if text else None,
        "excerpts": [
            {
                "stream": each.stream,
                "total_lines": each.total_lines,
                "lines": [
                    {"line": line.number, "text": line.text, "role": line.role, "spans": line.spans}
                    for line in each.lines
                ],
            }
            for each in excerpts(evidence, named, project.loaded.rules)
        ],
        "fields": _cited(cited for cited in named.evidence if not cited.line),
        "runners_up": [_runner_up(each) for each in named.trace[1:]],
    }
    unnamed = named.class_ == FailureClass.UNCLASSIFIED and about["event"] is not None
    return Result(True, "why", "", data, hints=(hints.draft_rule(),) if unnamed else ())


def _runner_up(candidate: Candidate) -> dict[str, object]:
    return {
        "rule": candidate.rule,
        "class": candidate.class_,
        "reason": candidate.reason,
        "trust": candidate.trust.name.lower(),
        "verdict": candidate.verdict,
        "evidence": _cited(candidate.evidence),
    }


def _cited(citations: Iterable[Citation]) -> list[dict[str, object]]:
    return [{"stream": str(cited.stream), "line": cited.line, "text": cited.text} for cited in citations]


def _row(ledger: Ledger, asked: str) -> EventRow:
    """Return the named failure that *asked* means: a number is always an event's."""
    if asked == LAST:
        row = last_failure(ledger)
        if row is None:
            raise UsageError("no failure has been recorded here yet", hint="run a unit first: rerail run -- CMD")
        return row
    if asked.isascii() and asked.isdecimal():
        row = ledger.event(EventId(int(asked)))
        if row.name != FAILURE_NAMED:
            raise UsageError(
                f"event {asked} is {row.name}, not a named failure", hint="see rerail ledger show --failures"
            )
        return row
    pauses = {str(pause.id): pause for pause in ledger.pauses(include_answered=True)}
    row = failure_of(ledger, pauses[asked]) if asked in pauses else last_failure(ledger, scoped(asked))
    if row is not None:
        return row
    units = known_units(ledger)
    if asked in pauses or scoped(asked) in units:
        raise UsageError(f"no named failure of {asked} is recorded")
    raise UnknownNameError("event, unit or pause", asked, {*units, *pauses})
