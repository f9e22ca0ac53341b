"""Argument lists: split, named, redacted, clipped."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rerail.evidence.command import command_of, program_of


@pytest.mark.parametrize(
    ("command", "argv"),
    [
        ("git commit -m 'a b'", ("git", "commit", "-m", "a b")),
        (["git", "commit", "-m", "a b"], ("git", "commit", "-m", "a b")),
        ("echo 'open quote", ("echo", "'open", "quote")),
        ("", ()),
        ((), ()),
        ([b"caf\xc3\xa9", 3], ("café", "3")),
        (["\x1b[31mx"], ("x",)),
        ("deploy --token abc", ("deploy", "--token", "[redacted:argument]")),
        ("curl https://u:hunter2@h/x", ("curl", "https://u:[redacted:password]@h/x")),
        ("x " * 20_000, ("x",) * 512),
    ],
)
def test_a_command_becomes_a_safe_argument_list(command: str, argv: tuple[str, ...]) -> None:
    assert command_of(command) == argv


@pytest.mark.parametrize(
    ("argv", "program"),
    [
        (("git", "push"), "git"),
        (("/usr/bin/git",), "git"),
        (("C:\\Program Files\\Git\\git.exe",), "git"),
        (("npm.CMD",), "npm"),
        (("./run.sh",), "run.sh"),
        (("python3.11",), "python3.11"),
        ((), ""),
        (("",), ""),
    ],
)
def test_a_program_is_named_without_directory_and_suffix(argv: tuple[str, ...], program: str) -> None:
    assert program_of(argv) == program


def test_a_secret_that_a_clip_would_cut_in_half_is_gone() -> None:
    (argument,) = command_of(["a" * 2010 + " password=" + "hunter2" * 40 + "b" * 9000])
    assert "hunter2" not in argument


@given(st.text() | st.lists(st.text()))
def test_any_command_is_kept_safely_and_keeping_it_again_changes_nothing(command: str | list[str]) -> None:
    argv = command_of(command)
    "\0".join(argv).encode()
    assert command_of(argv) == argv
