"""The five anti-patterns of the origin document. Each test fails if its anti-pattern comes back.

Real rules, real core, real ledger; only time is moved by hand.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from tests.loops import Script

from rerail import Paused, Stopped, Succeeded, Unit, Why
from rerail.evidence import from_process, from_text
from rerail.testing import manual_loop

if TYPE_CHECKING:
    from pathlib import Path

PURE = Unit("unit", effects="none")


class OverloadedError(Exception):
    """What a provider's client raises."""

    def __init__(self) -> None:
        super().__init__("Error code: 503 - the server is overloaded, please retry")
        self.status_code = 503


class ValidationError(Exception):
    """What a tool's validator raises."""

    def __init__(self, field: str) -> None:
        super().__init__(f"missing required field: {field}")


class DeniedError(Exception):
    """What a gate raises."""

    def __init__(self) -> None:
        super().__init__("PreToolUse hook denied this tool call: writes to infra/ need approval")


def test_there_is_no_one_budget_for_all_classes() -> None:
    """A flaky network that used its whole budget takes nothing from the schema's, and the other way round."""
    loop = manual_loop()
    network = [OverloadedError()] * 5
    schema = [ValidationError("a"), ValidationError("b")]
    answers = iter([{"n": 1}, {"n": 2}])
    unit = Unit("unit", effects="none", repair=lambda request: next(answers))
    outcome = loop.run(unit, Script([*network, *schema, "value"]))
    assert isinstance(outcome, Succeeded)
    spent = [(record.classification.class_, record.balance) for record in outcome.history]
    assert [class_ for class_, _ in spent] == ["provider"] * 5 + ["tool-schema"] * 2
    assert [balance.remaining for _, balance in spent if balance] == [4, 3, 2, 1, 0, 2, 1]


def test_a_persistent_schema_bug_cannot_hide_behind_an_unspent_network_budget() -> None:
    loop = manual_loop()
    inputs = iter(range(100))
    unit = Unit("unit", effects="none", repair=lambda request: {"n": next(inputs)})
    outcome = loop.run(unit, Script([ValidationError(field) for field in "abcdef"]))
    assert isinstance(outcome, Paused)
    assert outcome.why is Why.BUDGET_SPENT
    assert outcome.attempts == 4


def test_a_policy_denial_is_never_retried_automatically() -> None:
    loop = manual_loop()
    script = Script([DeniedError(), "value"])
    outcome = loop.run(PURE, script)
    assert isinstance(outcome, Paused)
    assert outcome.history[0].classification.class_ == "deterministic-policy"
    assert (script.calls, loop.tools.clock.slept_s) == (1, [])  # type: ignore[attr-defined]  # the manual clock's


def test_a_failure_is_classified_and_shown_before_the_first_retry() -> None:
    order: list[str] = []
    loop = manual_loop(on_block=lambda block: order.append("block"))
    loop.tools.clock.sleep = lambda wait_s: order.append("wait")  # type: ignore[attr-defined]
    loop.sleep = loop.tools.clock.sleep  # type: ignore[attr-defined]
    script = Script([OverloadedError(), "value"])

    def call() -> object:
        order.append("call")
        return script()

    assert loop.run(PURE, call).ok
    assert order == ["call", "block", "wait", "call"]


@pytest.mark.parametrize(
    ("stderr", "command"),
    [
        ("fatal: not a git repository (or any of the parent directories): .git", ["git", "status"]),
        ("fatal: not a git repository: /w/repo/.git/worktrees/feature", ["git", "status"]),
        ("fatal: 'feature' is already used by worktree at '/w/feature'", ["git", "checkout", "feature"]),
        ("fatal: detected dubious ownership in repository at '/w/repo'", ["git", "status"]),
    ],
)
def test_a_worktree_failure_is_not_a_git_failure_and_stops(stderr: str, command: list[str]) -> None:
    evidence = from_process(command, exit_code=128, signal=None, stdout="", stderr=stderr)
    loop = manual_loop()
    outcome = loop.run(Unit("unit", failure=lambda _: evidence), lambda: None)
    assert isinstance(outcome, Stopped)
    assert outcome.history[0].classification.class_ == "worktree"


@pytest.mark.parametrize(
    "text",
    [
        "the frobnicator is sad",
        "something went wrong",
        "Error: 42",
        "retrying will not help",
        "unknown error, try again",
    ],
)
def test_the_unknown_is_not_taken_for_transient(text: str) -> None:
    loop = manual_loop()
    outcome = loop.run(Unit("unit", effects="none", failure=lambda _: from_text(text)), lambda: None)
    assert isinstance(outcome, Paused)
    assert outcome.history[0].classification.class_ == "unclassified"
    assert loop.tools.clock.slept_s == []  # type: ignore[attr-defined]
    assert len(loop.tools.ledger.gaps()) == 1, "the taxonomy needs an entry"


def test_a_refused_worktree_stays_refused_until_its_check_passes(tmp_path: Path) -> None:
    import subprocess

    subprocess.run(["git", "init", "-q", str(tmp_path)], check=True)
    loop = manual_loop(root=tmp_path)
    link = "fatal: not a git repository: /w/repo/.git/worktrees/feature"
    evidence = from_process(["git", "status"], exit_code=128, signal=None, stdout="", stderr=link)
    assert isinstance(loop.run(Unit("unit", failure=lambda _: evidence), lambda: None), Stopped)
    (tmp_path / ".git").rename(tmp_path / "aside")
    (tmp_path / ".git").write_text("gitdir: /nowhere\n")
    script = Script(["value"])
    refused = loop.run("other", script)
    assert isinstance(refused, Stopped)
    assert (refused.why, script.calls) == (Why.REFUSED_WORKTREE, 0)
    (tmp_path / ".git").unlink()
    (tmp_path / "aside").rename(tmp_path / ".git")
    assert loop.run("other", script).ok
