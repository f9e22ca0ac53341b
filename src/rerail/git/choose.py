"""Which recipe a failure gets: the first whose conditions all hold, else the one that came nearest, to say why not.

Where nothing can be done, the first guide that knows the state asks a person.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import attrs

from rerail.errors import GitError, UnknownNameError
from rerail.git.asking import Asked, asked, facts_of
from rerail.git.conditions import NEEDS
from rerail.git.facts import WITHOUT_A_PLACE
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


UNKNOWN = "no recipe knows this failure"


@attrs.frozen
class Candidate:
    """A recipe for a failure, and how far its conditions hold."""

    recipe: HealRecipe
    conditions: tuple[Condition, ...]
    refusal: Finding | None
    """Why it cannot run; None: it can."""
    untrusted: bool = False
    """Whether all that it lacks is the operator's trust."""
    asked: Asked | None = None
    """What a person is asked; only by a guide."""

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
    return is_class_healed and bool(recipes_for(recipes, named))


def action(taxonomy: Taxonomy, named: Trouble) -> Action:
    """Return what a failure calls for; a reason that nothing carries calls for what its class does."""
    try:
        return taxonomy.action(named.class_, named.reason)
    except UnknownNameError:
        return taxonomy.class_spec(named.class_).action if named.class_ in taxonomy else Action.PAUSE


def choose(
    recipes: Sequence[HealRecipe], named: Trouble, case: Case, trusted: Callable[[HealRecipe], bool]
) -> Candidate | None:
    """Return the recipe for a failure, a guide that knows it, or the one that came nearest; None: no recipe is for it.

    The project's own command goes first where the operator has trusted it: it knows more than rerail does. Otherwise the order is
    that of the recipes. Guides come last, and not where it is only somebody else's turn, or the operator's to trust.
    """
    own = recipes_for(recipes, named)
    best: Candidate | None = None
    for recipe in sorted(own, key=lambda one: not (one.runs_commands and trusted(one))):
        if recipe.is_guide:
            continue
        candidate = _weigh(recipe, case, trusted)
        if candidate.refusal is None:
            return candidate
        if best is None or _nearness(candidate) > _nearness(best):
            best = candidate
    if best is not None and (best.waits or best.untrusted or (best.refusal is not None and best.refusal.trouble)):
        return best
    return _guided(own, case, trusted, best) or best


def _guided(
    own: Sequence[HealRecipe], case: Case, trusted: Callable[[HealRecipe], bool], best: Candidate | None
) -> Candidate | None:
    """Return the first guide whose conditions all hold, with what it asks and with why nothing could be done.

    A project's that the operator has trusted goes first; one that hands out commands and is not trusted says nothing.
    """
    is_placeless = case.state.place is None or case.state.trouble is not None
    for recipe in sorted(own, key=lambda one: not (one.needs_trust and trusted(one))):
        if not recipe.is_guide or (recipe.needs_trust and not trusted(recipe)):
            continue
        if is_placeless and (recipe.needs or not facts_of(recipe) <= WITHOUT_A_PLACE):
            continue
        candidate = _weigh(recipe, case, trusted)
        asks = asked(recipe, case) if candidate.refusal is None else None
        if asks is None:
            continue
        texts = [condition.finding.text for condition in candidate.conditions]
        nearest = best.refusal if best is not None else None
        if nearest is not None and best is not None and (not texts or (best.held and nearest.is_near)):
            texts.insert(0, nearest.text)
        return attrs.evolve(candidate, refusal=fails("; ".join(dict.fromkeys(texts)) or recipe.sees), asked=asks)
    return None


def _nearness(candidate: Candidate) -> tuple[bool, bool, bool, int]:
    is_near = candidate.refusal is None or candidate.refusal.is_near
    return candidate.waits, candidate.untrusted, is_near, candidate.held


def not_begun(taxonomy: Taxonomy, named: Trouble, best: Candidate | None) -> HealReport | None:
    """Report a heal that no recipe can begin, or None where one can."""
    if best is not None and best.refusal is None:
        return None
    name = (str(named.class_), named.reason)
    refusal = best.refusal if best is not None else None
    if best is not None and best.asked is not None and refusal is not None:
        asks = best.asked
        detail = refusal.text if best.conditions else named.detail or refusal.text
        return HealReport("paused", *name, best.recipe.slug, (), None, detail, asks.question, ways=asks.ways)
    if best is None or refusal is None or not (best.held or best.waits or best.untrusted):
        detail = named.detail or (refusal.text if refusal else UNKNOWN)
        return HealReport("paused", *name, None, (), None, detail, hint(taxonomy, named))
    recipe = best.recipe
    if refusal.trouble is not None:
        name = (str(refusal.trouble.class_), refusal.trouble.reason)
    if best.waits:
        return HealReport("retry", *name, recipe.slug, (), None, refusal.text)
    untrusted = recipe.file if best.untrusted else None
    return HealReport("paused", *name, recipe.slug, (), None, refusal.text, recipe.question, untrusted)


def unhealed(
    taxonomy: Taxonomy,
    named: Trouble,
    case: Case,
    recipes: Sequence[HealRecipe],
    trusted: Callable[[HealRecipe], bool],
) -> HealReport:
    """Report a failure that is not for a heal, with what a guide knows of it."""
    outcomes: dict[Action, OutcomeName] = {Action.RETRY: "retry", Action.STOP: "stopped"}
    outcome = outcomes.get(action(taxonomy, named), "paused")
    detail = named.detail or f"{named.class_}/{named.reason} is not for a heal"
    question = hint(taxonomy, named) if outcome == "paused" else None
    report = HealReport(outcome, str(named.class_), named.reason, None, (), None, detail, question)
    guide = _guided(recipes_for(recipes, named), case, trusted, None) if outcome != "retry" else None
    if guide is None or guide.asked is None:
        return report
    return attrs.evolve(report, recipe=guide.recipe.slug, question=guide.asked.question, ways=guide.asked.ways)


def hint(taxonomy: Taxonomy, named: Trouble) -> str | None:
    """Return what the taxonomy says to do about a failure."""
    try:
        return taxonomy.reason_spec(named.class_, named.reason).hint
    except UnknownNameError:
        return None


def recipes_for(recipes: Sequence[HealRecipe], named: Trouble) -> list[HealRecipe]:
    """Return the recipes for a failure's class and reason, in their order."""
    return [recipe for recipe in recipes if recipe.class_ == named.class_ and named.reason in recipe.reasons]


def _weigh(recipe: HealRecipe, case: Case, trusted: Callable[[HealRecipe], bool]) -> Candidate:
    """Ask a recipe's conditions, and its steps' own guards, in order, up to the first that does not hold."""
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
    if recipe.runs_commands and not trusted(recipe):
        refusal = fails(f"recipe {recipe.slug} runs commands, and nobody has trusted {recipe.file or 'it'} as it is")
        return Candidate(recipe, tuple(conditions), refusal, untrusted=True)
    return Candidate(recipe, tuple(conditions), None)
