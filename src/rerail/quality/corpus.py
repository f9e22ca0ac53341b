"""A labelled corpus: one failure a line, with the class that it should get. Reading it; `rerail.quality.scores` counts.

    {"id", "input": {evidence JSON}, "label", "core_label", "accept": [...], "evidence", "retry_after_s"}

``id``, ``input`` and ``label`` are required, null counts as absent, and other keys are the corpus' own business. All faults of a
file are told together, with their lines.
"""

from __future__ import annotations

import json
import math
from difflib import get_close_matches
from typing import TYPE_CHECKING, Any

import attrs

from rerail.errors import CorpusError, EvidenceError, FileFault
from rerail.evidence.payload import from_payload
from rerail.taxonomy import FailureClass

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator

    from rerail.evidence.model import Evidence

_MOST_FAULTS = 100
"""Faults that are told one by one; a file of another kind has one on every line."""


@attrs.frozen
class Case:
    """One labelled failure."""

    id: str
    line: int
    """In its file, counted from 1."""
    evidence: Evidence
    label: str
    """The class that it should get."""
    core_label: str | None = None
    """The same where only the core pack is on."""
    accept: tuple[str, ...] = ()
    """Other classes that are as defensible."""
    deciding: str = ""
    """The text that decides; a part of a line suffices."""
    retry_after_s: float | None = None
    """The delay that the failure states."""

    def truth(self, classes: Collection[str], *, core: bool) -> str:
        """Return the class that it should get where only *classes* are in force.

        Args:
            classes: The classes in force; what would be of another one is unclassified.
            core: Whether only the core pack is on.
        """
        label = self.core_label if core and self.core_label is not None else self.label
        return label if label in classes else FailureClass.UNCLASSIFIED


def read_corpus(text: str, where: str, classes: Collection[str]) -> tuple[Case, ...]:
    """Return the cases of a corpus, in the order of its lines.

    Args:
        text: JSON, one object a line; blank lines are passed over.
        where: The file, as faults should name it.
        classes: The classes that a label may name, those of switched-off packs included.

    Raises:
        CorpusError: With every fault of every line; or there is no case in it.
    """
    cases: list[Case] = []
    faults: list[FileFault] = []
    lines: dict[str, int] = {}
    # Split at \n alone: other line ends may stand inside a JSON string.
    for number, line in enumerate(text.split("\n"), start=1):
        if not line.strip():
            continue
        case = _case(line, number, classes)
        if isinstance(case, Case):
            if case.id in lines:
                faults.append(FileFault(where, number, "id", f"{case.id!r} is used in line {lines[case.id]} already"))
            lines.setdefault(case.id, number)
            cases.append(case)
        else:
            faults += [FileFault(where, number, key, message) for key, message in case]
    if not cases and not faults:
        faults.append(FileFault(where, None, "", "holds no case: expected one JSON object a line"))
    if len(faults) > _MOST_FAULTS:
        more = len(faults) - _MOST_FAULTS
        faults[_MOST_FAULTS:] = [FileFault(where, None, "", f"and {more} more faults")]
    if faults:
        raise CorpusError(faults)
    return tuple(cases)


def _case(line: str, number: int, classes: Collection[str]) -> Case | list[tuple[str, str]]:
    """Return the case on a line, or its faults by key."""
    try:
        raw = json.loads(line)
    except json.JSONDecodeError as error:
        return [("", f"expected a JSON object: {error.msg} at column {error.colno}")]
    except (ValueError, RecursionError) as error:
        return [("", f"expected a JSON object: {error}")]
    if not isinstance(raw, dict):
        return [("", f"expected a JSON object, got {_shown(raw)}")]
    faults = list(_faults(raw, classes))
    evidence = _evidence(raw.get("input"))
    if isinstance(evidence, str):
        faults.append(("input", evidence))
        return faults
    if faults:
        return faults
    return Case(
        id=str(raw["id"]),
        line=number,
        evidence=evidence,
        label=raw["label"],
        core_label=raw.get("core_label"),
        accept=tuple(raw.get("accept") or ()),
        deciding=raw.get("evidence") or "",
        retry_after_s=None if raw.get("retry_after_s") is None else float(raw["retry_after_s"]),
    )


def _evidence(value: object) -> Evidence | str:
    """Return the evidence of a case, or what is wrong with it."""
    try:
        return from_payload(value)
    except EvidenceError as error:
        return error.message.replace("evidence is not usable:\n", "").replace("\n", "; ")


def _faults(raw: dict[str, Any], classes: Collection[str]) -> Iterator[tuple[str, str]]:
    identity = raw.get("id")
    if identity is None:
        yield "id", "is missing"
    elif isinstance(identity, bool) or not isinstance(identity, str | int):
        yield "id", f"expected text or a whole number, got {_shown(identity)}"
    if raw.get("label") is None:
        yield "label", "is missing"
    for key in ("label", "core_label"):
        if raw.get(key) is not None:
            yield from ((key, fault) for fault in _no_class(raw[key], classes))
    accept = raw.get("accept")
    if accept is not None and not isinstance(accept, list):
        yield "accept", f"expected a list of classes, got {_shown(accept)}"
    else:
        yield from (("accept", fault) for name in accept or () for fault in _no_class(name, classes))
    deciding = raw.get("evidence")
    if deciding is not None and not isinstance(deciding, str):
        yield "evidence", f"expected the deciding text, got {_shown(deciding)}"
    delay_s = raw.get("retry_after_s")
    if delay_s is not None and not _is_delay(delay_s):
        yield "retry_after_s", f"expected a number of seconds, 0 or more, got {_shown(delay_s)}"


def _no_class(name: object, classes: Collection[str]) -> Iterator[str]:
    """Yield what is wrong with the name of a class."""
    if not isinstance(name, str):
        yield f"expected the name of a class, got {_shown(name)}"
    elif name not in classes:
        near = get_close_matches(name, list(classes), n=1, cutoff=0.5)
        offered = f"did you mean {near[0]}?" if near else f"there are {', '.join(sorted(classes))}"
        yield f"there is no class named {name[:80]!r}; {offered}"


def _is_delay(value: object) -> bool:
    if isinstance(value, bool) or not isinstance(value, int | float):
        return False
    try:
        return math.isfinite(value) and value >= 0
    except OverflowError:
        return False


def _shown(value: object) -> str:
    text = repr(value)
    return text if len(text) <= 60 else text[:57] + "..."
