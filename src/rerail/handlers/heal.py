"""Healing a repository after a named failure: the runner's request in the words of `rerail.git.heal`, and its report in ours."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from rerail.errors import RerailError

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from rerail.evidence.model import Evidence
    from rerail.git.case import HealRequest, Identity
    from rerail.git.report import HealPlan, HealReport
    from rerail.recipes.heals import HealRecipe
    from rerail.rules.model import Classification
    from rerail.settings import BackupSettings
    from rerail.taxonomy import Taxonomy

NOWHERE = "the unit works in no directory that is known, so there is nothing to heal"


class GitHealer:
    """Heals by the recipes in force. What hinders it is said in its report: it raises nothing that rerail knows of.

    Args:
        recipes: Gives the recipes in force, the preferred ones first; reading them takes 100 ms, and most programs never heal.
        taxonomy: What each class and reason calls for.
        trusted: Whether the operator has trusted a recipe that runs commands.
        backups: How long the backups of heals stay.
        identity: Gives who commits here, by the operator's word; asked only where git does not know.
    """

    def __init__(
        self,
        recipes: Callable[[], Sequence[HealRecipe]],
        taxonomy: Taxonomy,
        *,
        trusted: Callable[[HealRecipe], bool],
        backups: BackupSettings,
        identity: Callable[[], Identity | None] = lambda: None,
    ) -> None:
        self._recipes, self._taxonomy = recipes, taxonomy
        self._trusted, self._backups, self._identity = trusted, backups, identity

    def plan(self, classification: Classification, evidence: Evidence, cwd: str) -> HealPlan:
        """Return what would be done, which conditions hold, and how the heal would end where it cannot begin.

        Nothing is changed.
        """
        from rerail.git.heal import plan  # 100 ms to import, and most programs never heal
        from rerail.git.report import HealPlan

        try:
            if cwd:
                request = self._request(classification, evidence, cwd)
                return plan(request, self._recipes(), trusted=self._trusted, taxonomy=self._taxonomy)
            report = _not_begun(classification, NOWHERE)
        except RerailError as error:
            report = _not_begun(classification, error.message)
        return HealPlan(classification.class_, classification.reason, None, (), (), report.detail, report)

    def heal(self, classification: Classification, evidence: Evidence, cwd: str) -> HealReport:
        """Heal by the first recipe whose conditions hold, or say why none does; the unit itself is never run."""
        from rerail.git.heal import heal

        try:
            if cwd:
                return heal(
                    self._request(classification, evidence, cwd),
                    self._recipes(),
                    trusted=self._trusted,
                    taxonomy=self._taxonomy,
                    backups=self._backups,
                )
        except RerailError as error:  # git could not be asked, or a recipe not be read, so nothing was changed
            return _not_begun(classification, error.message)
        return _not_begun(classification, NOWHERE)

    def _request(self, classification: Classification, evidence: Evidence, cwd: str) -> HealRequest:
        from rerail.git.case import HealRequest

        who = self._identity() if classification.reason == "identity-missing" else None
        return HealRequest(Path(cwd), classification.class_, classification.reason, evidence, who)


def _not_begun(classification: Classification, detail: str) -> HealReport:
    from rerail.git.report import HealReport

    return HealReport("paused", classification.class_, classification.reason, None, (), None, detail)
