"""What a project's recipes and settings cannot do: turn a denial, a broken root, a limit or the unknown into a recovery."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from rerail.errors import RecipeError
from rerail.recipes.read import load

if TYPE_CHECKING:
    from pathlib import Path

CLASS = """
[[class]]
name = "soft"
signal = "it says so"
action = "retry"
budget = 5
{severity}
advice = "wait"
pitfall = "do not hurry"

[[reason]]
class = "soft"
name = "soft"
summary = "it is soft"
hint = "wait"

[[rule]]
slug = "ours-soft"
class = "soft"
reason = "soft"
why = "it says so"
source = "observed"
priority = 100
stderr = "Permission denied"
matches = [{{ command = "true", exit_code = 1, stderr = "Permission denied" }}]
"""
REASON = """
[[reason]]
class = "{class_}"
name = "soft"
summary = "it is soft"
hint = "wait"
action = "{action}"
"""


def project(tmp_path: Path, recipe: str) -> Path:
    directory = tmp_path / ".rerail" / "recipes"
    directory.mkdir(parents=True)
    (directory / "ours.toml").write_text(recipe)
    return tmp_path


def test_a_class_that_retries_cannot_outrank_a_denial(tmp_path: Path) -> None:
    with pytest.raises(RecipeError, match=r"ours.toml:5: class.0.action: .*severity of at most 10, got 100"):
        load(project(tmp_path, CLASS.format(severity="severity = 100")))


def test_a_rule_that_takes_a_denial_for_something_to_retry_is_told_by_its_own_example(tmp_path: Path) -> None:
    with pytest.raises(RecipeError, match="named deterministic-policy"):
        load(project(tmp_path, CLASS.format(severity="")))


@pytest.mark.parametrize("class_", ["deterministic-policy", "worktree", "runtime", "unclassified"])
@pytest.mark.parametrize("action", ["retry", "repair", "heal"])
def test_a_reason_cannot_make_a_recovery_of_what_only_pauses_or_stops(class_: str, action: str, tmp_path: Path) -> None:
    with pytest.raises(RecipeError, match=r"ours.toml:7: reason.0.action: .*only pauses or stops"):
        load(project(tmp_path, REASON.format(class_=class_, action=action)))
