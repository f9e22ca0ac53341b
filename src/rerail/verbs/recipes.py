"""The recipe files in force: what each brings, what it would run, and whether the operator trusts it."""

from __future__ import annotations

import os
import shlex
import time
from pathlib import Path
from typing import TYPE_CHECKING

from rerail.boundary import hints
from rerail.boundary.result import Result
from rerail.boundary.words import counted
from rerail.errors import UnknownNameError, UsageError
from rerail.plain_file import read_plain
from rerail.recipes.heals import RunCommand

if TYPE_CHECKING:
    from rerail.app import Project
    from rerail.recipes.heals import HealRecipe
    from rerail.recipes.model import Recipe


def recipes(project: Project) -> Result:
    """Return the recipe files in force: the built-in ones, then the project's."""
    from rerail.recipes.read import read_all

    rows = [{**summary(each), **would_run(each.heals, project)} for each in read_all(project.root)]
    return Result(True, "recipes list", "", {"recipes": rows})


def summary(recipe: Recipe) -> dict[str, object]:
    """Return what a recipe is, in short."""
    return {
        "name": recipe.name,
        "file": recipe.where,
        "description": recipe.description,
        "classes": [spec.name for spec in recipe.classes],
        "rules": len(recipe.rules),
        "heals": [heal.slug for heal in recipe.heals],
        "content_hash": recipe.content_hash,
    }


def would_run(heals: tuple[HealRecipe, ...], project: Project) -> dict[str, object]:
    """Return the commands that a recipe's heals would run, and whether they may."""
    from rerail.recipes.trust import found_program

    commands = [
        {
            "heal": heal.slug,
            "run": step.argv,
            "timeout_s": step.timeout_s,
            "program": found_program(step.argv[0], project.root),
        }
        for heal in heals
        for step in heal.steps
        if isinstance(step, RunCommand)
    ]
    careful = [heal for heal in heals if heal.needs_trust]
    if not careful:
        return {"commands": [], "trusted": None, "untrusted_because": None}
    why = next(filter(None, (project.trust.covers(heal, project.root) for heal in careful)), None)
    return {"commands": commands, "trusted": why is None, "untrusted_because": why}


def trust(project: Project, file: str, cwd: Path) -> Result:
    """Trust a recipe file of the project, as it is now, to run its commands.

    Args:
        project: The project that the trust is for.
        file: The file, relative to *cwd*, or its name in ``.rerail/recipes/``.
        cwd: Where we are.

    Raises:
        UnknownNameError: No recipe of the project is called so.
        UsageError: It is not one of the project's, or trust cannot be kept.
        RecipeError: A recipe has faults.
    """
    recipe = _own_recipe(project, file, cwd)
    data = {"file": recipe.where, "content_hash": recipe.content_hash}
    if not any(heal.needs_trust for heal in recipe.heals):
        shown = {**data, **would_run(recipe.heals, project)}
        return Result(True, "recipes trust", f"{recipe.where} runs no commands, and needs no trust", shown)
    made = project.trust.trust(recipe.content_hash, recipe.where, recipe.heals, project.root, at_s=time.time())
    shown = {**data, "programs": [name for name, _ in made.programs], **would_run(recipe.heals, project)}
    if shown["untrusted_because"]:
        message = f"{recipe.where} is trusted as it is, and yet will not run: {shown['untrusted_because']}"
    else:
        message = f"{recipe.where} is trusted as it is; any change makes it untrusted"
    return Result(True, "recipes trust", message, shown, hints=(hints.revoke_trust(file=recipe.where),))


def revoke(project: Project, file: str, cwd: Path) -> Result:
    """Take back the trust in every content of a recipe file, also of one that is gone.

    Raises:
        UnknownNameError: No trust was given to a file that is called so.
    """
    path = _in_recipes(project, file, cwd)
    where = str(path.relative_to(project.root)) if path is not None else file
    given = [each for each in project.trust.entries() if each.file == where]
    if not given:
        raise UnknownNameError("recipe", file, [each.file for each in project.trust.entries()])
    gone = [each.digest for each in given if project.trust.revoke(each.digest)]
    data = {"file": where, "revoked": gone}
    return Result(True, "recipes trust", f"{where} is not trusted any more", data)


def test(project: Project, file: str | None, cwd: Path) -> Result:
    """Run the examples of all rules together, and say what the heals of *file*, or of the project, would run. Nothing is run.

    Args:
        project: Whose recipes are in force.
        file: A recipe file, in force or not yet; None for all of the project's.
        cwd: Where we are.

    Raises:
        UsageError: The file cannot be read.
        RecipeError: A recipe has faults; all of them are told.
    """
    from rerail.recipes.read import read_all
    from rerail.verbs.examples import run_all

    drafts: dict[str, str] = {}
    if file is not None and _in_recipes(project, file, cwd) is None:
        try:
            drafts[file] = read_plain(cwd / file).decode("utf-8", "replace")
        except OSError as error:
            raise UsageError(f"{file}: cannot be read: {error.strerror}") from None
    result = run_all(project, drafts)
    own = [each for each in read_all(project.root, drafts) if _is_meant(each, project, file, cwd, drafts)]
    rows = [{**summary(each), **would_run(each.heals, project)} for each in own]
    heals = sum(len(each.heals) for each in own)
    steps = (hints.check_again(check=shlex.join(["recipes", "test", *drafts])),) if result.hints else ()
    message = f"{result.message}; {counted(len(own), 'recipe')} with {counted(heals, 'heal')} of the project's"
    return result._replace(verb="recipes test", message=message, data={**result.data, "recipes": rows}, hints=steps)


def _is_meant(recipe: Recipe, project: Project, file: str | None, cwd: Path, drafts: dict[str, str]) -> bool:
    from rerail.recipes.files import PROJECT_RECIPES

    if file is None:
        return recipe.where.startswith(PROJECT_RECIPES + os.sep)
    path = _in_recipes(project, file, cwd)
    return recipe.where in drafts if path is None else recipe.where == str(path.relative_to(project.root))


def _own_recipe(project: Project, file: str, cwd: Path) -> Recipe:
    from rerail.recipes.files import PROJECT_RECIPES
    from rerail.recipes.read import read_own

    path = _in_recipes(project, file, cwd)
    own = {each.where: each for each in read_own(project.root)}
    if path is None and (cwd / file).is_file():
        raise UsageError(
            f"{file} is not in force: only what is in {project.root / PROJECT_RECIPES} is",
            hint="move it there first; `rerail recipes test FILE` tries it before",
        )
    where = "" if path is None else str(path.relative_to(project.root))
    if where not in own:
        raise UnknownNameError("recipe", file, own)
    return own[where]


def _in_recipes(project: Project, file: str, cwd: Path) -> Path | None:
    """Return the path that a recipe file of the project has, or would have; None for a file somewhere else."""
    from rerail.recipes.files import PROJECT_RECIPES

    home = project.root / PROJECT_RECIPES
    given = Path(os.path.abspath(cwd / file))  # noqa: PTH100  a link is taken by its own name
    if Path(os.path.realpath(given.parent)) == Path(os.path.realpath(home)):
        return home / given.name
    if os.sep not in file:
        for name in (file, f"{file}.toml"):
            if name.endswith(".toml") and (home / name).is_file() and not given.is_file():
                return home / name
    return None
