"""``rerail doctor``: can rerail do its work here? Each line is looked at for itself, so that one fault hides no other."""

from __future__ import annotations

import os
import platform
import sys
from typing import TYPE_CHECKING, NamedTuple

import click

from rerail._version import __version__
from rerail.boundary import hints
from rerail.boundary.result import Diagnostic, Result
from rerail.boundary.words import counted
from rerail.cli.here import working_directory
from rerail.cli.main import json_option
from rerail.cli.output import leave
from rerail.cli.pictures import table
from rerail.errors import FileFaultsError, GitError, RerailError, SettingsError
from rerail.paths import cache_dir, find_root

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from rich.console import Console


_SETTINGS = "settings"


class Finding(NamedTuple):
    """One line."""

    name: str
    ok: bool
    detail: str


@click.command("doctor")
@json_option
def command(as_json: bool) -> int:
    """Check that rerail can do its work here: git, ledger, settings, recipes."""
    cwd = working_directory()
    findings = [_looked(name, look, cwd) for name, look in _LOOKS]
    wrong = [each for each in findings if not each.ok]
    data = {"findings": [each._asdict() for each in findings]}

    def show(console: Console) -> None:
        console.print(
            table(("", "what", "found"), [("✓" if each.ok else "✗", each.name, each.detail) for each in findings])
        )

    message = f"{len(wrong)} of {len(findings)} need attention" if wrong else "all is well: rerail can work here"
    diagnostics = tuple(Diagnostic(each.detail, each.name) for each in wrong)
    steps = (hints.check_again(check="doctor"),) if wrong else ()
    return leave(Result(not wrong, "doctor", message, data, diagnostics, steps), as_json=as_json, picture=show)


def _looked(name: str, look: Callable[[Path], str], cwd: Path) -> Finding:
    try:
        return Finding(name, True, look(cwd))
    except RerailError as error:
        if isinstance(error, SettingsError) and name != _SETTINGS:
            return Finding(name, False, "not known before the settings are in order")
        told = "; ".join(map(str, error.faults)) if isinstance(error, FileFaultsError) else error.message
        return Finding(name, False, f"{told}; {error.hint}" if error.hint else told)


def _version(_cwd: Path) -> str:
    return f"{__version__} on Python {platform.python_version()}, {sys.platform}"


def _git(cwd: Path) -> str:
    from rerail.git.command import run_git

    return run_git(cwd, "version").text


def _settings(cwd: Path) -> str:
    from rerail.app import open_project

    path = open_project(cwd).settings.path
    return f"{path}" if path else "none: every key has its default"


def _recipes(cwd: Path) -> str:
    from rerail.recipes.read import read_all

    recipes = read_all(find_root(cwd))
    return f"{counted(len(recipes), 'file')}, {counted(sum(len(recipe.rules) for recipe in recipes), 'rule')}"


def _ledger(cwd: Path) -> str:
    from rerail.ledger.location import locate, open_ledger

    location = locate(cwd, os.environ)
    ledger = open_ledger(location)
    try:
        spent = len(ledger.balances())
        open_pauses = len(ledger.pauses())
    finally:
        ledger.close()
    note = f"; {location.note}" if location.note else ""
    return f"{location.path}: {counted(spent, 'budget')} in use, {counted(open_pauses, 'open pause')}{note}"


def _backups(cwd: Path) -> str:
    import time

    from rerail.app import open_project
    from rerail.boundary.words import utc
    from rerail.git.backups import backup_ids, due, list_backups
    from rerail.git.place import NoPlace, locate
    from rerail.git.probe import probe

    place = locate(cwd)
    if isinstance(place, NoPlace):
        return "none: this is no repository, so none is healed"
    git, policy = probe(cwd).git, open_project(cwd).settings.backups
    found = list_backups(git)
    if damaged := sorted({*backup_ids(git)} - {each.id for each in found}):
        raise GitError(f"backups that cannot be read: {', '.join(damaged)}", hint="git fsck says what is missing")
    kept = f"kept {policy.age_s / 86_400:g} days, and the newest {policy.count} whatever their age"
    if not found:
        return f"none yet; {kept}"
    can_go = due(found, place, policy, time.time())
    going = f"; {len(can_go)} expire at the next heal" if can_go else ""
    return f"{len(found)}, the oldest of {utc(found[0].made_at)}; {kept}{going}"


def _trust(cwd: Path) -> str:
    from rerail.app import open_project

    store = open_project(cwd).trust
    if store.fault:
        return f"none: {store.fault}; recipes that run commands are not run"
    given = store.entries()
    return f"given to {', '.join(each.file for each in given)}" if given else "given to no recipe that runs commands"


def _cache(_cwd: Path) -> str:
    directory = cache_dir(os.environ)
    return f"{directory}" if directory else "none: recipes are compiled at each start"


_LOOKS: tuple[tuple[str, Callable[[Path], str]], ...] = (
    ("rerail", _version),
    ("git", _git),
    (_SETTINGS, _settings),
    ("recipes", _recipes),
    ("ledger", _ledger),
    ("backups", _backups),
    ("trust", _trust),
    ("cache", _cache),
)
