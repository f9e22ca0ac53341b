"""Python: what pyproject.toml and the tools' own files configure, run the way that the lockfile says.

Sources: the documentation of uv, Poetry, PDM, Pipenv, Hatch, Poe the Poet, taskipy, tox, nox, pytest, mypy, pyright, ty,
ruff, flake8 and bandit on where their configuration stands.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from rerail.ladder.model import REPORT, Stated
from rerail.ladder.toolchains.model import Toolchain, first_of, ini, is_there, named, table, toml

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from rerail.ladder.model import Facts

_PROJECT = "pyproject.toml"
_REQUIREMENTS = (
    "requirements-dev.txt",
    "dev-requirements.txt",
    "requirements-test.txt",
    "test-requirements.txt",
    "requirements.txt",
)
_RUNNERS = (
    ("uv.lock", ("uv", "run")),
    ("poetry.lock", ("poetry", "run")),
    ("pdm.lock", ("pdm", "run")),
    ("Pipfile.lock", ("pipenv", "run")),
)
_SESSION = re.compile(r"^def ([A-Za-z_]\w{0,60})\((?:session|s)\b", re.MULTILINE)
_NAMES_PYTEST = re.compile(r"(?mi)^[\s\"']*pytest(?![\w-])")


def _running(facts: Facts, *words: str) -> tuple[str, ...]:
    """Return a tool's command as this project runs its tools."""
    for lockfile, runner in _RUNNERS:
        if lockfile in facts.names:
            return (*runner, *words)
    for place in (".venv/bin", "venv/bin"):
        if f"{place}/{words[0]}" in facts.names:
            return (f"{place}/{words[0]}", *words[1:])
    return words


def _scripts(facts: Facts) -> Iterator[Stated]:
    project = toml(facts, _PROJECT)
    tables: tuple[tuple[tuple[str, ...], tuple[str, ...]], ...] = (
        (("tool", "poe", "tasks"), _running(facts, "poe")),
        (("tool", "pdm", "scripts"), ("pdm", "run")),
        (("tool", "taskipy", "tasks"), _running(facts, "task")),
        (("tool", "hatch", "envs", "default", "scripts"), ("hatch", "run")),
    )
    for path, runner in tables:
        for phase, name in named(table(project, *path)):
            yield Stated(phase, (*runner, name), f"{_PROJECT} [{'.'.join(path)}] {name}")
    for phase, name in named(_SESSION.findall(facts.texts.get("noxfile.py", ""))):
        yield Stated(phase, _running(facts, "nox", "-s", name), f"noxfile.py {name}")


def _tools(facts: Facts) -> Iterator[Stated]:
    project = toml(facts, _PROJECT)
    if source := _pytest(facts, project):
        yield Stated("tests", _running(facts, "pytest", f"--junit-xml={REPORT}"), source, REPORT)
    if source := _configured(facts, project, ("tool", "tox"), "tox.toml", ("tox.ini", "tox"), ("setup.cfg", "tox:tox")):
        yield Stated("tests", _running(facts, "tox"), source)
    yield from _types(facts, project)
    if source := _configured(facts, project, ("tool", "ruff"), "ruff.toml", ".ruff.toml"):
        words = ("ruff", "check", "--output-format=json", f"--output-file={REPORT}")
        yield Stated("lint", _running(facts, *words), source, REPORT)
    if source := _configured(facts, project, None, ".flake8", ("setup.cfg", "flake8"), ("tox.ini", "flake8")):
        yield Stated("lint", _running(facts, "flake8"), source)
    if is_there(project, "tool", "bandit"):
        bandit = ("bandit", "-q", "-c", _PROJECT, "-r", ".", "-f", "json", "-o", REPORT)
        yield Stated("security", _running(facts, *bandit), f"{_PROJECT} [tool.bandit]", REPORT)


def _types(facts: Facts, project: Mapping[str, object]) -> Iterator[Stated]:
    mypy = (("tool", "mypy"), "mypy.ini", ".mypy.ini", ("setup.cfg", "mypy"))
    if source := _configured(facts, project, *mypy):
        own = [
            table(project, "tool", "mypy"),
            *(ini(facts, name).get("mypy", {}) for name in ("mypy.ini", ".mypy.ini", "setup.cfg")),
        ]
        says_what = any(key in each for each in own for key in ("files", "packages", "modules"))
        yield Stated("types", _running(facts, "mypy", *(() if says_what else (".",))), source)
    for tool, words in (("pyright", ("pyright",)), ("basedpyright", ("basedpyright",)), ("ty", ("ty", "check"))):
        own_file = {"pyright": "pyrightconfig.json", "ty": "ty.toml"}.get(tool, "")
        if source := _configured(facts, project, ("tool", tool), own_file):
            yield Stated("types", _running(facts, *words), source)


def _pytest(facts: Facts, project: Mapping[str, object]) -> str:
    """Return where it says that tests are pytest's; ``""`` where nothing does."""
    places = (
        ("tool", "pytest"),
        "pytest.ini",
        ".pytest.ini",
        "pytest.toml",
        ("tox.ini", "pytest"),
        ("setup.cfg", "tool:pytest"),
    )
    if source := _configured(facts, project, *places):
        return f"{_PROJECT} [tool.pytest.ini_options]" if is_there(project, "tool", "pytest", "ini_options") else source
    tests = first_of(facts, "tests", "test", "conftest.py")
    if not tests:
        return ""
    for name in (_PROJECT, "Pipfile", *_REQUIREMENTS):
        text = facts.texts.get(name, "")
        is_named = _depends_on_pytest(project) if name == _PROJECT else _NAMES_PYTEST.search(text)
        if is_named:
            return f"{name}: pytest, and {tests}"
    return ""


def _depends_on_pytest(project: Mapping[str, object]) -> bool:
    """Tell whether a dependency of any group is pytest."""
    lists = [
        table(project, "project").get("dependencies"),
        *table(project, "project", "optional-dependencies").values(),
        *table(project, "dependency-groups").values(),
        *table(project, "tool", "pdm", "dev-dependencies").values(),
        table(project, "tool", "uv").get("dev-dependencies"),
    ]
    if any(
        isinstance(each, list) and any(isinstance(one, str) and _NAMES_PYTEST.match(one) for one in each)
        for each in lists
    ):
        return True
    poetry = table(project, "tool", "poetry")
    groups = [table(poetry, "dev-dependencies"), table(poetry, "dependencies")]
    groups += [table(group, "dependencies") for group in table(poetry, "group").values()]
    return any("pytest" in group for group in groups)


def _configured(facts: Facts, project: object, path: tuple[str, ...] | None, *places: str | tuple[str, str]) -> str:
    """Return where a tool is configured: in pyproject.toml, in a file of its own, or in a section of a shared one."""
    if path is not None and is_there(project, *path):
        return f"{_PROJECT} [{'.'.join(path)}]"
    for place in places:
        if isinstance(place, str):
            if place and place in facts.names:
                return place
        elif place[1] in ini(facts, place[0]):
            return f"{place[0]} [{place[1]}]"
    return ""


PYTHON = Toolchain(
    "Python",
    (_PROJECT, "setup.cfg", "tox.ini", "mypy.ini", ".mypy.ini", "noxfile.py", "Pipfile", *_REQUIREMENTS),
    _scripts,
    _tools,
    asks=tuple(
        f"{place}/{tool}"
        for place in (".venv/bin", "venv/bin")
        for tool in (
            "pytest",
            "mypy",
            "pyright",
            "basedpyright",
            "ty",
            "ruff",
            "flake8",
            "bandit",
            "tox",
            "nox",
            "poe",
            "task",
        )
    ),
)
