"""One heal: look, back up, take the steps, check, and keep it or put everything back.

Under a repository lease from the first look to the last check. Nothing is deleted, nothing is forced, and the agent's own command
is never run: whether the heal was one, only the unit's next run tells.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import attrs

from rerail.errors import GitError, RerailError
from rerail.git import lease
from rerail.git.backup import Base, RefMove
from rerail.git.backups import all_refs
from rerail.git.case import Case, HealRequest, Pace, unheard, working_dir
from rerail.git.choose import Candidate, choose, hint, is_for_heal, unhealed
from rerail.git.command import GitFailedError, run_program
from rerail.git.diagnose import diagnose
from rerail.git.finding import Verdict
from rerail.git.journal import Journal
from rerail.git.moves import REFLOG_MARK, all_moves
from rerail.git.outcome import blobs_now, record_outcome
from rerail.git.postconditions import ENSURES
from rerail.git.primitives import STEPS
from rerail.git.probe import probe
from rerail.git.recovery import finish_cut_heal
from rerail.git.repairs.transport import drop_incoming
from rerail.git.report import HealPlan, HealReport
from rerail.git.restore import roll_back
from rerail.git.snapshot import NO_REACH, Reach, snapshot
from rerail.git.state import Trouble
from rerail.git.steps.spec import StepRefusedError
from rerail.recipes.heals import HealRecipe, Primitive
from rerail.taxonomy import BUILT_IN, Taxonomy

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from pathlib import Path

    from rerail.git.backup import Backup


def trust_nobody(_recipe: HealRecipe) -> bool:
    """Trust no recipe that runs commands."""
    return False


def plan(request: HealRequest, recipes: Sequence[HealRecipe], *, taxonomy: Taxonomy = BUILT_IN) -> HealPlan:
    """Return what a heal would do; nothing is changed, written or fetched.

    Raises:
        GitError: git could not be run.
    """
    pace = Pace(patience_s=0, watch_s=0)
    state = probe(working_dir(request))
    named = diagnose(Case(request, state, pace=pace, online=False))
    if not is_for_heal(taxonomy, named, recipes) or state.trouble is not None:
        detail = named.detail or f"{named.class_}/{named.reason} is not for a heal"
        return HealPlan(named.class_, named.reason, None, (), (), detail)
    case = Case(_renamed(request, named), state, pace=pace, online=False)
    best = choose(recipes, named, case, lambda _: True)
    if best is None:
        return HealPlan(named.class_, named.reason, None, (), (), "no recipe knows this failure")
    if best.refusal is not None:
        return HealPlan(named.class_, named.reason, None, (), best.conditions, best.refusal.text)
    recipe = best.recipe
    steps = (
        STEPS[step.name].plan if isinstance(step, Primitive) else f"run {' '.join(step.argv)}" for step in recipe.steps
    )
    return HealPlan(named.class_, named.reason, recipe.slug, tuple(steps), best.conditions, recipe.sees)


def heal(
    request: HealRequest,
    recipes: Sequence[HealRecipe],
    *,
    trusted: Callable[[HealRecipe], bool] = trust_nobody,
    lease_dir: Path | None = None,
    taxonomy: Taxonomy = BUILT_IN,
    pace: Pace | None = None,
    on_moment: Callable[[str], None] = unheard,
) -> HealReport:
    """Heal one failure by the first recipe whose conditions all hold, or say why not.

    Args:
        request: The failure.
        recipes: The recipes in force, the preferred ones first.
        trusted: Whether the operator has trusted a recipe that runs commands.
        lease_dir: Where the repository's lease lies; None: beside rerail's other files in its git directory.
        taxonomy: What each class and reason calls for.
        pace: How long to wait and watch.
        on_moment: Called with the name of each moment as it is reached: ``lease``, ``backup``, ``step restage``, ``done``.

    Raises:
        GitError: git could not be run at all; nothing was changed.
    """
    try:
        return _heal(request, recipes, trusted, lease_dir, taxonomy, pace or Pace(), on_moment)
    except GitFailedError as error:
        # Not a crash: a repository that git cannot read is what was to be healed.
        named = Trouble(request.class_, request.reason, "")
        return _paused(named, None, f"git cannot read the repository: {error}")


def _heal(
    request: HealRequest,
    recipes: Sequence[HealRecipe],
    trusted: Callable[[HealRecipe], bool],
    lease_dir: Path | None,
    taxonomy: Taxonomy,
    pace: Pace,
    on_moment: Callable[[str], None],
) -> HealReport:
    state = probe(working_dir(request))
    named = diagnose(Case(request, state, pace=pace))
    if not is_for_heal(taxonomy, named, recipes):
        return unhealed(taxonomy, named)
    if state.place is None or state.trouble is not None:
        return _paused(named, None, state.trouble.detail if state.trouble else "there is no repository here")
    directory = lease_dir or lease.default_dir(state.place.common_dir)
    try:
        with lease.hold(directory, patience_s=pace.lease_s, sleep=pace.sleep) as is_held:
            if not is_held:
                return _retry(named, None, "another heal is at work in this repository")
            return _Heal(request, recipes, trusted, taxonomy, pace, on_moment).run()
    except OSError as error:
        return _paused(named, None, f"the repository cannot be written: {error}")


class _Heal:
    """One heal under its lease."""

    def __init__(
        self,
        request: HealRequest,
        recipes: Sequence[HealRecipe],
        trusted: Callable[[HealRecipe], bool],
        taxonomy: Taxonomy,
        pace: Pace,
        mark: Callable[[str], None],
    ) -> None:
        self._request, self._recipes, self._trusted = request, recipes, trusted
        self._taxonomy, self._pace, self._mark = taxonomy, pace, mark

    def run(self) -> HealReport:
        self._mark("lease")
        cwd = working_dir(self._request)
        note = finish_cut_heal(probe(cwd))
        state = probe(cwd)
        named = diagnose(Case(self._request, state, pace=self._pace))
        if not is_for_heal(self._taxonomy, named, self._recipes):
            return unhealed(self._taxonomy, named)
        case = Case(_renamed(self._request, named), state, pace=self._pace, mark=self._mark)
        try:
            report = self._attempt(case, named)
        finally:
            drop_incoming(state)
        return attrs.evolve(report, detail=f"{note}; {report.detail}") if note else report

    def _attempt(self, case: Case, named: Trouble) -> HealReport:
        best = choose(self._recipes, named, case, self._trusted)
        if best is None or (best.refusal and not best.held and not best.waits):
            refusal = best.refusal.text if best and best.refusal else "no recipe knows this failure"
            return attrs.evolve(_paused(named, None, named.detail or refusal), question=hint(self._taxonomy, named))
        return self._carry_out(case, named, best.recipe) if best.refusal is None else _refused(named, best)

    def _carry_out(self, case: Case, named: Trouble, recipe: HealRecipe) -> HealReport:
        reach = _reach(recipe, case)
        try:
            backup = snapshot(case.state, reach, note=f"{named.class_}/{named.reason}, before {recipe.slug}")
        except GitError as error:
            return _paused(named, recipe, f"no backup could be made, so nothing was done: {error}")
        case.backup = backup
        case.journal = Journal(case.state.here, backup.id, recipe.slug, reach.refs)
        self._mark("backup")
        try:
            done = self._take_steps(case, recipe)
            fault = self._fault_after(case, recipe, backup, reach)
            if not fault:
                record_outcome(case.state.git, case.state.here, backup, recipe.slug, _moves(case, backup))
        except (RerailError, OSError) as error:
            done, fault = (), str(error)
        except BaseException:
            self._put_back(case, backup)
            raise
        if fault:
            return self._taken_back(case, named, recipe, backup, fault)
        case.journal.close()
        self._mark("done")
        return HealReport("healed", *_name(named), recipe.slug, done, backup.id, recipe.sees)

    def _take_steps(self, case: Case, recipe: HealRecipe) -> tuple[str, ...]:
        done: list[str] = []
        for step in recipe.steps:
            if isinstance(step, Primitive):
                self._mark(f"step {step.name}")
                done += STEPS[step.name].run(case)
            else:
                self._mark(f"step run {step.argv[0]}")
                env = {"GIT_REFLOG_ACTION": f"{REFLOG_MARK}{recipe.slug}"}
                result = run_program(step.argv, case.state.root, env=env, timeout_s=step.timeout_s)
                if not result.ok:
                    raise StepRefusedError(f"{' '.join(step.argv)}: exit {result.code}")
                done.append(f"ran {' '.join(step.argv)}")
        return tuple(done)

    def _fault_after(self, case: Case, recipe: HealRecipe, backup: Backup, reach: Reach) -> str:
        """Return what is wrong after the steps, ``""`` when all is well."""
        self._mark("check")
        now = probe(case.top)
        if now.trouble is not None:
            return now.trouble.detail
        for ensure in recipe.ensures:
            finding = ENSURES[ensure](case, now)
            if finding.verdict is not Verdict.HOLDS:
                return finding.text
        return _disturbed(case, recipe, backup, reach)

    def _put_back(self, case: Case, backup: Backup) -> None:
        roll_back(case.state.git, case.state.here, backup, _moves(case, backup))
        if case.journal is not None:
            case.journal.close()

    def _taken_back(self, case: Case, named: Trouble, recipe: HealRecipe, backup: Backup, fault: str) -> HealReport:
        self._mark("put back")
        try:
            self._put_back(case, backup)
        except (RerailError, OSError) as error:
            # The journal stays open: the next heal tries again.
            detail = f"{fault}; putting everything back failed too: {error}; backup {backup.id} holds it"
            return attrs.evolve(_paused(named, recipe, detail), backup=backup.id)
        return _paused(named, recipe, f"{fault}; everything was put back")


def _reach(recipe: HealRecipe, case: Case) -> Reach:
    reach = NO_REACH
    for step in recipe.steps:
        reach |= STEPS[step.name].reach(case) if isinstance(step, Primitive) else _reach_of_command(case)
    return reach | Reach(paths=frozenset(recipe.touches))


def _reach_of_command(case: Case) -> Reach:
    """A program may do anything, also to the branch and the stash: all of it can be taken back."""
    return Reach(refs=frozenset({case.state.head.branch or "refs/stash", "refs/stash"}), everything=True)


def _disturbed(case: Case, recipe: HealRecipe, backup: Backup, reach: Reach) -> str:
    """Return what has changed that the recipe's steps do not reach: no heal may cost work elsewhere."""
    before, now = dict(backup.refs), all_refs(case.state.git)
    own_steps = {
        ref for step in recipe.steps if isinstance(step, Primitive) for ref in STEPS[step.name].reach(case).refs
    }
    for ref in ("refs/stash", case.state.head.branch or "refs/stash"):
        if ref not in own_steps and now.get(ref) != before.get(ref):
            return f"{ref} has moved, and no step moves it"
    reached = reach.paths | set(case.state.unmerged)
    if reach.everything:
        reached |= {change.path for change in case.state.changes if change.staged != "."}
    others = [file for file in backup.saved(Base.WORK) if file.path not in reached]
    now_there = dict(blobs_now(case.state.git, case.state.here, others))
    for file in others:
        if now_there[f"{file.base}/{file.path}"] != file.oid:
            return f"{file.path} has changed, and {recipe.slug} does not touch it"
    return ""


def _moves(case: Case, backup: Backup) -> tuple[RefMove, ...]:
    if case.journal is None:
        raise ValueError("a heal keeps a journal from its backup on")
    return all_moves(case.state.git, case.state.here, backup, case.journal.moves, case.journal.refs)


def _renamed(request: HealRequest, named: Trouble) -> HealRequest:
    return attrs.evolve(request, class_=named.class_, reason=named.reason)


def _refused(named: Trouble, best: Candidate) -> HealReport:
    refusal = best.refusal
    if refusal is None:
        raise ValueError("it was not refused")
    trouble = refusal.trouble or named
    report = _retry if best.waits else _paused
    return report(trouble, best.recipe, refusal.text)


def _paused(named: Trouble, recipe: HealRecipe | None, detail: str) -> HealReport:
    slug, question = (recipe.slug, recipe.question) if recipe is not None else (None, None)
    return HealReport("paused", *_name(named), slug, (), None, detail, question)


def _retry(named: Trouble, recipe: HealRecipe | None, detail: str) -> HealReport:
    return HealReport("retry", *_name(named), recipe.slug if recipe else None, (), None, detail)


def _name(named: Trouble) -> tuple[str, str]:
    return str(named.class_), named.reason


__all__ = ["HealPlan", "HealReport", "HealRequest", "Pace", "heal", "plan", "trust_nobody"]
