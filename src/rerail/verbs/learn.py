"""The failures that no rule names, by what they say, each with a draft of a rule for a person to complete."""

from __future__ import annotations

import json
import time
from typing import TYPE_CHECKING

from rerail.boundary import hints
from rerail.boundary.result import Result
from rerail.errors import CorpusError, EvidenceError, FileFault
from rerail.evidence.payload import from_payload
from rerail.quality.clusters import Gap, clusters, said
from rerail.quality.drafts import document, drafts
from rerail.rules.engine import classify
from rerail.taxonomy import FailureClass

if TYPE_CHECKING:
    from collections.abc import Sequence

    from rerail.app import Project
    from rerail.quality.clusters import Cluster, Said
    from rerail.quality.drafts import Draft

MOST_FAILURES = 1_000
"""Failures that are looked at, the newest."""
MOST_DRAFTS = 50
"""Clusters that are shown, the largest."""
_TOLD_UNITS, _TOLD_EVENTS, _TOLD_LINES = 10, 20, 3


def learn(project: Project, failures: Sequence[Gap] | None = None) -> Result:
    """Return the clusters of failures that the rules in force do not name, and a draft of a rule for each.

    A failure that was recorded as unclassified, and has a rule by now, is counted and left out. Of more than `MOST_FAILURES` the
    last are looked at.

    Args:
        project: Whose recipes and, without *failures*, whose ledger.
        failures: Other failures than those that the ledger has recorded, the newest last.
    """
    looked_at = _recorded(project) if failures is None else failures[-MOST_FAILURES:]
    now = time.time()
    unnamed: list[Said] = []
    named = 0
    for gap in looked_at:
        if classify(gap.evidence, project.loaded.rules, now=now).class_ != FailureClass.UNCLASSIFIED:
            named += 1
        elif (says := said(gap)) is not None:
            unnamed.append(says)
    found = clusters(unnamed)
    made = drafts(found[:MOST_DRAFTS], project.loaded.texts)
    data = {
        "failures": len(looked_at),
        "named_now": named,
        "not_failures": len(looked_at) - named - len(unnamed),
        "unnamed": len(unnamed),
        "clusters": len(found),
        "drafts": [_draft_data(cluster, draft) for cluster, draft in zip(found, made, strict=False)],
        "toml": document(made) if made else "",
    }
    fired = (hints.complete_drafts(),) if made else ()
    return Result(True, "rules learn", _message(len(looked_at), named, unnamed, found), data, hints=fired)


def read_failures(text: str, where: str) -> tuple[Gap, ...]:
    """Return the failures of a file: evidence JSON, one object a line, as ``rerail classify --batch`` reads it.

    Raises:
        CorpusError: With every fault of every line.
    """
    found: list[Gap] = []
    faults: list[FileFault] = []
    for number, line in enumerate(text.split("\n"), start=1):
        if line.strip():
            try:
                found.append(Gap(from_payload(json.loads(line))))
            except EvidenceError as error:
                faults.append(FileFault(where, number, "", error.message.replace("\n", " ")))
            except (ValueError, RecursionError) as error:
                faults.append(FileFault(where, number, "", f"expected a JSON object: {error}"))
    if faults:
        raise CorpusError(faults)
    return tuple(found)


def _recorded(project: Project) -> list[Gap]:
    ledger = project.open_ledger()
    try:
        return [Gap(from_payload(gap.evidence), gap.event, gap.unit) for gap in ledger.gaps(last=MOST_FAILURES)]
    finally:
        ledger.close()


def _message(failures: int, named: int, unnamed: Sequence[Said], found: Sequence[Cluster]) -> str:
    counted = f"{failures} failures: {named} named by the rules in force, {len(unnamed)} by none"
    if not unnamed:
        return counted
    shown = f"; the {MOST_DRAFTS} largest are drafted" if len(found) > MOST_DRAFTS else ""
    return f"{counted}, in {len(found)} cluster{'s' if len(found) > 1 else ''}{shown}"


def _draft_data(cluster: Cluster, draft: Draft) -> dict[str, object]:
    gaps = [each.gap for each in cluster.members]
    events = sorted((gap.event for gap in gaps if gap.event is not None), reverse=True)
    return {
        "slug": draft.slug,
        "count": len(gaps),
        "template": cluster.template,
        "tool": cluster.tool,
        "exception": cluster.exception,
        "pattern": draft.pattern,
        "lines": list(dict.fromkeys(each.line for each in cluster.members))[:_TOLD_LINES],
        "units": sorted({gap.unit for gap in gaps if gap.unit})[:_TOLD_UNITS],
        "events": events[:_TOLD_EVENTS],
        "toml": draft.toml,
    }
