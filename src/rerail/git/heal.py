"""One heal: look, back up, take the steps, check, and keep it or put everything back.

Under a repository lease from the first look to the last check. Nothing is deleted, nothing is forced, and the agent's own command
is never run: whether the heal was one, only the unit's next run tells.
"""

from __future__ import annotations

import os
import shlex
import time
from typing import TYPE_CHECKING

import attrs

from rerail.errors import GitError, RerailError
from rerail.evidence.ansi import printable
from rerail.evidence.redact import redact
from rerail.git import lease
from rerail.git.backup import Base, RefMove
from rerail.git.backups import all_refs, expire
from rerail.git.case import Case, HealRequest, Pace, unheard, working_dir
from rerail.git.choose import UNKNOWN, choose, is_for_heal, not_begun, recipes_for, unhealed
from rerail.git.command import GitFailedError, run_program
from rerail.git.diagnose import diagnose
from rerail.git.finding import Finding, Verdict
from rerail.git.journal import Journal, open_heal
from rerail.git.moves import REFLOG_MARK, all_moves
from rerail.git.outcome import blobs_now, record_outcome
from rerail.git.postconditions import ENSURES
from rerail.git.primitives import STEPS
from rerail.git.probe import probe
from rerail.git.recovery import StillAtWorkError, finish_cut_heal
from rerail.git.repairs import aside
from rerail.git.repairs.transport import RemoteUnaskedError, drop_incoming
from rerail.git.report import Condition, HealPlan, HealReport
from rerail.git.restore import roll_back
from rerail.git.snapshot import NO_REACH, Reach, snapshot
from rerail.git.state import Trouble
from rerail.git.steps.spec import StepRefusedError
from rerail.recipes.heals import HealRecipe, Primitive, RunCommand
from rerail.settings import BackupSettings
from rerail.taxonomy import BUILT_IN, Taxonomy

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from pathlib import Path

    from rerail.git.backup import Backup
    from rerail.git.state import RepoState


_NO_REPOSITORY = "there is no repository here"


def trust_nobody(_recipe: HealRecipe) -> bool:
    """Trust no recipe that runs commands."""
    return False


def plan(
    request: HealRequest,
    recipes: Sequence[HealRecipe],
    *,
    trusted: Callable[[HealRecipe], bool] = trust_nobody,
    lease_dir: Path | None = None,
    taxonomy: Taxonomy = BUILT_IN,
) -> HealPlan:
    """Return what a heal would do, and how it would end where it cannot begin; nothing is changed, written or fetched.

    Args:
        request: The failure.
        recipes: The recipes in force, the preferred ones first.
        trusted: Whether the operator has trusted a recipe that runs commands.
        lease_dir: Where the repository's lease lies; None: beside rerail's other files in its git directory.
        taxonomy: What each class and reason calls for.

    Raises:
        GitError: git could not be run at all.
    """
    try:
        return _plan(request, recipes, trusted, lease_dir, taxonomy)
    except RemoteUnaskedError:
        detail = "what the failure is depends on what the remote has, which is asked when the heal runs"
        return HealPlan(request.class_, request.reason, None, (), (), detail)
    except GitFailedError as error:
        named = Trouble(request.class_, request.reason, "")
        return _unplanned(named, _paused(named, None, f"git cannot read the repository: {error}"))


def _plan(
    request: HealRequest,
    recipes: Sequence[HealRecipe],
    trusted: Callable[[HealRecipe], bool],
    lease_dir: Path | None,
    taxonomy: Taxonomy,
) -> HealPlan:
    pace = Pace(patience_s=0, watch_s=0)
    state, named, ended = _looked_at(request, recipes, trusted, taxonomy, pace, online=False)
    if ended is not None:
        return attrs.evolve(_unplanned(named, ended), recipe=ended.recipe)
    if open_heal(state.here) is not None or _is_held(lease_dir or lease.default_dir(state.here.common_dir)):
        # What is seen now is no heal's to judge: it begins with that.
        detail = (
            "another heal has begun in this repository; it is waited for, or taken back first when it was cut short"
        )
        return HealPlan(str(named.class_), named.reason, None, (), (), detail)
    case = Case(_renamed(request, named), state, pace=pace, online=False)
    best = choose(recipes, named, case, trusted)
    report = not_begun(taxonomy, named, best)
    conditions = best.conditions if best is not None else ()
    if best is None or (report is not None and not best.untrusted):
        report = report or _paused(named, None, UNKNOWN)
        asking = best.recipe.slug if best is not None and best.asked is not None else None
        return attrs.evolve(_unplanned(named, report, conditions), recipe=asking)
    recipe = best.recipe
    steps = tuple(
        STEPS[step.name].plan if isinstance(step, Primitive) else f"run {shlex.join(step.argv)}"
        for step in recipe.steps
    )
    detail = report.detail if report is not None else recipe.sees
    return HealPlan(str(named.class_), named.reason, recipe.slug, steps, conditions, detail, report)


def _looked_at(
    request: HealRequest,
    recipes: Sequence[HealRecipe],
    trusted: Callable[[HealRecipe], bool],
    taxonomy: Taxonomy,
    pace: Pace,
    *,
    online: bool = True,
) -> tuple[RepoState, Trouble, HealReport | None]:
    """Return the repository, what the failure is there, and how a heal ends that has no business to begin."""
    state = probe(working_dir(request))
    case = Case(request, state, pace=pace, online=online)
    named = diagnose(case)
    if not is_for_heal(taxonomy, named, recipes):
        return state, named, unhealed(taxonomy, named, case, recipes, trusted)
    if state.place is None or state.trouble is not None:
        if not recipes_for(recipes, named):
            return state, named, _paused(named, None, UNKNOWN)  # a repository would not help
        return state, named, _paused(named, None, state.trouble.detail if state.trouble else _NO_REPOSITORY)
    return state, named, None


def _unplanned(named: Trouble, report: HealReport, conditions: tuple[Condition, ...] = ()) -> HealPlan:
    # One that would only be waited for begins: to wait is what it does.
    refused = None if report.outcome == "retry" else report
    return HealPlan(str(named.class_), named.reason, None, (), conditions, report.detail, refused)


def _is_held(directory: Path) -> bool:
    """Whether a heal is at work; nothing is made to find that out."""
    try:
        if not (directory / lease.FILE_NAME).exists():
            return False
        with lease.hold(directory, patience_s=0) as is_free:
            return not is_free
    except OSError:
        return False


def heal(
    request: HealRequest,
    recipes: Sequence[HealRecipe],
    *,
    trusted: Callable[[HealRecipe], bool] = trust_nobody,
    lease_dir: Path | None = None,
    taxonomy: Taxonomy = BUILT_IN,
    pace: Pace | None = None,
    backups: BackupSettings | None = None,
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
        backups: How long the backups of heals stay.
        on_moment: Called with the name of each moment as it is reached: ``lease``, ``backup``, ``step restage``, ``done``.

    Raises:
        GitError: git could not be run at all; nothing was changed.
    """
    try:
        kit = _Kit(recipes, trusted, taxonomy, pace or Pace(), backups or BackupSettings(), on_moment)
        return _heal(request, kit, lease_dir)
    except GitFailedError as error:
        # Not a crash: a repository that git cannot read is what was to be healed.
        named = Trouble(request.class_, request.reason, "")
        return _paused(named, None, f"git cannot read the repository: {error}")


@attrs.frozen
class _Kit:
    """What a heal works with."""

    recipes: Sequence[HealRecipe]
    trusted: Callable[[HealRecipe], bool]
    taxonomy: Taxonomy
    pace: Pace
    backups: BackupSettings
    mark: Callable[[str], None]


def _heal(request: HealRequest, kit: _Kit, lease_dir: Path | None) -> HealReport:
    state, named, ended = _looked_at(request, kit.recipes, kit.trusted, kit.taxonomy, kit.pace)
    if ended is not None:
        return ended
    directory = lease_dir or lease.default_dir(state.here.common_dir)
    try:
        with lease.hold(directory, patience_s=kit.pace.lease_s, sleep=kit.pace.sleep) as is_held:
            if not is_held:
                detail = "another heal is at work in this repository"
                return HealReport("retry", *_name(named), None, (), None, detail)
            return _Heal(request, kit).run()
    except StillAtWorkError as busy:
        return HealReport("retry", *_name(named), None, (), None, busy.message)
    except OSError as error:
        return _paused(named, None, f"the repository cannot be written: {error}")


class _Heal:
    """One heal under its lease."""

    def __init__(self, request: HealRequest, kit: _Kit) -> None:
        self._request, self._kit, self._mark = request, kit, kit.mark
        self._made: tuple[str, ...] = ()
        """Untracked files that commands have made."""

    def run(self) -> HealReport:
        self._mark("lease")
        cwd = working_dir(self._request)
        note = finish_cut_heal(probe(cwd), self._kit.pace)
        state = probe(cwd)
        seen = Case(self._request, state, pace=self._kit.pace)
        named = diagnose(seen)
        if not is_for_heal(self._kit.taxonomy, named, self._kit.recipes):
            return unhealed(self._kit.taxonomy, named, seen, self._kit.recipes, self._kit.trusted)
        case = Case(_renamed(self._request, named), state, pace=self._kit.pace, mark=self._mark)
        try:
            report = self._attempt(case, named)
        finally:
            drop_incoming(state)
        return attrs.evolve(report, detail=f"{note}; {report.detail}") if note else report

    def _attempt(self, case: Case, named: Trouble) -> HealReport:
        best = choose(self._kit.recipes, named, case, self._kit.trusted)
        report = not_begun(self._kit.taxonomy, named, best)
        if best is None or report is not None:
            return report or _paused(named, None, UNKNOWN)
        return self._carry_out(case, named, best.recipe)

    def _carry_out(self, case: Case, named: Trouble, recipe: HealRecipe) -> HealReport:
        reach = _reach(recipe, case)
        try:
            backup = snapshot(case.state, reach, note=f"{named.class_}/{named.reason}, before {recipe.slug}")
        except GitError as error:
            return _paused(named, recipe, f"no backup could be made, so nothing was done: {error}")
        case.backup = backup
        case.journal = Journal(case.state.here, backup.id, recipe.slug, reach.refs)
        self._mark("backup")
        found: Finding | None = None
        try:
            done = self._take_steps(case, recipe)
            fault = self._fault_after(case, recipe, backup, reach)
            if not fault:
                record_outcome(probe(case.top), backup, recipe.slug, _moves(case, backup))
        except (RerailError, OSError) as error:
            done, fault = (), str(error)
            found = error.finding if isinstance(error, StepRefusedError) else None
        except BaseException:
            self._put_back(case, backup)
            raise
        if fault:
            report = self._taken_back(case, named, recipe, backup, fault)
            return _someone_elses_turn(report, found) if report.backup is None else report
        case.journal.close()
        self._mark("done")
        gone = expire(case.state.git, case.state.here, self._kit.backups, now_s=time.time())
        detail = f"{recipe.sees}; {gone.fault}" if gone.fault else recipe.sees
        return HealReport("healed", *_name(named), recipe.slug, done, backup.id, detail, expired=gone.ids)

    def _take_steps(self, case: Case, recipe: HealRecipe) -> tuple[str, ...]:
        done: list[str] = []
        for step in recipe.steps:
            if isinstance(step, Primitive):
                self._mark(f"step {step.name}")
                done += STEPS[step.name].run(case)
            else:
                self._mark(f"step run {step.argv[0]}")
                done.append(self._run_command(case, recipe, step))
        return tuple(done)

    def _run_command(self, case: Case, recipe: HealRecipe, step: RunCommand) -> str:
        if not self._kit.trusted(recipe):  # asked once more: a look at the repository takes its time
            raise StepRefusedError(f"{recipe.file or recipe.slug} is not trusted any more")
        before = frozenset(probe(case.top).untracked)
        env = {"GIT_REFLOG_ACTION": f"{REFLOG_MARK}{recipe.slug}"}
        try:
            result = run_program(step.argv, case.state.root, env=env, timeout_s=step.timeout_s)
        finally:
            self._made += tuple(path for path in probe(case.top).untracked if path not in before)
        command = shlex.join(step.argv)
        if not result.ok:
            said = [line for line in result.error_text.splitlines() if line.strip()]
            last = f": {redact(printable(said[-1]))[:200]}" if said else ""
            raise StepRefusedError(f"{command}: exit {result.code}{last}")
        return f"ran {command}"

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
        aside.move_untracked(
            case.state, [path for path in self._made if os.path.lexists(case.state.root / path)], case.aside
        )
        self._made = ()
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


def _paused(named: Trouble, recipe: HealRecipe | None, detail: str) -> HealReport:
    slug, question = (recipe.slug, recipe.question) if recipe is not None else (None, None)
    return HealReport("paused", *_name(named), slug, (), None, detail, question)


def _someone_elses_turn(report: HealReport, found: Finding | None) -> HealReport:
    """Report what a step met instead of the failure to heal: a remote that is out of reach comes back by itself."""
    if found is None or found.verdict is not Verdict.WAITS or found.trouble is None:
        return report
    class_, reason = _name(found.trouble)
    return attrs.evolve(report, outcome="retry", class_=class_, reason=reason, question=None)


def _name(named: Trouble) -> tuple[str, str]:
    return str(named.class_), named.reason


__all__ = ["HealPlan", "HealReport", "HealRequest", "Pace", "heal", "plan", "trust_nobody"]
