"""What a validator complains about, as a value."""

from __future__ import annotations

from enum import StrEnum
from typing import TYPE_CHECKING

import attrs

from rerail.handlers.repair.tree import ABSENT

if TYPE_CHECKING:
    from rerail.handlers.repair.tree import Place


class Kind(StrEnum):
    """What is wrong with a place."""

    MISSING = "missing"
    """A required field is not there; the place is the field's own."""
    TYPE = "wrong-type"
    VALUE = "invalid-value"
    """The value is none of those that are allowed."""
    UNKNOWN = "unknown-field"
    """The field is not part of the schema; the place is the field's own."""
    NAME = "unknown-name"
    """What the input names (a tool, a model) does not exist; `received` is the name."""
    OTHER = "other"
    """Something that no repair here deals with: a pattern, a bound."""


@attrs.frozen
class Complaint:
    """One thing a validator says is wrong."""

    kind: Kind
    place: Place | None = None
    """As the validator wrote it; None where it named only what it received."""
    rooted: bool = True
    """The place counts from the input's root; a name from a sentence may stand anywhere."""
    tagged: bool = False
    """The place may hold names of union members between the fields."""
    expected: tuple[str, ...] = ()
    """JSON Schema types, any of which would do."""
    allowed: tuple[object, ...] = ()
    """Values or names, any of which would do."""
    suggested: tuple[str, ...] = ()
    """The validator's own "did you mean"."""
    received: object = ABSENT
    """What came, where the validator says so."""

    @property
    def where(self) -> Place:
        """The place, the root where there is none: of a complaint that was fitted to an input."""
        return self.place or ()
