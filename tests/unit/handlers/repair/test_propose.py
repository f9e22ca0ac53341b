"""What is repaired, what is not, and what the repair says it does."""

from __future__ import annotations

import copy
import json
from typing import Any, ClassVar, Literal

import pytest
from pydantic import BaseModel, ConfigDict, TypeAdapter, ValidationError, field_validator
from tests.repairs import accepts, changes, repaired, request, words_of_jsonschema
from tests.strategies import UNIT, classification

from rerail.evidence.exceptions import from_exception
from rerail.handlers.repair import RepairRequest, propose

ISSUE: dict[str, Any] = {
    "type": "object",
    "required": ["title", "workspace_id"],
    "properties": {
        "title": {"type": "string"},
        "workspace_id": {"type": "string"},
        "limit": {"type": "integer"},
        "ratio": {"type": "number"},
        "urgent": {"type": "boolean"},
        "level": {"enum": ["info", "warn", "in_progress"]},
        "tags": {"type": "array", "items": {"type": "string"}},
        "counts": {"type": "array", "items": {"type": "integer"}},
        "due": {"anyOf": [{"type": "integer"}, {"type": "null"}]},
        "owner": {"type": "object", "required": ["id"], "properties": {"id": {"type": "integer"}}},
    },
    "additionalProperties": False,
}
RIGHT: dict[str, Any] = {"title": "x", "workspace_id": "w-1"}
SESSION = {"workspace_id": "w-1"}


def with_(**fields: Any) -> dict[str, Any]:
    return {**RIGHT, **fields}


class TestMissingFields:
    def test_a_missing_field_comes_from_the_session(self) -> None:
        proposal = propose(
            request({"title": "x"}, "missing required field: workspace_id", schema=ISSUE, context=SESSION)
        )
        assert proposal is not None
        assert proposal.input == RIGHT
        assert proposal.plan == "add workspace_id from session context"

    def test_without_a_schema_the_validators_word_is_enough(self) -> None:
        assert repaired({"title": "x"}, "missing required field: workspace_id", context=SESSION) == RIGHT

    def test_the_schema_alone_is_enough(self) -> None:
        assert repaired({"title": "x"}, "Bad Request", schema=ISSUE, context=SESSION) == RIGHT

    def test_a_field_that_nobody_declares_stays_missing(self) -> None:
        message = "missing required field: workspace_id"
        assert repaired({"title": "x"}, message, schema=ISSUE, context={"workspace": "w-1"}) is None
        assert repaired({"title": "x"}, message) is None

    def test_a_path_says_more_than_a_name(self) -> None:
        schema = {"properties": {"owner": ISSUE["properties"]["owner"]}}
        context = {"id": 1, "owner.id": 2}
        assert repaired({"owner": {}}, "'id' is a required property", schema=schema, context=context) == {
            "owner": {"id": 2}
        }

    def test_items_are_addressed_by_index(self) -> None:
        schema = {"properties": {"items": {"items": ISSUE["properties"]["owner"]}}}
        sent = {"items": [{"id": 1}, {}]}
        assert repaired(sent, schema=schema, context={"items.1.id": 7}) == {"items": [{"id": 1}, {"id": 7}]}

    def test_a_bare_name_means_the_object_that_the_schema_says_lacks_it(self) -> None:
        schema = {"properties": {"owner": ISSUE["properties"]["owner"]}, "additionalProperties": True}
        assert repaired({"owner": {}}, "missing field `id`", schema=schema, context={"id": 3}) == {"owner": {"id": 3}}

    @pytest.mark.parametrize(
        ("field", "value", "text"),
        [
            ({"default": 20}, 20, "add limit: its schema's default"),
            ({"const": "v2"}, "v2", "add limit: the only value that its schema allows"),
            ({"enum": ["v2"]}, "v2", "add limit: the only value that its schema allows"),
            ({"const": False}, False, "add limit: the only value that its schema allows"),
            ({"$ref": "#/$defs/limit"}, 5, "add limit: its schema's default"),
            ({"allOf": [{"type": "integer"}, {"default": 6}]}, 6, "add limit: its schema's default"),
        ],
    )
    def test_the_schema_gives_defaults_and_only_values(self, field: dict[str, Any], value: Any, text: str) -> None:
        schema = {"required": ["limit"], "properties": {"limit": field}, "$defs": {"limit": {"default": 5}}}
        assert repaired({}, schema=schema) == {"limit": value}
        assert changes({}, schema=schema) == (text,)

    def test_the_session_wins_over_a_default_and_must_fit(self) -> None:
        schema = {"required": ["limit"], "properties": {"limit": {"type": "integer", "default": 20}}}
        assert repaired({}, schema=schema, context={"limit": 5}) == {"limit": 5}
        assert repaired({}, schema=schema, context={"limit": "many"}) is None

    def test_an_acknowledgement_is_not_given_by_a_schema(self) -> None:
        schema = {"required": ["sure"], "properties": {"sure": {"const": True}}}
        assert repaired({}, schema=schema) is None

    def test_optional_fields_are_not_filled(self) -> None:
        assert repaired({"title": "x"}, schema=ISSUE, context={**SESSION, "limit": 3}) == RIGHT

    def test_what_the_schema_does_not_have_is_not_added_however_loud_the_message(self) -> None:
        context = {**SESSION, "api_token": "s3cret"}
        assert repaired(RIGHT, "missing required field: api_token", schema=ISSUE, context=context) is None
        message = "missing required fields: workspace_id, api_token"
        assert repaired({"title": "x"}, message, schema=ISSUE, context=context) == RIGHT

    def test_values_of_the_session_are_not_told(self) -> None:
        secret = "sk-very-secret"
        (text,) = changes({"title": "x"}, schema=ISSUE, context={"workspace_id": secret})
        assert secret not in text

    @pytest.mark.parametrize("value", [object(), {1: 2}, float("nan"), b"x", {"a": object()}])
    def test_values_that_are_no_json_are_not_used(self, value: object) -> None:
        schema = {"required": ["a"]}
        assert repaired({}, schema=schema, context={"a": value}) is None


class TestTypes:
    @pytest.mark.parametrize(
        ("sent", "right", "text"),
        [
            (with_(limit="3"), with_(limit=3), "send limit as an integer"),
            (with_(limit="-12"), with_(limit=-12), "send limit as an integer"),
            (with_(ratio="0.25"), with_(ratio=0.25), "send ratio as a number"),
            (with_(ratio="3.0"), with_(ratio=3.0), "send ratio as a number"),
            (with_(urgent="true"), with_(urgent=True), "send urgent as a boolean"),
            (with_(urgent="False"), with_(urgent=False), "send urgent as a boolean"),
            (with_(title=5), with_(title="5"), "send title as a string"),
            (with_(tags="bug"), with_(tags=["bug"]), "send tags as an array of one"),
            (with_(tags='["a b", "c"]'), with_(tags=["a b", "c"]), "read tags as an array"),
            (with_(due="5"), with_(due=5), "send due as an integer"),
            (with_(due="null"), with_(due=None), "send due as null"),
            (with_(owner='{"id": 7}'), with_(owner={"id": 7}), "read owner as an object"),
            (with_(owner="{id: 7,}"), with_(owner={"id": 7}), "read owner as an object, with its JSON corrected"),
        ],
    )
    def test_exact_coercions(self, sent: Any, right: Any, text: str) -> None:
        assert repaired(sent, words_of_jsonschema(ISSUE, sent), schema=ISSUE) == right
        assert changes(sent, schema=ISSUE) == (text,)

    def test_a_value_is_coerced_as_deep_as_it_goes(self) -> None:
        assert repaired(with_(counts='["3"]'), schema=ISSUE) == with_(counts=[3])
        assert repaired(with_(owner='{"id": "7"}'), schema=ISSUE) == with_(owner={"id": 7})
        assert repaired(json.dumps(with_(owner='{"id": "7"}')), schema=ISSUE) == with_(owner={"id": 7})

    @pytest.mark.parametrize(
        "sent",
        [
            with_(limit="three"),
            with_(limit="3 "),
            with_(limit="03"),
            with_(limit="3.5"),
            with_(limit=3.5),
            with_(limit="1e3x"),
            with_(limit=None),
            with_(limit=[3]),
            with_(limit="9" * 30),
            with_(limit=True),
            with_(urgent="yes"),
            with_(urgent=1),
            with_(title=1.1),
            with_(title=True),
            with_(title=None),
            with_(tags="a, b"),
            with_(tags="git status"),
            with_(tags=""),
            with_(tags=5),
            with_(counts="3"),
            with_(owner="id=7"),
            with_(owner='{"id": 7'),
            with_(owner=[{"id": 7}]),
        ],
    )
    def test_what_is_not_exact_is_left_to_a_model(self, sent: Any) -> None:
        assert repaired(sent, words_of_jsonschema(ISSUE, sent), schema=ISSUE) is None

    @pytest.mark.parametrize("items", [{}, {"items": {}}, {"items": True}, {"items": {"description": "anything"}}])
    def test_a_list_of_anything_does_not_ask_for_a_list_of_this(self, items: dict[str, Any]) -> None:
        assert repaired({"x": "bug"}, schema={"properties": {"x": {"type": "array", **items}}}) is None

    def test_a_list_of_objects_is_made_of_one(self) -> None:
        schema = {"properties": {"x": {"type": "array", "items": ISSUE["properties"]["owner"]}}}
        assert repaired({"x": {"id": 1}}, schema=schema) == {"x": [{"id": 1}]}

    def test_two_ways_are_no_way(self) -> None:
        schema = {"properties": {"x": {"anyOf": [{"type": "string"}, {"type": "array", "items": {"type": "integer"}}]}}}
        assert repaired({"x": 5}, schema=schema) is None
        schema = {"properties": {"x": {"anyOf": [{"type": "integer"}, {"type": "array", "items": {"type": "string"}}]}}}
        assert repaired({"x": "5"}, schema=schema) is None

    def test_without_a_schema_the_validator_names_place_and_type(self) -> None:
        assert repaired({"limit": "3"}, "limit must be integer") == {"limit": 3}
        assert repaired({"a": {"limit": "3"}}, "Input validation error: '3' is not of type 'integer'") == {
            "a": {"limit": 3}
        }
        assert repaired({"a": "3", "b": "3"}, "Input validation error: '3' is not of type 'integer'") is None
        assert repaired({"limit": 3.0}, "invalid type: floating point `3.0`, expected i32") == {"limit": 3}
        assert repaired({"tags": "bug"}, "tags must be array") is None, "only a schema says what the items are"

    def test_whole_numbers_are_told_from_floats(self) -> None:
        proposal = propose(request({"n": 3.0}, "n must be integer"))
        assert proposal is not None
        assert isinstance(proposal.input, dict)
        assert type(proposal.input["n"]) is int


class TestNames:
    @pytest.mark.parametrize(
        "name", ["workspaceId", "workspace-id", "WORKSPACE_ID", "Workspace_Id", "workspaceid", "workspace id"]
    )
    def test_another_spelling_of_a_missing_field_is_renamed(self, name: str) -> None:
        sent = {name: "w-9", "title": "x"}
        assert repaired(sent, words_of_jsonschema(ISSUE, sent), schema=ISSUE) == {"workspace_id": "w-9", "title": "x"}

    def test_another_spelling_of_an_optional_field_is_renamed(self) -> None:
        message = "Additional properties are not allowed ('Limit' was unexpected)"
        assert repaired(with_(Limit=3), message, schema=ISSUE) == with_(limit=3)

    def test_the_callers_value_is_not_overruled_by_the_session(self) -> None:
        schema = {**ISSUE, "additionalProperties": True}
        sent = {"title": "x", "workspaceId": "w-9"}
        assert repaired(sent, schema=schema, context=SESSION) is None
        assert repaired(sent, schema=schema, context={"workspace_id": "w-9"}) == {"title": "x", "workspace_id": "w-9"}

    def test_two_spellings_are_one_too_many(self) -> None:
        assert repaired({"title": "x", "workspaceId": "a", "workspace-id": "b"}, schema=ISSUE) is None

    def test_a_spelling_that_repeats_the_field_goes(self) -> None:
        message = "Additional properties are not allowed ('workspaceId' was unexpected)"
        assert repaired(with_(workspaceId="w-1"), message, schema=ISSUE) == RIGHT
        assert repaired(with_(workspaceId="w-2"), message, schema=ISSUE) is None

    @pytest.mark.parametrize("name", ["workspce_id", "workspace", "id", "workspace_ids"])
    def test_near_is_not_the_same(self, name: str) -> None:
        assert repaired({name: "w-9", "title": "x"}, schema=ISSUE) is None

    def test_the_validators_own_suggestion_is_followed(self) -> None:
        message = (
            "Unsupported parameter: 'max_tokens' is not supported with this model. Use 'max_completion_tokens' instead."
        )
        assert repaired({"max_tokens": 5}, message) == {"max_completion_tokens": 5}
        message = "f() got an unexpected keyword argument 'fil'. Did you mean 'path'?"
        assert repaired({"fil": "a"}, message) == {"path": "a"}
        assert repaired({"fil": "a", "path": "b"}, message) is None
        assert repaired({"fil": "a"}, "unknown field `fil`. Did you mean one of: 'file', 'fill'?") is None

    @pytest.mark.parametrize(
        ("value", "right"), [("INFO", "info"), ("in-progress", "in_progress"), ("In Progress", "in_progress")]
    )
    def test_another_spelling_of_an_allowed_value(self, value: str, right: str) -> None:
        sent = with_(level=value)
        assert repaired(sent, words_of_jsonschema(ISSUE, sent), schema=ISSUE) == with_(level=right)
        assert changes(sent, schema=ISSUE) == (f"send level as {right}",)

    @pytest.mark.parametrize("value", ["informational", "done", "", None, 1])
    def test_another_value_is_not_chosen(self, value: object) -> None:
        assert repaired(with_(level=value), schema=ISSUE) is None

    def test_a_fixed_value_does_not_overrule_what_was_sent(self) -> None:
        schema = {"properties": {"mode": {"const": "delete"}}}
        assert repaired({"mode": "keep"}, schema=schema) is None

    def test_allowed_values_of_another_type(self) -> None:
        assert repaired({"n": "2"}, schema={"properties": {"n": {"enum": [1, 2]}}}) == {"n": 2}
        assert repaired({"n": 2}, schema={"properties": {"n": {"enum": ["1", "2"]}}}) == {"n": "2"}
        assert repaired({"n": "1"}, schema={"properties": {"n": {"enum": ["One", 1]}}}) == {"n": 1}

    def test_a_tool_that_does_not_exist_is_called_by_its_name(self) -> None:
        sent = {"name": "create-issue", "arguments": {"title": "create"}}
        right = {**sent, "name": "create_issue"}
        assert repaired(sent, "Unknown tool: create-issue. Available tools: create_issue, list_issues") == right
        assert repaired(sent, "Unknown tool: create-issue. Did you mean 'create_issue'?") == right
        assert repaired(sent, "Unknown tool: 'create-issue'") is None
        assert repaired({"a": "x-y", "b": "x-y"}, "Unknown tool: x-y. Did you mean 'x_y'?") is None


class TestUnknownFields:
    NAMED = "Additional properties are not allowed ('colour' was unexpected)"

    def test_a_field_goes_when_the_validator_names_it_and_the_schema_forbids_it(self) -> None:
        assert repaired(with_(colour="red"), self.NAMED, schema=ISSUE) == RIGHT
        assert changes(with_(colour="red"), self.NAMED, schema=ISSUE) == (
            "remove colour, which the schema does not have",
        )

    def test_a_field_stays_when_only_one_of_them_says_so(self) -> None:
        assert repaired(with_(colour="red"), "Bad Request", schema=ISSUE) is None
        assert repaired(with_(colour="red"), self.NAMED, schema={**ISSUE, "additionalProperties": True}) is None
        assert repaired(with_(colour="red"), self.NAMED) is None

    def test_a_field_stays_when_its_value_may_be_the_missing_one(self) -> None:
        message = "Additional properties are not allowed ('file' was unexpected)"
        assert repaired({"title": "x", "file": "a"}, message, schema=ISSUE, context=SESSION) is None
        assert repaired({"title": "x", "file": 5}, message, schema=ISSUE, context=SESSION) == RIGHT

    @pytest.mark.parametrize("name", ["dry_run", "dryRun", "preview", "validate-only", "noop"])
    def test_a_field_that_holds_the_action_back_stays(self, name: str) -> None:
        message = f"Additional properties are not allowed ('{name}' was unexpected)"
        assert repaired(with_(**{name: True}), message, schema=ISSUE) is None


class TestMalformedInput:
    @pytest.mark.parametrize(
        "sent",
        [
            '{"title": "x", "workspace_id": "w-1",}',
            "{'title': 'x', 'workspace_id': 'w-1'}",
            '{title: "x", workspace_id: "w-1"}',
            '```json\n{"title": "x", "workspace_id": "w-1"}\n```',
            '{"title": "x" "workspace_id": "w-1"}',
        ],
    )
    def test_wrong_punctuation_is_mended(self, sent: str) -> None:
        assert repaired(sent, "Expecting property name enclosed in double quotes", schema=ISSUE) == RIGHT

    @pytest.mark.parametrize(
        "sent",
        [
            '{"title": "x", "workspace_id": "w-1"',
            '{"title": "x", "workspace_id": "w-',
            '{"title": "x", "workspace_id": "w-1", "tags": ["a"}',
            '{"title": "x", "workspace_id":',
            "",
        ],
    )
    def test_half_a_call_is_never_completed(self, sent: str) -> None:
        assert repaired(sent, "Expecting ',' delimiter: line 1 column 9", schema=ISSUE, context=SESSION) is None

    @pytest.mark.parametrize(
        ("message", "reason"),
        [
            ("x", "tool-schema/truncated-call"),
            ("finish_reason: length", "tool-schema/malformed-json"),
            ('{"finish_reason": "length"}', "tool-schema/missing-field"),
            ("stop_reason='max_tokens'", "tool-schema/missing-field"),
            ("Unexpected end of JSON input", "tool-schema/malformed-json"),
            ("EOF while parsing a list at line 1 column 19", "tool-schema/malformed-json"),
        ],
    )
    def test_a_call_that_is_known_to_be_cut_off_is_not_touched(self, message: str, reason: str) -> None:
        assert repaired({"title": "x"}, message, schema=ISSUE, context=SESSION, reason=reason) is None

    def test_without_a_schema_nobody_can_say_that_it_is_right(self) -> None:
        assert repaired('{"a": 1,}', "Expecting property name") is None
        assert repaired({"a": "{b: 1}"}, "a must be object") is None
        assert repaired({"a": '{"b": 1}'}, "a must be object") == {"a": {"b": 1}}


class TestWholeness:
    def test_several_things_are_repaired_together(self) -> None:
        sent = {"title": 5, "limit": "3", "level": "WARN", "owner": {"ID": "7"}}
        right = {"title": "5", "limit": 3, "level": "warn", "owner": {"id": 7}, "workspace_id": "w-1"}
        assert repaired(sent, "title: must be string", schema=ISSUE, context=SESSION) == right

    def test_one_thing_that_is_not_certain_leaves_everything_as_it_is(self) -> None:
        sent = {"limit": "3", "level": "loud", "title": "x"}
        assert repaired(sent, "limit must be integer", schema=ISSUE, context=SESSION) is None

    def test_what_the_validator_says_beyond_the_schema_must_be_settled_too(self) -> None:
        schema: dict[str, Any] = {"properties": {"a": {}, "b": {}}}
        assert repaired({"a": "1"}, "a must be integer, b is required", schema=schema) is None
        assert repaired({"a": "1"}, "a must be integer", schema=schema) == {"a": 1}

    def test_an_input_that_is_right_is_not_changed(self) -> None:
        assert propose(request(RIGHT, "server said no", schema=ISSUE, context=SESSION)) is None

    def test_the_input_is_not_touched_and_not_shared(self) -> None:
        sent: dict[str, Any] = {"title": "x", "tags": ["a"], "limit": "3"}
        before = copy.deepcopy(sent)
        context: dict[str, Any] = {"workspace_id": "w-1"}
        new = repaired(sent, schema=ISSUE, context=context)
        assert new["limit"] == 3
        new["tags"].append("b")
        assert sent == before

    @pytest.mark.parametrize(
        "reason",
        [
            "tool-schema/message-order",
            "tool-schema/usage-error",
            "tool-schema/too-large",
            "provider/rate-limit",
            "deterministic-policy/hook-denied",
            "verification/tests-failed",
            "unclassified/no-evidence",
        ],
    )
    def test_other_failures_are_not_repaired(self, reason: str) -> None:
        assert repaired({"title": "x"}, "missing required field: workspace_id", context=SESSION, reason=reason) is None

    @pytest.mark.parametrize("sent", [None, 5, [], {}, object(), b"{}", {1: 2}, {"a": object()}, float("nan")])
    def test_anything_may_be_sent(self, sent: object) -> None:
        assert propose(request(sent, "missing required field: workspace_id")) is None


class Issue(BaseModel):
    model_config = ConfigDict(extra="forbid", strict=True)
    title: str
    workspace_id: str
    limit: int = 3
    level: Literal["info", "warn"] = "info"
    either: int | bool = 1


class Dog(BaseModel):
    kind: Literal["dog"]
    name: str
    age: int


class Cat(BaseModel):
    kind: Literal["cat"]
    lives: int


class Owner(BaseModel):
    pet: Dog | Cat


class TestModels:
    BAD: ClassVar[dict[str, Any]] = {"title": 5, "limit": "4", "level": "WARN", "either": "true"}
    GOOD: ClassVar[dict[str, Any]] = {"title": "5", "limit": 4, "level": "warn", "either": True, "workspace_id": "w-1"}

    def failed(self, model: type[BaseModel], sent: object, schema: object) -> RepairRequest:
        """A request as the runner builds it of the exception itself."""
        with pytest.raises(ValidationError) as caught:
            model.model_validate(sent)
        return RepairRequest(
            UNIT, sent, classification("tool-schema/bad-request"), from_exception(caught.value), schema, SESSION
        )

    @pytest.mark.parametrize("schema", [Issue, TypeAdapter(Issue), Issue.model_json_schema(), None])
    def test_a_models_rejection_is_repaired(self, schema: object) -> None:
        proposal = propose(self.failed(Issue, self.BAD, schema))
        assert proposal is not None
        assert proposal.input == self.GOOD
        assert Issue.model_validate(proposal.input).workspace_id == "w-1"

    @pytest.mark.parametrize("schema", [Owner, Owner.model_json_schema(), None])
    def test_of_a_union_the_member_that_is_meant_is_repaired(self, schema: object) -> None:
        sent: dict[str, Any] = {"pet": {"kind": "dog", "name": "Rex", "age": "x"}}
        assert propose(self.failed(Owner, sent, schema)) is None
        sent = {"pet": {"kind": "dog", "age": 3}}
        request = self.failed(Owner, sent, schema)
        proposal = propose(RepairRequest(**{**_fields(request), "context": {"pet.name": "Rex", "lives": 9}}))
        assert proposal is not None
        assert proposal.input == {"pet": {"kind": "dog", "age": 3, "name": "Rex"}}

    def test_of_a_union_nothing_is_repaired_where_several_members_may_be_meant(self) -> None:
        request = self.failed(Owner, {"pet": {}}, Owner)
        context = {"name": "Rex", "age": 3, "lives": 9}
        assert propose(RepairRequest(**{**_fields(request), "context": context})) is None

    def test_a_lax_model_is_asked_as_it_is(self) -> None:
        class Lax(BaseModel):
            n: int
            name: str

        assert repaired({"n": "3"}, "name: Field required", schema=Lax, context={"name": "a"}) == {
            "n": "3",
            "name": "a",
        }

    def test_a_validator_of_the_users_own_has_the_last_word(self) -> None:
        class Even(BaseModel):
            n: int

            @field_validator("n")
            @classmethod
            def even(cls, n: int) -> int:
                if n % 2:
                    raise ValueError("odd")
                return n

        assert repaired({"n": "4"}, "n must be integer", schema=Even) == {"n": 4}
        assert repaired({"n": "3"}, "n must be integer", schema=Even) is None

    def test_a_validator_that_fails_or_meddles_harms_nothing(self) -> None:
        class Meddling(BaseModel):
            n: dict[str, int]

            @field_validator("n", mode="before")
            @classmethod
            def meddle(cls, n: Any) -> Any:
                n["seen"] = 1
                raise RuntimeError("broken")

        sent = {"n": {"a": "1"}}
        assert repaired(sent, "n.a must be integer", schema=Meddling) is None
        assert sent == {"n": {"a": "1"}}


def _fields(request: RepairRequest) -> dict[str, Any]:
    return {
        "unit": request.unit,
        "input": request.input,
        "classification": request.classification,
        "evidence": request.evidence,
        "schema": request.schema,
        "context": request.context,
    }


class TestChoices:
    UNION: ClassVar[dict[str, Any]] = {
        "properties": {
            "pet": {
                "oneOf": [
                    {
                        "required": ["kind", "name"],
                        "properties": {
                            "kind": {"const": "dog"},
                            "name": {"type": "string"},
                            "age": {"type": "integer"},
                        },
                    },
                    {
                        "required": ["kind", "lives"],
                        "properties": {"kind": {"const": "cat"}, "lives": {"type": "integer"}},
                    },
                ]
            }
        }
    }

    def test_the_branch_that_is_meant_is_repaired(self) -> None:
        sent = {"pet": {"kind": "dog", "age": "3"}}
        right = {"pet": {"kind": "dog", "age": 3, "name": "Rex"}}
        assert repaired(sent, schema=self.UNION, context={"name": "Rex", "lives": 9}) == right
        assert accepts(self.UNION, right)

    def test_no_branch_is_chosen_for_the_caller(self) -> None:
        assert repaired({"pet": {}}, schema=self.UNION, context={"name": "Rex", "lives": 9, "pet.name": "Rex"}) is None

    def test_conditions_are_read(self) -> None:
        schema = {
            "if": {"properties": {"mode": {"const": "remote"}}, "required": ["mode"]},
            "then": {"required": ["host"]},
            "dependentRequired": {"host": ["port"]},
        }
        context = {"host": "h", "port": 1}
        assert repaired({"mode": "remote"}, schema=schema, context=context) == {
            "mode": "remote",
            "host": "h",
            "port": 1,
        }
