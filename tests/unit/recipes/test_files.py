"""Recipe files are known by their state, so that nobody reads them as long as they stay as they are."""

from __future__ import annotations

import os
import time
from typing import TYPE_CHECKING

import pytest

from rerail.errors import RecipeError
from rerail.recipes.files import PROJECT_RECIPES, Found, built_in_files, project_files, state_of

if TYPE_CHECKING:
    from pathlib import Path

LONG_AGO_S = 1_700_000_000


def write(root: Path, name: str, text: str) -> Path:
    """A recipe file of a project."""
    path = root / PROJECT_RECIPES / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text)
    return path


@pytest.fixture
def later(monkeypatch: pytest.MonkeyPatch) -> None:
    """A minute from now: what was just written has settled."""
    now = time.time
    monkeypatch.setattr("rerail.recipes.files.time", type("later", (), {"time": staticmethod(lambda: now() + 60)}))


def test_files_are_found_by_name_and_only_recipes_are(tmp_path: Path) -> None:
    for name in ("b.toml", "a.toml", "notes.md"):
        write(tmp_path, name, "")
    found = project_files(tmp_path)
    assert [file.where for file in found] == [os.path.join(PROJECT_RECIPES, name) for name in ("a.toml", "b.toml")]  # noqa: PTH118
    assert all(file.is_project for file in found)
    assert (project_files(tmp_path / "elsewhere"), project_files(None)) == ([], [])
    assert not any(file.is_project for file in built_in_files())


def test_one_that_cannot_be_read_is_named(tmp_path: Path) -> None:
    with pytest.raises(RecipeError, match=r"a\.toml: cannot be read: No such file or directory"):
        Found("a.toml", str(tmp_path / "a.toml"), is_project=True).content()


@pytest.mark.usefixtures("later")
class TestState:
    def test_it_stays_while_the_files_do(self, tmp_path: Path) -> None:
        write(tmp_path, "a.toml", "x = 1")
        before = state_of(project_files(tmp_path))
        assert before
        assert state_of(project_files(tmp_path)) == before

    def test_another_content_of_the_same_size_and_time_is_another_state(self, tmp_path: Path) -> None:
        path = write(tmp_path, "a.toml", "x = 1")
        os.utime(path, (LONG_AGO_S, LONG_AGO_S))
        before = state_of(project_files(tmp_path))
        path.write_text("x = 2")
        os.utime(path, (LONG_AGO_S, LONG_AGO_S))
        assert state_of(project_files(tmp_path)) != before

    def test_one_that_was_put_in_its_place_is_another_state(self, tmp_path: Path) -> None:
        write(tmp_path, "a.toml", "x = 1")
        before = state_of(project_files(tmp_path))
        other = write(tmp_path, "other", "x = 2")
        other.replace(other.with_name("a.toml"))
        assert state_of(project_files(tmp_path)) != before

    def test_a_new_one_and_one_less_are_other_states(self, tmp_path: Path) -> None:
        write(tmp_path, "a.toml", "")
        before = state_of(project_files(tmp_path))
        added = write(tmp_path, "b.toml", "")
        assert state_of(project_files(tmp_path)) != before
        added.unlink()
        assert state_of(project_files(tmp_path)) == before

    def test_one_that_is_gone_meanwhile_has_none(self, tmp_path: Path) -> None:
        path = write(tmp_path, "a.toml", "")
        found = project_files(tmp_path)
        path.unlink()
        assert state_of(found) is None


def test_what_changed_just_now_has_no_state_for_it_may_change_again_unseen(tmp_path: Path) -> None:
    path = write(tmp_path, "a.toml", "")
    assert state_of(project_files(tmp_path)) is None
    ahead_s = time.time() + 3600
    os.utime(path, (ahead_s, ahead_s))
    assert state_of(project_files(tmp_path)) is None
