"""Text columns take anything, and are readable in a terminal."""

from __future__ import annotations

import sqlite3

import pytest
from hypothesis import given
from tests.ledgers import texts

from rerail.errors import LedgerError
from rerail.ledger.columns import count, each, from_text, maybe, number, read, text, to_text, truth


@given(texts)
def test_any_text_comes_back_as_it_was_and_is_printable_while_stored(value: str) -> None:
    stored = to_text(value)
    assert stored.isprintable()
    assert from_text(stored) == value


@given(texts)
def test_sqlite_holds_any_text(value: str) -> None:
    connection = sqlite3.connect(":memory:")
    try:
        assert connection.execute("SELECT ?", (to_text(value),)).fetchone() == (to_text(value),)
    finally:
        connection.close()


@given(texts, texts)
def test_two_texts_are_never_stored_alike(one: str, other: str) -> None:
    assert (to_text(one) == to_text(other)) == (one == other)


def test_an_ordinary_name_is_stored_as_it_is() -> None:
    assert to_text("verify:tests é") == "verify:tests é"


@pytest.mark.parametrize(
    ("reader", "damaged"),
    [
        (text, None),
        (text, b"x"),
        (from_text, '"open'),
        (from_text, '"a" b'),
        (number, True),
        (number, "1"),
        (number, 10**400),
        (count, -1),
        (count, 1.0),
        (count, True),
        (truth, 1),
        (lambda value: each(text, value), "ab"),
        (lambda value: each(text, value), ["a", 1]),
        (lambda value: maybe(count, value), "x"),
    ],
)
def test_a_column_of_another_kind_counts_as_spent(reader: object, damaged: object) -> None:
    with pytest.raises(LedgerError, match="a stored balance cannot be read, and counts as spent"):
        read("balance", reader, damaged)  # type: ignore[arg-type]  # a reader
