"""The published schema of the envelope."""

from __future__ import annotations

import jsonschema
import pytest

from rerail.boundary import hints
from rerail.boundary.envelope import Envelope
from rerail.boundary.result import Result
from rerail.boundary.serialize import serialize_result
from rerail.boundary.slugs import ErrorSlug

FAILED = serialize_result(
    Result(False, "run", hints=(hints.resume_at(unit="u", time="t"),), error=ErrorSlug.PAUSED_UNTIL)
)


@pytest.mark.parametrize("envelope", [FAILED, serialize_result(Result(True, "doctor", "all is well"))])
def test_an_envelope_is_valid_against_the_json_schema(envelope: dict[str, object]) -> None:
    jsonschema.validate(envelope, Envelope.model_json_schema())


def test_the_schema_names_every_slug() -> None:
    assert set(Envelope.model_json_schema()["$defs"]["ErrorSlug"]["enum"]) == set(ErrorSlug)


def test_a_reader_ignores_what_a_newer_rerail_adds() -> None:
    assert Envelope.model_validate({**FAILED, "added": 1}) == Envelope.model_validate(FAILED)
