"""The ways validators write a place, and the one way it is written back."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rerail.handlers.repair.places import Placed, key_of, place_of, placed, show, shown


@pytest.mark.parametrize(
    ("text", "place"),
    [
        ("", ()),
        ("$", ()),
        ("a", ("a",)),
        ("items[0].id", ("items", 0, "id")),
        ("items.0.id", ("items", 0, "id")),
        ("/items/0/id", ("items", 0, "id")),
        ("#/items/0", ("items", 0)),
        ("/a~1b/c~0d", ("a/b", "c~d")),
        ("data/items/0", ("data", "items", 0)),
        ("$.items[0]", ("items", 0)),
        ("`$.items[0]`", ("items", 0)),
        ('"items[0].id"', ("items", 0, "id")),
        ("['items'][0]['a b']", ("items", 0, "a b")),
        ("['a/b']", ("a/b",)),
        ("data['a'][0]", ("data", "a", 0)),
        ("messages.[7].role", ("messages", 7, "role")),
        (".limit", ("limit",)),
        ("a.b:", ("a", "b")),
        ("a[", None),
        ("a]b", None),
        ("a" * 500, None),
        (".".join("a" * 40), None),
        ("/" + "/".join("a" * 40), None),
    ],
)
def test_a_written_place_is_read(text: str, place: tuple[Any, ...] | None) -> None:
    assert place_of(text) == place


@given(st.text(max_size=60))
def test_any_text_is_read_or_refused(text: str) -> None:
    place = place_of(text)
    assert place is None or all(isinstance(step, str | int) for step in place)


@given(st.lists(st.from_regex(r"[a-z_][a-z0-9_]{0,5}", fullmatch=True) | st.integers(0, 99), max_size=5).map(tuple))
def test_what_is_shown_is_read_back(place: tuple[Any, ...]) -> None:
    if place and isinstance(place[0], str):
        assert place_of(show(place)) == place


ROOT = {"a": [{"b": 1}], "0": {"c": 1}, "body": 1, "pet": {"kind": "dog"}}


@pytest.mark.parametrize(
    ("place", "found"),
    [
        (("a", 0, "b"), ("a", 0, "b")),
        (("data", "a", 0), ("a", 0)),
        (("params", "arguments", "a"), ("a",)),
        (("body",), ("body",)),
        (("body", "a"), ("a",)),
        ((0, "c"), ("0", "c")),
        ((), ()),
        (("x",), None),
        (("x", "a"), None),
        (("a", 1), None),
        (("a", 0, "z"), None),
    ],
)
def test_a_place_is_fitted_to_an_input(place: tuple[Any, ...], found: tuple[Any, ...] | None) -> None:
    assert (placed(ROOT, place) or Placed(None)).place == found  # type: ignore[arg-type]


def test_the_last_step_may_be_absent_and_no_other() -> None:
    assert placed(ROOT, ("a", 0, "z"), may_be_absent=True) == Placed(("a", 0, "z"))
    assert placed(ROOT, ("body", "z"), may_be_absent=True) == Placed(("z",))
    assert placed(ROOT, ("z", "y"), may_be_absent=True) is None


def test_names_of_union_members_are_told_from_fields() -> None:
    found = placed(ROOT, ("pet", "Dog", "name"), may_be_absent=True, tagged=True)
    assert found == Placed(("pet", "name"), ((("pet",), "Dog"),))
    assert placed(ROOT, ("body", "int"), tagged=True) == Placed(("body",), ((("body",), "int"),))
    assert placed(ROOT, ("pet", "Dog", "name"), may_be_absent=True) is None


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("workspace_id", "workspace_id"),
        ("due-date", "due-date"),
        ("a b", '"a b"'),
        ("a\nb", '"a\\nb"'),
        ("\x1b[2J", '"\\u001b[2J"'),
        ("\u202e", '"\\u202e"'),
        ("", '""'),
        ("x" * 100, f'"{"x" * 64}"'),
    ],
)
def test_a_name_is_shown_so_that_it_forges_nothing(name: str, text: str) -> None:
    assert shown(name) == text


def test_places_in_words() -> None:
    assert show(("items", 0, "a b")) == 'items[0]."a b"'
    assert show(()) == "the input"
    assert key_of(("items", 0, "id")) == "items.0.id"
