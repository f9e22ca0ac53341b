"""Why a unit pauses or stops is said in one place, for every reason."""

from __future__ import annotations

from rerail.decisions.because import BECAUSE
from rerail.decisions.model import Why


def test_every_reason_has_its_own_words() -> None:
    assert set(BECAUSE) == set(Why)
    assert len(set(BECAUSE.values())) == len(Why)


def test_words_are_clauses_that_can_stand_in_a_sentence() -> None:
    for words in BECAUSE.values():
        assert words.isprintable()
        assert words[0].islower()
        assert not words.endswith((".", " "))
