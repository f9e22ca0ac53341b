"""MCP tool results and JSON-RPC errors as evidence."""

from __future__ import annotations

import pytest
from tests.unit.evidence.lookalikes import Namespace

from rerail.evidence.mcp import from_mcp_result
from rerail.evidence.model import Source, StreamName

TEXT = {"type": "text", "text": "missing required field: workspace_id"}


@pytest.mark.parametrize(
    "result",
    [
        {"isError": True, "content": [TEXT]},
        {"is_error": True, "content": [TEXT]},
        {"jsonrpc": "2.0", "id": 1, "result": {"isError": True, "content": [TEXT]}},
        Namespace(isError=True, content=[Namespace(type="text", text=TEXT["text"])], structuredContent=None),
        Namespace(is_error=True, content=[Namespace(type="image", data="AAAA"), Namespace(text=TEXT["text"])]),
        {"isError": True, "content": TEXT["text"]},
    ],
)
def test_the_text_of_a_failed_call_is_the_message(result: object) -> None:
    evidence = from_mcp_result(result, tool="create_issue")
    assert (evidence.source, evidence.tool) == (Source.MCP, "create_issue")
    assert [(stream.name, stream.text) for stream in evidence.streams] == [(StreamName.MESSAGE, TEXT["text"])]


def test_the_text_of_a_call_that_did_not_fail_is_only_output() -> None:
    evidence = from_mcp_result({"content": [TEXT]})
    assert [stream.name for stream in evidence.streams] == [StreamName.STDOUT]


@pytest.mark.parametrize(
    "error",
    [
        {
            "jsonrpc": "2.0",
            "id": 1,
            "error": {"code": -32602, "message": "Invalid params", "data": {"code": "missing_field"}},
        },
        {"code": -32602, "message": "Invalid params", "data": {"code": "missing_field"}},
        Namespace(error=Namespace(code=-32602, message="Invalid params", data={"code": "missing_field"})),
    ],
)
def test_a_json_rpc_error_gives_its_code_message_and_data(error: object) -> None:
    evidence = from_mcp_result(error)
    assert evidence.codes == ("-32602", "missing_field")
    assert [(stream.name, stream.text) for stream in evidence.streams] == [
        (StreamName.MESSAGE, "Invalid params"),
        (StreamName.BODY, '{"code": "missing_field"}'),
    ]


def test_structured_content_is_the_body_and_gives_its_codes() -> None:
    evidence = from_mcp_result(
        {"isError": True, "content": [], "structuredContent": {"error": {"code": "RATE_LIMITED"}}}
    )
    assert evidence.codes == ("RATE_LIMITED",)
    assert [stream.name for stream in evidence.streams] == [StreamName.BODY]


@pytest.mark.parametrize(
    "result", [None, {}, [], "text", 4, {"error": "plain"}, {"content": 4}, {"content": [None, 4, {"text": 4}]}]
)
def test_any_result_makes_evidence(result: object) -> None:
    assert from_mcp_result(result).source is Source.MCP


def test_embedded_resources_are_text_too_and_secrets_go() -> None:
    evidence = from_mcp_result(
        {"isError": True, "content": [{"type": "resource", "resource": {"text": "password=hunter2"}}]}
    )
    assert evidence.streams[0].text == "password=[redacted:password]"
