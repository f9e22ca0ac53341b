"""Names of secrets are found where their last word stands, and that finds what trying every character would."""

from __future__ import annotations

import re

from hypothesis import given
from hypothesis import strategies as st

from rerail.evidence import secret_pairs

PARTS = (
    *secret_pairs._FIRST_WORDS, "password", "passwd", "passphrase", "pass", "pwd", "secrets", "token", "apitoken",
    "keys", "key", "auth",
    "authorization", "credentials", "signature", "sig", "jwt", "data", "x", "-", "_", " ", ".", "=", ": ", ">", '"',
    "'", "--", "\n", "1",
)  # fmt: skip


@given(st.lists(st.sampled_from(PARTS), max_size=12).map("".join))
def test_every_name_of_a_secret_is_found_where_its_last_word_stands(text: str) -> None:
    name = re.compile(secret_pairs._PAIR)
    everywhere = [match.span() for start in range(len(text)) if (match := name.match(text, start))]
    found = [match.span() for match in secret_pairs._pairs(text)]
    assert found[:1] == everywhere[:1]
    assert set(found) <= set(everywhere)
