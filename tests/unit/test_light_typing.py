"""The light ``NamedTuple`` is the one of `typing`, but for what it costs."""

from __future__ import annotations

import pickle
import typing
from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rerail import light_typing

if TYPE_CHECKING:
    from collections.abc import Callable


def pair(base: Any) -> Any:
    class Pair(base):  # type: ignore[misc]  # either of the two
        """Two values."""

        left: int
        right: str = "r"

        @property
        def both(self) -> str:
            return f"{self.left}{self.right}"

        def __str__(self) -> str:
            return self.both

    return Pair


LIGHT, HEAVY = pair(light_typing.NamedTuple), pair(typing.NamedTuple)


class Known(light_typing.NamedTuple):
    """One that pickle finds by its name."""

    value: int


@pytest.mark.parametrize(
    "look",
    [
        lambda kind: kind._fields,
        lambda kind: kind._field_defaults,
        lambda kind: (kind.__name__, kind.__qualname__, kind.__module__, kind.__doc__),
        lambda kind: kind.__bases__,
        lambda kind: typing.get_type_hints(kind),
        lambda kind: (kind(1), kind(1, "x"), kind(right="y", left=2)),
        lambda kind: repr(kind(1)).rpartition(".")[2],
        lambda kind: str(kind(3)),
        lambda kind: kind(4).both,
        lambda kind: kind(1)._replace(left=2),
        lambda kind: kind._make([5, "z"])._asdict(),
        lambda kind: kind.__match_args__,
        lambda kind: kind(1).__slots__,
    ],
)
def test_it_makes_what_typing_makes(look: Callable[[Any], object]) -> None:
    assert look(LIGHT) == look(HEAVY)


@pytest.mark.parametrize("call", [lambda kind: kind(), lambda kind: kind(1, "r", 3), lambda kind: kind(left=1, up=2)])
def test_it_refuses_what_typing_refuses(call: Callable[[Any], object]) -> None:
    for kind in (LIGHT, HEAVY):
        with pytest.raises(TypeError):
            call(kind)


@pytest.mark.parametrize("base", [light_typing.NamedTuple, typing.NamedTuple])
def test_a_field_without_a_default_may_not_follow_one_with(base: Any) -> None:
    with pytest.raises(TypeError):

        class Wrong(base):  # type: ignore[misc]
            left: int = 1
            right: str


def test_its_values_are_pickled() -> None:
    assert pickle.loads(pickle.dumps(Known(1))) == Known(1)


@given(st.data())
def test_any_class_takes_and_gives_what_a_class_of_typing_does(data: st.DataObject) -> None:
    names = data.draw(st.lists(st.sampled_from("abcdefgh"), unique=True, max_size=6))
    defaults = data.draw(st.integers(0, len(names)))
    body = [f"    {name}: int{' = 7' if place >= defaults else ''}" for place, name in enumerate(names)] or ["    pass"]
    written = "\n".join(["class Some(NamedTuple):", *body])
    light, heavy = (
        dict[str, Any]({"NamedTuple": base, "__name__": __name__})
        for base in (light_typing.NamedTuple, typing.NamedTuple)
    )
    for scope in (light, heavy):
        exec(compile(f"from __future__ import annotations\n{written}", "some", "exec"), scope)
    arguments = data.draw(st.lists(st.integers(), max_size=len(names)))
    named = data.draw(st.dictionaries(st.sampled_from("abcdefghx"), st.integers(), max_size=3))
    outcomes: list[object] = []
    for scope in (light, heavy):
        try:
            made = scope["Some"](*arguments, **named)
        except TypeError:
            outcomes.append(None)
        else:
            outcomes.append((tuple(made), repr(made), made._asdict(), [getattr(made, name) for name in names]))
    assert outcomes[0] == outcomes[1]


@pytest.mark.parametrize(
    "misuse", [lambda kind: kind._make([1]), lambda kind: kind(1)._replace(up=2), lambda kind: kind(1).up]
)
def test_it_raises_what_typing_raises(misuse: Callable[[Any], object]) -> None:
    kinds = []
    for kind in (LIGHT, HEAVY):
        with pytest.raises((TypeError, ValueError, AttributeError)) as raised:
            misuse(kind)
        kinds.append(raised.type)
    assert kinds[0] is kinds[1]


def test_its_values_cannot_be_changed() -> None:
    for kind in (LIGHT, HEAVY):
        with pytest.raises(AttributeError):
            kind(1).left = 2
        with pytest.raises(AttributeError):
            kind(1).other = 2


def test_a_new_type_is_the_type() -> None:
    name = light_typing.NewType("name", str)
    assert name("x") == "x"


def test_what_was_never_to_happen_is_told_as_typing_tells_it() -> None:
    value: Any = "x"
    said = []
    for assert_never in (light_typing.assert_never, typing.assert_never):
        with pytest.raises(AssertionError) as raised:
            assert_never(value)
        said.append(str(raised.value))
    assert said[0] == said[1]


def test_what_only_checkers_ask_for_may_stand_in_a_class() -> None:
    parameter = light_typing.TypeVar("parameter")

    class Box(light_typing.Generic[parameter]):
        def open(self) -> object:
            return light_typing.cast("int", "inside")

    class Opens(light_typing.Protocol):
        def open(self) -> object: ...

    assert Box().open() == "inside"
    assert not hasattr(Opens, "inside")
