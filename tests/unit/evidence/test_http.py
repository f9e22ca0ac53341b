"""An HTTP response as evidence."""

from __future__ import annotations

import pytest
from tests.unit.evidence.lookalikes import Headers, Namespace, ReadResponse, UnreadResponse

from rerail.evidence import notes
from rerail.evidence.http import from_response, from_response_object
from rerail.evidence.model import Source, StreamName

BODY = '{"error": {"code": "model_not_found", "message": "The model \'x\' does not exist"}}'


@pytest.mark.parametrize(
    "body", [BODY, BODY.encode(), {"error": {"code": "model_not_found", "message": "The model 'x' does not exist"}}]
)
def test_a_json_body_gives_its_code_and_message(body: str | bytes | dict[str, object]) -> None:
    evidence = from_response(
        404,
        {"Content-Type": "application/json", "Set-Cookie": "a=b"},
        body,
        url="https://h/v1?key=a1B2c3D4e5",
        method="post",
    )
    assert evidence.source is Source.HTTP
    assert evidence.http_status == 404
    assert evidence.headers == (("content-type", "application/json"),)
    assert evidence.codes == ("model_not_found",)
    assert evidence.command == ("POST", "https://h/v1?key=[redacted:query]")
    assert [(stream.name, stream.text) for stream in evidence.streams] == [
        (StreamName.MESSAGE, "The model 'x' does not exist"),
        (StreamName.BODY, BODY),
    ]


def test_any_other_body_is_left_to_the_rules() -> None:
    evidence = from_response(502, body="<html>Bad Gateway</html>")
    assert (evidence.codes, evidence.command) == ((), ())
    assert [stream.name for stream in evidence.streams] == [StreamName.BODY]


def test_no_answer_at_all_is_evidence_too() -> None:
    evidence = from_response(None)
    assert (evidence.http_status, evidence.streams) == (None, ())


def test_a_response_object_that_was_read_is_read() -> None:
    response = ReadResponse(429, Headers(Retry_After="3"), BODY.encode())
    vars(response)["_request"] = Namespace(url="https://h/v1", method="GET")
    evidence = from_response_object(response)
    assert (evidence.http_status, evidence.headers, evidence.codes) == (
        429,
        (("retry-after", "3"),),
        ("model_not_found",),
    )
    assert evidence.command == ("GET", "https://h/v1")
    assert evidence.notes == ()


def test_a_response_object_that_was_not_read_is_not_fetched() -> None:
    evidence = from_response_object(UnreadResponse(503, Headers()))
    assert evidence.http_status == 503
    assert evidence.notes == (notes.BODY_UNREAD,)


def test_other_libraries_names_are_known() -> None:
    assert from_response_object(Namespace(status=503, headers={"Retry-After": "1"}, _body=b"no")).http_status == 503
    boto = {
        "Error": {"Code": "Throttling"},
        "ResponseMetadata": {"HTTPStatusCode": 400, "HTTPHeaders": {"x-amzn-requestid": "r"}},
    }
    evidence = from_response_object(boto)
    assert (evidence.http_status, evidence.codes) == (400, ("Throttling",))
