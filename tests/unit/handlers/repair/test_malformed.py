"""Malformed JSON: what is mended, and what a repair library would have guessed."""

from __future__ import annotations

import json
import time
from typing import Any

import json_repair
import pytest
from hypothesis import given
from hypothesis import strategies as st

from rerail.handlers.repair.malformed import MAX_CHARS, mended


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ('{"a": 1,}', {"a": 1}),
        ("[1, 2,]", [1, 2]),
        ("{a: 1}", {"a": 1}),
        ("{'a': 'b'}", {"a": "b"}),
        ("{'a': \"it's\"}", {"a": "it's"}),
        (r"{'a': 'it\'s'}", {"a": "it's"}),
        ("{'a': True, 'b': None, 'c': False}", {"a": True, "b": None, "c": False}),
        ('{"a": 1 "b": 2}', {"a": 1, "b": 2}),
        ('{"a": "x" "b": "y"}', {"a": "x", "b": "y"}),
        ("[1 2 3]", [1, 2, 3]),
        ('```json\n{"a": 1,}\n```', {"a": 1}),
        ('```\n{"a": [{"b": 1.5,},],}\n```\n', {"a": [{"b": 1.5}]}),
        ('{"a": "\\u00e9\\ud83d\\ude00",}', {"a": "é😀"}),
        ('{"a": "tab\\there",}', {"a": "tab\there"}),
        ('{"url": "http://x/?a=1,b:2",}', {"url": "http://x/?a=1,b:2"}),
    ],
)
def test_punctuation_is_mended(text: str, value: Any) -> None:
    assert mended(text) == value


@pytest.mark.parametrize(
    "text",
    [
        # Cut off.
        '{"a": 1',
        '{"a": [1, 2',
        '{"a": "x',
        '{"a":',
        '{"a": [1, 2}',
        "{",
        "",
        # Something would be dropped, made up, or read in one of two ways.
        '{"a": 1, "a": 2,}',
        '{"a": 1} trailing',
        '{"a": 1}{"b": 2}',
        'Here: {"a": 1,}',
        '{"a": [1,,2]}',
        '{,"a": 1}',
        '{"a" 1}',
        '{"a":}',
        '{"a", "b": 1}',
        '{"a": "1" "2"}',
        '["a" "b"]',
        '{"a": "he said "hi" there"}',
        '{"a": "he said " hi " there"}',
        "{'a': 'it's'}",
        '{"a": hello world}',
        '{"a": undefined}',
        '{"a": NaN,}',
        '{"a": 01,}',
        '{"a": +1}',
        '{"a": .5}',
        '{"a": ("x", 1)}',
        '{"a": "x", // why\n "b": 1}',
        '{"a": "\\d+",}',
        '{"a": "C:\\dir",}',
        '{"k": "v",]}',
        "plain words",
        '"a string"',
        "5",
    ],
)
def test_what_is_not_certain_is_not_mended(text: str) -> None:
    assert mended(text) is None


def test_the_library_alone_would_have_completed_and_dropped() -> None:
    """Why its result is not taken as it comes."""
    assert json_repair.loads('{"path": "/tmp/a", "mode": "w') == {"path": "/tmp/a", "mode": "w"}
    assert json_repair.loads('{"a": 1, "a": 2,}') == {"a": 2}
    assert json_repair.loads('{"a": "1" "2"}') == {"a": "1"}


json_values = st.recursive(
    st.none()
    | st.booleans()
    | st.integers(-(10**9), 10**9)
    | st.text(st.characters(exclude_categories=["Cs", "Cc"]), max_size=8),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(
            st.text(st.characters(exclude_categories=["Cs", "Cc"]), min_size=1, max_size=5), inner, max_size=3
        )
    ),
    max_leaves=8,
)


@given(st.dictionaries(st.text("abc", min_size=1), json_values, min_size=1, max_size=3))
def test_a_trailing_comma_changes_nothing_else(value: dict[str, Any]) -> None:
    found = mended(json.dumps(value, ensure_ascii=False)[:-1] + ",}")
    assert found is None or found == value


@given(st.text("{}[]\"':, ab1\\\n", max_size=40))
def test_whatever_is_mended_says_what_the_text_says(text: str) -> None:
    found = mended(text)
    assert found is None or sorted(filter(str.isalnum, json.dumps(found))) == sorted(filter(str.isalnum, text))


@given(json_values.filter(lambda value: isinstance(value, dict | list)), st.data())
def test_no_part_of_a_text_is_taken_for_the_whole(value: Any, data: st.DataObject) -> None:
    text = json.dumps(value)
    cut = data.draw(st.integers(1, len(text) - 1))
    assert mended(text[:cut]) is None


def test_a_long_text_is_not_tried() -> None:
    started = time.process_time()
    assert mended("{'" * MAX_CHARS) is None
    assert mended("{" + "'a': 1, " * 5_000 + "}") is None, "one name, many times"
    assert time.process_time() - started < 5
