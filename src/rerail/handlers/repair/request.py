"""What was rejected, with everything that a repair may use."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import attrs

if TYPE_CHECKING:
    from collections.abc import Mapping

    from rerail.evidence.model import Evidence
    from rerail.ids import UnitName
    from rerail.rules.model import Classification


@attrs.frozen
class RepairRequest:
    """One rejected input. `propose` repairs it where that is certain; a model is asked with `prompt`."""

    unit: UnitName
    input: Any
    """As it was rejected: usually a mapping of arguments, or a string of JSON. Never changed."""
    classification: Classification
    evidence: Evidence
    schema: object = None
    """What the input must be like: a JSON Schema mapping, a pydantic model class or a ``TypeAdapter``; None if nobody said."""
    context: Mapping[str, object] = attrs.field(factory=dict)
    """Values declared for the session, by field name (``workspace_id``) or dotted path (``issue.id``); the path wins."""

    def prompt(self) -> str:
        """Return what to ask a model: what was rejected, where, what is expected, and what was sent.

        The input and the validator's words stand in it as data: redacted, clipped, every line marked. Values of the context do
        not stand in it. A secret of the input reads ``[redacted:KIND]``; whoever takes the model's answer puts it back.
        """
        from rerail.handlers.repair.prompt import prompt_for

        return prompt_for(self)
