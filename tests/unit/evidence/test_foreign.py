"""Attributes of other people's objects, read without running their code."""

from __future__ import annotations

import asyncio
import enum

import pytest

from rerail.evidence.foreign import answer_of, class_values, first, is_a, mro_of, names_of, own_values, read


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


def test_a_class_is_seen_through_its_metaclass() -> None:
    class Liar(type):
        __mro__ = property(lambda _: ())
        __module__ = property(lambda _: "builtins")
        __name__ = property(lambda _: "OSError")

    class Lied(Exception, metaclass=Liar):
        told = 1

    assert mro_of(Lied) == (Lied, Exception, BaseException, object)
    assert class_values(Lied)["told"] == 1
    assert read(Lied(), "told") == 1
    module, name = names_of(Lied)
    assert name.endswith("Lied")
    assert module == __name__


@pytest.mark.parametrize("module", [7, None, property(lambda _: "x")])
def test_a_class_that_says_no_module_has_none(module: object) -> None:
    assert names_of(type("Odd", (), {"__module__": module})) == ("", "Odd")


@pytest.mark.parametrize("raised", [ValueError, SystemExit, GeneratorExit, asyncio.CancelledError, BaseException])
def test_code_of_others_that_raises_gives_no_answer(raised: type[BaseException]) -> None:
    def question() -> int:
        raise raised

    assert answer_of(question) is None
    assert answer_of(lambda: 7) == 7


def test_an_interrupt_is_the_user_s_own_word() -> None:
    def question() -> int:
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        answer_of(question)
