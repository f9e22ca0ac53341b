"""Which recipe a failure gets: the first whose conditions all hold, else the one that came nearest, to say why not."""

from __future__ import annotations

from typing import TYPE_CHECKING

import attrs

from rerail.errors import GitError, UnknownNameError
from rerail.git.conditions import NEEDS
from rerail.git.finding import Finding, Verdict, fails
from rerail.git.primitives import STEPS
from rerail.git.report import Condition, HealReport, OutcomeName
from rerail.recipes.heals import Primitive
from rerail.taxonomy import Action, Taxonomy

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from rerail.git.case import Case
    from rerail.git.state import Trouble
    from rerail.recipes.heals import HealRecipe


@attrs.frozen
class Candidate:
    """A recipe for a failure, and how far its conditions hold."""

    recipe: HealRecipe
    conditions: tuple[Condition, ...]
    refusal: Finding | None
    """Why it cannot run; None: it can."""

    @property
    def held(self) -> int:
        """How many of its conditions hold."""
        return sum(condition.finding.verdict is not Verdict.FAILS for condition in self.conditions)

    @property
    def waits(self) -> bool:
        """Whether it is only not its turn."""
        return self.refusal is not None and self.refusal.verdict is Verdict.WAITS


def is_for_heal(taxonomy: Taxonomy, named: Trouble, recipes: Sequence[HealRecipe]) -> bool:
    """Return whether a failure calls for a heal: by its reason, or by its class where a recipe knows the reason."""
    if action(taxonomy, named) is Action.HEAL:
        return True
    is_class_healed = named.class_ in taxonomy and taxonomy.class_spec(named.class_).action is Action.HEAL
    return is_class_healed and bool(_for(recipes, named))


def action(taxonomy: Taxonomy, named: Trouble) -> Action:
    """Return what a failure calls for; a reason that nothing carries calls for what its class does."""
    try:
        return taxonomy.action(named.class_, named.reason)
    except UnknownNameError:
        return taxonomy.class_spec(named.class_).action if named.class_ in taxonomy else Action.PAUSE


def choose(
    recipes: Sequence[HealRecipe], named: Trouble, case: Case, trusted: Callable[[HealRecipe], bool]
) -> Candidate | None:
    """Return the recipe for a failure, or the one that came nearest; None: no recipe is for it."""
    best: Candidate | None = None
    for recipe in _for(recipes, named):
        candidate = _weigh(recipe, case, trusted)
        if candidate.refusal is None:
            return candidate
        if best is None or (candidate.waits, candidate.held) > (best.waits, best.held):
            best = candidate
    return best


def unhealed(taxonomy: Taxonomy, named: Trouble) -> HealReport:
    """Report a failure that is not for a heal."""
    outcomes: dict[Action, OutcomeName] = {Action.RETRY: "retry", Action.STOP: "stopped"}
    outcome = outcomes.get(action(taxonomy, named), "paused")
    detail = named.detail or f"{named.class_}/{named.reason} is not for a heal"
    question = hint(taxonomy, named) if outcome == "paused" else None
    return HealReport(outcome, str(named.class_), named.reason, None, (), None, detail, question)


def hint(taxonomy: Taxonomy, named: Trouble) -> str | None:
    """Return what the taxonomy says to do about a failure."""
    try:
        return taxonomy.reason_spec(named.class_, named.reason).hint
    except UnknownNameError:
        return None


def _for(recipes: Sequence[HealRecipe], named: Trouble) -> list[HealRecipe]:
    return [recipe for recipe in recipes if recipe.class_ == named.class_ and named.reason in recipe.reasons]


def _weigh(recipe: HealRecipe, case: Case, trusted: Callable[[HealRecipe], bool]) -> Candidate:
    """Ask a recipe's conditions, and its steps' own guards, in order, up to the first that does not hold."""
    if recipe.runs_commands and not trusted(recipe):
        return Candidate(recipe, (), fails(f"recipe {recipe.slug} runs commands, and nobody has trusted it"))
    guards = [need for step in recipe.steps if isinstance(step, Primitive) for need in STEPS[step.name].guards]
    conditions: list[Condition] = []
    for need in dict.fromkeys((*recipe.needs, *guards)):
        try:
            finding = NEEDS[need](case)
        except GitError as error:
            finding = fails(f"whether {need} holds could not be found out: {error}")
        conditions.append(Condition(need, finding))
        if finding.verdict in {Verdict.FAILS, Verdict.WAITS}:
            return Candidate(recipe, tuple(conditions), finding)
    return Candidate(recipe, tuple(conditions), None)
