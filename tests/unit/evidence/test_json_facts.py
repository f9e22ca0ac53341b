"""Codes and messages of JSON error bodies, whatever vendor's shape they have."""

from __future__ import annotations

from enum import Enum, IntEnum

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rerail.evidence.json_facts import code_of, dump, facts_of, facts_of_text, parse_whole


class Status(IntEnum):
    BUSY = 429


class Word(Enum):
    BUSY = "busy"


SHAPES = [
    (
        {"error": {"message": "Quota", "type": "insufficient_quota", "param": None, "code": "insufficient_quota"}},
        ("insufficient_quota",),
        ("Quota",),
    ),
    (
        {"type": "error", "error": {"type": "overloaded_error", "message": "Overloaded"}},
        ("overloaded_error",),
        ("Overloaded",),
    ),
    (
        {
            "error": {
                "code": 429,
                "message": "No",
                "status": "RESOURCE_EXHAUSTED",
                "details": [{"reason": "RATE_LIMIT_EXCEEDED"}],
            }
        },
        ("429", "RESOURCE_EXHAUSTED", "RATE_LIMIT_EXCEEDED"),
        ("No",),
    ),
    ({"__type": "ThrottlingException", "message": "Rate exceeded"}, ("ThrottlingException",), ("Rate exceeded",)),
    ({"Error": {"Code": "AccessDenied", "Message": "No"}}, ("AccessDenied",), ("No",)),
    (
        {"error": {"code": "BadRequest", "message": "No", "innererror": {"code": "ContentFilter"}}},
        ("BadRequest", "ContentFilter"),
        ("No",),
    ),
    (
        {"errors": [{"message": "bad", "extensions": {"code": "GRAPHQL_VALIDATION_FAILED"}}]},
        ("GRAPHQL_VALIDATION_FAILED",),
        ("bad",),
    ),
    (
        {"detail": [{"type": "missing", "loc": ["body", "a"], "msg": "Field required"}]},
        ("missing",),
        ("Field required",),
    ),
    ({"detail": "Not authenticated"}, (), ("Not authenticated",)),
    (
        {"jsonrpc": "2.0", "id": 1, "error": {"code": -32602, "message": "Invalid params"}},
        ("-32602",),
        ("Invalid params",),
    ),
    ({"error": "invalid_grant", "error_description": "Token expired"}, ("invalid_grant",), ("Token expired",)),
    ({"error": "model 'x' not found"}, (), ("model 'x' not found",)),
    ({"title": "Too many", "status": 429, "type": "https://example.org/problems/limit"}, ("429",), ("Too many",)),
    ([{"error": {"status": "UNAVAILABLE", "message": "later"}}], ("UNAVAILABLE",), ("later",)),
]


@pytest.mark.parametrize(("body", "codes", "messages"), SHAPES)
def test_known_shapes_are_read(body: object, codes: tuple[str, ...], messages: tuple[str, ...]) -> None:
    assert facts_of(body, is_error=True) == (codes, messages)


SAY_IT_THEMSELVES = [
    body for body, codes, _ in SHAPES if codes and "detail" not in str(body)[:9] and "title" not in str(body)[:9]
]


@pytest.mark.parametrize("body", SAY_IT_THEMSELVES)
def test_a_body_that_says_itself_that_it_is_an_error_needs_no_failure_around_it(body: object) -> None:
    assert facts_of(body) == facts_of(body, is_error=True)


@pytest.mark.parametrize(
    "body",
    [
        *({}, [], None, "text", 4, {"ok": True}, {"error": None}, {"errors": []}),
        {"id": "msg_1", "type": "message", "role": "assistant", "content": []},
        {"code": 0, "status": "done", "message": "3 files"},
        {"results": [{"error": "in a field of its own"}]},
        {"details": {"type": "summary", "code": "x"}},
    ],
)
def test_what_is_no_error_has_no_facts(body: object) -> None:
    assert facts_of(body) == ((), ())


@pytest.mark.parametrize(
    ("value", "code"),
    [
        ("insufficient_quota", "insufficient_quota"),
        ("com.amazon#Throttling", "com.amazon#Throttling"),
        ("-32602", "-32602"),
        (-32602, "-32602"),
        (Status.BUSY, "429"),
        (Word.BUSY, "busy"),
        ("no such model", None),
        ("Sentence.", None),
        ("https://example.org", None),
        ("error", None),
        ("", None),
        ("é", None),
        ("x" * 100, None),
        (True, None),
        (None, None),
        (4.2, None),
        (10**20, None),
        (["a"], None),
    ],
)
def test_a_code_is_an_identifier_or_a_whole_number(value: object, code: str | None) -> None:
    assert code_of(value) == code


@pytest.mark.parametrize(
    "text", ["", "{", "}", "no json", '{"a": 1} trailing', "{]", "[1, 2", '"text"', "[" * 100_000 + "]" * 100_000]
)
def test_text_that_is_not_json_as_a_whole_gives_nothing(text: str) -> None:
    assert parse_whole(text) is None
    assert facts_of_text(text) == ((), ())


def test_bytes_and_surrounding_space_are_fine() -> None:
    assert facts_of_text(b' \n{"error": {"code": "x1"}}\n').codes == ("x1",)


def test_a_body_nested_without_end_is_read_in_part() -> None:
    body: dict[str, object] = {"code": "deepest"}
    for number in range(5000):
        body = {"error": body, "code": f"c{number}"}
    assert len(facts_of(body).codes) <= 32
    assert dump(body) == "<dict>"


def test_dump_never_fails() -> None:
    cyclic: list[object] = []
    cyclic.append(cyclic)
    assert dump(cyclic) == "<list>"
    assert dump({"a": object(), 1: b"x", (1,): 2}) == '{"a": "<object>", "1": "<bytes>"}'


@given(
    st.recursive(
        st.none() | st.booleans() | st.integers() | st.text(),
        lambda inner: (
            st.lists(inner)
            | st.dictionaries(st.sampled_from(["error", "code", "message", "errors", "detail", "type"]), inner)
        ),
    )
)
def test_any_json_has_facts_without_repeats(body: object) -> None:
    codes, messages = facts_of(body)
    assert len(set(codes)) == len(codes)
    assert len(set(messages)) == len(messages)
