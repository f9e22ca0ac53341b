"""The errors of jsonschema: their first line decides, what they quote is never seen."""

from __future__ import annotations

from rerail.evidence.payload import from_payload
from rerail.rules.readers import view

MISSING = (
    "'workspace_id' is a required property\n\n"
    "Failed validating 'required' in schema:\n"
    "    {'type': 'object',\n"
    "     'required': ['title', 'workspace_id'],\n"
    "     'properties': {'title': {'type': 'string', 'description': '429 Too Many Requests'}}}\n\n"
    "On instance:\n"
    "    {'title': 'connection refused'}"
)


def _seen(**payload: object) -> list[str]:
    return [line.text for line in view(from_payload(payload)).lines]


def test_only_the_message_of_an_exception_is_seen() -> None:
    assert _seen(message=MISSING, exception_type="jsonschema.exceptions.ValidationError") == [MISSING.splitlines()[0]]


def test_the_message_in_a_traceback_is_seen_without_its_quotations() -> None:
    frame = 'Traceback (most recent call last):\n  File "a.py", line 4, in <module>\n    validate(x, s)\n'
    stderr = f"{frame}jsonschema.exceptions.ValidationError: {MISSING}\n"
    seen = _seen(stderr=stderr, exit_code=1)
    assert seen == ["jsonschema.exceptions.ValidationError: 'workspace_id' is a required property"]


def test_what_follows_a_quotation_is_seen_again() -> None:
    assert (
        _seen(stderr=f"{MISSING}\nerror: 1 of 3 files is invalid", exit_code=1)[-1] == "error: 1 of 3 files is invalid"
    )


def test_a_quotation_of_a_part_of_the_schema_is_hidden_too() -> None:
    schema = "Failed validating 'type' in schema['properties']['retries']:\n    {'type': 'integer'}"
    quoted = f"{schema}\n\nOn instance['retries']:\n    '3'"
    text = f"'3' is not of type 'integer'\n\n{quoted}"
    assert _seen(stderr=text, exit_code=1) == ["'3' is not of type 'integer'"]
