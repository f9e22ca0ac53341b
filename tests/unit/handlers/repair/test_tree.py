"""JSON-like values: what is one, and changes that leave the old one alone."""

from __future__ import annotations

import copy
from collections import UserDict, UserList, deque
from enum import IntEnum, StrEnum
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rerail.handlers.repair.tree import (
    ABSENT,
    MAX_DEPTH,
    MAX_NAME,
    MAX_NODES,
    NotJsonError,
    at,
    copied,
    is_a,
    leaves,
    renamed,
    replaced,
    same,
    type_of,
    with_field,
    without,
)


class Colour(StrEnum):
    RED = "red"


class Level(IntEnum):
    LOW = 1


TREE: dict[str, Any] = {"a": [{"b": 1}, {"c": None}], "d": "x"}


def nested(depth: int) -> Any:
    value: Any = 1
    for _ in range(depth):
        value = [value]
    return value


def test_a_copy_is_plain_and_independent() -> None:
    source = UserDict({"a": (1, UserList([2.5])), "b": deque([True, None]), "c": Colour.RED, "d": Level.LOW})
    found = copied(source)
    assert found == {"a": [1, [2.5]], "b": [True, None], "c": "red", "d": 1}
    assert type(found["c"]) is str
    assert type(found["d"]) is int
    found["a"].append(3)
    assert source["a"] == (1, [2.5])


@pytest.mark.parametrize(
    "value",
    [
        object(),
        {1: 2},
        {"a": b"x"},
        bytearray(b"x"),
        {1, 2},
        float("inf"),
        [float("nan")],
        range(3),
        1 << 2_000,
        nested(MAX_DEPTH + 1),
        [0] * MAX_NODES,
        {"k" * (MAX_NAME + 1): 1},
    ],
)
def test_what_is_no_json_or_too_much_is_refused(value: object) -> None:
    with pytest.raises(NotJsonError):
        copied(value)


def test_a_cycle_is_refused() -> None:
    value: list[Any] = []
    value.append(value)
    with pytest.raises(NotJsonError):
        copied(value)


@pytest.mark.parametrize(
    ("value", "name"),
    [(None, "null"), (True, "boolean"), (3, "integer"), (3.0, "number"), ("", "string"), ([], "array"), ({}, "object")],
)
def test_types_are_those_of_json_schema(value: object, name: str) -> None:
    assert type_of(value) == name
    assert is_a(value, (name,))


def test_an_integer_is_a_number_and_a_float_no_integer() -> None:
    assert is_a(3, ("number",))
    assert not is_a(3.0, ("integer",))
    assert not is_a(True, ("integer", "number"))


@pytest.mark.parametrize(("one", "other"), [(3, 3.0), (1, True), (0, False), ("1", 1), ([1], [True]), (None, "null")])
def test_what_python_calls_equal_may_be_two_inputs(one: object, other: object) -> None:
    assert not same(one, other)
    assert same(copy.deepcopy(one), one)


def test_the_order_of_fields_is_no_difference() -> None:
    assert same({"a": 1, "b": 2}, {"b": 2, "a": 1})


def test_places_are_found_or_absent() -> None:
    assert at(TREE, ()) is TREE
    assert at(TREE, ("a", 0, "b")) == 1
    assert at(TREE, ("a", 1, "c")) is None
    for place in (("a", 2), ("a", -1), ("a", "0"), ("d", 0), ("x",), ("a", 0, "b", "c"), (0,)):
        assert at(TREE, place) is ABSENT


def test_changes_make_new_trees() -> None:
    before = copy.deepcopy(TREE)
    assert replaced(TREE, ("a", 0, "b"), 2) == {"a": [{"b": 2}, {"c": None}], "d": "x"}
    assert replaced(TREE, (), 5) == 5
    assert with_field(TREE, ("a", 1, "e"), 3) == {"a": [{"b": 1}, {"c": None, "e": 3}], "d": "x"}
    assert without(TREE, ("d",)) == {"a": [{"b": 1}, {"c": None}]}
    assert list(renamed(TREE, ("a",), "z")) == ["z", "d"]
    assert before == TREE


def test_leaves_come_in_order() -> None:
    assert list(leaves(TREE)) == [(("a", 0, "b"), 1), (("a", 1, "c"), None), (("d",), "x")]


@given(
    st.recursive(
        st.none() | st.integers() | st.text(), lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner)
    )
)
def test_a_copy_is_the_same_input(value: Any) -> None:
    assert same(copied(value), value)
