"""What git may be asked to do: nothing that throws work away has a permitted form, whoever asks and however it is spelled."""

from __future__ import annotations

import ast
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import ValidationError
from tests.repositories import built_in_recipes

import rerail.git
from rerail.git.gate import Effect, ForbiddenGitError, check
from rerail.git.primitives import STEPS
from rerail.recipes.heal_schema import CommandTable, HealTable, heal_recipe
from rerail.recipes.heals import Primitive, RunCommand, StepName

OID = "a" * 40
FORBIDDEN = [
    "reset --hard",
    "reset --hard HEAD~1",
    "reset --merge",
    "reset -q --hard",
    "clean -fdx",
    "clean -f",
    "checkout -f main",
    "checkout --force main",
    "checkout -- .",
    "checkout main -- src",
    "checkout .",
    "switch --discard-changes main",
    "switch -f main",
    "restore .",
    "restore --staged .",
    "stash drop",
    "stash clear",
    "stash pop",
    "stash push",
    "stash",
    "branch -D topic",
    "branch -d topic",
    "branch -f main HEAD~1",
    "branch -M other",
    "push --force",
    "push -f origin main",
    "push --force-with-lease origin main",
    "push origin +main",
    "push origin :main",
    "push --mirror",
    "push origin main",
    "commit --no-verify -m x",
    "commit -n -m x",
    "commit --amend",
    "merge --abort",
    "merge --no-verify topic",
    "merge topic",
    "rebase --abort",
    "rebase --skip",
    "rebase --quit",
    "rebase main",
    "cherry-pick --abort",
    "cherry-pick --quit",
    "revert --abort",
    "am --abort",
    "am --skip",
    "bisect reset HEAD~2",
    "bisect start",
    "gc --prune=now",
    "prune",
    "reflog expire --all",
    "reflog delete HEAD@{0}",
    "repack -ad",
    "rm -rf .",
    "mv a b",
    "worktree remove --force wt",
    "worktree prune",
    "submodule deinit -f .",
    "submodule foreach git reset --hard",
    "submodule update --force --init path",
    "filter-branch -f",
    "update-ref -d refs/heads/main",
    f"update-ref -d refs/heads/main {OID}",
    f"update-ref refs/heads/main {OID}",
    "update-ref --stdin",
    "symbolic-ref -d HEAD",
    "symbolic-ref -m x HEAD refs/tags/v1",
    "read-tree HEAD",
    "read-tree --reset -u HEAD",
    "read-tree -m -u HEAD",
    "read-tree -m -u --reset HEAD main",
    "checkout-index -f -a",
    "checkout-index --force -z --stdin",
    "checkout-index -a",
    "update-index --force-remove x",
    "update-index --assume-unchanged x",
    "fetch --force origin",
    "fetch --prune origin",
    "fetch -f origin",
    "fetch origin +refs/heads/main:refs/heads/main",
    "fetch origin refs/heads/main:refs/heads/main",
    "fetch origin refs/tags/v1:refs/tags/v1",
    "fetch --upload-pack=evil origin",
    "ls-remote --upload-pack=evil origin",
    "config --global user.name x",
    "config --local core.hooksPath /dev/null",
    "config --local user.signingkey x",
    "config --global user.email x",
    "config --local remote.origin.url x",
    "config --unset branch.main.remote",
    "config --get-regexp x --replace-all",
    "hash-object --stdin -w -t commit --literally",
    "diff --output=/etc/passwd",
    "fsck --lost-found",
    "sparse-checkout disable",
    "sparse-checkout set x",
    "rev-parse --parseopt",
    "-c core.hooksPath=/dev/null merge --continue",
    "-c alias.x=!sh x",
    "--git-dir=/elsewhere status",
    "-C /elsewhere status",
    "--exec-path=/evil status",
    "!sh",
    "",
]


@pytest.mark.parametrize("command", FORBIDDEN)
def test_a_command_that_can_throw_work_away_is_refused(command: str) -> None:
    with pytest.raises(ForbiddenGitError):
        check(command.split(), {})


ALLOWED = [
    ("rev-parse -q --verify HEAD^{commit}", Effect.READS),
    ("status --porcelain=v2 -z --untracked-files=all", Effect.READS),
    ("cat-file blob HEAD:file", Effect.READS),
    ("read-tree -m -u HEAD main", Effect.WRITES),
    ("merge --continue", Effect.WRITES),
    (f"update-ref -m why refs/heads/main {OID} {OID}", Effect.WRITES),
    (f"update-ref -d refs/rerail/backup/x/state {OID}", Effect.WRITES),
    ("fetch --quiet --no-tags --refmap= -- origin +refs/heads/main:refs/rerail/incoming/origin/main", Effect.WRITES),
    ("symbolic-ref -m why HEAD refs/heads/main", Effect.WRITES),
]


@pytest.mark.parametrize(("command", "effect"), ALLOWED)
def test_a_permitted_form_says_whether_it_can_change_the_repository(command: str, effect: Effect) -> None:
    assert check(command.split(), {}) is effect


def test_a_tree_is_read_into_an_index_of_its_own_only() -> None:
    assert check(["read-tree", "HEAD"], {"GIT_INDEX_FILE": "/elsewhere"}) is Effect.WRITES


_DANGEROUS = st.sampled_from(
    [
        "-f",
        "--force",
        "--hard",
        "--no-verify",
        "-D",
        "--discard-changes",
        "--abort",
        "--skip",
        "--force-with-lease",
        "--mirror",
    ]
)
_WORDS = st.sampled_from(
    [
        *{form.split()[0] for form in (*FORBIDDEN, *(command for command, _ in ALLOWED)) if form},
        "HEAD",
        "--",
        "x",
        "--stdin",
    ]
)


@given(st.lists(_WORDS, max_size=3), _DANGEROUS, st.lists(_WORDS, max_size=3))
def test_no_form_takes_a_dangerous_option(before: list[str], option: str, after: list[str]) -> None:
    if "--" in before:
        return  # behind it, a word is no option but a name
    with pytest.raises(ForbiddenGitError):
        check([*before, option, *after], {})


def test_every_process_of_the_package_starts_in_one_module() -> None:
    """Whatever a step does with git passes the gate, for nothing else in the package can start a process."""
    starters = set()
    for file in Path(rerail.git.__file__).parent.rglob("*.py"):
        tree = ast.parse(file.read_text(encoding="utf-8"))
        imported = {
            alias.name.split(".")[0] for node in ast.walk(tree) if isinstance(node, ast.Import) for alias in node.names
        }
        imported |= {(node.module or "").split(".")[0] for node in ast.walk(tree) if isinstance(node, ast.ImportFrom)}
        calls = {
            node.func.attr
            for node in ast.walk(tree)
            if isinstance(node, ast.Call)
            and isinstance(node.func, ast.Attribute)
            and isinstance(node.func.value, ast.Name)
            and node.func.value.id == "os"
        }
        if imported & {"subprocess", "multiprocessing", "pty", "asyncio"} or calls & {
            "system",
            "popen",
            "execv",
            "execve",
            "fork",
            "posix_spawn",
        }:
            starters.add(file.name)
    assert starters == {"command.py"}


def test_every_step_that_a_recipe_can_name_is_one_of_the_closed_set() -> None:
    assert STEPS.keys() == set(StepName)
    for recipe in built_in_recipes():
        assert all(isinstance(step, Primitive) for step in recipe.steps), "no built-in recipe runs a command"


@pytest.mark.parametrize(
    "argv",
    [
        ["git", "reset", "--hard"],
        ["/usr/bin/git", "clean", "-fdx"],
        ["git-reset", "--hard"],
        ["sh", "-c", "git reset --hard"],
        ["/bin/bash", "-lc", "git clean -f"],
        ["env", "git", "push", "--force"],
        ["sudo", "git", "reset"],
        ["xargs", "git", "rm"],
        ["rm", "-rf", "."],
        ["cmd.exe", "/c", "git reset"],
        [""],
        [],
    ],
)
def test_a_project_recipe_cannot_lead_around_the_steps(argv: list[str]) -> None:
    with pytest.raises(ValidationError):
        CommandTable(run=argv)


def test_a_project_recipe_may_run_the_projects_own_program() -> None:
    table = HealTable.model_validate(_table(steps=[{"run": ["npm", "install"], "timeout_s": 30}]))
    assert heal_recipe(table).steps == (RunCommand(("npm", "install"), 30.0),)


@pytest.mark.parametrize("step", ["reset-hard", "clean", {"run": ["npm"], "shell": True}, 3])
def test_a_step_outside_of_the_set_is_no_recipe(step: object) -> None:
    with pytest.raises(ValidationError):
        HealTable.model_validate(_table(steps=[step]))


@pytest.mark.parametrize("path", ["/etc/passwd", "../x", "a/../../b", ""])
def test_a_recipe_touches_nothing_outside_of_the_work_tree(path: str) -> None:
    with pytest.raises(ValidationError):
        HealTable.model_validate(_table(touches=[path]))


def _table(**changes: object) -> dict[str, object]:
    text = "a sentence"
    base: dict[str, object] = {"slug": "x", "class": "git", "reasons": ["unmerged"], "steps": ["restage"]}
    return base | dict.fromkeys(("sees", "why", "source", "undo", "question"), text) | changes
