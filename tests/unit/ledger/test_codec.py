"""What is written is read back exactly, and nothing else is read."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.ledgers import classifications, counts, decisions, numbers, records, states, texts, whys
from tests.strategies import classification, record, running

from rerail.decisions.model import Retry
from rerail.errors import LedgerError
from rerail.evidence.model import Evidence, Source
from rerail.ids import PauseId, RunId, UnitName
from rerail.ledger import codec
from rerail.ledger.columns import from_json, read, to_json
from rerail.ledger.named import classification_to_json
from rerail.ledger.store import Owner, PauseRecord

if TYPE_CHECKING:
    from collections.abc import Callable

    from rerail.decisions.effects import FailureRecord
    from rerail.decisions.model import Decision, RunState
    from rerail.rules.model import Classification

questions = st.builds(
    PauseRecord,
    id=texts.map(PauseId),
    unit=texts.map(UnitName),
    run=texts.map(RunId),
    asked_at_s=numbers,
    why=whys,
    question=texts,
    class_=texts,
    reason=texts,
    rule=texts,
    evidence=texts,
    resume_at_s=st.none() | numbers,
    command=st.none() | st.lists(texts, max_size=3).map(tuple),
    cwd=texts,
    answer=st.none(),
    answered_at_s=st.none(),
    note=st.just(""),
)
owners = st.builds(Owner, counts, texts, texts, texts)


def through_text(value: object) -> Any:
    text = to_json(value)
    assert text.isascii()
    assert text.isprintable()
    return from_json(text)


@given(states)
def test_a_run_state_comes_back_as_it_was(state: RunState) -> None:
    assert codec.state_from_json(through_text(codec.state_to_json(state))) == state


@given(classifications)
def test_a_classification_comes_back_as_it_was(named: Classification) -> None:
    assert codec.classification_from_json(through_text(classification_to_json(named))) == named


@given(decisions)
def test_a_decision_comes_back_as_it_was(decision: Decision) -> None:
    assert codec.decision_from_json(through_text(codec.decision_to_json(decision))) == decision


@given(records)
def test_a_named_failure_comes_back_as_it_was(failure: FailureRecord) -> None:
    assert codec.record_from_json(through_text(codec.record_to_json(failure))) == failure


@given(questions)
def test_a_question_comes_back_as_it_was(pause: PauseRecord) -> None:
    assert codec.question_from_json(through_text(codec.question_to_json(pause))) == pause


@given(owners)
def test_an_owner_comes_back_as_it_was(owner: Owner) -> None:
    assert codec.owner_from_json(through_text(codec.owner_to_json(owner))) == owner


FAILURE = record(Retry(1.0))._replace(evidence=Evidence(Source.PROCESS, command=("make",), exit_code=2))

CODECS: list[tuple[str, Callable[[object], Any], Callable[[Any], dict[str, object]], Any]] = [
    ("run state", codec.state_from_json, codec.state_to_json, running(last=classification())),
    ("classification", codec.classification_from_json, classification_to_json, classification()),
    ("decision", codec.decision_from_json, codec.decision_to_json, Retry(1.0)),
    ("failure record", codec.record_from_json, codec.record_to_json, FAILURE),
    ("owner", codec.owner_from_json, codec.owner_to_json, Owner(1, "2", "3", "4")),
]


@pytest.mark.parametrize(("what", "read", "write", "value"), CODECS, ids=[what for what, *_ in CODECS])
class TestDamage:
    @pytest.mark.parametrize("damaged", [None, 1, "x", [], {}, [[]], {"kind": None}], ids=repr)
    def test_something_else_is_refused(self, what: str, read: Any, write: Any, value: Any, damaged: object) -> None:
        with pytest.raises(LedgerError, match=f"a stored {what} cannot be read") as raised:
            read(damaged)
        assert raised.value.hint

    def test_a_key_too_few_or_too_many_is_refused(self, what: str, read: Any, write: Any, value: Any) -> None:
        good = write(value)
        for key in good:
            with pytest.raises(LedgerError):
                read({name: kept for name, kept in good.items() if name != key})
        with pytest.raises(LedgerError):
            read({**good, "new": 1})

    @pytest.mark.parametrize(
        "wrong", [True, -1, {"a": 1}, ["x", 3], "\x1b[31mno such word", 10**400], ids=lambda wrong: ascii(wrong)[:12]
    )
    def test_a_value_of_another_kind_is_refused_or_is_what_it_says(
        self, what: str, read: Any, write: Any, value: Any, wrong: object
    ) -> None:
        """Never read as something near to it: what is accepted would be written the same again."""
        good = write(value)
        refusals: list[str] = []
        for key in good:
            try:
                accepted = read({**good, key: wrong})
            except LedgerError as error:
                refusals.append(error.message)
            else:
                assert write(accepted) == {**good, key: wrong}
        assert refusals
        assert all(refusal.isprintable() and len(refusal) < 1000 for refusal in refusals)


@pytest.mark.parametrize("kind", ["retry ", "RETRY", "sleep", "", 1, None])
def test_an_unknown_decision_is_refused(kind: object) -> None:
    with pytest.raises(LedgerError, match="expected a decision"):
        codec.decision_from_json({"kind": kind})


@pytest.mark.parametrize(
    "text", ["", "{", '{"a": 1}x', "nul", "[" * 100_000, None, 3, b"{}"], ids=lambda text: repr(text)[:12]
)
def test_what_is_not_json_is_refused(text: object) -> None:
    with pytest.raises(LedgerError, match="a stored run state cannot be read"):
        read("run state", from_json, text)


def test_the_public_keys_of_a_classification_are_those_of_the_design() -> None:
    written = classification_to_json(classification())
    assert {"class", "reason", "rule", "summary", "evidence", "action", "retry_after_s", "trace"} <= written.keys()
    assert json.loads(json.dumps(written)) == written
