"""What a schema says of a place, and what it judges."""

from __future__ import annotations

import socket
import time
from typing import Any

import pytest
from pydantic import BaseModel, TypeAdapter

from rerail.handlers.repair.judging import UnjudgedError
from rerail.handlers.repair.model import Kind
from rerail.handlers.repair.shape import Shape, shape_of

DOCUMENT: dict[str, Any] = {
    "$defs": {
        "owner": {
            "type": "object",
            "properties": {"id": {"type": "integer", "default": 1}, "boss": {"$ref": "#/$defs/owner"}},
        },
        "a/b": {"properties": {"slash": {"const": 1}}},
    },
    "properties": {
        "owner": {"$ref": "#/$defs/owner"},
        "maybe": {"anyOf": [{"$ref": "#/$defs/owner"}, {"type": "null"}]},
        "either": {"anyOf": [{"properties": {"x": {}}}, {"properties": {"y": {}}}]},
        "both": {"allOf": [{"properties": {"p": {"enum": ["only"]}}}, {"properties": {"q": {"enum": ["u", "v"]}}}]},
        "list": {"type": "array", "prefixItems": [{"const": "first"}], "items": {"properties": {"n": {}}}},
        "map": {"additionalProperties": {"default": 5}},
        "open": {"patternProperties": {"^x-": {}}},
        "odd": {"$ref": "#/$defs/a~1b"},
        "loop": {"$ref": "#/properties/loop"},
        "torn": {"const": 1, "allOf": [{"const": 2}]},
        "equal": {"const": 1, "enum": [1]},
        "one": {"const": 1, "allOf": [{"const": True}]},
        "yes": {"const": True},
    },
}


def shape(document: object = DOCUMENT) -> Shape:
    found = shape_of(document)
    assert found is not None
    return found


@pytest.mark.parametrize(
    ("place", "fields"),
    [
        (("owner",), {"id", "boss"}),
        (("owner", "boss", "boss"), {"id", "boss"}),
        (("maybe",), {"id", "boss"}),
        (("either",), set()),
        (("both",), {"p", "q"}),
        (("list", 0), set()),
        (("list", 3), {"n"}),
        (("map", "anything"), set()),
        (("odd",), {"slash"}),
        (("loop",), set()),
        (("none", "of", 3, "these"), set()),
    ],
)
def test_fields_that_certainly_apply(place: tuple[Any, ...], fields: set[str]) -> None:
    assert shape().fields(place) == fields


@pytest.mark.parametrize(
    ("place", "given"),
    [
        (("owner", "id"), 1),
        (("both", "p"), "only"),
        (("both", "q"), None),
        (("list", 0), "first"),
        (("list", 1), None),
        (("map", "x"), 5),
        (("odd", "slash"), 1),
        (("torn",), None),
        (("one",), None),
        (("equal",), 1),
        (("yes",), None),
        (("loop",), None),
    ],
)
def test_a_value_is_given_only_when_there_is_no_other(place: tuple[Any, ...], given: object) -> None:
    assert (shape().given(place) or (None,))[0] == given


def test_values_and_patterns_are_told() -> None:
    assert shape().values(("both", "q")) == ("u", "v")
    assert shape().has_open_names(("open",))
    assert not shape().has_open_names(("owner",))


def test_the_dialect_is_the_one_that_the_schema_names() -> None:
    draft_4 = {"$schema": "http://json-schema.org/draft-04/schema#", "exclusiveMinimum": True, "minimum": 3}
    assert shape(draft_4).judge(3)
    assert not shape(draft_4).judge(4)
    with pytest.raises(UnjudgedError):
        shape_of({"exclusiveMinimum": True, "minimum": 3})
    assert shape({"$schema": "https://example.com/unknown", "type": "string"}).judge(3)


def test_formats_are_not_asserted() -> None:
    assert shape({"format": "email"}).judge("not an address") == ()


def test_nothing_is_fetched(monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(*_: object, **__: object) -> None:
        pytest.fail("a connection was opened")

    monkeypatch.setattr(socket, "create_connection", refuse)
    monkeypatch.setattr(socket, "getaddrinfo", refuse)
    for ref in ("http://127.0.0.1:9/x.json", "https://example.com/x.json", "other.json"):
        with pytest.raises(UnjudgedError):
            shape({"$ref": ref}).judge(1)


@pytest.mark.parametrize(
    "schema",
    [
        5,
        "string",
        [],
        {"type": "strng"},
        {"type": 5},
        {"required": "a"},
        {"properties": []},
        {"pattern": "(?=a)(a+)+$"},
        {"pattern": r"(a)\1"},
        {"pattern": "("},
        {"patternProperties": {"(.*)*": {}}},
        {"properties": {"a": {"patternProperties": {"(a+)+$": {}}}}},
        {"$schema": ["x"]},
        {1: 2},
    ],
)
def test_a_schema_that_cannot_be_used_is_refused(schema: object) -> None:
    with pytest.raises(UnjudgedError):
        shape(schema).judge("x")


@pytest.mark.parametrize(
    ("pattern", "fits", "does_not"),
    [
        (r"^[a-z0-9]+(?:-[a-z0-9]+)*$", "a-b-c", "a--b"),
        (r"^[^@\s]+@[^@\s]+\.[^@\s]+$", "a@b.c", "a@b"),
        (r"^v?(\d+)\.(\d+)\.(\d+)(-[0-9A-Za-z-]+(\.[0-9A-Za-z-]+)*)?$", "v1.2.3-rc.1", "v1.2"),
        ("(a+)+$", "aaa", "aaab"),
        (r"^\p{L}+$", "é", "1"),
        ("b", "abc", "xyz"),
        (r"^(?!foo)\w{1,9}$", "bar", "foobar"),
    ],
)
def test_patterns_are_matched_and_take_no_time(pattern: str, fits: str, does_not: str) -> None:
    judge = shape({"pattern": pattern}).judge
    assert judge(fits) == ()
    assert [complaint.kind for complaint in judge(does_not)] == [Kind.OTHER]
    started = time.process_time()
    judge("a" * 800 + "!")
    assert time.process_time() - started < 1


@pytest.mark.parametrize("schema", [True, False, {}])
def test_schemas_that_say_nothing_are_schemas(schema: object) -> None:
    assert bool(shape(schema).judge(1)) is (schema is False)


def test_no_schema_is_no_shape() -> None:
    assert shape_of(None) is None


def test_a_schema_is_not_kept_but_copied() -> None:
    document: dict[str, Any] = {"type": "integer"}
    found = shape(document)
    document["type"] = "string"
    assert found.judge(3) == ()


class Item(BaseModel):
    n: int = 3


@pytest.mark.parametrize("schema", [Item, TypeAdapter(Item)])
def test_models_and_adapters_judge_by_themselves(schema: object) -> None:
    found = shape(schema)
    assert found.judge({"n": "5"}) == (), "a lax model takes a string"
    (complaint,) = found.judge({"n": "x"})
    assert (complaint.kind, complaint.place) == (Kind.TYPE, ("n",))
    assert found.fields(()) == {"n"}
    assert found.given(("n",)) == (3, "its schema's default")


def test_a_model_without_a_json_schema_still_judges() -> None:
    class Opaque(BaseModel):
        model_config = {"arbitrary_types_allowed": True}
        thing: object
        call: type[Exception] = ValueError
        sock: socket.socket | None = None

    found = shape(Opaque)
    assert found.judge({"thing": 1}) == ()
    assert [complaint.kind for complaint in found.judge({})] == [Kind.MISSING]
