"""``rerail heal``: one heal of a repository by a known recipe. It never runs the command that failed."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import click

from rerail.boundary.words import counted
from rerail.cli.here import directory_named
from rerail.cli.input import read_bytes
from rerail.cli.main import json_option
from rerail.cli.output import leave
from rerail.cli.pictures import cell, facts, stanzas
from rerail.errors import EvidenceError, UsageError
from rerail.taxonomy import FailureClass

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping

    from rich.console import Console

    from rerail.boundary.result import Result


@click.command("heal")
@click.option("--plan", "plan_only", is_flag=True, help="Show the steps without running them.")
@click.option("--failure", "file", metavar="FILE|-", help="Evidence JSON of what failed; - for standard input.")
@click.option("--undo", "undo_id", metavar="ID", help="Take a heal back, by the backup that it made.")
@click.option("--backups", "list_backups", is_flag=True, help="List the backups that heals have made.")
@click.option("--repo", metavar="DIR", default=".", show_default=True, help="Where it failed.")
@json_option
def command(
    plan_only: bool, file: str | None, undo_id: str | None, list_backups: bool, repo: str, as_json: bool
) -> int:
    """Heal a repository by a known recipe, with a backup; else say why not, and change nothing."""
    from rerail.verbs.heal import backups, heal, undo

    asked = {"--plan or --failure": plan_only or file is not None, "--undo": undo_id is not None}
    if sum((*asked.values(), list_backups)) > 1:
        raise UsageError(
            "--undo, --backups and a heal exclude each other", hint="give one of --undo ID, --backups, --failure FILE"
        )
    place = directory_named(repo)
    if undo_id is not None:
        return _leave_undo(undo(place, undo_id), as_json=as_json)
    if list_backups:
        return _leave_backups(backups(place), as_json=as_json)
    failure = _read(file) if file else None
    result = heal(place, failure, plan_only=plan_only)
    if failure is None and result.data["class"] == FailureClass.UNCLASSIFIED:
        return leave(result, as_json=as_json)
    rows = _plan(result.data) if plan_only else _report(result.data)

    def show(console: Console) -> None:
        facts(console, rows)

    return leave(result, as_json=as_json, picture=show)


def _leave_undo(result: Result, *, as_json: bool) -> int:
    def show(console: Console) -> None:
        if result.ok:
            changed = ", ".join((*result.data["refs"], *result.data["paths"]))  # type: ignore[misc]  # lists of text
            facts(
                console, [("brought back", changed), ("backup", result.data["backup"]), ("note", result.data["detail"])]
            )

    return leave(result, as_json=as_json, picture=show)


def _leave_backups(result: Result, *, as_json: bool) -> int:
    def show(console: Console) -> None:
        rows = result.rows("backups")
        stanzas(console, ((cell(f"{row['id']}  {row['made_at']}", "bold"), _backup(row)) for row in rows))

    return leave(result, as_json=as_json, picture=show)


def _backup(row: Mapping[str, Any]) -> Iterator[str]:
    yield f"{row['note']}; {counted(row['paths'], 'path')} of {row['worktree'] or 'no work tree'}"
    yield row["undo"] or "nothing to undo: the heal changed nothing, or was put back"
    if row["expires"]:
        yield f"expires {row['expires']}"


def _read(file: str) -> object:
    try:
        return json.loads(read_bytes(file))
    except (ValueError, RecursionError) as error:
        raise EvidenceError(f"{file}: expected evidence JSON: {error}") from None


def _plan(data: Mapping[str, Any]) -> Iterator[tuple[str, object]]:
    yield "failure", f"{data['class']}/{data['reason']}"
    yield "recipe", data["recipe"] or "none would run"
    yield "why", data["detail"]
    yield from _steps(data["steps"])
    for each in data["conditions"]:
        yield each["name"], each["detail"]
    yield "asks", data["question"]


def _report(data: Mapping[str, Any]) -> Iterator[tuple[str, object]]:
    yield "failure", f"{data['class']}/{data['reason']}"
    yield "recipe", data["recipe"]
    if data["outcome"] == "paused":
        yield "why", data["detail"]
    yield from _steps(data["steps"])
    yield "backup", data["backup"]
    yield "expired", ", ".join(data["expired"])


def _steps(steps: Iterable[str]) -> Iterator[tuple[str, object]]:
    return ((f"step {number}", step) for number, step in enumerate(steps, start=1))
