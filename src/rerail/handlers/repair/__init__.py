"""Input repair: what certainly corrects a rejected input, and the question to a model where nothing does.

`propose` reads the validator's message (`complaints`), asks the schema (`shape`), and makes the changes that leave no choice
(`changes`). It never guesses, never edits a string, and never completes half a call.
"""

from rerail.handlers.repair.propose import Proposal, propose
from rerail.handlers.repair.request import RepairRequest

__all__ = ["Proposal", "RepairRequest", "propose"]
