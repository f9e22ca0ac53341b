"""A hook's verdict on the change is git's; where the hook itself broke, what broke decides."""

from __future__ import annotations

import pytest
from tests.failures import failure

from rerail.recipes import load
from rerail.rules import classify
from rerail.rules.readers import view
from rerail.rules.readers.githooks import REFUSED
from rerail.rules.readers.model import Weight

RULES = load(None).rules

FAILED_LIST = "black....................................................................Failed\n- hook id: black\n"
REWROTE = "- files were modified by this hook\n"


def named(stderr: str, command: str = "git commit -m x", stdout: str = "") -> str:
    """Class and reason of a commit that ended with 1."""
    found = classify(failure(exit_code=1, command=command, stderr=stderr, stdout=stdout), RULES)
    return f"{found.class_}/{found.reason}"


@pytest.mark.parametrize(
    "stderr",
    [
        "husky - pre-commit hook exited with code 1 (add --no-verify to bypass)\n",
        "2 failed, 3 passed\nhusky - pre-commit script failed (code 1)\n",
        "a.ts(1,7): error TS2322: Type 'string' is not assignable to type 'number'.\nhusky - pre-commit script failed (code 2)\n",
        FAILED_LIST + "- exit code: 1\n\na.py:3:1: F401 'os' imported but unused\n",
        "debug statement found in lib.txt\n",
    ],
)
def test_a_hook_that_judged_the_change_is_of_class_git(stderr: str) -> None:
    assert named(stderr) == "git/hook-failed"


@pytest.mark.parametrize(
    ("stderr", "class_"),
    [
        (".husky/pre-commit: 1: nope-lint: not found\nhusky - pre-commit script failed (code 127)\n", "environment"),
        (FAILED_LIST + "- exit code: 1\n\nExecutable `black` not found\n", "environment"),
        ("/usr/bin/env: 'python9': No such file or directory\n", "environment"),
        (
            "npm error code ENOTFOUND\nnpm error network request failed\nhusky - pre-commit script failed (code 1)\n",
            "provider",
        ),
    ],
)
def test_where_the_hook_itself_broke_what_broke_is_named(stderr: str, class_: str) -> None:
    assert named(stderr).partition("/")[0] == class_


def test_hooks_that_only_rewrote_files_ask_for_another_commit() -> None:
    assert named(FAILED_LIST + REWROTE + "\nreformatted a.py\n") == "git/hook-reformatted"


def test_one_hook_that_judged_outweighs_another_that_rewrote() -> None:
    flake8 = FAILED_LIST.replace("black", "flake8") + "- exit code: 1\n\na.py:3:1: F401\n"
    assert named(FAILED_LIST + REWROTE + "\nreformatted a.py\n\n" + flake8) == "git/hook-failed"


def test_a_push_that_ends_without_a_word_of_the_remote_was_refused_by_its_hook() -> None:
    assert named("error: failed to push some refs to 'r'\n", "git push", "2 failed, 40 passed\n") == "git/hook-failed"


@pytest.mark.parametrize(
    "stderr",
    [
        "On branch main\nnothing to commit, working tree clean\n",
        "error: pathspec 'x' did not match any file(s) known to git\n",
    ],
)
def test_what_git_says_itself_is_no_verdict_of_a_hook(stderr: str) -> None:
    seen = view(failure(exit_code=1, command="git commit -m x", stderr=stderr))
    assert not [fact for fact in seen.facts if fact.value == REFUSED]


def test_the_frame_around_broken_machinery_decides_only_where_nothing_else_does() -> None:
    stderr = ".husky/pre-commit: 1: nope-lint: not found\nhusky - pre-commit script failed (code 127)\n"
    lines = view(failure(exit_code=1, command="git commit -m x", stderr=stderr)).lines
    assert {line.raw: line.weight for line in lines}["husky - pre-commit script failed (code 127)"] is Weight.WENT_ON
