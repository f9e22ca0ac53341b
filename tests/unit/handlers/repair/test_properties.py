"""What holds of every repair, over schemas that were made up, inputs that were broken, and messages that mean harm."""

from __future__ import annotations

import copy
import json
import time
from typing import Any

import pytest
from hypothesis import HealthCheck, event, given, settings
from hypothesis import strategies as st
from tests.repairs import SCHEMAS, accepts, breakages, places, proposal_of, request, words_of_jsonschema

from rerail.handlers.repair import propose
from rerail.handlers.repair.complaints import read
from rerail.handlers.repair.phrasebook import PHRASES
from rerail.handlers.repair.phrases import compiled
from rerail.handlers.repair.suggest import alike
from rerail.handlers.repair.tree import same

json_values = st.recursive(
    st.none()
    | st.booleans()
    | st.integers(-(10**20), 10**20)
    | st.floats(allow_nan=False, allow_infinity=False)
    | st.text(max_size=8),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(st.sampled_from(["a", "b_c", "BC", "id", "0", ""]), inner, max_size=3)
    ),
    max_leaves=12,
)

SCRAPS = (
    *(
        "missing required field: ",
        "a",
        "b_c",
        "'id'",
        " is required",
        " must be integer",
        "Input should be a valid string",
        ", ",
    ),
    *(
        "[type=missing, input_value=",
        "\n  ",
        "\n",
        "1 validation error for M\n",
        "{",
        "}",
        "[",
        "]",
        '"',
        "'",
        "\\",
        "/a/0",
        "a.b_c[0]",
    ),
    *(
        "Additional properties are not allowed ('a' was unexpected)",
        " Did you mean 'b_c'?",
        '{"loc": ["a"], "type": "missing"}',
    ),
    *(
        '[{"code": "invalid_type", "path": ["a", 0], "expected": "number", "message": "x"}]',
        "Unknown tool: a",
        "→ at a",
        "On instance['a']:",
    ),
    *(
        '{"keyword": "type", "instancePath": "/a", "params": {"type": "integer"}}',
        "is not one of ['a', 'b']",
        "expected one of ",
        "\x00\ud800",
    ),
)
noise = st.lists(st.sampled_from(SCRAPS) | st.text(max_size=5), max_size=12).map("".join)

_names = st.sampled_from(["a", "b_c", "bC", "id", "a.id", "a[0]", "/a/0", "c"])
sentences = st.one_of(
    st.tuples(
        st.sampled_from(
            [
                *(
                    "missing required field: {0}",
                    "{0} is required",
                    "Missing required parameter: '{0}'.",
                    "{0}: Field required",
                ),
                *(
                    "Additional properties are not allowed ('{0}' was unexpected)",
                    "unknown field `{0}`",
                    "Unknown parameter: '{0}'.",
                ),
                *(
                    "{0} must be integer",
                    "{0} must be string",
                    "{0}: Input should be a valid boolean",
                    "/{0} must be array",
                ),
                *(
                    "{0} must be one of [a, b_c, 1]",
                    "unknown field `{0}`. Did you mean 'b_c'?",
                    "Unknown tool: '{0}'. Did you mean 'id'?",
                ),
                *(
                    '[{{"loc": ["{0}"], "type": "missing", "msg": ""}}]',
                    '[{{"code": "unrecognized_keys", "keys": ["{0}"], "path": []}}]',
                ),
            ]
        ),
        _names,
    ).map(lambda drawn: drawn[0].format(drawn[1])),
    noise,
)
messages = st.lists(sentences, min_size=1, max_size=3).map("\n".join)
leaf_values = st.sampled_from(
    ["1", "2.0", "true", "null", "B-C", "id", 1, 2.0, True, None, "[1]", '{"id": "1"}', '{"id": 1', "x y"]
)
inputs = st.recursive(
    leaf_values,
    lambda inner: (
        st.lists(inner, max_size=2) | st.dictionaries(st.sampled_from(["a", "b_c", "bC", "id", "c"]), inner, max_size=4)
    ),
    max_leaves=8,
) | st.dictionaries(st.sampled_from(["a", "b_c", "bC", "id", "c"]), leaf_values, max_size=4)

loose_schemas = st.recursive(
    st.sampled_from(
        [
            {"type": "integer"},
            {"type": "string"},
            {"type": ["array", "null"]},
            {"enum": ["a", "B_C", 1]},
            {"const": 3},
            {},
            True,
            False,
        ]
    ),
    lambda inner: st.fixed_dictionaries(
        {"properties": st.dictionaries(st.sampled_from(["a", "b_c", "id"]), inner, max_size=3)},
        optional={
            "type": st.sampled_from(["object", "array"]),
            "required": st.lists(st.sampled_from(["a", "b_c", "id"]), unique=True, max_size=2),
            "additionalProperties": st.booleans() | inner,
            "items": inner,
            "anyOf": st.lists(inner, min_size=1, max_size=2),
            "default": json_values,
        },
    ),
    max_leaves=6,
)

broken_schemas = st.dictionaries(
    st.sampled_from(
        ["type", "properties", "required", "$ref", "$schema", "allOf", "enum", "items", "pattern", "$defs", "default"]
    ),
    json_values | st.sampled_from(["#", "#/properties/a", "https://example.com/x.json", "(a+)+$", "object"]),
    max_size=4,
)


def changed_places(before: Any, after: Any, place: tuple[Any, ...] = ()) -> set[tuple[Any, ...]]:
    """Where two values differ, as high as the difference begins."""
    if isinstance(before, dict) and isinstance(after, dict):
        names = {*before, *after}
        return {
            deep
            for name in names
            for deep in (
                changed_places(before[name], after[name], (*place, name))
                if name in before and name in after
                else {(*place, name)}
            )
        }
    if isinstance(before, list) and isinstance(after, list) and len(before) == len(after):
        return {
            deep
            for index, pair in enumerate(zip(before, after, strict=True))
            for deep in changed_places(*pair, (*place, index))
        }
    return set() if same(before, after) else {place}


@settings(suppress_health_check=[HealthCheck.too_slow], deadline=None, max_examples=60)
@given(SCHEMAS)
def test_what_was_broken_in_one_place_is_as_it_was(pair: tuple[dict[str, Any], dict[str, Any]]) -> None:
    """Or is left alone: only what is exotic in malformed JSON may be."""
    schema, right = pair
    for broken in breakages(schema, right):
        proposal = proposal_of(broken, words_of_jsonschema(schema, broken.sent))
        if proposal is None:
            assert broken.how in {"python", "trailing comma", "fence"}
            assert "\\" in broken.sent
        else:
            event(broken.how.split()[0])
            assert same(proposal.input, right)


@settings(suppress_health_check=[HealthCheck.too_slow], deadline=None, max_examples=300)
@given(
    json_values,
    messages,
    st.none() | loose_schemas,
    st.dictionaries(st.sampled_from(["a", "id", "b_c", "a.id"]), json_values),
)
def test_a_proposal_fits_differs_and_tells_what_it_did(
    sent: Any, message: str, schema: Any, context: dict[str, Any]
) -> None:
    before = copy.deepcopy((sent, context, schema))
    asked = request(sent, message, schema=schema, context=context)
    proposal = propose(asked)
    assert (sent, context, schema) == before
    if proposal is None:
        return
    event("proposed")
    assert not same(proposal.input, sent)
    assert proposal.changes
    assert all(text and text.isprintable() and "\n" not in text for text in proposal.changes)
    assert schema is None or accepts(schema, proposal.input)
    if schema is None and isinstance(sent, dict | list):
        named = {
            str(step) for each in read(asked.evidence) for step in (*(each.place or ()), *each.suggested, *each.allowed)
        }
        for place in changed_places(sent, proposal.input):
            received = [each for each in read(asked.evidence) if each.place is None]
            assert received or any(str(step) in named or alike(str(step), named) for step in place), (
                "nobody complained about this place"
            )
    assert propose(request(proposal.input, "", schema=schema, context=context)) is None, (
        "a repaired input needs no repair"
    )


@settings(suppress_health_check=[HealthCheck.too_slow], deadline=None, max_examples=200)
@given(st.text(max_size=60) | json_values | inputs, messages, broken_schemas | json_values)
def test_nothing_is_raised_whatever_comes(sent: Any, message: str, schema: Any) -> None:
    asked = request(sent, message, schema=schema, context={"a": 1, "b_c": "x"})
    propose(asked)
    assert asked.prompt()


@settings(deadline=None, max_examples=100)
@given(json_values, st.integers(1, 30))
def test_a_text_that_is_cut_off_is_never_completed(value: Any, cut: int) -> None:
    text = json.dumps({"a": value, "z": ["end"]})[:-cut]
    if not (text.startswith("{") and len(text) > 1):
        return
    assert propose(request(text, "not valid JSON", schema={"type": "object"})) is None


def test_the_phrases_take_linear_time() -> None:
    scraps = (
        "a.",
        "a|",
        "[a",
        "'a' ",
        "a is ",
        "must be ",
        "expected int ",
        "input should be ",
        "a, ",
        "(",
        "`",
        "an ",
        "or ",
    )
    for phrase in PHRASES:
        for scrap in scraps:
            text = (phrase.needle + scrap * 40) * (2_000 // (40 * len(scrap)))
            started = time.process_time()
            list(compiled(phrase.pattern).finditer(text))
            assert time.process_time() - started < 0.5, (phrase, scrap)


DEEP: dict[str, Any] = {}
for _ in range(500):
    DEEP = {"properties": {"a": DEEP}}
EXPONENTIAL = {
    "$defs": {f"d{n}": {"allOf": [{"$ref": f"#/$defs/d{n + 1}"}] * 2} for n in range(40)}
    | {"d40": {"type": "integer"}},
    "$ref": "#/$defs/d0",
}


@pytest.mark.parametrize(
    ("sent", "message", "schema"),
    [
        ({"a": "1"}, "x", DEEP),
        (5, "x", EXPONENTIAL),
        ({"a": "a" * 40 + "!"}, "x", {"properties": {"a": {"pattern": "(a+)+$"}}}),
        ({"a" * 900 + "!": 1}, "x", {"patternProperties": {"^(a|a)*$": {}}}),
        ({"a": "a" * 100_000}, "x", {"properties": {"a": {"pattern": "a.*b.*c"}}}),
        ({"a": [{"n": n} for n in range(3_000)]}, "x", {"properties": {"a": {"uniqueItems": True}}}),
        ({"a": list(range(9_000))}, "x", {"properties": {"a": {"items": {"type": "string"}}}}),
        ({"a": "1"}, "x", {"$ref": "#"}),
        ({"a": "1"}, "x", {"$ref": "http://127.0.0.1:9/schema.json"}),
        ({"a": "1"}, "x", {"properties": {str(n): {"type": "string", "enum": ["a"]} for n in range(3_000)}}),
        ("{'" * 30_000, "x", {"type": "object"}),
        ("[" * 60_000, "x", {"type": "array"}),
        ('{"a": "' + "\\" * 60_000, "x", {"type": "object"}),
        ("{" + "'a': 'b', " * 6_000 + "}", "x", {"type": "object"}),
        ({"a": "1" * 100_000}, "x", {"properties": {"a": {"type": "integer"}}}),
        ({"a": "1"}, "[" * 100_000, None),
        ({"a": "1"}, "{'a': " * 30_000, None),
        ({"a": "1"}, "'" * 100_000 + " is required", None),
        ({"a": "1"}, "missing required fields: " + "a, " * 50_000, None),
        ({"a": "1"}, json.dumps([{"loc": ["a"] * 50, "type": "missing"}] * 2_000), None),
        ({"a": "1"}, "a must be integer " * 20_000, None),
    ],
)
def test_hostile_inputs_take_no_time(sent: Any, message: str, schema: Any) -> None:
    started = time.process_time()
    propose(request(sent, message, schema=schema, context={"a": 1}))
    assert time.process_time() - started < 5


def test_a_cyclic_input_is_left_alone() -> None:
    sent: dict[str, Any] = {}
    sent["self"] = sent
    asked = request(sent, "missing required field: a", context={"a": 1})
    assert propose(asked) is None
    assert asked.prompt()


def test_the_breakages_cover_every_kind_of_place() -> None:
    right = {"workspace_id": "x", "page_size": [1], "labelNames": {"retries": 3}}
    schema = {
        "required": list(right),
        "properties": {
            "page_size": {"type": "array"},
            "labelNames": {"type": "object", "required": ["retries"], "properties": {"retries": {"type": "integer"}}},
        },
    }
    hows = {broken.how for broken in breakages({**schema, "type": "object"}, right)}
    assert {
        "drop workspace_id",
        "drop labelNames.retries",
        "stringify labelNames.retries",
        "unwrap page_size",
        "python",
    } <= hows
    assert len(places(right)) == 5
