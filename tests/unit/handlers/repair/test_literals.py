"""Literals in hostile text: what they say and where they end."""

from __future__ import annotations

import json
import time
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rerail.handlers.repair.literals import MAX_DEPTH, NotLiteralError, found_in, literal_of

json_values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.text(),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(), inner, max_size=3),
    max_leaves=10,
)


def containers(text: str) -> list[Any]:
    return [value for _, _, value in found_in(text)]


@given(json_values)
def test_json_is_read_as_json_reads_it(value: Any) -> None:
    assert literal_of(json.dumps(value)) == value
    assert literal_of(json.dumps(value, indent=1, ensure_ascii=False)) == value


@given(json_values)
def test_python_is_read_as_python_reads_it(value: Any) -> None:
    assert literal_of(repr(value)) == value


@given(st.text("{}[]()'\"\\,:ab1 -.\n", max_size=60))
def test_any_text_is_read_or_passed_over(text: str) -> None:
    spans = [(start, end) for start, end, _ in found_in(text)]
    assert spans == sorted(spans)
    assert all(text[start] in "{[" for start, _ in spans)


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("Error code: 400 - {'error': {'message': \"it's\"}}", [{"error": {"message": "it's"}}]),
        ("b'{\\n  \"a\": 1\\n}'", [{"a": 1}]),
        ("[type=missing] {'a': 1} and [1, 2]", [{"a": 1}, [1, 2]]),
        ("must not contain {'b'} properties", [["b"]]),
        ('{"a": [{"b": (1, 2)}]} {"c": 1', [{"a": [{"b": [1, 2]}]}]),
        ("{a: 1} [x] {", []),
        ("'{' {", []),
        ("[1, 2,]", [[1, 2]]),
        ("[1 2]", []),
        ("{}", [{}]),
    ],
)
def test_containers_are_found_in_prose(text: str, found: list[Any]) -> None:
    assert containers(text) == found


@pytest.mark.parametrize(
    "text", ["", "word", "1 2", "{", "[1", '"a', "1" * 1_000, "[" * (MAX_DEPTH + 2) + "]" * (MAX_DEPTH + 2)]
)
def test_what_is_no_single_literal_is_refused(text: str) -> None:
    with pytest.raises(NotLiteralError):
        literal_of(text)


@pytest.mark.parametrize("scrap", ["[", "{", "{'", '["', "[[1],", "\\", '"\\', "{'a':", "[1,2],", "-", "9"])
def test_hostile_text_takes_linear_time(scrap: str) -> None:
    started = time.process_time()
    containers(scrap * (32_000 // len(scrap)))
    assert time.process_time() - started < 3
