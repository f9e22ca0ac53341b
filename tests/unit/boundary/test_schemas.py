"""The schema of each verb's envelope: what the verb returns fits it, and so does what an error leaves."""

from __future__ import annotations

import pytest
from jsonschema import Draft202012Validator

from rerail.boundary.data import DATA
from rerail.boundary.result import Result, failed
from rerail.boundary.schemas import SCHEMAS, envelope_of, published
from rerail.boundary.serialize import serialize_result
from rerail.cli.main import VERBS
from rerail.errors import UsageError

SPEAKS_OTHERWISE = {"hook", "mcp"}
"""Verbs whose answer is in the language of a harness or a protocol."""


@pytest.mark.parametrize("verb", DATA)
def test_every_verb_has_an_envelope_with_typed_data(verb: str) -> None:
    schema = envelope_of(verb)
    Draft202012Validator.check_schema(schema)
    error = serialize_result(failed(verb, UsageError("it takes one name, got two")))
    Draft202012Validator(schema).validate(error)


def test_no_verb_is_without_data_of_its_own() -> None:
    assert {verb.split()[0] for verb in DATA} == set(VERBS) - SPEAKS_OTHERWISE


def test_facts_that_a_verb_does_not_know_are_no_ones_to_promise() -> None:
    schema = envelope_of("ledger release")
    released = serialize_result(Result(True, "ledger release", data={"unit": "u", "pid": 3, "host": "h"}))
    Draft202012Validator(schema).validate(released)
    (shape, _) = schema["properties"]["data"]["anyOf"]
    assert set(shape["required"]) == {"unit", "pid", "host"}


@pytest.mark.parametrize("name", SCHEMAS)
def test_a_published_schema_names_itself_and_its_version(name: str) -> None:
    schema = published(name)
    Draft202012Validator.check_schema(schema)
    assert schema["$id"] == f"urn:rerail:{name}:{SCHEMAS[name][0]}"
