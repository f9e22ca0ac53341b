"""Healing a repository after a named failure: the runner's request in the words of `rerail.git.heal`, and its report in ours."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from rerail.decisions.model import HealOutcome

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from rerail.evidence.model import Evidence
    from rerail.git.case import HealRequest
    from rerail.git.report import HealPlan, HealReport
    from rerail.recipes.heals import HealRecipe
    from rerail.rules.model import Classification
    from rerail.taxonomy import Taxonomy

NOWHERE = "the unit works in no directory that is known, so there is nothing to heal"


class GitHealer:
    """Heals by the recipes in force.

    Args:
        recipes: Gives the recipes in force, the preferred ones first; reading them takes 100 ms, and most programs never heal.
        taxonomy: What each class and reason calls for.
    """

    def __init__(self, recipes: Callable[[], Sequence[HealRecipe]], taxonomy: Taxonomy) -> None:
        self._recipes, self._taxonomy = recipes, taxonomy

    def plan(self, classification: Classification, evidence: Evidence, cwd: str) -> str:
        """Return what would be done, in words; ``""`` when no recipe fits. Nothing is changed."""
        if not cwd:
            return ""
        planned = self.look(classification, evidence, cwd)
        return f"{planned.recipe}: {', '.join(planned.steps)}" if planned.recipe else ""

    def look(self, classification: Classification, evidence: Evidence, cwd: str) -> HealPlan:
        """Return what would be done, and which conditions hold. Nothing is changed.

        Raises:
            GitError: git could not be run.
        """
        from rerail.git.heal import plan  # 100 ms to import, and most programs never heal

        return plan(_request(classification, evidence, cwd), self._recipes(), taxonomy=self._taxonomy)

    def heal(self, classification: Classification, evidence: Evidence, cwd: str) -> HealReport:
        """Heal by the first recipe whose conditions hold, or say why none does; the unit itself is never run.

        Raises:
            GitError: git could not be run at all; nothing was changed.
        """
        if not cwd:
            return not_healed(classification, NOWHERE)
        from rerail.git.heal import heal

        return heal(_request(classification, evidence, cwd), self._recipes(), taxonomy=self._taxonomy)


def not_healed(classification: Classification, detail: str) -> HealReport:
    """Return the report of a heal that could not even begin."""
    from rerail.git.report import HealReport

    return HealReport("paused", classification.class_, classification.reason, None, (), None, detail)


def outcome_of(report: HealReport) -> HealOutcome:
    """Return a report's outcome as the core knows it."""
    return HealOutcome(report.outcome)


def _request(classification: Classification, evidence: Evidence, cwd: str) -> HealRequest:
    from rerail.git.case import HealRequest

    return HealRequest(Path(cwd), classification.class_, classification.reason, evidence)
