"""The repair that is certain, or none."""

from __future__ import annotations

from typing import TYPE_CHECKING

import attrs

if TYPE_CHECKING:
    from rerail.handlers.repair.request import RepairRequest


@attrs.frozen
class Proposal:
    """A repaired input."""

    input: object
    """Plain JSON values; shares nothing with the rejected input."""
    changes: tuple[str, ...]
    """What was done, each as an instruction, in order: ``add workspace_id from session context``."""

    @property
    def plan(self) -> str:
        """The changes in one line."""
        return "; ".join(self.changes)


def propose(request: RepairRequest) -> Proposal | None:
    """Return the certain repair of *request*; None when nothing is certain, and a model or a person has to be asked.

    Raises nothing, whatever JSON-like input, message, schema and context it is given.
    """
    # What reads messages and schemas takes longer to import than all else here, and most processes never repair.
    from rerail.handlers.repair.repairing import repaired

    found = repaired(request)
    return Proposal(*found) if found else None
