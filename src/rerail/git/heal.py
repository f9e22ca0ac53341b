"""One heal: look, back up, take the steps, check, and keep it or put everything back.

Under a repository lease from the first look to the last check. Nothing is deleted, nothing is forced, and the agent's own command
is never run: whether the heal was one, only the unit's next run tells.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal

import attrs

from rerail.errors import GitError, RerailError, UnknownNameError
from rerail.git import journal, lease, restore
from rerail.git.backup import Base, Outcome, RefMove, outcome_json, outcome_ref
from rerail.git.case import Case, HealRequest, Pace, working_dir
from rerail.git.command import run_program
from rerail.git.conditions import ENSURES, NEEDS
from rerail.git.diagnose import diagnose
from rerail.git.finding import Finding, Verdict, fails
from rerail.git.journal import Journal
from rerail.git.place import NoPlace, locate
from rerail.git.primitives import STEPS, StepRefusedError
from rerail.git.probe import RepoState, Trouble, probe
from rerail.git.snapshot import NO_REACH, Reach, all_refs, load, snapshot
from rerail.git.repairs.transport import drop_incoming
from rerail.recipes.heals import HealRecipe, Need, Primitive
from rerail.taxonomy import BUILT_IN, Action, FailureClass, Taxonomy

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from pathlib import Path

    from rerail.git.backup import Backup

OutcomeName = Literal["healed", "paused", "stopped", "retry"]


@attrs.frozen
class HealReport:
    """How a heal ended."""

    outcome: OutcomeName
    class_: str
    reason: str
    recipe: str | None
    """The recipe that healed, or that came nearest."""
    steps: tuple[str, ...]
    """What was done, for people; empty unless healed."""
    backup: str | None
    """The id of the backup, for an undo."""
    detail: str
    """Why it ended so, for people."""
    question: str | None = None
    """What a person is asked when it paused."""


@attrs.frozen
class Condition:
    """One condition of a plan, as it came out."""

    need: Need
    finding: Finding


@attrs.frozen
class HealPlan:
    """What a heal would do now."""

    class_: str
    reason: str
    recipe: str | None
    """The recipe that would run; None: none would."""
    steps: tuple[str, ...]
    conditions: tuple[Condition, ...]
    """Those of the recipe that would run, or that came nearest."""
    detail: str


@attrs.frozen
class _Candidate:
    """A recipe for the failure, and how far its conditions hold."""

    recipe: HealRecipe
    conditions: tuple[Condition, ...]
    refusal: Finding | None


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
    if not _is_for_heal(taxonomy, named, recipes) or state.trouble is not None:
        return HealPlan(named.class_, named.reason, None, (), (), named.detail or f"{named.class_} is not healed")
    case = Case(_renamed(request, named), state, pace=pace, online=False)
    best = _best([_weigh(recipe, case, lambda _: True) for recipe in _candidates(recipes, named)])
    if best is None:
        return HealPlan(named.class_, named.reason, None, (), (), "no recipe knows this failure")
    if best.refusal is not None:
        return HealPlan(named.class_, named.reason, None, (), best.conditions, best.refusal.text)
    steps = tuple(
        STEPS[step.name].plan if isinstance(step, Primitive) else f"run {' '.join(step.argv)}"
        for step in best.recipe.steps
    )
    return HealPlan(named.class_, named.reason, best.recipe.slug, steps, best.conditions, best.recipe.sees)


def heal(
    request: HealRequest,
    recipes: Sequence[HealRecipe],
    *,
    trusted: Callable[[HealRecipe], bool] = trust_nobody,
    lease_dir: Path | None = None,
    taxonomy: Taxonomy = BUILT_IN,
    pace: Pace | None = None,
    on_moment: Callable[[str], None] | None = None,
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
    pace = pace or Pace()
    state = probe(working_dir(request))
    named = diagnose(Case(request, state, pace=pace))
    if not _is_for_heal(taxonomy, named, recipes):
        return _by_action(taxonomy, named)
    if state.place is None or state.trouble is not None:
        return _paused(named, None, state.trouble.detail if state.trouble else "there is no repository here")
    directory = lease_dir or lease.default_dir(state.place.common_dir)
    try:
        with lease.hold(directory, patience_s=pace.lease_s, sleep=pace.sleep) as is_held:
            if not is_held:
                return _retry(named, None, "another heal is at work in this repository")
            return _Heal(request, recipes, trusted, taxonomy, pace, on_moment or _unheard).run()
    except OSError as error:
        return _paused(named, None, f"the repository cannot be written: {error}")


def undo(backup_id: str, cwd: Path, *, lease_dir: Path | None = None, pace: Pace | None = None) -> Backup:
    """Take a heal back; returns the backup of the state before, with which the undo can be undone by hand.

    Raises:
        GitError: There is no such backup, or the repository cannot be read or written.
        UndoRefusedError: Work has gone on since; nothing was changed.
    """
    pace = pace or Pace()
    place = locate(cwd)
    if isinstance(place, NoPlace):
        raise GitError(place.detail)
    directory = lease_dir or lease.default_dir(place.common_dir)
    with lease.hold(directory, patience_s=pace.lease_s, sleep=pace.sleep) as is_held:
        if not is_held:
            raise GitError("another heal is at work in this repository", hint="try again when it has ended")
        return restore.undo(cwd, backup_id)


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
        _finish_cut_heal(probe(cwd))
        state = probe(cwd)
        named = diagnose(Case(self._request, state, pace=self._pace))
        if not _is_for_heal(self._taxonomy, named, self._recipes):
            return _by_action(self._taxonomy, named)
        if state.trouble is not None:
            return _paused(named, None, state.trouble.detail)
        case = Case(_renamed(self._request, named), state, pace=self._pace)
        case.mark = self._mark
        try:
            report = self._attempt(case, named)
        finally:
            drop_incoming(state)
        return report

    def _attempt(self, case: Case, named: Trouble) -> HealReport:
        weighed = []
        for recipe in _candidates(self._recipes, named):
            candidate = _weigh(recipe, case, self._trusted)
            if candidate.refusal is None:
                return self._carry_out(case, named, recipe)
            weighed.append(candidate)
        best = _best(weighed)
        if best is None or best.refusal is None:
            return _paused(named, None, named.detail or "no recipe knows this failure", self._hint(named))
        if best.refusal.verdict is Verdict.FAILS and _held(best) == 0:
            return _paused(named, None, named.detail or best.refusal.text, self._hint(named))
        trouble = best.refusal.trouble or named
        if best.refusal.verdict is Verdict.WAITS:
            return _retry(trouble, best.recipe, best.refusal.text)
        return _paused(trouble, best.recipe, best.refusal.text)

    def _carry_out(self, case: Case, named: Trouble, recipe: HealRecipe) -> HealReport:
        reach = _reach(recipe, case)
        try:
            backup = snapshot(case.state, reach, note=f"{named.class_}/{named.reason}, before {recipe.slug}")
        except GitError as error:
            return _paused(named, recipe, f"no backup could be made, so nothing was done: {error}")
        case.backup = backup
        case.journal = Journal(case.state.here, backup.id, recipe.slug)
        self._mark("backup")
        try:
            done = self._take_steps(case, recipe)
            fault = self._fault_after(case, recipe, backup, reach)
        except (RerailError, OSError) as error:
            done, fault = (), str(error)
        except BaseException:
            self._put_back(case, backup, reach)
            raise
        if fault:
            return self._taken_back(case, named, recipe, backup, reach, fault)
        self._record(case, recipe, backup, reach)
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
                result = run_program(step.argv, case.state.root, timeout_s=step.timeout_s)
                if not result.ok:
                    raise StepRefusedError(f"{' '.join(step.argv)}: exit {result.code}")
                done.append(f"ran {' '.join(step.argv)}")
        return tuple(done)

    def _fault_after(self, case: Case, recipe: HealRecipe, backup: Backup, reach: Reach) -> str:
        """Return what is wrong after the steps, ``""`` when all is well."""
        self._mark("check")
        now = probe(case.state.cwd)
        if now.trouble is not None:
            return now.trouble.detail
        for ensure in recipe.ensures:
            finding = ENSURES[ensure](case, now)
            if finding.verdict is not Verdict.HOLDS:
                return finding.text
        return _disturbed(case, recipe, backup, reach)

    def _put_back(self, case: Case, backup: Backup, reach: Reach) -> None:
        moves = _moves(case, backup, reach)
        restore.roll_back(case.state.git, case.state.here, backup, moves)
        if case.journal is not None:
            case.journal.close()

    def _taken_back(
        self, case: Case, named: Trouble, recipe: HealRecipe, backup: Backup, reach: Reach, fault: str
    ) -> HealReport:
        self._mark("put back")
        try:
            self._put_back(case, backup, reach)
        except (RerailError, OSError) as error:
            detail = f"{fault}; putting everything back failed too: {error}; backup {backup.id} holds it"
            return attrs.evolve(_paused(named, recipe, detail), backup=backup.id)
        return _paused(named, recipe, f"{fault}; everything was put back")

    def _record(self, case: Case, recipe: HealRecipe, backup: Backup, reach: Reach) -> None:
        git, place = case.state.git, case.state.here
        after = restore.blobs_now(git, place, backup.files)
        outcome = Outcome(recipe.slug, _moves(case, backup, reach), after)
        oid = git("hash-object", "-w", "--no-filters", "--stdin", stdin=outcome_json(outcome)).text
        git("update-ref", outcome_ref(backup.id), oid, "0" * len(oid))
        if case.journal is not None:
            case.journal.close()

    def _hint(self, named: Trouble) -> str | None:
        try:
            return self._taxonomy.reason_spec(named.class_, named.reason).hint
        except UnknownNameError:
            return None


def _finish_cut_heal(state: RepoState) -> None:
    """Put back what a heal did that was killed before its end, unless somebody has gone on from there."""
    if state.place is None or state.trouble is not None:
        return
    cut = journal.open_heal(state.place)
    if cut is None:
        return
    try:
        backup = load(state.git, cut.backup_id)
    except GitError:
        journal.forget(state.place)  # killed before its backup was whole, and so before its first step
        return
    paths = frozenset(file.path for file in backup.saved(Base.WORK))
    refs = frozenset(move.ref for move in cut.moves)
    snapshot(state, Reach(paths=paths, refs=refs), note=f"before taking back the cut heal {cut.backup_id}")
    restore.roll_back(state.git, state.place, backup, cut.moves)
    journal.forget(state.place)


def _candidates(recipes: Sequence[HealRecipe], named: Trouble) -> list[HealRecipe]:
    return [recipe for recipe in recipes if recipe.class_ == named.class_ and named.reason in recipe.reasons]


def _weigh(recipe: HealRecipe, case: Case, trusted: Callable[[HealRecipe], bool]) -> _Candidate:
    """Ask a recipe's conditions in order, up to the first that does not hold."""
    conditions: list[Condition] = []
    if recipe.runs_commands and not trusted(recipe):
        return _Candidate(recipe, (), fails(f"recipe {recipe.slug} runs commands, and nobody has trusted it"))
    guards = [need for step in recipe.steps if isinstance(step, Primitive) for need in STEPS[step.name].guards]
    for need in dict.fromkeys((*recipe.needs, *guards)):
        try:
            finding = NEEDS[need](case)
        except GitError as error:
            finding = fails(f"it could not be found out whether {need} holds: {error}")
        conditions.append(Condition(need, finding))
        if finding.verdict in {Verdict.FAILS, Verdict.WAITS}:
            return _Candidate(recipe, tuple(conditions), finding)
    return _Candidate(recipe, tuple(conditions), None)


def _best(weighed: Sequence[_Candidate]) -> _Candidate | None:
    """Return the recipe that would run, else one that only has to wait, else the one of which most holds."""

    def nearness(one: _Candidate) -> tuple[bool, bool, int]:
        return one.refusal is None, one.refusal is not None and one.refusal.verdict is Verdict.WAITS, _held(one)

    return max(weighed, key=nearness, default=None)


def _held(candidate: _Candidate) -> int:
    return sum(condition.finding.verdict is not Verdict.FAILS for condition in candidate.conditions)


def _reach(recipe: HealRecipe, case: Case) -> Reach:
    reach = NO_REACH
    for step in recipe.steps:
        reach |= STEPS[step.name].reach(case) if isinstance(step, Primitive) else Reach(everything=True)
    return reach | Reach(paths=frozenset(recipe.touches))


def _moves(case: Case, backup: Backup, reach: Reach) -> tuple[RefMove, ...]:
    """Return every move of the refs within reach: those that were noted, and those that git made in one of its own commands."""
    noted = case.journal.moves if case.journal is not None else ()
    before, now = dict(backup.refs), all_refs(case.state.git)
    last = before | {move.ref: move.new for move in noted}
    zero = "0" * 40
    made = (RefMove(ref, last.get(ref, zero), now.get(ref, zero)) for ref in sorted(reach.refs))
    return (*noted, *(move for move in made if move.old != move.new))


def _disturbed(case: Case, recipe: HealRecipe, backup: Backup, reach: Reach) -> str:
    """Return what has changed that the recipe's steps do not reach: no heal may cost work elsewhere."""
    before, now = dict(backup.refs), all_refs(case.state.git)
    for ref in ("refs/stash", case.state.head.branch or "refs/stash"):
        if ref in before and ref not in reach.refs and now.get(ref) != before[ref]:
            return f"{ref} has moved, and no step moves it"
    reached = reach.paths | set(case.state.unmerged)
    restaged = {change.path for change in case.state.changes if change.staged != "."}
    for file in backup.saved(Base.WORK):
        if file.path in reached or (reach.everything and file.path in restaged):
            continue
        if restore.blobs_now(case.state.git, case.state.here, [file])[0][1] != file.oid:
            return f"{file.path} has changed, and {recipe.slug} does not touch it"
    return ""


def _renamed(request: HealRequest, named: Trouble) -> HealRequest:
    return attrs.evolve(request, class_=named.class_, reason=named.reason)


def _is_for_heal(taxonomy: Taxonomy, named: Trouble, recipes: Sequence[HealRecipe]) -> bool:
    """Whether a failure calls for a heal: by its reason, or by its class where a recipe knows the reason."""
    if _action(taxonomy, named) is Action.HEAL:
        return True
    is_class_healed = named.class_ in taxonomy and taxonomy.class_spec(named.class_).action is Action.HEAL
    return is_class_healed and bool(_candidates(recipes, named))


def _action(taxonomy: Taxonomy, named: Trouble) -> Action:
    """Return what a failure calls for; a reason that nothing carries calls for what its class does."""
    try:
        return taxonomy.action(named.class_, named.reason)
    except UnknownNameError:
        return taxonomy.class_spec(named.class_).action if named.class_ in taxonomy else Action.PAUSE


def _by_action(taxonomy: Taxonomy, named: Trouble) -> HealReport:
    """Report a failure that is not for a heal."""
    action = _action(taxonomy, named)
    outcome: OutcomeName = "paused"
    if action is Action.RETRY:
        outcome = "retry"
    elif action is Action.STOP:
        outcome = "stopped"
    try:
        hint = taxonomy.reason_spec(named.class_, named.reason).hint
    except UnknownNameError:
        hint = None
    detail = named.detail or f"{named.class_}/{named.reason} is not for a heal"
    return HealReport(outcome, *_name(named), None, (), None, detail, hint if outcome == "paused" else None)


def _paused(named: Trouble, recipe: HealRecipe | None, detail: str, question: str | None = None) -> HealReport:
    slug, asked = (recipe.slug, recipe.question) if recipe is not None else (None, question)
    return HealReport("paused", *_name(named), slug, (), None, detail, asked)


def _retry(named: Trouble, recipe: HealRecipe | None, detail: str) -> HealReport:
    return HealReport("retry", *_name(named), recipe.slug if recipe else None, (), None, detail)


def _name(named: Trouble) -> tuple[str, str]:
    return str(named.class_), named.reason


def _unheard(_moment: str) -> None:
    """Hear nothing: nobody watches this heal."""


__all__ = [
    "Condition",
    "FailureClass",
    "HealPlan",
    "HealReport",
    "HealRequest",
    "Pace",
    "heal",
    "plan",
    "trust_nobody",
    "undo",
]
