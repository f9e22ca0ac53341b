"""The shell completes what is typed, and what is mistyped is answered with what is near."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from rerail.cli.main import VERBS

if TYPE_CHECKING:
    from tests.cli.conftest import Rerail


def completions(rerail: Rerail, *words: str) -> set[str]:
    env = {"_RERAIL_COMPLETE": "bash_complete", "COMP_WORDS": " ".join(words), "COMP_CWORD": str(len(words) - 1)}
    done = rerail(env=env)
    assert done.err == b""
    return {line.partition(",")[2] for line in done.out.decode().splitlines()}


def test_every_verb_is_completed(rerail: Rerail) -> None:
    assert completions(rerail, "rerail", "") == set(VERBS)


@pytest.mark.parametrize(
    ("words", "expected"),
    [
        (("rerail", "he"), {"heal"}),
        (("rerail", "heal", "--un"), {"--undo"}),
        (("rerail", "ledger", "ex"), {"export"}),
        (("rerail", "answer", "p1", "re"), {"retry"}),
        (("rerail", "run", "--effects", "id"), {"idempotent"}),
        (("rerail", "verify", "t"), {"types", "tests"}),
    ],
)
def test_words_and_options_are_completed(rerail: Rerail, words: tuple[str, ...], expected: set[str]) -> None:
    assert completions(rerail, *words) == expected


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_each_shell_gets_its_script(rerail: Rerail, shell: str) -> None:
    done = rerail(env={"_RERAIL_COMPLETE": f"{shell}_source"})
    assert b"_RERAIL_COMPLETE" in done.out


@pytest.mark.parametrize(
    ("words", "near"),
    [(("explan", "x"), b"explain"), (("explain", "paused-untill"), b"paused-until"), (("rules", "tset"), b"test")],
)
def test_what_is_mistyped_is_answered_with_what_is_near(rerail: Rerail, words: tuple[str, ...], near: bytes) -> None:
    done = rerail(*words)
    assert done.code == 2
    assert near in done.err
