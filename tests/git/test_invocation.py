"""Which git commands an agent ran, and where."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rerail.git.invocation import invocations

HERE = Path("/r")


@pytest.mark.parametrize(
    ("command", "found"),
    [
        (["git", "push"], [("push", (), "/r")]),
        (["/usr/bin/git", "commit", "-m", "a b"], [("commit", ("-m", "a b"), "/r")]),
        (["git", "-C", "sub", "-c", "a=b", "checkout", "x"], [("checkout", ("x",), "/r/sub")]),
        (["git", "--git-dir=/x/.git", "--no-pager", "log"], [("log", (), "/r")]),
        (
            ["bash", "-lc", "cd sub && git add . && git commit -m 'a; b'"],
            [("add", (".",), "/r/sub"), ("commit", ("-m", "a; b"), "/r/sub")],
        ),
        (
            ["sh", "-ec", "git fetch; git rebase origin/main || true"],
            [("fetch", (), "/r"), ("rebase", ("origin/main",), "/r")],
        ),
        (["git", "add", "x", "&&", "git", "commit", "-m", "y"], [("add", ("x",), "/r"), ("commit", ("-m", "y"), "/r")]),
        (["timeout", "-k", "5", "30", "env", "A=1", "git", "push"], [("push", (), "/r")]),
        (["sudo", "-n", "git", "status"], [("status", (), "/r")]),
        (["echo", "git", "push"], []),
        (["git"], []),
        (["bash", "-c", "git commit -m 'unbalanced"], [("commit", ("-m", "'unbalanced"), "/r")]),
        ([], []),
    ],
)
def test_the_git_commands_of_a_command_are_found(
    command: list[str], found: list[tuple[str, tuple[str, ...], str]]
) -> None:
    assert [(call.verb, call.args, str(call.cwd)) for call in invocations(command, HERE)] == found


def test_options_are_known_alone_grouped_and_with_values() -> None:
    (call,) = invocations(["git", "commit", "-am", "--amend-like text", "--author=x", "--", "-i"], HERE)
    assert call.has("-a", "--all")
    assert call.has("--author")
    assert not call.has("-i")
    assert call.operands == ("-i",)
    (short,) = invocations(["git", "commit", "-mfix all"], HERE)
    assert not short.has("-a")


@given(st.lists(st.text(max_size=20), max_size=8))
def test_any_command_can_be_read(words: list[str]) -> None:
    for call in invocations([word.replace("\0", "") for word in words], HERE):
        assert call.verb
        assert set(call.operands) <= set(call.args)
