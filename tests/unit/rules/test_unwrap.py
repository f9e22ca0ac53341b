"""Facts and messages inside one line."""

from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rerail.rules.readers.unwrap import facts, messages


@pytest.mark.parametrize(
    ("line", "status"),
    [
        ("HTTP 503", "503"),
        ("HTTP/1.1 429 Too Many Requests", "429"),
        ("curl: (22) The requested URL returned error: 403", "403"),
        ("Error code: 400 - {'error': {'message': 'x'}}", "400"),
        ("API Error: 529 overloaded", "529"),
        ("API Error (529 {...}) · Retrying", "529"),
        ("status code: 502", "502"),
        ("Status code 403 not in (200, 203)", "403"),
        ("Request failed with status code 500", "500"),
        ('{"error": {"code": 429}}', "429"),
        ('{"message": "Validation Failed", "status": "422"}', "422"),
        ('$metadata: {"httpStatusCode":429,"attempts":3}', "429"),
        ("  status: 429,", "429"),
        ("too many 503 error responses", "503"),
        ("2026-11-30 18:45:13 ERROR 403: Forbidden.", "403"),
        ('Error: 429 {"type":"error"}', "429"),
        ("RateLimitError: 429 Rate limit reached", "429"),
        ("504 gateway timeout", "504"),
        ("Antigravity API error (404): model not found", "404"),
        ("Retry failed after 3 attempts: 500 empty_stream: closed", "500"),
        ("500 Server Error: Internal Server Error for url", "500"),
        ("server returned HTTP response code: 503", "503"),
        ("429, message='Too Many Requests', url='https://api.example.com/x'", "429"),
        ("Error submitting job: Unexpected response code: 500 (No cluster leader)", "500"),
        ("Code: 503. Errors:", "503"),
        ("Failed to list models: 403", "403"),
        ("HTTP response from https://x, got 502", "502"),
        ("gspread.exceptions.APIError: APIError: [503]: The service is currently unavailable.", "503"),
        ("<title>504 Gateway Time-out</title>", "504"),
    ],
)
def test_a_status_in_words_of_http_is_a_fact(line: str, status: str) -> None:
    assert ("status", status) in list(facts(line))


@pytest.mark.parametrize(
    "line",
    [
        "assert 499 == 500",
        "test_404 passed",
        "500 lines read",
        "port 503 is free",
        "took 429 ms",
        "429: fmt.Println(x)",
        "Expected ':' after property name in JSON at position 500 (line 1 column 501)",
        "commit 4291d50",
        "error TS2551: x",
        "line 404",
        "v5.0.404",
        '"GET /x HTTP/1.1" 503 -',
        "coverage 500%",
        '"code": 200',
    ],
)
def test_digits_alone_are_no_status(line: str) -> None:
    assert not [value for kind, value in facts(line) if kind == "status"]


@pytest.mark.parametrize(
    ("line", "fact"),
    [
        ("{'error': {'code': 'insufficient_quota', 'param': None}}", ("code", "insufficient_quota")),
        (r'"text": "failed: {\"code\":\"invalid_type\"}"', ("code", "invalid_type")),
        (r'"a": "{\"b\": \"{\\\"type\\\": \\\"rate_limit_error\\\"}\"}"', ("code", "rate_limit_error")),
        ("  code: 'rate_limit_exceeded',", ("code", "rate_limit_exceeded")),
        ("name: ThrottlingException", ("code", "ThrottlingException")),
        ("An error occurred (AccessDenied) when calling the GetObject operation", ("code", "AccessDenied")),
        ("rpc error: code = Unavailable desc = x", ("code", "Unavailable")),
        ("MCP error -32602: Invalid arguments", ("code", "-32602")),
        ("overloaded_error: Overloaded", ("code", "overloaded_error")),
        ("npm error code ERESOLVE", ("code", "ERESOLVE")),
        ("OSError: [Errno 28] No space left on device", ("errno", "ENOSPC")),
        ("[Errno -3] Temporary failure in name resolution", ("errno", "EAI_AGAIN")),
        ("PermissionError: [WinError 5] Access is denied", ("errno", "EACCES")),
        ("connect ECONNREFUSED 127.0.0.1:9", ("errno", "ECONNREFUSED")),
        ("No such file (os error 2)", ("errno", "ENOENT")),
        ("  errno: -13,", ("errno", "EACCES")),
        ("make: *** [Makefile:2: lint] Error 127", ("exit_code", "127")),
        ("process did not complete successfully: exit code: 137", ("exit_code", "137")),
        ("Command exited with exit status 139", ("exit_code", "139")),
        ("was terminated by another process: signal=SIGKILL, exitCode=null", ("signal", "SIGKILL")),
        ("RetryError[<Future at 0x7f state=finished raised RateLimitError>]", ("exception", "RateLimitError")),
    ],
)
def test_codes_numbers_and_signals_are_facts(line: str, fact: tuple[str, str]) -> None:
    assert fact in list(facts(line))


@pytest.mark.parametrize(
    "line", ["exit code: 1", "make: *** [x] Error 2", "ENVIRONMENT=ci", "/srv/ENOENT/file", "SIGNALS"]
)
def test_what_only_looks_like_one_is_no_system_fact(line: str) -> None:
    assert not [kind for kind, _ in facts(line) if kind in ("errno", "exit_code", "signal")]


def test_a_message_is_unwrapped_from_json_in_json() -> None:
    inner = json.dumps({"error": {"message": 'the "limit" was\nreached'}})
    outer = json.dumps({"detail": inner})
    assert 'the "limit" was\nreached' in list(messages(outer))


def test_what_follows_a_cause_is_a_message() -> None:
    line = "Max retries exceeded (Caused by ResponseError('too many 401 error responses'))"
    assert any("too many 401 error responses" in message for message in messages(line))


@given(st.text(max_size=300))
def test_no_line_breaks_it(line: str) -> None:
    assert all(kind and value for kind, value in facts(line))
    assert all(isinstance(message, str) for message in messages(line))


@given(
    st.sampled_from(['"', "\\", '\\"message":"', "{'error': ", "5" * 3 + " ", "E", "exit ", ": "]), st.integers(1, 4)
)
def test_a_long_hostile_line_ends_soon(unit: str, times: int) -> None:
    line = (unit * 40_000)[: 20_000 * times]
    assert len(list(facts(line))) < 100_000
    assert sum(len(message) for message in messages(line)) < 50_000_000
