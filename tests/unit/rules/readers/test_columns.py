"""What is taken off before every line of a stream, and what is left alone because it only looks like a column."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rerail.rules.readers.columns import without_columns

SAID = ["Traceback (most recent call last):", '  File "app.py", line 2, in <module>', "KeyError: 'a'"]


@pytest.mark.parametrize(
    "column",
    [
        "api-1  | ",
        "19:02:11 web.1   | ",
        "worker | ",
        "[0] ",
        "[pod/api-7d9f/web] ",
        "build\tRun tests\t2026-11-30T19:02:11.1234567Z ",
        "Nov 30 19:02:11 ci-7 agent[4211]: ",
        "==> default: ",
        "web:build: ",
        "packages/web build: ",
        "#14 1.031 ",
        "2026-11-30T19:02:11.1234567Z ",
        "2026-11-30T19:02:11.123456Z 00O ",
        "worker-2  | 2026-11-30T19:02:11.123456789Z ",
    ],
)
def test_a_column_before_every_line_is_taken_off_and_the_indentation_stays(column: str) -> None:
    assert without_columns([column + line for line in SAID]) == SAID


def test_lines_of_the_runner_itself_stay_as_they_are() -> None:
    lines = ["Attaching to api-1", *(f"api-1  | {line}" for line in SAID * 3), "api-1 exited with code 1"]
    assert without_columns(lines) == ["Attaching to api-1", *SAID * 3, "api-1 exited with code 1"]


def test_several_services_lose_their_names_alike() -> None:
    assert without_columns(["db-1   | ready", "api-1  | starting", "api-1  | exit"]) == ["ready", "starting", "exit"]


@pytest.mark.parametrize(
    "lines",
    [
        ["[ERROR] Failed to execute goal", "[ERROR] -> [Help 1]", "[ERROR] To see the full stack trace"],
        ["error: a: no", "error: b: no", "error: c: no"],
        ["fatal:error: no", "fatal:error: no", "fatal:error: no"],
        [" 12 | let x = 1;", " 13 | let y = 2;", " 14 | let z = 3;"],
        ["config/a.yml:timeout: 30", "config/b.yml:timeout: 60", "config/c.yml:timeout: 90"],
        ["npm error code E404", "npm error 404 Not Found", "npm error path /w"],
        ["name | age", "bob | 3", "-----+----"],
        ["[0] only one line has it", "nothing", "nothing", "nothing"],
    ],
)
def test_what_only_looks_like_a_column_is_left_alone(lines: list[str]) -> None:
    assert without_columns(lines) == lines


@given(st.lists(st.text(max_size=80), max_size=30))
def test_every_line_keeps_its_end_and_its_place(lines: list[str]) -> None:
    bare = without_columns(lines)
    assert len(bare) == len(lines)
    assert all(line.endswith(rest) for line, rest in zip(lines, bare, strict=True))


def test_what_an_agents_interface_hangs_below_its_sign_is_taken_off_as_far_as_it_is_indented() -> None:
    shown = [
        "● Bash(git merge x)",
        "  ⎿  Error: Exit code 1",
        "     fatal: refusing to merge unrelated histories",
        "● Next",
    ]
    assert without_columns(shown) == [
        "● Bash(git merge x)",
        "Error: Exit code 1",
        "fatal: refusing to merge unrelated histories",
        "● Next",
    ]


def test_the_steps_of_a_build_are_taken_off_whatever_the_builder_adds() -> None:
    shown = [
        "#7 0.200 a",
        "#7 0.300 b",
        "ERROR: failed",
        "------",
        "Dockerfile:5",
        "----",
        "  5 | RUN x",
        "----",
        "failed",
    ]
    assert without_columns(shown)[:3] == ["a", "b", "ERROR: failed"]
