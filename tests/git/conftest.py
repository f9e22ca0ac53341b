"""Repositories cut off from the machine that the tests run on."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

import pytest
from tests.repositories import Repo, isolated, lived_in

if TYPE_CHECKING:
    from pathlib import Path


@pytest.fixture(autouse=True)
def isolation(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Nothing of the user's configuration reaches a test, nor anything of a test the user's."""
    wanted = isolated(tmp_path / "home")
    for name in os.environ.keys() - wanted.keys():
        monkeypatch.delenv(name)
    for name, value in wanted.items():
        monkeypatch.setenv(name, value)


@pytest.fixture
def repo(tmp_path: Path) -> Repo:
    """A repository with history, branches, a stash, untracked and ignored files."""
    return lived_in(tmp_path / "repo")
