"""What is remembered of an exception is what would be made of it."""

from __future__ import annotations

import contextlib
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rerail.evidence import recent
from rerail.evidence.exceptions import from_exception
from rerail.evidence.recent import evidence_of

values = st.one_of(
    st.text(max_size=20), st.integers(-5, 5), st.booleans(), st.none(), st.floats(allow_nan=False), st.lists(st.text())
)
classes = st.sampled_from(
    [ValueError, KeyError, OSError, RuntimeError, ConnectionResetError, UnicodeError, ImportError]
)


@given(st.lists(st.tuples(classes, st.lists(values, max_size=3)), max_size=8))
def test_a_remembered_exception_gives_the_evidence_of_a_new_one(made: list[tuple[type[Exception], list[Any]]]) -> None:
    for cls, arguments in made:
        with contextlib.suppress(TypeError):
            assert evidence_of(cls(*arguments)) == from_exception(cls(*arguments))


class WithStatus(Exception):
    @property
    def status_code(self) -> int:
        return 429


class OwnText(Exception):
    text = "one"

    def __str__(self) -> str:
        return self.text


def with_attribute(status: int) -> Exception:
    error = RuntimeError("same")
    error.status = status  # type: ignore[attr-defined]
    return error


def caused(by: str) -> Exception:
    try:
        raise RuntimeError("same") from ValueError(by)
    except RuntimeError as error:
        return error


@pytest.mark.parametrize(
    ("first", "second"),
    [
        (with_attribute(429), with_attribute(503)),
        (caused("a"), caused("b")),
        (ValueError(1), ValueError(True)),
        (FileNotFoundError(2, "No such file", "a"), FileNotFoundError(2, "No such file", "b")),
    ],
)
def test_what_differs_in_more_than_its_arguments_is_told_apart(first: Exception, second: Exception) -> None:
    assert evidence_of(first) != evidence_of(second)


def test_a_text_of_its_own_making_is_read_each_time() -> None:
    before = evidence_of(OwnText())
    OwnText.text = "two"
    assert evidence_of(OwnText()) != before
    OwnText.text = "one"


def test_a_property_is_read_each_time() -> None:
    assert evidence_of(WithStatus("x")) == from_exception(WithStatus("x"))
    assert evidence_of(WithStatus("x")).http_status == 429


def test_a_value_whose_class_will_not_be_hashed_is_read_each_time() -> None:
    class Trap(type):
        def __hash__(cls) -> int:
            raise RuntimeError("trap")

        def __eq__(cls, other: object) -> bool:
            raise RuntimeError("trap")

    class Value(metaclass=Trap):
        pass

    error = ValueError("said", Value())
    assert evidence_of(error) == from_exception(error)


@pytest.mark.parametrize("error", [ValueError("x" * 2_000), FileNotFoundError(2, "No such file", "f" * 2_000)])
def test_long_texts_are_not_kept(error: Exception) -> None:
    before = len(recent._recent)
    assert evidence_of(error) == from_exception(error)
    assert len(recent._recent) == before
