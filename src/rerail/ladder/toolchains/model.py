"""A toolchain: which files of a project it is known by, and what they state; with the helpers that all of them read by."""

from __future__ import annotations

import json
import re
import tomllib
from configparser import ConfigParser
from configparser import Error as ConfigError
from typing import TYPE_CHECKING, Any, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping

    from rerail.ladder.model import Facts, Stated

NAMES: Mapping[str, tuple[str, ...]] = {
    "build": ("build", "compile"),
    "types": ("typecheck", "type-check", "types", "check-types", "check:types", "type_check", "tsc", "mypy", "pyright"),
    "lint": ("lint", "lint:check", "check:lint", "lint-check", "eslint", "ruff"),
    "tests": ("test", "tests", "test:unit", "unit", "unit-test", "unit-tests", "pytest"),
    "security": ("security", "audit", "security-check", "security:check", "check:security", "scan:security"),
}
"""What scripts and tasks for a phase are called, the likeliest first."""

_COMMENT = re.compile(r"(?m)^[ \t]*//.*$")


class Toolchain(NamedTuple):
    """One of them."""

    name: str
    reads: tuple[str, ...]
    """Files whose text says something."""
    scripts: Callable[[Facts], Iterator[Stated]]
    """What the project's authors called by a name: goes before any tool's own configuration."""
    tools: Callable[[Facts], Iterator[Stated]]
    """What a tool's configuration states, the best first."""
    asks: tuple[str, ...] = ()
    """Paths below the root's entries whose being there says something."""
    build_checks_types: bool = False
    speaks_for_all: bool = False
    """Whether it is a runner of tasks that belongs to no language, so that it speaks for the whole of a project in several."""


def nothing(_: Facts) -> Iterator[Stated]:
    """State nothing."""
    return iter(())


def named(scripts: Iterable[str]) -> Iterator[tuple[str, str]]:
    """Yield ``(phase, script)`` for what is called like a phase."""
    there = set(scripts)
    for phase, names in NAMES.items():
        for name in names:
            if name in there:
                yield phase, name
                break


# What is in these files may be anything: whatever is not of the kind that is asked for is empty.


def toml(facts: Facts, name: str) -> dict[str, Any]:
    """Return a TOML file's data."""
    try:
        return tomllib.loads(facts.texts.get(name, ""))
    except (ValueError, RecursionError):
        return {}


def json_object(facts: Facts, name: str) -> dict[str, Any]:
    """Return a JSON file's data."""
    try:
        value = json.loads(without_comments(facts.texts.get(name, "")))
    except (ValueError, RecursionError):
        return {}
    return value if isinstance(value, dict) else {}


def without_comments(text: str) -> str:
    """Return the JSON in a text that has comments on lines of their own, as such files often do."""
    return _COMMENT.sub("", text)


def ini(facts: Facts, name: str) -> Mapping[str, Mapping[str, str]]:
    """Return an INI file's sections."""
    parser = ConfigParser(interpolation=None, strict=False)
    try:
        parser.read_string(facts.texts.get(name, ""))
    except ConfigError:
        return {}
    return {section: dict(parser.items(section)) for section in parser.sections()}


def table(value: Any, *path: str) -> dict[str, Any]:
    """Return the table at a path; an empty one where there is none."""
    for key in path:
        value = value.get(key) if isinstance(value, dict) else None
    return value if isinstance(value, dict) else {}


def is_there(value: Any, *path: str) -> bool:
    """Tell whether there is a table at a path, also an empty one."""
    for key in path:
        if not isinstance(value, dict) or key not in value:
            return False
        value = value[key]
    return isinstance(value, dict)


def first_of(facts: Facts, *names: str) -> str:
    """Return the first of these files that is there; ``""`` where none is."""
    return next((name for name in names if name in facts.names), "")
