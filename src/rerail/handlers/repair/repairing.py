"""Repairing: complaints turned into certain changes until nothing is left, or nothing is certain.

The validator's message and the schema are asked what is wrong; every complaint that leaves exactly one way open is followed, and
the schema judges again. What comes out is a new input that the schema accepts whole, with a line for each change, or nothing.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

import attrs

from rerail.handlers.repair import complaints
from rerail.handlers.repair.changes import ORDER, Bench, change_for
from rerail.handlers.repair.fitting import fit_all, is_settled
from rerail.handlers.repair.judging import UnjudgedError
from rerail.handlers.repair.model import Complaint, Kind
from rerail.handlers.repair.shape import shape_of
from rerail.handlers.repair.tree import NotJsonError, copied, same
from rerail.taxonomy.law import FailureClass

if TYPE_CHECKING:
    from collections.abc import Mapping

    from rerail.handlers.repair.request import RepairRequest
    from rerail.handlers.repair.shape import Shape
    from rerail.handlers.repair.tree import Place

MAX_PASSES = 8
"""How often the schema judges anew: once more than values are nested in values that had to be read first."""

MAX_CHANGES = 50
"""An input with more to change was not meant for this schema."""

_NOT_BY_INPUT = frozenset({"truncated-call", "message-order", "usage-error", "too-large"})
"""Reasons of tool-schema whose repair is no change of arguments: a transcript, a command line, a shorter request, a call anew."""

_CUT_OFF = re.compile(
    r"(?:finish|stop)_?reason['\"]?\s{0,4}[:=]\s{0,4}['\"]?(?:length|max_?tokens|model_length)"
    r"|unexpected end of (?:json )?(?:input|data|file)|eof while parsing|unterminated string|unexpected eof",
    re.IGNORECASE | re.ASCII,
)


def repaired(request: RepairRequest) -> tuple[Any, tuple[str, ...]] | None:
    """Return the certainly repaired input and its changes; None when nothing is certain."""
    if not _is_about_input(request):
        return None
    try:
        sent = copied(request.input)
        repair = _Repair(complaints.read(request.evidence), shape_of(request.schema), _plain(request.context))
        changed, changes = repair.carried_out(sent)
        is_repaired = changes and not same(changed, sent) and repair.is_complete(changed)
    except (NotJsonError, UnjudgedError):
        return None
    return (changed, changes) if is_repaired else None


def _is_about_input(request: RepairRequest) -> bool:
    classification = request.classification
    is_other_class = classification.class_ in frozenset(FailureClass) - {FailureClass.TOOL_SCHEMA}
    if is_other_class or classification.reason in _NOT_BY_INPUT:
        return False
    # Half a call is never completed: that makes valid, wrong, runnable input.
    return not any(_CUT_OFF.search(stream.text) for stream in request.evidence.streams)


def _plain(context: Mapping[str, object]) -> dict[str, Any]:
    plain: dict[str, Any] = {}
    for name, value in context.items():
        try:
            plain[name] = copied(value)
        except NotJsonError:
            continue
    return plain


class _Repair:
    """One proposal in the making."""

    def __init__(self, said: tuple[Complaint, ...], shape: Shape | None, context: Mapping[str, Any]) -> None:
        self._said = said
        self._bench = Bench(shape, context)
        self._fits: dict[tuple[Kind, Place], Complaint] = {}
        """What the message says, as it was first fitted."""
        self._was_all_fitted = False

    def carried_out(self, root: Any) -> tuple[Any, tuple[str, ...]]:
        """Return *root* with every certain change made, and their texts; no texts when there would be too many."""
        texts: list[str] = []
        for _ in range(MAX_PASSES):
            self._look_at(root)
            before = len(texts)
            for complaint in sorted((*self._bench.said, *self._bench.judged), key=_order):
                change = change_for(complaint, root, self._bench)
                if change is not None:
                    root = change.input
                    texts.append(change.text)
                if len(texts) > MAX_CHANGES:
                    return root, ()
            if len(texts) == before:
                break
        return root, tuple(texts)

    def is_complete(self, root: Any) -> bool:
        """Whether the schema accepts *root* whole, and nothing is left of what the validator said."""
        left = [fit for fit in self._fits.values() if not is_settled(fit, root)]
        shape = self._bench.shape
        if shape is None:
            return self._was_all_fitted and not left
        # Of a field that the schema does not know, a message may say what it likes.
        return not shape.judge(root) and not any(not fit.place or self._bench.may_have(fit.place) for fit in left)

    def _look_at(self, root: Any) -> None:
        shape = self._bench.shape
        said, are_all = fit_all(self._said, root)
        judged, _ = fit_all(shape.judge(root) if shape else (), root)
        said = [fit for fit in said if not _is_told_better(fit, judged)]
        self._was_all_fitted = self._was_all_fitted or are_all
        for fit in said:
            self._fits.setdefault((fit.kind, fit.where), fit)
        missed = {each.where for each in (*said, *judged) if each.kind is Kind.MISSING}
        self._bench = attrs.evolve(
            self._bench, said=tuple(said), judged=tuple(judged), missed=self._bench.missed | missed
        )


def _order(complaint: Complaint) -> int:
    return ORDER.index(complaint.kind) if complaint.kind in ORDER else len(ORDER)


def _is_told_better(fit: Complaint, judged: list[Complaint]) -> bool:
    """Whether a bare name from a sentence is missing elsewhere, as the schema knows."""
    if fit.rooted or fit.kind is not Kind.MISSING:
        return False
    places = [each.where for each in judged if each.kind is Kind.MISSING and each.where[-1:] == fit.where[-1:]]
    return bool(places) and fit.where not in places
