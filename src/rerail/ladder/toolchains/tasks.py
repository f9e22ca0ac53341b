"""Runners of tasks that belong to no language: Make, just, Task, mise; and pre-commit, whose hooks are linters.

Their files are read for the names of what they run and for nothing else. Sources: GNU Make manual, "Rule Syntax"; just, Task,
mise and pre-commit: their documentation.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from rerail.ladder.model import Stated
from rerail.ladder.toolchains.model import Toolchain, first_of, named, table, toml

if TYPE_CHECKING:
    from collections.abc import Iterator

    from rerail.ladder.model import Facts

_MAKEFILES = ("GNUmakefile", "makefile", "Makefile")
_JUSTFILES = ("justfile", "Justfile", ".justfile")
_TASKFILES = ("Taskfile.yml", "Taskfile.yaml", "taskfile.yml", "taskfile.yaml")
_MISE = ("mise.toml", ".mise.toml")
_TARGETS = re.compile(r"^([A-Za-z0-9][\w.%/ -]{0,200}?)\s*::?(?![:=])", re.MULTILINE)
_RECIPE = re.compile(r"^@?([A-Za-z_][\w-]{0,60})(?:\s[^:=\n]{0,200})?:(?!=)", re.MULTILINE)
_TASK = re.compile(r"^(?: {2}|\t)[\"']?([A-Za-z][\w:-]{0,60}?)[\"']?:(?:\s|$)", re.MULTILINE)


def _scripts(facts: Facts) -> Iterator[Stated]:
    if file := first_of(facts, *_MAKEFILES):
        targets = [name for line in _TARGETS.findall(facts.texts.get(file, "")) for name in line.split()]
        found = dict(named(targets))
        if "tests" not in found and "check" in targets:
            found["tests"] = "check"  # GNU coding standards, "Standard Targets for Users": it runs the self-tests
        for phase, name in found.items():
            yield Stated(phase, ("make", name), f"{file} {name}")
    if file := first_of(facts, *_JUSTFILES):
        for phase, name in named(_RECIPE.findall(facts.texts.get(file, ""))):
            yield Stated(phase, ("just", name), f"{file} {name}")
    if file := first_of(facts, *_TASKFILES):
        below = re.split(r"(?m)^tasks:\s*$", facts.texts.get(file, ""), maxsplit=1)[1:]
        for phase, name in named(_TASK.findall("".join(below))):
            yield Stated(phase, ("task", name), f"{file} {name}")
    for file in _MISE:
        for phase, name in named(table(toml(facts, file), "tasks")):
            yield Stated(phase, ("mise", "run", name), f"{file} [tasks] {name}")


def _tools(facts: Facts) -> Iterator[Stated]:
    if file := first_of(facts, ".pre-commit-config.yaml"):
        yield Stated("lint", ("pre-commit", "run", "--all-files"), file)


TASKS = Toolchain("tasks", (*_MAKEFILES, *_JUSTFILES, *_TASKFILES, *_MISE), _scripts, _tools, speaks_for_all=True)
