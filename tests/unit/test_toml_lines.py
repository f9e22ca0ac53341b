"""Where things stand in a TOML file, whatever way they are written."""

from __future__ import annotations

import json
import tomllib
from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rerail.errors import RecipeError, SettingsError
from rerail.toml_lines import KeyPath, dotted, line_of, parse_toml, places, read_text

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

EVERYTHING = r'''
# a comment with [a.header] and a = 1
title = "quotes \" and # hash"                # 3
a.b . "c.d" = 4                               # 4
'lit"eral' = 'no \ escape'                    # 5
"esc\u0061ped" = 6                            # 6
text = """
[not.a.header]
key = 1 \""" still text
four quotes end it""""                        # 7
raw = \'\'\'
x = \'two\'\' quotes\'\'\'\'\'                # 11
day = 1979-05-27 07:32:00                     # 13
list = [ 1, # one ]
  "two ]", [3, 4],                            # 15
  { x = 1, y.z = [ 5,
    6 ] },                                    # 17
]
empty = []
nothing = {}                                  # 20

[ table . "sub table" ]                       # 22
key = -inf                                    # 23
[[array]]                                     # 24
n = 1
[[array.inner]]                               # 26
n = 2
[array.inner.deep]                            # 28
n = 3
[[array.inner]]                               # 30
[[array]]                                     # 31
inner = [{ n = 4 }]                           # 32
'''.replace(r"\'", "'")

LINES: dict[KeyPath, int] = {
    ("title",): 3,
    ("a",): 4,
    ("a", "b"): 4,
    ("a", "b", "c.d"): 4,
    ('lit"eral',): 5,
    ("escaped",): 6,
    ("text",): 7,
    ("raw",): 11,
    ("day",): 13,
    ("list",): 14,
    ("list", 0): 14,
    ("list", 1): 15,
    ("list", 2): 15,
    ("list", 2, 0): 15,
    ("list", 2, 1): 15,
    ("list", 3): 16,
    ("list", 3, "x"): 16,
    ("list", 3, "y"): 16,
    ("list", 3, "y", "z"): 16,
    ("list", 3, "y", "z", 0): 16,
    ("list", 3, "y", "z", 1): 17,
    ("empty",): 19,
    ("nothing",): 20,
    ("table",): 22,
    ("table", "sub table"): 22,
    ("table", "sub table", "key"): 23,
    ("array",): 24,
    ("array", 0): 24,
    ("array", 0, "n"): 25,
    ("array", 0, "inner"): 26,
    ("array", 0, "inner", 0): 26,
    ("array", 0, "inner", 0, "n"): 27,
    ("array", 0, "inner", 0, "deep"): 28,
    ("array", 0, "inner", 0, "deep", "n"): 29,
    ("array", 0, "inner", 1): 30,
    ("array", 1): 31,
    ("array", 1, "inner"): 32,
    ("array", 1, "inner", 0): 32,
    ("array", 1, "inner", 0, "n"): 32,
}


def paths(value: Any, at: KeyPath = ()) -> Iterator[KeyPath]:
    """Every path in what tomllib read."""
    if at:
        yield at
    inner = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    for key, item in inner:
        yield from paths(item, (*at, key))


def test_every_way_to_write_toml_has_its_lines() -> None:
    assert dict(places(EVERYTHING)) == LINES
    assert set(paths(tomllib.loads(EVERYTHING))) == set(LINES)


def test_carriage_returns_count_for_nothing() -> None:
    assert places(EVERYTHING.replace("\n", "\r\n")) == LINES


keys = st.text(st.characters(codec="utf-8", exclude_categories=("Cs", "Cc"), exclude_characters="\x7f"), max_size=4)
scalars = st.integers() | st.booleans() | keys
values: st.SearchStrategy[Any] = st.recursive(
    scalars, lambda inner: st.lists(inner, max_size=3) | st.dictionaries(keys, inner, max_size=3), max_leaves=6
)
blanks = st.sampled_from(["", "\n", "# a note\n", "\n\n  # [x]\n"])


def written(value: Any, blank: str) -> str:
    """TOML for a value; arrays may run over several lines, inline tables may not."""
    if isinstance(value, dict):
        return "{" + ", ".join(f"{written(key, '')} = {written(item, '')}" for key, item in value.items()) + "}"
    if isinstance(value, list):
        return "[" + "".join(f"{blank}{written(item, blank)},{blank}" for item in value) + "]"
    return json.dumps(value, ensure_ascii=False)


@given(st.dictionaries(keys, values, max_size=4), st.dictionaries(keys, values, max_size=4), blanks, st.data())
def test_what_tomllib_reads_has_a_line_and_nothing_else_has(
    top: dict[str, Any], table: dict[str, Any], blank: str, data: st.DataObject
) -> None:
    name = data.draw(keys.filter(lambda key: key not in top))
    text = "".join(f"{blank}{written(key, '')} = {written(value, blank)}\n" for key, value in top.items())
    text += f"{blank}[{written(name, '')}]\n"
    text += "".join(f"{written(key, '')} = {written(value, blank)}\n" for key, value in table.items())
    found = places(text)
    assert set(found) == set(paths(tomllib.loads(text)))
    lines = text.split("\n")
    for path, line in found.items():
        if isinstance(path[-1], str):
            assert json.dumps(path[-1], ensure_ascii=False) in lines[line - 1]


def test_a_fault_stands_at_the_innermost_part_that_the_file_has() -> None:
    known = places(EVERYTHING)
    assert line_of(known, ("table", "sub table", "missing", "x")) == 22
    assert line_of(known, ("list", 9)) == 14
    assert line_of(known, ("missing",)) is None
    assert line_of(known, ()) is None


@pytest.mark.parametrize(
    ("path", "text"),
    [
        (("budgets", "git"), "budgets.git"),
        (("units", "verify:tests", "effects"), 'units."verify:tests".effects'),
        (("packs", 1), "packs.1"),
        (("a.b", ""), '"a.b".""'),
        (("forged\n\x1b[2J\u202e",), '"forged\\n\\u001b[2J\\u202e"'),
        (("größe",), '"größe"'),
    ],
)
def test_a_path_is_written_as_toml_writes_it(path: KeyPath, text: str) -> None:
    assert dotted(path) == text


@pytest.mark.parametrize(
    ("text", "fault"),
    [
        ("a = \nb = 1\n", "x.toml:1: is not TOML: Invalid value"),
        ("a = 1\na = 2\n", "x.toml:2: is not TOML: Cannot overwrite a value"),
        ("a = [", "x.toml: is not TOML: Invalid value (at end of document)"),
        (f"a = {'[' * 100_000}", "x.toml: is nested too deeply"),
        (f"a = {'9' * 5_000}", "x.toml: is not TOML: Exceeds the limit"),
    ],
    ids=["no value", "twice", "no end", "too deep", "too long"],
)
def test_what_is_not_toml_is_told_with_its_line(text: str, fault: str) -> None:
    with pytest.raises(SettingsError) as caught:
        parse_toml(text, "x.toml", SettingsError)
    assert str(caught.value).startswith(fault)


def test_toml_is_read() -> None:
    assert parse_toml("a = 1", "x.toml", SettingsError) == {"a": 1}


class TestReading:
    def test_a_byte_order_mark_is_dropped(self, tmp_path: Path) -> None:
        (tmp_path / "x.toml").write_bytes(b"\xef\xbb\xbfa = 1")
        assert read_text(tmp_path / "x.toml", "x.toml", RecipeError) == "a = 1"

    def test_a_file_that_is_not_utf_8_is_told_with_its_line(self, tmp_path: Path) -> None:
        (tmp_path / "x.toml").write_bytes(b"a = 1\nb = '\xe9'\n")
        with pytest.raises(RecipeError, match=r"^x\.toml:2: is not UTF-8$"):
            read_text(tmp_path / "x.toml", "x.toml", RecipeError)

    def test_a_directory_is_told(self, tmp_path: Path) -> None:
        with pytest.raises(RecipeError, match=r"^x\.toml: cannot be read: Is a directory$"):
            read_text(tmp_path, "x.toml", RecipeError)

    def test_an_absent_file_is_the_callers_business(self, tmp_path: Path) -> None:
        with pytest.raises(FileNotFoundError):
            read_text(tmp_path / "x.toml", "x.toml", RecipeError)
