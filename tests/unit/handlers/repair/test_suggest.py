"""One name in two spellings, and names that only look near."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rerail.handlers.repair.suggest import alike


@pytest.mark.parametrize(
    ("name", "names", "found"),
    [
        ("workspaceId", ["workspace_id", "title"], ("workspace_id",)),
        ("WORKSPACE-ID", ["workspace_id"], ("workspace_id",)),
        ("in progress", ["in_progress", "open"], ("in_progress",)),
        ("straße", ["STRASSE"], ("STRASSE",)),
        ("a", ["A", "_a", "b"], ("A", "_a")),
        ("deleted", ["delete"], ()),
        ("workspace", ["workspace_id"], ()),
        ("same", ["same"], ()),
        ("_", ["-", " "], ()),
        ("", ["", "_"], ()),
    ],
)
def test_only_spelling_may_differ(name: str, names: list[str], found: tuple[str, ...]) -> None:
    assert alike(name, names) == found


@given(st.text(max_size=6), st.lists(st.text(max_size=6)))
def test_a_name_is_never_its_own_suggestion(name: str, names: list[str]) -> None:
    found = alike(name, names)
    assert name not in found
    assert set(found) <= set(names)
    assert all(name in alike(each, [name]) for each in found)
