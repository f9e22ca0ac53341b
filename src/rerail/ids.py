"""Names that must not be swapped, as distinct types. Only names: who mints them is decided elsewhere."""

from __future__ import annotations

from rerail.light_typing import TYPE_CHECKING, NewType

if TYPE_CHECKING:
    from typing import TypeAlias

UnitName = NewType("UnitName", str)
"""The stable string that names a unit: ``verify:tests``, ``task-12``."""

RunId = NewType("RunId", str)
"""One harness session: a ``Loop``, a ``rerail run``, or what ``RERAIL_RUN`` says."""

ClassName: TypeAlias = str
"""A failure class: built in, or added by a recipe. Plain, so that it compares with the members of `FailureClass`."""

RuleSlug = NewType("RuleSlug", str)
"""A rule, unique over all recipes in force."""

Fingerprint = NewType("Fingerprint", str)
"""A canonical hash, hex: of an input, or of normalised evidence."""

EventId = NewType("EventId", int)
"""A ledger event, counted from 1 within one ledger."""

PauseId = NewType("PauseId", str)
"""A question to the operator."""
