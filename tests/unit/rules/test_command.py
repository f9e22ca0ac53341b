"""From a command line to the programs behind its wrappers."""

from __future__ import annotations

import shlex

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rerail.rules.readers.command import programs


@pytest.mark.parametrize(
    ("command", "expected"),
    [
        ("git push origin main", ("git",)),
        ("/usr/bin/git status", ("git",)),
        ("python -m pytest -q", ("python", "pytest")),
        ("/usr/bin/python3.11 -X faulthandler -m pip install x", ("python3.11", "pip")),
        ("sudo -u ci env A=1 timeout -k 5 60 python -m pytest", ("sudo", "env", "timeout", "python", "pytest")),
        ("CI=1 FORCE=0 npm test", ("npm",)),
        ("nice -n 5 make build", ("nice", "make")),
        ("uv run --with x pytest -x", ("uv", "pytest")),
        ("poetry run mypy .", ("poetry", "mypy")),
        ("npx --package typescript tsc --noEmit", ("npx", "tsc")),
        ("pnpm exec eslint .", ("pnpm", "eslint")),
        ("npm run build", ("npm",)),
        ("bundle exec rspec", ("bundle", "rspec")),
        ("cd /w/a && git status; make test | tee log", ("cd", "git", "make", "tee")),
        ('bash -c "cd x && pytest -q"', ("bash", "cd", "pytest")),
        ("bash -lc 'cargo test'", ("bash", "cargo")),
        ("bash ci/lint.sh", ("bash", "lint.sh")),
        ("xargs -n 1 ruff check", ("xargs", "ruff")),
        (r"C:\Tools\GIT.EXE push", ("git",)),
        ("python manage.py migrate", ("python", "manage.py")),
        ("git log --grep pytest", ("git",)),
        ("", ()),
    ],
)
def test_the_programs_of_a_command_are_found_behind_its_wrappers(command: str, expected: tuple[str, ...]) -> None:
    posix = "\\" not in command
    assert programs(shlex.split(command, posix=posix)) == expected


def test_shells_in_shells_are_opened_only_so_deep() -> None:
    command = "true"
    for _ in range(12):
        command = f"sh -c {shlex.quote(command)}"
    assert programs(shlex.split(command)) == ("sh",)


@given(st.lists(st.text(max_size=12), max_size=12))
def test_no_argument_list_breaks_it(arguments: list[str]) -> None:
    assert all(name == name.lower() for name in programs(arguments))
