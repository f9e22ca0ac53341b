"""Equal inputs are one input, whatever their order; anything else is another."""

from __future__ import annotations

import enum
from collections import OrderedDict
from decimal import Decimal
from pathlib import PurePosixPath
from types import MappingProxyType, SimpleNamespace

import attrs
import pydantic
import pytest
from hypothesis import given
from hypothesis import strategies as st

from rerail.evidence.fingerprint import input_fingerprint

SCALARS = st.none() | st.booleans() | st.integers() | st.floats() | st.text() | st.binary()
JSON = st.recursive(SCALARS, lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner), max_leaves=12)


@attrs.frozen
class Point:
    x: int
    y: int = 0


class Model(pydantic.BaseModel):
    x: int


class Other(pydantic.BaseModel):
    x: int


class Colour(enum.Enum):
    RED = 1
    BLUE = 2


class Plain:
    """Has no repr of its own."""

    def __init__(self, value: object) -> None:
        self.value = value


class Raises:
    def __repr__(self) -> str:
        raise RuntimeError

    def model_dump(self) -> dict[str, object]:
        raise RuntimeError


EQUAL = [
    ({"a": 1, "b": 2}, {"b": 2, "a": 1}),
    ({"a": {"x": [1], "y": None}}, OrderedDict(a={"y": None, "x": [1]})),
    ({"a": 1}, MappingProxyType({"a": 1})),
    ([1, 2], (1, 2)),
    ({3, 1, 2}, frozenset((2, 3, 1))),
    (b"x", bytearray(b"x")),
    (Point(1), Point(1, 0)),
    (Model(x=1), Model(x=1)),
    (Plain(1), Plain(1)),
    (Colour.RED, Colour.RED),
    (Decimal("1.0"), Decimal("1.0")),
]

DIFFERENT = [
    (1, 1.0),
    (1, True),
    (0, False),
    (1, "1"),
    (None, "None"),
    ("a", b"a"),
    (0.0, -0.0),
    ([], {}),
    ([[1], 2], [1, [2]]),
    (["ab"], ["a", "b"]),
    ({"a": "b,c"}, {"a": "b", "c": ""}),
    ({1: "x"}, {"1": "x"}),
    ({1, 2}, [1, 2]),
    (Point(1), Point(2)),
    (Point(1), {"x": 1, "y": 0}),
    (Model(x=1), Other(x=1)),
    (Plain(1), Plain(2)),
    (Colour.RED, Colour.BLUE),
    (Decimal("1.0"), Decimal("1.00")),
    (PurePosixPath("a"), "a"),
    (SimpleNamespace(a=1), SimpleNamespace(a=2)),
    (len, repr),
]


@pytest.mark.parametrize(("one", "other"), EQUAL)
def test_equal_inputs_have_one_fingerprint(one: object, other: object) -> None:
    assert input_fingerprint(one) == input_fingerprint(other)


@pytest.mark.parametrize(("one", "other"), DIFFERENT)
def test_different_inputs_have_different_fingerprints(one: object, other: object) -> None:
    assert input_fingerprint(one) != input_fingerprint(other)


def test_an_address_in_a_repr_does_not_make_a_new_input() -> None:
    assert input_fingerprint(lambda: 1) == input_fingerprint(lambda: 1)
    assert input_fingerprint(iter([1])) == input_fingerprint(iter([1]))


def test_awkward_values_are_no_trouble() -> None:
    cyclic: list[object] = []
    cyclic.append(cyclic)
    deep: list[object] = []
    for _ in range(50_000):
        deep = [deep]
    awkward = [cyclic, deep, Raises(), 10**6000, float("nan"), "\ud800", Model.model_construct(y=object())]
    assert len({input_fingerprint(value) for value in awkward}) == len(awkward)


@given(JSON)
def test_a_value_and_its_copy_are_one_input(value: object) -> None:
    assert input_fingerprint(value) == input_fingerprint(_copy(value))


@given(JSON)
def test_wrapping_a_value_makes_another_input(value: object) -> None:
    assert input_fingerprint(value) != input_fingerprint([value])


def _copy(value: object) -> object:
    """Return a copy of a JSON value with every dict in reverse order."""
    if isinstance(value, list):
        return tuple(map(_copy, value))
    if isinstance(value, dict):
        return {key: _copy(item) for key, item in reversed(value.items())}
    return value
