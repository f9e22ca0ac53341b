"""The built-in heals as a table: complete, honest about their steps' own conditions, and bound to the taxonomy."""

from __future__ import annotations

from typing import TYPE_CHECKING

import attrs
import pytest
from pydantic import ValidationError
from tests.repositories import QUICK, Repo, built_in_recipes, evidence, photograph

from rerail.git.case import HealRequest
from rerail.git.conditions import NEEDS
from rerail.git.finding import Verdict
from rerail.git.heal import heal, plan
from rerail.git.postconditions import ENSURES
from rerail.git.primitives import STEPS
from rerail.recipes.heal_schema import HealTable
from rerail.recipes.heals import Ensure, HealRecipe, Need, Primitive, RunCommand, StepName
from rerail.taxonomy import BUILT_IN

if TYPE_CHECKING:
    from pathlib import Path

RECIPES = built_in_recipes()


def test_every_condition_and_step_has_a_meaning() -> None:
    assert NEEDS.keys() == set(Need)
    assert ENSURES.keys() == set(Ensure)
    assert STEPS.keys() == set(StepName)


def test_every_condition_and_step_is_used() -> None:
    steps = {step.name for recipe in RECIPES for step in recipe.steps if isinstance(step, Primitive)}
    assert steps == set(StepName)
    assert {need for recipe in RECIPES for need in recipe.needs} == set(Need)
    assert {ensure for recipe in RECIPES for ensure in recipe.ensures} == set(Ensure)


@pytest.mark.parametrize("recipe", [one for one in RECIPES if not one.is_guide], ids=lambda recipe: recipe.slug)
def test_a_recipe_says_all_that_its_steps_ask_and_checks_what_it_did(recipe: HealRecipe) -> None:
    guards = {need for step in recipe.steps if isinstance(step, Primitive) for need in STEPS[step.name].guards}
    assert guards <= set(recipe.needs), "what a step asks stands in the file that people read"
    assert recipe.ensures
    assert not recipe.runs_commands
    for reason in recipe.reasons:
        assert BUILT_IN.reason_spec(recipe.class_, reason)


def test_slugs_are_unique() -> None:
    slugs = [recipe.slug for recipe in RECIPES]
    assert len(slugs) == len(set(slugs))


@pytest.mark.parametrize(
    "change",
    [
        {"needs": ["made-up"]},
        {"ensures": ["made-up"]},
        {"steps": []},
        {"reasons": []},
        {"slug": "Not A Slug"},
        {"sees": ""},
        {"extra": 1},
        {"steps": [{"run": ["x"], "timeout_s": 0}]},
        {"steps": [{"run": ["x"], "timeout_s": 1e9}]},
    ],
)
def test_a_recipe_with_a_fault_is_refused(change: dict[str, object]) -> None:
    table: dict[str, object] = {
        "slug": "x",
        "class": "git",
        "reasons": ["unmerged"],
        "steps": ["restage"],
        **dict.fromkeys(("sees", "why", "source", "undo", "question"), "a sentence"),
    }
    HealTable.model_validate(table)
    with pytest.raises(ValidationError):
        HealTable.model_validate(table | change)


def test_a_step_asks_its_own_conditions_even_where_a_recipe_leaves_them_out(repo: Repo) -> None:
    """A project recipe that lists no condition cannot make a step take a lock from anybody."""
    careless = [attrs.evolve(recipe, needs=()) for recipe in RECIPES]
    failure = evidence(("git", "rebase", "main"), 1, b"", b"fatal: no", str(repo.path))
    for recipe in careless:
        for reason in recipe.reasons:
            before = photograph(repo.path)
            report = heal(HealRequest(repo.path, "git", reason, failure), [recipe], pace=QUICK)
            assert report.outcome in {"paused", "retry"}, recipe.slug
            assert photograph(repo.path) == before, recipe.slug


# --- project recipes ----------------------------------------------------------------------------------------------------


def project_recipe(*argv: str, touches: tuple[str, ...] = ()) -> HealRecipe:
    return attrs.evolve(
        RECIPES[0],
        slug="project",
        reasons=("rejected",),
        needs=(),
        steps=(RunCommand(argv, 30.0),),
        ensures=(),
        touches=touches,
    )


def request(repo: Repo) -> HealRequest:
    return HealRequest(repo.path, "git", "rejected", evidence(("git", "x"), 1, b"", b"fatal: no", str(repo.path)))


def test_a_recipe_with_a_command_runs_only_when_it_is_trusted(repo: Repo) -> None:
    recipe = project_recipe("touch", "made-by-recipe")
    assert heal(request(repo), [recipe], pace=QUICK).outcome == "paused"
    assert not (repo.path / "made-by-recipe").exists()
    report = heal(request(repo), [recipe], pace=QUICK, trusted=lambda one: one.slug == "project")
    assert (report.outcome, report.steps) == ("healed", ("ran touch made-by-recipe",))
    assert (repo.path / "made-by-recipe").exists()


@pytest.mark.parametrize(
    "script",
    [
        "echo more >> notes.txt",
        "rm notes.txt",
        "echo more >> src/app.py",
        "git commit -q --allow-empty -m sneaky",
        "git stash drop -q",
        "git reset -q --hard HEAD~1",
        "exit 3",
    ],
)
def test_a_trusted_command_that_does_more_than_it_says_is_taken_back(repo: Repo, tmp_path: Path, script: str) -> None:
    program = tmp_path / "program"
    program.write_text(f"#!/bin/sh\n{script}\n")
    program.chmod(0o755)
    repo.write("src/app.py", "a draft\n")
    stash, tip = repo.head("refs/stash"), repo.head()
    before = {path: facts for path, facts in photograph(repo.path).items() if not path.startswith(".git/")}
    report = heal(request(repo), [project_recipe(str(program))], pace=QUICK, trusted=lambda _: True)
    assert report.outcome == "paused"
    after = {path: facts for path, facts in photograph(repo.path).items() if not path.startswith(".git/")}
    assert after == before
    assert (repo.head("refs/stash"), repo.head(), repo.head("main")) == (stash, tip, tip)
    assert repo.git("stash", "list") == "stash@{0}: On main: earlier experiment"


def test_a_trusted_command_may_write_what_it_says(repo: Repo, tmp_path: Path) -> None:
    program = tmp_path / "program"
    program.write_text("#!/bin/sh\necho generated > notes.txt\n")
    program.chmod(0o755)
    recipe = project_recipe(str(program), touches=("notes.txt",))
    report = heal(request(repo), [recipe], pace=QUICK, trusted=lambda _: True)
    assert report.outcome == "healed"
    assert repo.git("show", f"refs/rerail/backup/{report.backup}/state:work/notes.txt") == "untracked"


# --- plans --------------------------------------------------------------------------------------------------------------


def test_a_plan_says_what_would_be_done_and_does_nothing(repo: Repo) -> None:
    (repo.git_dir / "index.lock").touch()
    failure = repo.fails("git", "add", "src/app.py")
    before = photograph(repo.path, objects=True)
    planned = plan(HealRequest(repo.path, "git", "index-lock", failure), RECIPES)
    assert (planned.recipe, planned.steps) == ("stale-lock", ("move the stale locks aside",))
    assert all(condition.finding.verdict is Verdict.HOLDS for condition in planned.conditions)
    assert photograph(repo.path, objects=True) == before
    assert not (repo.git_dir / "rerail").exists()


def test_a_plan_asks_no_remote(repo: Repo) -> None:
    repo.git("remote", "add", "origin", "http://127.0.0.1:9/nobody-listens.git")
    failure = evidence(
        ("git", "push", "origin", "main"), 1, b"", b" ! [rejected] main -> main (fetch first)", str(repo.path)
    )
    before = photograph(repo.path, objects=True)
    planned = plan(HealRequest(repo.path, "git", "non-fast-forward", failure), RECIPES)
    assert planned.recipe == "push-behind"
    assert Verdict.UNASKED in {condition.finding.verdict for condition in planned.conditions}
    assert photograph(repo.path, objects=True) == before


def test_a_plan_for_what_is_not_for_a_heal_has_no_steps(repo: Repo) -> None:
    failure = evidence(("git", "fetch"), 128, b"", b"fatal: 500", str(repo.path))
    assert plan(HealRequest(repo.path, "provider", "server-error", failure), RECIPES).recipe is None
    nowhere = HealRequest(repo.path / "gone", "git", "rejected", failure)
    assert plan(nowhere, RECIPES).class_ == "worktree"


def test_a_plan_of_what_can_be_told_without_the_remote_says_that_no_heal_begins(repo: Repo) -> None:
    """Only what the remote alone can tell is left open: a heal is charged where a recipe fits."""
    failure = evidence(
        ("git", "push"), 128, b"", b"fatal: The current branch main has no upstream branch.", str(repo.path)
    )
    request = HealRequest(repo.path, "git", "no-upstream", failure)
    planned = plan(request, RECIPES)
    assert planned.not_begun is not None
    assert planned.not_begun.detail == "there is no remote"
    assert heal(request, RECIPES, pace=QUICK) == planned.not_begun
    repo.git("remote", "add", "origin", "http://127.0.0.1:9/nobody-listens.git")
    assert plan(request, RECIPES).not_begun is None


def test_a_plan_beside_another_heal_waits_for_it(repo: Repo) -> None:
    from rerail.git import lease
    from rerail.git.probe import probe

    failure = evidence(("git", "commit"), 128, b"", b"fatal: no", str(repo.path))
    request = HealRequest(repo.path, "git", "conflict", failure)
    assert plan(request, RECIPES).not_begun is not None
    with lease.hold(lease.default_dir(probe(repo.path).here.common_dir), patience_s=0) as is_held:
        assert is_held
        assert plan(request, RECIPES).not_begun is None
    assert plan(request, RECIPES).not_begun is not None
