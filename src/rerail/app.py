"""The composition root: the only place that builds objects, and ``Loop``, the one that users hold.

Everything below takes what it works with as arguments. Here a directory, an environment and a few wishes become a ledger, a
policy, the rules in force, and the functions that act.
"""

from __future__ import annotations

import os
import time
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING

import attrs

from rerail.clock import SystemClock, system_draw
from rerail.errors import LedgerError, UsageError
from rerail.handlers.heal import GitHealer
from rerail.ids import RunId, UnitName
from rerail.ledger.memory import MemoryLedger
from rerail.ledger.owner import current_owner, is_alive
from rerail.ledger.store import Refusal
from rerail.observe import Observer
from rerail.paths import cache_dir, find_root, state_dir, working_directory, worktree_key
from rerail.recipes.read import heals_in_force, load
from rerail.rules.engine import classify
from rerail.runner.awaited import sleep_here
from rerail.runner.guard import Guard
from rerail.runner.perform import Tools
from rerail.runner.unit import Unit

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Mapping, Sequence
    from typing import BinaryIO

    from rerail.clock import Clock, Draw
    from rerail.decisions.effects import FailureRecord
    from rerail.decisions.model import Answer
    from rerail.decisions.policy import Policy
    from rerail.evidence.model import Evidence
    from rerail.git.case import Identity
    from rerail.ledger.location import Location
    from rerail.ledger.store import Ledger
    from rerail.process import EndRequest, Finished
    from rerail.recipes.heals import HealRecipe
    from rerail.recipes.read import Loaded
    from rerail.recipes.trust import TrustStore
    from rerail.rules.compile import RuleSet
    from rerail.rules.model import Classification
    from rerail.runner.awaited import AsyncSleeper
    from rerail.runner.blocking import Sleeper
    from rerail.runner.outcome import Outcome, Paused
    from rerail.runner.script import Classify
    from rerail.settings import Settings
    from rerail.taxonomy import Taxonomy

_REMEMBERED_NAMES = 512


@attrs.frozen
class Project:
    """What one directory brings: its settings, the recipes in force there, and the ledger that it shares with its worktrees."""

    root: Path
    settings: Settings
    loaded: Loaded
    location: Location
    environ: Mapping[str, str]

    @property
    def trust(self) -> TrustStore:
        """What the operator trusts of the project's recipes."""
        from rerail.recipes.trust import TrustStore

        directory = state_dir(self.environ)
        kept = None if directory is None else directory / "trust" / self.location.key
        shared = self.location.shared
        main = (shared.parent,) if shared.name == ".git" else ()
        return TrustStore(kept, (self.root, shared, *main))

    def healer(self) -> GitHealer:
        """Return what heals the project's repository."""

        def trusted(recipe: HealRecipe) -> bool:
            return not self.trust.covers(recipe, self.root)

        def who_commits() -> Identity | None:
            from rerail.handlers.identity import identity_for

            return identity_for(self.root, self.environ)

        return GitHealer(
            lambda: heals_in_force(self.root),
            self.loaded.taxonomy,
            trusted=trusted,
            backups=self.settings.backups,
            identity=who_commits,
        )

    def open_ledger(self) -> Ledger:
        """Return the project's ledger; nothing is written until something fails."""
        from rerail.ledger.location import open_ledger

        return open_ledger(self.location)


def open_project(cwd: Path, environ: Mapping[str, str] = os.environ) -> Project:
    """Return the project that *cwd* is in.

    Raises:
        SettingsError: Its settings have faults.
        RecipeError: Its recipes have faults.
    """
    from rerail.ledger.location import locate
    from rerail.settings import load_settings

    root, made_again = find_root(cwd), cache_dir(environ)
    # The settings name classes, and recipes may add some: the recipes in force are read on the way, and once.
    recipes = cache(lambda packs: load(root, packs=packs, cache_dir=made_again))
    settings = load_settings(root, taxonomy=lambda packs: recipes(tuple(packs)).taxonomy)
    return Project(root, settings, recipes(tuple(settings.packs)), locate(cwd, environ), environ)


def remembering(rules: RuleSet, clock: Clock) -> Classify:
    """Return a classifier that remembers the last names it gave.

    A loop meets the same failure again and again, and the name of a failure is a function of its evidence; only a hint that
    names a time of day depends on when it is read, so a classification with one is never kept.
    """
    names: dict[Evidence, Classification] = {}

    def name(evidence: Evidence) -> Classification:
        known = names.get(evidence)
        if known is not None:
            return known
        named = classify(evidence, rules, now=clock.wall_s())
        if named.resets_at is None:
            if len(names) >= _REMEMBERED_NAMES:
                names.clear()
            names[evidence] = named
        return named

    return name


class Loop(Guard):
    """Runs units under recovery: names each failure before the first retry, and lets the name choose the action.

    Args:
        root: The worktree that the units work in: its recipes and settings hold, git is healed there, and a refused worktree
            stays refused. None: the units work in no worktree; settings and recipes are looked for in the working directory.
        ledger: Where budgets and pauses are kept: None for the user's state directory, ``"memory"``, a path, or a `Ledger`.
        policy: In place of what ``rerail.toml`` says.
        on_block: Given each recovery-classification block before anything is done about the failure. What this or another
            callback raises ends no recovery: it is told as a `RuntimeWarning`, and the recovery goes on as if there were none.
        on_failure: Given the same record as a value.
        on_pause: Told of each pause; an `Answer` that it returns is taken as the operator's, and the run goes on. May be a
            coroutine function under ``arun``. Around a block of code (`attempts`) it is not asked: the pause is raised, and
            `pauses` and `answer` are the way on.
        on_event: Given each event of the path by name, with its fields.
        run: Names the harness session; a new name by default. A harness that delivers the same attempts again gives the same name
            again, and they are charged once.
        log: ``"json"`` or ``"console"`` writes events to stderr; None leaves them to the program's own logging.
        clock: Tells the time.
        draw: Gives numbers in [0, 1) for jitter.
        sleep: Waits in the calling thread.
        asleep: Waits in an event loop.

    Raises:
        UsageError: There is no such root, or no working directory any more.
        LedgerError: The ledger's file can be neither used nor made there. A ledger that is not there yet is not made before
            something fails.
        SettingsError: The project's settings have faults.
        RecipeError: Its recipes have faults.
    """

    def __init__(
        self,
        root: str | Path | None = None,
        *,
        ledger: Ledger | Path | str | None = None,
        policy: Policy | None = None,
        on_block: Callable[[str], None] | None = None,
        on_failure: Callable[[FailureRecord], None] | None = None,
        on_pause: Callable[[Paused], Answer | Awaitable[Answer | None] | None] | None = None,
        on_event: Callable[[str, Mapping[str, object]], None] | None = None,
        run: str | None = None,
        log: str | None = None,
        clock: Clock | None = None,
        draw: Draw = system_draw,
        sleep: Sleeper = time.sleep,
        asleep: AsyncSleeper = sleep_here,
    ) -> None:
        if root is not None and not Path(root).is_dir():
            raise UsageError(
                f"the root must be a directory that exists, got {os.fspath(root)!r}",
                hint="give the worktree that the units work in, or no root for units that work in none",
            )
        project = open_project(Path(working_directory() if root is None else root).absolute())
        clock = clock or SystemClock()
        store = _store(ledger, project)
        super().__init__(
            Tools(
                ledger=store,
                observer=Observer(callback=on_event, log=log or project.settings.log),
                clock=clock,
                draw=draw,
                healer=project.healer(),
                admit=lambda cwd: admit(store, cwd, clock),
                owner=current_owner,
                alive=is_alive,
                on_failure=_shown(project.loaded.taxonomy, on_block, on_failure),
                on_pause=on_pause,
            ),
            policy or project.settings.policy,
            remembering(project.loaded.rules, clock),
            run=RunId(run or os.urandom(6).hex()),
            root=str(project.root) if root is not None else "",
            declare=lambda unit: declared(unit, project.settings),
            sleep=sleep,
            asleep=asleep,
        )
        self.project = project

    def run_command(
        self,
        unit: str | Unit,
        argv: Sequence[str | os.PathLike[str]],
        *,
        cwd: str | Path | None = None,
        stdout: BinaryIO | None = None,
        stderr: BinaryIO | None = None,
        timeout_s: float | None = None,
        end: EndRequest | None = None,
    ) -> Outcome[Finished]:
        """Run a command as a unit under recovery and return how it ended.

        Exit status 0 is success. The command's input is its line, its directory and the files there: after a hand-back it
        runs again only when one of them changed.

        Args:
            unit: A name, or a declared unit; a name declares unsafe effects.
            argv: The command; no shell reads it.
            cwd: Where it runs; None for the loop's root, or the working directory.
            stdout: Where its output is shown while it runs; None captures it only.
            stderr: The same for its other stream.
            timeout_s: After so long an attempt is ended.
            end: Another thread's way to end the command that runs; the waits between attempts are `sleep`'s to end.

        Raises:
            UsageError: The command is empty, or one text in place of its words, or there is no directory to run it in.
            Signalled: This process was told to end while the command ran, or *end* was made.
            UnitBusyError: Another live process runs the unit.
            LedgerError: What earlier runs of the unit left cannot be read, so nothing was run.
        """
        from rerail.git.tree_state import tree_state  # these two cost 60 ms, and a program may run no command
        from rerail.runner.command import CommandWork, Sinks, words

        work = CommandWork(
            self._declared(Unit(UnitName(unit), marks_starts=True) if isinstance(unit, str) else unit),
            words(argv),
            cwd=str(cwd or self.root or working_directory()),
            sinks=Sinks(stdout, stderr),
            tree_state=tree_state,
            timeout_s=timeout_s,
            clock=self.tools.clock,
            end=end,
        )
        return self.drive(work)


def declared(unit: Unit, settings: Settings) -> Unit:
    """Return a unit with what the project's settings, which are the operator's, declare about it."""
    if not settings.units and not settings.context:
        return unit
    said = settings.unit(unit.name)
    return attrs.evolve(
        unit,
        effects=said.effects or unit.effects,
        context={**settings.context_of(unit.name), **unit.context},
        policy=unit.policy or (settings.policy_of(unit.name) if said.budgets else None),
    )


def _store(wish: Ledger | Path | str | None, project: Project) -> Ledger:
    """Return the ledger that is wished for.

    Raises:
        LedgerError: It is a file that can be neither used nor made.
    """
    if wish == "memory":
        return MemoryLedger()
    if wish is not None and not isinstance(wish, str | Path):
        return wish
    from rerail.ledger.location import is_usable
    from rerail.ledger.sqlite import SqliteLedger

    path = project.location.path if wish is None else Path(wish).absolute()
    if not is_usable(path):
        # Said now, not at the first failure: what cannot be charged cannot be recovered from.
        raise LedgerError(
            f"the ledger {str(path)!a} can be neither used nor made there",
            hint="give a path in a directory that can be written, or ledger='memory'",
        )
    return SqliteLedger(path)


def admit(ledger: Ledger, cwd: str, clock: Clock) -> Refusal | None:
    """Check where a unit would work, resolved anew; return why nothing may be started there, or None.

    A failed check refuses the worktree until one passes. A directory in no repository that was never refused is no worktree.
    """
    from rerail.git.safety import check_worktree  # 40 ms to import; a loop without a root never asks

    root = worktree_key(cwd)
    refused = ledger.refusal(root)
    failed = check_worktree(Path(cwd)).failed
    if failed is None:
        if refused is not None:
            ledger.readmit(root)
        return None
    if refused is None and failed.reason == "not-a-repository":
        return None
    refusal = refused or Refusal(root, clock.wall_s(), failed.reason, failed.text)
    if refused is None:
        ledger.refuse(refusal)
    return refusal


def _shown(
    taxonomy: Taxonomy, on_block: Callable[[str], None] | None, on_failure: Callable[[FailureRecord], None] | None
) -> Mapping[str, Callable[[FailureRecord], object]]:
    shown: dict[str, Callable[[FailureRecord], object]] = {}
    if on_block is not None:
        from rerail.boundary.block import render_block

        shown["on_block"] = lambda record: on_block(render_block(record, taxonomy))
    if on_failure is not None:
        shown["on_failure"] = on_failure
    return shown
