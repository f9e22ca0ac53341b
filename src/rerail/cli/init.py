"""``rerail init``: a first settings file and a place for recipes. It never overwrites."""

from __future__ import annotations

import json

import click

from rerail.boundary.result import Result
from rerail.cli.here import working_directory
from rerail.cli.main import json_option
from rerail.cli.output import leave
from rerail.errors import UsageError
from rerail.hook.harness import HARNESSES
from rerail.paths import find_root
from rerail.recipes.files import PROJECT_RECIPES

SETTINGS = """\
# rerail: how failures of this project's units are recovered. Every key has a default; see `rerail taxonomy`.

# packs = ["core"]            # the six classes alone, without verification and environment

[budgets]                     # recoveries per unit and class
# provider = 5
# tool-schema = 3

[backups]                     # of heals; see `rerail heal --backups`
# age_s = 2592000             # younger ones stay
# count = 20                  # so many of the newest stay, whatever their age

[backoff]                     # seconds
# initial_s = 1.0
# cap_s = 60.0
# horizon_s = 300.0           # a longer hint pauses the unit until then

# [units."verify:tests"]
# effects = "none"            # none | idempotent | unsafe: what a second run would do
"""
RECIPE = """\
# This project's own rules and heals. `rerail rules test` runs their examples; `rerail explain CLASS` lists a class's reasons.
#
# [[rule]]
# slug = "ours-license-server"
# class = "provider"
# reason = "overloaded"
# why = "the license server has no seat free; seats free up within minutes"
# source = "observed: flexlm 11.19"
# stderr = "^License checkout failed: no seats"
# matches = [{ command = "sim run", exit_code = 1, stderr = "License checkout failed: no seats" }]
# passes_by = [{ command = "sim run", exit_code = 1, stderr = "License checkout failed: expired" }]
#
# A heal that runs a command waits for the operator's trust in this file: `rerail recipes trust ours.toml`. Any change of it
# makes it untrusted again. `rerail recipes test` shows what would run.
#
# [[heal]]
# slug = "ours-stale-packages"
# class = "environment"
# reasons = ["missing-module"]
# sees = "a module that the lockfile names and that is not installed"
# why = "npm ci installs exactly what the lockfile says"
# source = "npm: npm-ci"
# steps = [{ run = ["npm", "ci"], timeout_s = 300 }]
# undo = "node_modules is ignored by git; delete it"
# question = "Install the packages, or say why the module is missing."
"""


@click.command("init")
@click.option(
    "--hook", type=click.Choice(list(HARNESSES)), help="Show the harness's hook configuration, and write nothing."
)
@json_option
def command(hook: str | None, as_json: bool) -> int:
    """Write rerail.toml and .rerail/recipes/ours.toml where there are none."""
    if hook is not None:
        return leave(_hook_configuration(hook), as_json=as_json)
    from rerail.verbs.ladder import proposed

    root = find_root(working_directory())
    written, kept = [], []
    for path, content in (
        (root / "rerail.toml", SETTINGS + proposed(root)),
        (root / PROJECT_RECIPES / "ours.toml", RECIPE),
    ):
        try:
            path.parent.mkdir(parents=True, exist_ok=True)
            with path.open("x", encoding="utf-8") as file:
                file.write(content)
            written.append(str(path))
        except FileExistsError:
            kept.append(str(path))
        except OSError as error:
            raise UsageError(f"{path}: cannot be written: {error.strerror}") from None
    message = f"wrote {', '.join(written)}" if written else f"nothing written: {', '.join(kept)} exist"
    return leave(Result(True, "init", message, {"written": written, "kept": kept}), as_json=as_json)


def _hook_configuration(harness: str) -> Result:
    """Return what tells a harness to call ``rerail hook``: to be merged into a file that is the harness's own."""
    found = HARNESSES[harness]
    message = f"merge this into {found.file}, or into the same file of your home directory:\n{json.dumps(found.config, indent=2)}"
    return Result(True, "init", message, {"file": found.file, "config": found.config})
