"""The words of real validators, as they print them, read into complaints.

Where a library is in the test environment its words are produced here; the others were produced once, with the version beside
them.
"""

from __future__ import annotations

import json
from typing import Any, Literal

import pytest
from jsonschema import Draft202012Validator
from pydantic import BaseModel, ConfigDict, Field, TypeAdapter, ValidationError, validate_call

from rerail.evidence.clip import clip_stream
from rerail.evidence.model import Evidence, Source, StreamName
from rerail.handlers.repair.complaints import MAX_COMPLAINTS, read, read_text
from rerail.handlers.repair.model import Kind

MISSING, TYPE, VALUE, UNKNOWN, NAME = Kind.MISSING, Kind.TYPE, Kind.VALUE, Kind.UNKNOWN, Kind.NAME


def said(text: str) -> set[tuple[Any, ...]]:
    """What a message says: kind, place (or what came), and the types or values that would do."""
    found = set()
    for complaint in read_text(text):
        subject = complaint.place if complaint.place is not None else complaint.received
        found.add((complaint.kind, subject, *complaint.expected, *complaint.allowed, *complaint.suggested))
    return found


class Sub(BaseModel):
    model_config = ConfigDict(extra="forbid")
    name: str
    n: int


class Issue(BaseModel):
    model_config = ConfigDict(extra="forbid")
    workspace_id: str
    limit: int
    ratio: float
    flag: bool
    tags: list[str]
    subs: list[Sub]
    opts: dict[str, int]
    level: Literal["info", "warn"]
    either: int | bool
    labels: str = Field(alias="labelNames")


BAD: dict[str, Any] = {
    "limit": "many",
    "ratio": "x",
    "flag": "maybe",
    "tags": "a",
    "subs": [{"nam": 1, "n": "?"}],
    "opts": [1],
    "level": "INFO",
    "either": "zz",
    "labels": "x",
}

PYDANTIC = {
    (MISSING, ("workspace_id",)),
    (TYPE, ("limit",), "integer"),
    (TYPE, ("ratio",), "number"),
    (TYPE, ("flag",), "boolean"),
    (TYPE, ("tags",), "array"),
    (MISSING, ("subs", 0, "name")),
    (TYPE, ("subs", 0, "n"), "integer"),
    (UNKNOWN, ("subs", 0, "nam")),
    (TYPE, ("opts",), "object"),
    (VALUE, ("level",), "info", "warn"),
    (TYPE, ("either", "int"), "integer"),
    (TYPE, ("either", "bool"), "boolean"),
    (MISSING, ("labelNames",)),
    (UNKNOWN, ("labels",)),
}


def test_pydantic_is_read_from_its_text_and_from_its_records() -> None:
    with pytest.raises(ValidationError) as caught:
        Issue.model_validate(BAD)
    assert said(str(caught.value)) == PYDANTIC
    assert said(caught.value.json()) == PYDANTIC
    assert said(f"Error executing tool create_issue: {caught.value}") == PYDANTIC


def test_fastapi_is_read_with_the_part_of_the_request_before_the_place() -> None:
    with pytest.raises(ValidationError) as caught:
        Issue.model_validate(BAD)
    errors = [{**error, "loc": ("body", *error["loc"])} for error in caught.value.errors(include_url=False)]
    body = json.dumps({"detail": errors}, default=str)
    assert {(kind, place[1:], *rest) for kind, place, *rest in said(f"422 {body}")} == PYDANTIC


def test_pydantic_call_arguments_are_read() -> None:
    @validate_call
    def create_issue(title: str, *, limit: int) -> None: ...

    with pytest.raises(ValidationError) as caught:
        create_issue(title="x", limi=3)  # type: ignore[call-arg]
    assert said(str(caught.value)) == {(MISSING, ("limit",)), (UNKNOWN, ("limi",))}


def test_pydantic_says_what_the_root_must_be() -> None:
    with pytest.raises(ValidationError) as caught:
        TypeAdapter(list[int]).validate_python("x")
    assert said(str(caught.value)) == {(TYPE, (), "array")}


def test_pydantic_1_is_read() -> None:
    text = (
        "3 validation errors for Issue\nworkspace_id\n  field required (type=value_error.missing)\n"
        "subs -> 0 -> n\n  value is not a valid integer (type=type_error.integer)\n"
        "level\n  unexpected value; permitted: 'info', 'warn' (type=value_error.const; given=INFO; permitted=('info', 'warn'))"
    )  # pydantic 1.10
    assert said(text) == {
        (MISSING, ("workspace_id",)),
        (TYPE, ("subs", 0, "n"), "integer"),
        (VALUE, ("level",), "info", "warn"),
    }


SCHEMA: dict[str, Any] = {
    "type": "object",
    "required": ["repo"],
    "additionalProperties": False,
    "properties": {
        "repo": {"type": "string"},
        "limit": {"type": ["integer", "null"]},
        "level": {"enum": ["info", "warn"]},
        "kind": {"const": "x"},
        "items": {
            "type": "array",
            "items": {"type": "object", "required": ["id"], "properties": {"id": {"type": "integer"}}},
        },
        "a/b": {"type": "object", "properties": {"c": {"type": "boolean"}}},
    },
}


@pytest.mark.parametrize(
    ("sent", "expected"),
    [
        ({}, (MISSING, ("repo",))),
        ({"repo": "x", "limit": "3"}, (TYPE, ("limit",), "integer", "null")),
        ({"repo": "x", "level": "INFO"}, (VALUE, ("level",), "info", "warn")),
        ({"repo": "x", "kind": "y"}, (VALUE, ("kind",), "x")),
        ({"repo": "x", "items": [{"id": "1"}]}, (TYPE, ("items", 0, "id"), "integer")),
        ({"repo": "x", "items": [{"id": 1}, {}]}, (MISSING, ("items", 1, "id"))),
        ({"repo": "x", "a/b": {"c": "true"}}, (TYPE, ("a/b", "c"), "boolean")),
        ({"repo": "x", "bad": 1}, (UNKNOWN, ("bad",))),
    ],
)
def test_jsonschema_is_read_with_the_instance_it_points_to(sent: dict[str, Any], expected: tuple[Any, ...]) -> None:
    (error,) = Draft202012Validator(SCHEMA).iter_errors(sent)
    assert said(f"jsonschema.exceptions.ValidationError: {error}") == {expected}


AJV: dict[str, Any] = {
    "errors": [
        {
            "instancePath": "",
            "keyword": "required",
            "params": {"missingProperty": "repo"},
            "message": "must have required property 'repo'",
        },
        {
            "instancePath": "",
            "keyword": "additionalProperties",
            "params": {"additionalProperty": "bad"},
            "message": "must NOT have additional properties",
        },
        {
            "instancePath": "/limit",
            "keyword": "type",
            "params": {"type": ["integer", "null"]},
            "message": "must be integer,null",
        },
        {
            "instancePath": "/level",
            "keyword": "enum",
            "params": {"allowedValues": ["info", "warn"]},
            "message": "must be equal to one of the allowed values",
        },
        {
            "instancePath": "/kind",
            "keyword": "const",
            "params": {"allowedValue": "x"},
            "message": "must be equal to constant",
        },
        {"instancePath": "/items/0/id", "keyword": "type", "params": {"type": "integer"}, "message": "must be integer"},
        {
            "instancePath": "/items/1",
            "keyword": "required",
            "params": {"missingProperty": "id"},
            "message": "must have required property 'id'",
        },
        {"instancePath": "/a~1b/c", "keyword": "type", "params": {"type": "boolean"}, "message": "must be boolean"},
    ]
}  # ajv 8.20.0, without schemaPath

ZOD_3 = [
    {"code": "invalid_type", "expected": "string", "received": "undefined", "path": ["repo"], "message": "Required"},
    {
        "code": "invalid_type",
        "expected": "number",
        "received": "string",
        "path": ["items", 0, "id"],
        "message": "Expected number, received string",
    },
    {
        "received": "INFO",
        "code": "invalid_enum_value",
        "options": ["info", "warn"],
        "path": ["level"],
        "message": "Invalid enum value. Expected 'info' | 'warn', received 'INFO'",
    },
    {
        "received": "y",
        "code": "invalid_literal",
        "expected": "x",
        "path": ["kind"],
        "message": 'Invalid literal value, expected "x"',
    },
    {
        "code": "invalid_union",
        "unionErrors": [
            {
                "issues": [
                    {
                        "code": "invalid_type",
                        "expected": "number",
                        "received": "string",
                        "path": ["u"],
                        "message": "Expected number, received string",
                    }
                ],
                "name": "ZodError",
            },
            {
                "issues": [
                    {
                        "code": "invalid_type",
                        "expected": "boolean",
                        "received": "string",
                        "path": ["u"],
                        "message": "Expected boolean, received string",
                    }
                ],
                "name": "ZodError",
            },
        ],
        "path": ["u"],
        "message": "Invalid input",
    },
    {
        "code": "unrecognized_keys",
        "keys": ["bad", "worse"],
        "path": [],
        "message": "Unrecognized key(s) in object: 'bad', 'worse'",
    },
]  # zod 3.25.76

ZOD_4 = [
    {
        "expected": "string",
        "code": "invalid_type",
        "path": ["repo"],
        "message": "Invalid input: expected string, received undefined",
    },
    {
        "expected": "number",
        "code": "invalid_type",
        "path": ["items", 0, "id"],
        "message": "Invalid input: expected number, received string",
    },
    {
        "code": "invalid_value",
        "values": ["info", "warn"],
        "path": ["level"],
        "message": 'Invalid option: expected one of "info"|"warn"',
    },
    {"code": "invalid_value", "values": ["x"], "path": ["kind"], "message": 'Invalid input: expected "x"'},
    {
        "code": "invalid_union",
        "errors": [
            [
                {
                    "expected": "number",
                    "code": "invalid_type",
                    "path": [],
                    "message": "Invalid input: expected number, received string",
                }
            ],
            [
                {
                    "expected": "boolean",
                    "code": "invalid_type",
                    "path": [],
                    "message": "Invalid input: expected boolean, received string",
                }
            ],
        ],
        "path": ["u"],
        "message": "Invalid input",
    },
    {"code": "unrecognized_keys", "keys": ["bad", "worse"], "path": [], "message": 'Unrecognized keys: "bad", "worse"'},
]  # zod 4.6.7

ZOD = {
    (MISSING, ("repo",)),
    (TYPE, ("items", 0, "id"), "number"),
    (VALUE, ("level",), "info", "warn"),
    (VALUE, ("kind",), "x"),
    (TYPE, ("u",), "number", "boolean"),
    (UNKNOWN, ("bad",)),
    (UNKNOWN, ("worse",)),
}


@pytest.mark.parametrize(
    "wrap",
    [
        "{0}",
        "MCP error -32602: Invalid arguments for tool create_issue: {0}",
        "Error executing MCP tool: {0} (Code -32602)",
    ],
)
@pytest.mark.parametrize("issues", [ZOD_3, ZOD_4])
def test_zod_issues_are_read_wherever_they_stand(issues: object, wrap: str) -> None:
    assert said(wrap.format(json.dumps(issues, indent=2))) == ZOD
    nested = json.dumps({"isError": True, "content": [{"type": "text", "text": wrap.format(json.dumps(issues))}]})
    assert said(nested) == ZOD


def test_ajv_errors_are_read() -> None:
    assert said(json.dumps(AJV)) == {
        (MISSING, ("repo",)),
        (UNKNOWN, ("bad",)),
        (TYPE, ("limit",), "integer", "null"),
        (VALUE, ("level",), "info", "warn"),
        (VALUE, ("kind",), "x"),
        (TYPE, ("items", 0, "id"), "integer"),
        (MISSING, ("items", 1, "id")),
        (TYPE, ("a/b", "c"), "boolean"),
    }


TEXTS: list[tuple[str, set[tuple[Any, ...]]]] = [
    # Prose.
    ("missing required field: workspace_id", {(MISSING, ("workspace_id",))}),
    ('Error: "missing required field: workspace_id"', {(MISSING, ("workspace_id",))}),
    (
        "missing required fields: title, body and labels",
        {(MISSING, ("title",)), (MISSING, ("body",)), (MISSING, ("labels",))},
    ),
    ("Missing required argument 'to'", {(MISSING, ("to",))}),
    ("workspace_id is required", {(MISSING, ("workspace_id",))}),
    ("The required parameter `file_path` is missing", {(MISSING, ("file_path",))}),
    ("unknown argument: 'fil'. Did you mean 'file'?", {(UNKNOWN, ("fil",), "file")}),
    ("limit must be an integer", {(TYPE, ("limit",), "integer")}),
    ("limit: must be a whole number or a list of strings", set()),
    ("you must provide a model parameter", {(MISSING, ("model",))}),
    # jsonschema as MCP servers in Python pass it on, without a place.
    ("Input validation error: 'repo' is a required property", {(MISSING, ("repo",))}),
    ("Input validation error: '3' is not of type 'integer'", {(TYPE, "3", "integer")}),
    ("'INFO' is not one of ['info', 'warn']", {(VALUE, "INFO", "info", "warn")}),
    ("Additional properties are not allowed ('x', 'y' were unexpected)", {(UNKNOWN, ("x",)), (UNKNOWN, ("y",))}),
    ("'bad', 'worse' do not match any of the regexes: '^x-'", {(UNKNOWN, ("bad",)), (UNKNOWN, ("worse",))}),
    # ajv 8.20.0 and 6.15.0, errorsText().
    (
        "data must have required property 'repo', data/n must be integer,null, data/items/1 must have required property 'id'",
        {(MISSING, ("data", "repo")), (TYPE, ("data", "n"), "integer", "null"), (MISSING, ("data", "items", 1, "id"))},
    ),
    (
        "data should have required property 'repo', data.limit should be integer, data.items[0].id should be integer",
        {
            (MISSING, ("data", "repo")),
            (TYPE, ("data", "limit"), "integer"),
            (TYPE, ("data", "items", 0, "id"), "integer"),
        },
    ),
    ("/limit must be integer", {(TYPE, ("limit",), "integer")}),
    (
        (
            'Validation failed for tool "write_file":\n  - content: must have required'
            " property 'content'\n  - n: must be number"
            '\n\nReceived arguments:\n{\n  "path": "missing required field: admin"\n}'
        ),
        {(MISSING, ("content",)), (TYPE, ("n",), "number")},
    ),
    # MCP TypeScript SDK 1.32.2, FastMCP 4.2.3.
    (
        (
            "MCP error -32602: Input validation error: Invalid arguments for tool"
            " create_issue: Invalid input: expected string, received"
            " undefined at workspace_id\nInvalid input: expected number, received string at limit"
        ),
        {(MISSING, ("workspace_id",)), (TYPE, ("limit",), "number")},
    ),
    ("MCP error -32602: Tool create-issue not found", {(NAME, "create-issue")}),
    ("Unknown tool: 'create-issue'", {(NAME, "create-issue")}),
    (
        "Unknown tool: create-issue. Available tools: create_issue, list_issues",
        {(NAME, "create-issue", "create_issue", "list_issues")},
    ),
    ("The model `gpt-4.9-turbo` does not exist or you do not have access to it.", {(NAME, "gpt-4.9-turbo")}),
    # zod 4.6.7 prettifyError, zod-validation-error 3.5.4.
    (
        (
            '✖ Unrecognized keys: "bad", "worse"\n✖ Invalid input: expected string, received undefined\n  → at repo\n'
            '✖ Invalid option: expected one of "info"|"warn"\n  → at level\n✖ Invalid input:'
            " expected number, received string\n  → at items[0].id"
        ),
        {
            (UNKNOWN, ("bad",)),
            (UNKNOWN, ("worse",)),
            (MISSING, ("repo",)),
            (VALUE, ("level",), "info", "warn"),
            (TYPE, ("items", 0, "id"), "number"),
        },
    ),
    (
        (
            'Validation error: Required at "repo"; Expected number, received string at'
            " \"limit\"; Invalid enum value. Expected 'info' | 'warn',"
            " received 'INFO' at \"level\"; Unrecognized key(s) in object: 'n', 'k'"
        ),
        {
            (MISSING, ("repo",)),
            (TYPE, ("limit",), "number"),
            (VALUE, ("level",), "info", "warn"),
            (UNKNOWN, ("n",)),
            (UNKNOWN, ("k",)),
        },
    ),
    # OpenAI and Anthropic, as their SDKs and Claude Code show them.
    (
        (
            "Error code: 400 - {'error': {'message': \"Missing required parameter:"
            " 'tools[0].function.name'.\", 'type': 'invalid_request_error',"
            " 'param': 'tools[0].function.name', 'code': 'missing_required_parameter'}}"
        ),
        {(MISSING, ("tools", 0, "function", "name"))},
    ),
    (
        (
            "Error code: 400 - {'error': {'message': \"Invalid type for 'messages[0].content':"
            " expected one of a string or array of objects, but"
            " got an integer instead.\", 'type': 'invalid_request_error', 'param':"
            " 'messages[0].content', 'code': 'invalid_type'}}"
        ),
        {(TYPE, ("messages", 0, "content"), "string", "array")},
    ),
    (
        (
            "Error code: 400 - {'error': {'message': \"Invalid value: 'toolbox'. Supported values"
            " are: 'system', 'user', and 'tool'.\", 'type':"
            " 'invalid_request_error', 'param': 'messages[2].role', 'code': 'invalid_value'}}"
        ),
        {(VALUE, ("messages", 2, "role"), "system", "user", "tool")},
    ),
    (
        (
            "Error code: 400 - {'error': {'message': \"Unsupported parameter:"
            " 'max_tokens' is not supported with this model. Use"
            " 'max_completion_tokens' instead.\", 'param': 'max_tokens', 'code': 'unsupported_parameter'}}"
        ),
        {(UNKNOWN, ("max_tokens",), "max_completion_tokens")},
    ),
    ("Unrecognized request argument supplied: functionz", {(UNKNOWN, ("functionz",))}),
    (
        (
            "API Error: 400"
            ' {"type":"error","error":{"type":"invalid_request_error","message":"messages.0.content: Field required"}}'
        ),
        {(MISSING, ("messages", 0, "content"))},
    ),
    (
        "API Error: 400 tools.0.custom.defer_loading: Extra inputs are not permitted",
        {(UNKNOWN, ("tools", 0, "custom", "defer_loading"))},
    ),
    ("messages.0.role: Input should be 'user' or 'assistant'", {(VALUE, ("messages", 0, "role"), "user", "assistant")}),
    ("max_tokens: Input should be a valid integer", {(TYPE, ("max_tokens",), "integer")}),
    (
        (
            "InputValidationError: Read failed due to the following issues:\nThe required parameter `file_path` is missing\n"
            "An unexpected parameter `foo` was provided\nThe parameter `limit` type is"
            " expected as `number` but provided as `string`"
        ),
        {(MISSING, ("file_path",)), (UNKNOWN, ("foo",)), (TYPE, ("limit",), "number")},
    ),
    # serde_json, as Rust harnesses pass it on.
    ("failed to parse function arguments: missing field `command` at line 1 column 2", {(MISSING, ("command",))}),
    ("unknown field `x`, expected one of `a`, `b` at line 1 column 4", {(UNKNOWN, ("x",), "a", "b")}),
    ("unknown field `x`, expected `a` at line 1 column 4", {(UNKNOWN, ("x",), "a")}),
    ("unknown variant `Info`, expected `info` or `warn`", {(VALUE, "Info", "info", "warn")}),
    ('invalid type: string "3", expected i32 at line 1 column 12', {(TYPE, "3", "integer")}),
    ("invalid type: floating point `3.5`, expected u64", {(TYPE, 3.5, "integer")}),
    # Go.
    ("json: cannot unmarshal string into Go struct field Args.limit of type int", {(TYPE, ("limit",), "integer")}),
    ("json: cannot unmarshal string into Go struct field Args.tags of type []string", {(TYPE, ("tags",), "array")}),
    ('json: unknown field "x"', {(UNKNOWN, ("x",))}),
    ('validating "arguments": validating root: required: missing properties: ["x"]', {(MISSING, ("x",))}),
    # botocore 1.44.8, Gemini.
    ('Parameter validation failed:\nMissing required parameter in input: "Bucket"', {(MISSING, ("Bucket",))}),
    (
        'Unknown parameter in input: "bucket", must be one of: Bucket, IfMatch',
        {(UNKNOWN, ("bucket",), "Bucket", "IfMatch")},
    ),
    (
        "Invalid type for parameter RequestItems.t.Keys[0].a.S, value: 3, type: <class 'int'>, valid types: <class 'str'>",
        {(TYPE, ("RequestItems", "t", "Keys", 0, "a", "S"), "string")},
    ),
    ("Invalid value at 'contents[0].role' (TYPE_STRING), 5", {(TYPE, ("contents", 0, "role"), "string")}),
    ("Unknown name \"foo\" at 'generation_config': Cannot find field.", {(UNKNOWN, ("generation_config", "foo"))}),
    # msgspec 0.23.0, marshmallow 4.4.0, cerberus 1.3.8, voluptuous 0.16.0, fastjsonschema 2.22.3.
    ("Expected `int`, got `str` - at `$.limit`", {(TYPE, ("limit",), "integer")}),
    ("Object missing required field `id` - at `$.items[0]`", {(MISSING, ("items", 0, "id"))}),
    ("Object contains unknown field `bad`", {(UNKNOWN, ("bad",))}),
    (
        (
            "{'repo': ['Missing data for required field.'], 'limit': ['Not a valid"
            " integer.'], 'level': ['Must be one of: info, warn.'],"
            " 'bad': ['Unknown field.']}"
        ),
        {(MISSING, ("repo",)), (TYPE, ("limit",), "integer"), (VALUE, ("level",), "info", "warn"), (UNKNOWN, ("bad",))},
    ),
    (
        "{'bad': ['unknown field'], 'limit': ['must be of integer type'], 'repo': ['required field']}",
        {(UNKNOWN, ("bad",)), (TYPE, ("limit",), "integer"), (MISSING, ("repo",))},
    ),
    ("expected int for dictionary value @ data['limit']", {(TYPE, ("data", "limit"), "integer")}),
    ("extra keys not allowed @ data['bad']", {(UNKNOWN, ("data", "bad"))}),
    ("required key not provided @ data['repo']", {(MISSING, ("data", "repo"))}),
    ("data must contain ['repo'] properties", {(MISSING, ("data", "repo"))}),
    ("data.level must be one of ['info', 'warn']", {(VALUE, ("data", "level"), "info", "warn")}),
    ("data must not contain {'b'} properties", {(UNKNOWN, ("data", "b"))}),
    # joi 18.3.2, yup 1.7.1, valibot 1.5.0, TypeBox 0.34.52.
    (
        (
            '"repo" is required. "n" must be a number. "level" must be one of [info, warn].'
            ' "items[1].id" is required. "bad" is not allowed'
        ),
        {
            (MISSING, ("repo",)),
            (TYPE, ("n",), "number"),
            (VALUE, ("level",), "info", "warn"),
            (MISSING, ("items", 1, "id")),
            (UNKNOWN, ("bad",)),
        },
    ),
    ('n must be a `number` type, but the final value was: `"3"`.', {(TYPE, ("n",), "number")}),
    ("level must be one of the following values: info, warn", {(VALUE, ("level",), "info", "warn")}),
    ("this field has unspecified keys: limit, bad", {(UNKNOWN, ("limit",)), (UNKNOWN, ("bad",))}),
    ('Invalid key: Expected "repo" but received undefined', {(MISSING, ("repo",))}),
    ('Invalid type: Expected ("info" | "warn") but received "INFO"', {(VALUE, "INFO", "info", "warn")}),
    ('[{"path": "/repo", "message": "Expected required property"}]', {(MISSING, ("repo",))}),
    ('[{"path": "/n", "message": "Expected integer"}]', {(TYPE, ("n",), "integer")}),
    # Web frameworks.
    (
        '{"message":"The title field is required.","errors":{"title":["The title field is required."]}}',
        {(MISSING, ("title",))},
    ),
    (
        '{"title": ["This field is required."], "n": ["A valid integer is required."]}',
        {(MISSING, ("title",)), (TYPE, ("n",), "integer")},
    ),
    (
        '{"message": "Validation Failed", "errors": [{"resource": "Issue", "code": "missing_field", "field": "title"}]}',
        {(MISSING, ("title",))},
    ),
    (
        '{"errors": [{"source": {"pointer": "/data/attributes/n"}, "detail": "must be an integer"}]}',
        {(TYPE, ("n",), "integer")},
    ),
    # Python.
    ("f() missing 2 required positional arguments: 'a' and 'b'", {(MISSING, ("a",)), (MISSING, ("b",))}),
    ("f() missing 1 required keyword-only argument: 'x'", {(MISSING, ("x",))}),
    (
        "f() got an unexpected keyword argument 'maxsplit'. Did you mean 'max_split'?",
        {(UNKNOWN, ("maxsplit",), "max_split")},
    ),
]


@pytest.mark.parametrize(("text", "expected"), TEXTS)
def test_what_validators_say_is_read(text: str, expected: set[tuple[Any, ...]]) -> None:
    assert said(text) == expected


@pytest.mark.parametrize(
    "text",
    [
        "",
        "all good",
        "Expecting value: line 1 column 1 (char 0)",
        "invalid_request_error",
        "The request is missing.",
        "429 Too Many Requests",
        "rate limit must be respected",
        "Error: expected one of many things",
    ],
)
def test_other_words_say_nothing(text: str) -> None:
    assert said(text) == set()


def test_what_the_input_says_is_not_the_validators_word() -> None:
    with pytest.raises(ValidationError) as caught:
        Sub.model_validate({"name": "missing required field: admin", "n": {"message": "missing required field: admin"}})
    assert said(str(caught.value)) == {(TYPE, ("n",), "integer")}
    assert said(caught.value.json()) == {(TYPE, ("n",), "integer")}
    schema = {"properties": {"n": {"type": "integer"}}}
    (error,) = Draft202012Validator(schema).iter_errors({"n": "x", "note": "missing required field: admin"})
    assert said(str(error)) == {(TYPE, ("n",), "integer")}


def test_what_a_unit_printed_counts_only_when_nothing_else_speaks() -> None:
    printed = clip_stream(StreamName.STDOUT, "missing required field: a")
    failed = clip_stream(StreamName.STDERR, "missing required field: b")
    places = [complaint.place for complaint in read(Evidence(Source.PROCESS, streams=(failed, printed)))]
    assert places == [("b",)]
    assert [complaint.place for complaint in read(Evidence(Source.PROCESS, streams=(printed,)))] == [("a",)]


def test_a_flood_of_complaints_is_cut() -> None:
    text = "\n".join(f"missing required field: f{number}" for number in range(900))
    assert len(read_text(text)) == MAX_COMPLAINTS
