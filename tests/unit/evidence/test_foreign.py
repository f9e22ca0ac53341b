"""Attributes of other people's objects, read without running their code."""

from __future__ import annotations

import enum

import pytest

from rerail.evidence.foreign import first, is_a, own_values, read


class Slotted:
    __slots__ = ("empty", "filled")

    def __init__(self) -> None:
        self.filled = 1


class Ordinary:
    inherited = "class"
    method = len

    def __init__(self) -> None:
        self.own = [1]

    @property
    def computed(self) -> int:
        raise AssertionError("a property ran")

    def __getattr__(self, name: str) -> object:
        raise AttributeError("__getattr__ ran") if name.startswith("_") else AssertionError("__getattr__ ran")


class Colour(enum.IntEnum):
    RED = 1


@pytest.mark.parametrize(
    ("value", "name", "found"),
    [
        (Ordinary(), "own", [1]),
        (Ordinary(), "inherited", "class"),
        (Ordinary(), "computed", None),
        (Ordinary(), "method", None),
        (Ordinary(), "absent", None),
        (Slotted(), "filled", 1),
        (Slotted(), "empty", None),
        ({"a": 1}, "a", 1),
        ({"a": 1}, "keys", None),
        (OSError(2, "no"), "errno", 2),
        (type("Declared", (), {"code": Colour.RED})(), "code", Colour.RED),
        (3, "real", 3),
        (None, "x", None),
    ],
)
def test_only_what_lies_still_is_read(value: object, name: str, found: object) -> None:
    assert read(value, name) == found


def test_the_first_that_is_there_is_taken() -> None:
    assert first({"a": None, "b": 0, "c": 1}, ("a", "b", "c")) == 0
    assert first({}, ("a",)) is None


def test_an_object_that_hides_its_dictionary_or_class_is_seen_through() -> None:
    class Hidden:
        def __init__(self) -> None:
            vars(self)["x"] = 1

        def __getattribute__(self, name: str) -> object:
            if name == "__dict__":
                return super().__getattribute__(name)
            raise RuntimeError(name)

    hidden = Hidden()
    assert own_values(hidden) == {"x": 1}
    assert read(hidden, "x") == 1
    assert is_a(hidden, Hidden)
    assert not is_a(hidden, str)
