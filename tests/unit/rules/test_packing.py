"""Packed data give back what was packed, one by one."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from rerail.rules.packing import Rows, Shelves, pack_rows, pack_shelves, packed, unpacked

plain = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=5),
    lambda inner: st.lists(inner, max_size=3).map(tuple) | st.dictionaries(st.text(max_size=3), inner, max_size=3),
    max_leaves=8,
)


@given(plain)
def test_a_value_comes_back(value: object) -> None:
    assert unpacked(packed(value)) == value


@given(st.lists(plain, max_size=20))
def test_rows_come_back_in_their_order(values: list[object]) -> None:
    rows = Rows(unpacked(packed(pack_rows(values))))
    assert (len(rows), list(rows)) == (len(values), values)
    assert [rows[place] for place in range(len(rows))] == values


@given(st.dictionaries(st.text(max_size=5), plain, max_size=30), st.text(max_size=5))
def test_an_entry_is_found_by_its_key_alone(entries: dict[str, object], other: str) -> None:
    shelves = Shelves(unpacked(packed(pack_shelves(entries))))
    assert {key: shelves.get(key, "nothing") for key in entries} == entries
    assert shelves.get(other, "nothing") == entries.get(other, "nothing")
