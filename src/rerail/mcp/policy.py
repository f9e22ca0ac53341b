"""What the operator allows agents to do through the server: commands that they may run, rules whose pauses they may answer.

It stands in ``mcp.toml`` of the user's own configuration directory and nowhere else (see `rerail.operator_file`): a permission in
a project's files would be the agent's own. Nothing is allowed by default.

    [[project]]
    root = "~/src/shop"                    # any directory of the repository; all its worktrees are meant
    commands = ["pytest -q", "make ..."]   # words as a shell would split them; "..." at the end: any further words
    answers = ["git-hook-rejected"]        # rules
"""

from __future__ import annotations

import os
import shlex
from pathlib import Path
from typing import TYPE_CHECKING, Any

import attrs

from rerail import operator_file
from rerail.ledger.location import locate

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from rerail.toml_lines import KeyPath

FILE = "mcp.toml"
_ANY_MORE = "..."
_KEYS = ("root", "commands", "answers")


@attrs.frozen
class Allowed:
    """What agents may do in one project."""

    commands: tuple[tuple[str, ...], ...] = ()
    """Each as its words; a last word ``...`` stands for any further ones."""
    answers: frozenset[str] = frozenset()
    """Rules whose pauses they may answer."""
    file: Path | None = None
    """Where the operator says so, whether it is there or not; None without a configuration directory."""

    def may_run(self, command: Sequence[str]) -> bool:
        """Whether a command is one that the operator listed."""
        words = tuple(command)
        return any(
            words[: len(listed) - 1] == listed[:-1] if listed[-1] == _ANY_MORE else words == listed
            for listed in self.commands
        )

    def may_answer(self, rule: str) -> bool:
        """Whether the pauses of a rule are an agent's to answer."""
        return rule in self.answers


def allowed_in(root: Path, environ: Mapping[str, str] = os.environ) -> Allowed:
    """Return what the operator allows agents in the project at *root*.

    Raises:
        SettingsError: The file has faults, lies inside the project, or others than its owner may write it.
    """
    file = operator_file.read(FILE, root, environ)
    if file is None:
        return Allowed(file=operator_file.place(FILE, environ))
    file.refuse(_faults(file.table))
    key = locate(root, environ).key
    entries = file.table.get("project", [])
    mine = [entry for entry in entries if locate(Path(entry["root"]).expanduser(), environ).key == key]
    return Allowed(
        commands=tuple(tuple(shlex.split(line)) for entry in mine for line in entry.get("commands", [])),
        answers=frozenset(rule for entry in mine for rule in entry.get("answers", [])),
        file=file.path,
    )


def _faults(table: dict[str, Any]) -> Iterator[tuple[KeyPath, str]]:
    for key in table.keys() - {"project"}:
        yield (key,), "is no setting; there is [[project]]"
    entries = table.get("project", [])
    if not isinstance(entries, list) or not all(isinstance(entry, dict) for entry in entries):
        yield ("project",), "must be written as [[project]]"
        return
    for index, entry in enumerate(entries):
        place: KeyPath = ("project", index)
        for key in entry.keys() - set(_KEYS):
            yield (*place, key), f"is no setting; there are {', '.join(_KEYS)}"
        root = entry.get("root")
        if not isinstance(root, str) or not Path(root).expanduser().is_absolute():
            yield (*place, "root"), f"must be the absolute path of a directory, got {root!r:.60}"
        yield from _faulty_texts((*place, "answers"), entry.get("answers", []))
        yield from _faulty_texts((*place, "commands"), entry.get("commands", []), are_commands=True)


def _faulty_texts(path: KeyPath, value: object, *, are_commands: bool = False) -> Iterator[tuple[KeyPath, str]]:
    if not isinstance(value, list):
        yield path, f"must be a list of texts, got {value!r:.60}"
        return
    for index, item in enumerate(value):
        if not isinstance(item, str) or not item.strip():
            yield (*path, index), f"must be a text, got {item!r:.60}"
        elif are_commands and not _is_command(item):
            yield (*path, index), f'must be a command, its "..." last and not alone, got {item!r:.60}'


def _is_command(line: str) -> bool:
    try:
        words = shlex.split(line)
    except ValueError:
        return False
    return bool(words) and words[0] != _ANY_MORE and _ANY_MORE not in words[:-1]
