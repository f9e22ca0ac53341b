"""What is read and written is what `json` reads and writes."""

from __future__ import annotations

import json
import math
import subprocess
import sys
from typing import TYPE_CHECKING

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rerail.plain_json import parse, quoted, quoted_in_ascii, text_of

if TYPE_CHECKING:
    from collections.abc import Callable

values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.text(),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=4), inner, max_size=4),
    max_leaves=12,
)


def outcome(read: Callable[[str], object], text: str) -> tuple[object, ...]:
    """What comes of reading a text: the value, or what is raised and said."""
    try:
        return (repr(read(text)),)
    except (ValueError, RecursionError) as error:
        return type(error), str(error)


@given(values)
def test_a_value_is_written_as_json_writes_it(value: object) -> None:
    assert text_of(value) == json.dumps(value)
    assert text_of(value, ",", ":") == json.dumps(value, separators=(",", ":"))
    assert parse(text_of(value)) == value


@given(st.text())
def test_a_text_is_quoted_as_json_quotes_it(text: str) -> None:
    assert quoted(text) == json.dumps(text, ensure_ascii=False)
    assert quoted_in_ascii(text) == json.dumps(text)


@pytest.mark.parametrize("value", [math.nan, math.inf, -math.inf, [1.0, math.inf]])
def test_a_number_that_json_has_no_form_for_is_refused(value: object) -> None:
    with pytest.raises(ValueError, match="JSON has no form for"):
        text_of(value)


@pytest.mark.parametrize("value", [{1, 2}, {1: "a"}, object(), b"bytes"])
def test_what_is_no_json_value_is_refused(value: object) -> None:
    with pytest.raises(TypeError):
        text_of(value)


@pytest.mark.parametrize(
    "text",
    [
        *(
            "",
            " ",
            "{",
            "[1,]",
            '{"a": }',
            "nul",
            "01",
            "'a'",
            '"\n"',
            "\ufeff{}",
            "[1] 2",
            "{}{}",
            "\x0b1",
            "1 \u00a0",
        ),
        *(" \t\n\r[1, 2.5e3]\r\n", '{"a": {"b": [null, true, false]}}', "NaN", "-Infinity", '"\\ud800"', "1" * 5000),
        *('{"a": 1, "a": 2}', "-0", "1e400", "[" * 100_000),
    ],
)
def test_a_text_is_read_or_refused_as_json_reads_and_refuses_it(text: str) -> None:
    assert outcome(parse, text) == outcome(json.loads, text)


@given(st.text('{}[]":,0123456789.eE+-truefalsn \\u\n', max_size=20))
def test_any_text_is_read_or_refused_alike(text: str) -> None:
    assert outcome(parse, text) == outcome(json.loads, text)


def test_a_torn_text_is_refused_where_nobody_has_imported_json() -> None:
    """There the scanner has no error to raise, and would end the process with another."""
    script = "import sys\nfrom rerail.plain_json import parse\nassert 'json' not in sys.modules\nparse('{')\n"
    done = subprocess.run(
        [sys.executable, "-S", "-c", f"import sys; sys.path[:0] = {sys.path!r}\n{script}"], capture_output=True
    )
    assert b"JSONDecodeError" in done.stderr
