"""Evidence JSON: what may be handed in, what is stored, and what is said about faults."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.unit.evidence.lookalikes import error_like

from rerail.errors import EvidenceError
from rerail.evidence.ansi import printable
from rerail.evidence.clip import Caps, clip_stream
from rerail.evidence.exceptions import from_exception
from rerail.evidence.fingerprint import evidence_fingerprint
from rerail.evidence.hooks import from_hook_payload
from rerail.evidence.http import from_response
from rerail.evidence.mcp import from_mcp_result
from rerail.evidence.model import Evidence, Link, Source, StreamName
from rerail.evidence.payload import from_payload, to_payload
from rerail.evidence.process import from_process
from rerail.evidence.text import from_text

BODY_ONLY = (clip_stream(StreamName.BODY, '{"code": "done", "message": "ok"}'),)


def without_sizes(evidence: Evidence) -> Evidence:
    """Return *evidence* as far as a classification reads it: the raw size of a stream is for people."""
    return evidence._replace(streams=tuple(stream._replace(total_bytes=0) for stream in evidence.streams))


def test_a_process_as_json_is_the_process() -> None:
    evidence = from_payload(
        {
            "id": "c-1",
            "command": "git push origin main",
            "exit_code": 1,
            "stdout": "to origin\n",
            "stderr": "error: failed to push\n",
            "cwd": "/w",
            "duration_s": 2,
        }
    )
    expected = from_process(
        "git push origin main",
        exit_code=1,
        stdout="to origin\n",
        stderr="error: failed to push\n",
        cwd="/w",
        duration_s=2.0,
    )
    assert evidence == expected


@pytest.mark.parametrize(
    ("payload", "fields"),
    [
        ({"command": ["git", "push"]}, {"source": Source.PROCESS, "command": ("git", "push"), "tool": "git"}),
        ({"exit_code": -9}, {"exit_code": None, "signal": "SIGKILL"}),
        ({"exit_code": -1073741819}, {"exit_code": -1073741819, "signal": None}),
        ({"signal": "SIGKILL"}, {"signal": "SIGKILL"}),
        ({"signal": "kill"}, {"signal": "SIGKILL"}),
        ({"signal": 9}, {"signal": "SIGKILL"}),
        (
            {"http_status": 429, "headers": {"Retry-After": 3}},
            {"source": Source.HTTP, "headers": (("retry-after", "3"),)},
        ),
        ({"http_status": 500, "command": "POST /v1", "exit_code": None}, {"source": Source.HTTP, "http_status": 500}),
        ({"message": "no"}, {"source": Source.TEXT}),
        ({"tool": "Bash", "tool_input": {"command": "git push", "x": 1}}, {"tool": "Bash", "command": ("git", "push")}),
        ({"tool": "Edit", "tool_input": [1, {"password": "hunter2"}]}, {"tool": "Edit", "command": ()}),
        ({"stderr": '{"error": {"code": "x_1"}}'}, {"codes": ()}),
        ({"http_status": 200, "body": {"code": "done", "message": "ok"}}, {"codes": (), "streams": BODY_ONLY}),
        ({"message": '{"error": {"code": "x_1"}}'}, {"codes": ("x_1",)}),
        ({"body": {"error": {"code": "x_1"}}}, {"codes": ("x_1",), "source": Source.HTTP}),
        ({"body": '{"error": {"code": "x_1"}}'}, {"codes": ("x_1",)}),
        ({"body": [{"error": {"code": "x_1"}}]}, {"codes": ("x_1",)}),
        ({"body": "<html>", "http_status": 502}, {"codes": ()}),
    ],
)
def test_every_field_may_come_alone_and_in_its_forms(payload: dict[str, object], fields: dict[str, object]) -> None:
    evidence = from_payload(payload)
    assert {name: getattr(evidence, name) for name in fields} == fields


def test_a_json_body_s_message_joins_what_was_said() -> None:
    evidence = from_payload({"message": "Request failed", "body": {"error": {"message": "no such model"}}})
    assert evidence.stream(StreamName.MESSAGE).text == "Request failed\nno such model"  # type: ignore[union-attr]


@pytest.mark.parametrize(
    ("name", "types"),
    [
        ("openai.RateLimitError", ("openai.RateLimitError",)),
        ("ConnectionResetError", ("ConnectionResetError", "ConnectionError", "OSError", "Exception", "BaseException")),
        ("builtins.TypeError", ("TypeError", "Exception", "BaseException")),
        ("print", ("print",)),
    ],
)
def test_an_exception_type_becomes_an_exception_with_the_message(name: str, types: tuple[str, ...]) -> None:
    evidence = from_payload({"exception_type": name, "message": "no"})
    (fact,) = evidence.exceptions
    assert (fact.link, fact.types, fact.message) == (Link.RAISED, types, "no")
    assert evidence.source is Source.EXCEPTION


FAULTS = [
    ({}, "at least one field"),
    ({"id": 1}, "at least one field"),
    ({"message": None}, "at least one field"),
    ([], "must be a JSON object, got []"),
    ("text", 'must be a JSON object, got "text"'),
    (None, "must be a JSON object, got null"),
    ({"exitcode": 1}, '"exitcode": no such field, did you mean exit_code?'),
    ({"exit_code": "1"}, 'exit_code: expected a whole number, got "1"'),
    ({"exit_code": True}, "exit_code: expected a whole number, got true"),
    ({"exit_code": 1.5}, "exit_code: expected a whole number, got 1.5"),
    ({"exit_code": 10**30}, "exit_code: expected a whole number"),
    ({"exit_code": 10**5000}, "exit_code: expected a whole number"),
    ({"http_status": 42}, "http_status: expected a whole number from 100 to 999, got 42"),
    ({"stderr": ["a"]}, 'stderr: expected text, got ["a"]'),
    ({"stdout": {"segments": []}}, "stdout: expected text"),
    ({"command": 3}, "command: expected text or a list of texts, got 3"),
    ({"command": ["a", 1]}, "command: expected text or a list of texts"),
    ({"signal": "rm -rf"}, "signal: expected a signal's name or number"),
    ({"signal": 0}, "signal: expected a signal's name or number"),
    ({"signal": 4000}, "signal: expected a signal's name or number"),
    ({"headers": "x"}, "headers: expected an object of texts"),
    ({"headers": {"a": {}}}, "headers: expected an object of texts"),
    ({"body": 3}, "body: expected text, an object or a list"),
    ({"exception_type": "two words"}, "exception_type: expected a qualified class name"),
    ({"exception_type": ""}, "exception_type: expected a qualified class name"),
    ({"tool": 1}, "tool: expected text"),
    ({"duration_s": -1}, "duration_s: expected a number of seconds"),
    ({"duration_s": float("nan")}, "duration_s: expected a number of seconds"),
    ({"duration_s": 10**400}, "duration_s: expected a number of seconds"),
    ({"source": "elsewhere", "message": "x"}, "source: expected one of exception, process"),
    ({"source": "text", "exceptions": [{}]}, "exceptions: expected a list of exceptions"),
    ({"source": "text", "exceptions": [{"link": "x", "types": ["A"]}]}, "exceptions: expected a list of exceptions"),
    (
        {"source": "text", "message": {"segments": [{"first_line": 0, "text": "x"}]}},
        "message: expected text or a clipped stream",
    ),
    ({"source": "text", "codes": [1]}, "codes: expected a list of texts"),
    ({3: 4, "message": "x"}, "3: no such field"),
]


@pytest.mark.parametrize(("payload", "fault"), FAULTS)
def test_a_fault_names_the_field_what_was_expected_and_what_came(payload: object, fault: str) -> None:
    with pytest.raises(EvidenceError) as caught:
        from_payload(payload)
    assert fault in caught.value.message
    assert "exit_code" in (caught.value.hint or "")


def test_all_faults_are_told_at_once() -> None:
    with pytest.raises(EvidenceError) as caught:
        from_payload({"exit_code": "1", "stdout": 2, "nonsense": 3, "http_status": 4})
    assert [line.partition(":")[0] for line in caught.value.message.splitlines()[1:]] == [
        "exit_code",
        "stdout",
        '"nonsense"',
        "http_status",
    ]


def test_a_fault_neither_leaks_a_secret_nor_forges_output() -> None:
    with pytest.raises(EvidenceError) as caught:
        from_payload({"exit_code": {"password": "hunter2"}, "evil\n\x1b[31m\u202ename": 1})
    assert "hunter2" not in caught.value.message
    assert len(caught.value.message.splitlines()) == 3
    assert caught.value.message.replace("\n", "").isprintable()


def test_an_endless_value_is_shown_short() -> None:
    with pytest.raises(EvidenceError) as caught:
        from_payload({"exit_code": ["x"] * 100_000})
    assert len(caught.value.message) < 300


EVIDENCE = [
    from_process(
        ["git", "push", "--token", "abc"],
        exit_code=128,
        stdout="a\n\n",
        stderr="fatal: no\n\n\n",
        cwd="/w",
        duration_s=1.25,
    ),
    from_process("x", exit_code=-9, timed_out=True),
    from_process("", exit_code=0),
    from_process("x", exit_code=1, stderr="\n".join(f"line {number} {'x' * 90}" for number in range(10_000))),
    from_process("x", exit_code=1, stderr="y" * 100_000),
    from_process("x", exit_code=1, stderr=clip_stream(StreamName.STDERR, "a\nb\nc\nd\n" * 9, caps=Caps(4, 8, 60))),
    from_response(
        429,
        [("Retry-After", "3"), ("Via", "a"), ("X-Request-Id", "r"), ("Via", "b")],
        {"error": {"code": "x_1", "message": "no"}},
    ),
    from_response(401, {"WWW-Authenticate": 'Bearer realm="x"'}, b"no", url="https://h/x?token=abc"),
    from_exception(
        ExceptionGroup("g", [OSError(28, "full"), error_like("sdk.Error", "slow\n\n", status_code=429, code="busy")])
    ),
    from_exception(
        error_like("x.RetryError", "", response={"Error": {"Code": "A"}, "ResponseMetadata": {"HTTPStatusCode": 503}})
    ),
    from_mcp_result({"isError": True, "content": [{"text": "no"}], "structuredContent": {"error": {"code": "x_2"}}}),
    from_hook_payload(
        {"decision": "block", "reason": "no pushes", "tool_name": "Bash", "tool_input": {"command": "git push"}}
    ),
    from_text("password=hunter2\n\x1b[31mno"),
    from_text(""),
]


@pytest.mark.parametrize("evidence", EVIDENCE, ids=lambda evidence: evidence.source.value)
def test_what_is_stored_comes_back_equal(evidence: Evidence) -> None:
    stored = json.loads(json.dumps(to_payload(evidence)))
    again = from_payload(stored)
    assert without_sizes(again) == without_sizes(evidence)
    assert to_payload(again) == stored
    assert evidence_fingerprint(again) == evidence_fingerprint(evidence)


def test_what_is_stored_is_redacted_and_printable_as_json() -> None:
    stored = json.dumps([to_payload(evidence) for evidence in EVIDENCE])
    assert "hunter2" not in stored
    assert "\\u001b" not in stored


def test_stored_json_that_somebody_wrote_is_not_trusted() -> None:
    secret = "sk-" + "a1B2c3D4e5F6" * 3
    stored: dict[str, Any] = {
        "source": "exception",
        "message": {"total_lines": 9, "total_bytes": 9, "segments": [{"first_line": 4, "text": f"\x1b[2J{secret}"}]},
        "exceptions": [{"link": "raised", "types": ["x\ny"], "message": f"{secret}\x1b", "codes": [f"c {secret}"]}],
        "codes": [secret],
        "notes": [f"n\n{secret}"],
        "command": ["x", secret],
        "tool": f"t\n{secret}",
        "cwd": secret,
        "headers": [["x-request-id", secret], ["authorization", "x"]],
    }
    shown = repr(from_payload(stored))
    assert secret not in shown
    assert "authorization" not in shown
    assert "\\x1b" not in shown


PUBLIC = st.fixed_dictionaries(
    {},
    optional={
        "id": st.text() | st.integers(),
        "command": st.text() | st.lists(st.text()),
        "exit_code": st.integers(-300, 300),
        "signal": st.sampled_from(["SIGKILL", "TERM", 11]),
        "stdout": st.text(),
        "stderr": st.text(),
        "message": st.text(),
        "http_status": st.integers(100, 599),
        "headers": st.dictionaries(st.sampled_from(["retry-after", "Date", "cookie"]), st.text() | st.integers()),
        "body": st.text() | st.dictionaries(st.text(), st.text() | st.integers()),
        "exception_type": st.sampled_from(["openai.APIError", "OSError"]),
        "tool": st.text(),
        "cwd": st.text(),
        "duration_s": st.floats(0, 1e9),
        "tool_input": st.text() | st.dictionaries(st.text(), st.text()),
    },
)


@given(PUBLIC)
def test_any_well_formed_payload_is_stored_and_comes_back_equal(payload: dict[str, Any]) -> None:
    if not payload.keys() - {"id"}:
        return
    evidence = from_payload(payload)
    stored = to_payload(evidence)
    json.dumps(stored, ensure_ascii=False).encode()
    assert without_sizes(from_payload(stored)) == without_sizes(evidence)


ANY_JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=8), inner, max_size=4),
    max_leaves=8,
)
FIELD_NAMES = [
    "id", "command", "exit_code", "signal", "stdout", "stderr", "message", "http_status", "headers", "body", "exception_type",
    "tool", "tool_input", "cwd", "duration_s", "source", "exceptions", "codes", "notes", "other",
]  # fmt: skip


@given(ANY_JSON | st.dictionaries(st.sampled_from(FIELD_NAMES), ANY_JSON))
def test_any_other_payload_is_refused_with_a_clear_error_or_read(payload: object) -> None:
    try:
        assert isinstance(from_payload(payload), Evidence)
    except EvidenceError as error:
        shown = error.message.split("\n")
    else:
        shown = []
    assert list(map(printable, shown)) == shown
