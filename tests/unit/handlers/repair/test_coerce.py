"""Exact coercions: the same value, or none."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rerail.handlers.repair.coerce import MAX_EXACT, coercions
from rerail.handlers.repair.tree import same


@pytest.mark.parametrize(
    ("value", "forms"),
    [
        ("3", [3, ["3"]]),
        ("-3", [-3, ["-3"]]),
        ("3.5", [3.5, ["3.5"]]),
        ("3.0", [3.0, 3, ["3.0"]]),
        ("1e3", [1000.0, 1000, ["1e3"]]),
        ("true", [True, ["true"]]),
        ("False", [False, ["False"]]),
        ("null", [None, ["null"]]),
        ('{"a": 1}', [{"a": 1}]),
        ("[1, 2]", [[1, 2]]),
        ('{"a": "x\ny"}', [{"a": "x\ny"}]),
        (3, ["3", [3]]),
        (3.0, [3, [3.0]]),
        (3.5, [[3.5]]),
        (True, [[True]]),
        (None, []),
        ([1], []),
        ({"a": 1}, [[{"a": 1}]]),
        ("bug", [["bug"]]),
        ("src/a-b_c.py", [["src/a-b_c.py"]]),
        # Not the JSON text of anything else, or not a single word.
        ("", []),
        ("a b", []),
        ("a,b", []),
        ("a;b", []),
        ("TRUE", [["TRUE"]]),
        ("yes", [["yes"]]),
        ("03", [["03"]]),
        ("+3", [["+3"]]),
        (" 3", []),
        ("0x1f", [["0x1f"]]),
        ("1e400", [["1e400"]]),
        ("0.1000000000000000055511151231257827", [["0.1000000000000000055511151231257827"]]),
        ("-0", [["-0"]]),
        ("NaN", [["NaN"]]),
        ("{'a': 1, 'a': 2}", []),
        ('{"a": 1, "a": 2}', []),
        ('{"a": NaN}', []),
        ('{"a": 1', []),
        (str(MAX_EXACT), [MAX_EXACT, [str(MAX_EXACT)]]),
        (str(MAX_EXACT + 1), [[str(MAX_EXACT + 1)]]),
    ],
)
def test_the_forms_of_a_value(value: Any, forms: list[Any]) -> None:
    assert same(list(coercions(value)), forms)


@given(st.integers(-MAX_EXACT, MAX_EXACT) | st.booleans() | st.floats(allow_nan=False, allow_infinity=False))
def test_what_was_a_string_prints_as_that_string(value: Any) -> None:
    """A coerced value's JSON means what the string said."""
    text = json.dumps(value)
    first = next(iter(coercions(text)), None)
    assert first == [text] or same(first, value) or float(text) == first
