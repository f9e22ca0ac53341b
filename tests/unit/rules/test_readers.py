"""What rules may see of a failure: lines with their weight, and the facts on them."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.failures import failure

from rerail.rules.readers import MAX_LINES, view
from rerail.rules.readers.model import Weight


def weights(**streams: object) -> dict[str, Weight]:
    """Visible lines of a failed run with their weights."""
    seen = view(failure(exit_code=1, **streams))  # type: ignore[arg-type]
    return {line.raw: line.weight for line in seen.lines if line.raw.endswith(line.text)}


@pytest.mark.parametrize(
    "noise",
    [
        "ok 12 - permission denied path covered",
        "not ok 3 - connection refused",
        "tests/test_a.py::test_timeout[connection refused] PASSED      [ 12%]",
        "tests/test_a.py::test_429 FAILED",
        "  ✓ retries on ECONNRESET (7 ms)",
        "  ✕ retries on ECONNRESET (7 ms)",
        "--- PASS: TestTimeout (0.00s)",
        "=== RUN   TestRateLimit",
        "test net::timeout ... ok",
        "+ // copilot quota exceeded handling",
        "@@ -1 +1 @@ timeout",
        "--- a/timeout.py",
        "+++ b/timeout.py",
        "docs/errors.md:4:- permission denied on read-only dir",
        "src/net.py:12:    raise TimeoutError('connection refused')",
        "INFO: connection refused is handled",
        "[INFO] retry on 503",
        "2026-11-30 10:00:00,123 INFO app connection refused, fine",
        '{"level":"info","msg":"connection refused"}',
        'level=debug msg="connection refused"',
        "npm verbose stack Error: 503",
        "npm http fetch GET 503 https://registry.example.com/x",
        "  12 | raise RateLimitError('429 Too Many Requests')",
        "   |     ^^^^^^ connection refused",
        "    at fetch (/srv/app/connection-refused.js:1:1)",
        '  File "/srv/app.py", line 3, in connection_refused',
        "$ curl https://connection.refused",
        "> webpack --fail-on connection-refused",
        "[tool] bash rc=0 $ grep -rn 'permission denied' docs",
        "d66c319 retry on connection reset",
        "hint: Updates were rejected because the remote contains work",
        "Looking in indexes: http://127.0.0.1:9/simple",
        "^^^^^^^^^",
    ],
)
def test_what_says_nothing_about_a_failure_is_masked(noise: str) -> None:
    assert noise not in weights(stdout=f"starting\n{noise}\nboom")
    assert noise not in weights(stderr=f"starting\n{noise}\nboom")


@pytest.mark.parametrize(
    "line",
    [
        "WARNING: Retrying after connection broken",
        "warn: using the fallback",
        "npm warn deprecated x",
        "request failed, retrying in 5s",
        "attempt 2/5 failed: 503",
        "connection lost, reconnecting",
        "[agent] transient: Error code: 429 -> retry in 0.05s",
        "Error: NON-FATAL: Lock acquisition failed",
        "a.c:1:2: warning: unused variable",
    ],
)
def test_what_the_run_outlived_counts_little(line: str) -> None:
    assert weights(stderr=f"{line}\nboom")[line] is Weight.WENT_ON


@pytest.mark.parametrize(
    "line",
    [
        "Please try again in 20s.",
        "Retry your request with an inference profile.",
        "Retry failed after 3 attempts",
        "Please wait 60 seconds before retrying.",
        "Wait a moment before trying again.",
    ],
)
def test_advice_to_retry_is_no_sign_that_the_run_went_on(line: str) -> None:
    assert weights(stderr=line)[line] is Weight.ERROR


def test_in_a_short_failure_every_line_of_stderr_is_an_error_line() -> None:
    assert weights(stderr="simrun: model deadlocked at t=381")["simrun: model deadlocked at t=381"] is Weight.ERROR


def test_stdout_is_where_a_failure_is_told_only_if_stderr_is_silent() -> None:
    assert weights(stdout="Invalid API key")["Invalid API key"] is Weight.ERROR
    assert weights(stdout="Invalid API key", stderr="boom")["Invalid API key"] is Weight.PLAIN


def test_an_error_far_from_the_end_of_a_long_log_was_outlived() -> None:
    early, late = "error: disk quota exceeded", "error: connection refused"
    seen = weights(stderr="\n".join([early, *(f"step {n} done" for n in range(200)), late]))
    assert (seen[early], seen[late]) == (Weight.PLAIN, Weight.ERROR)


def test_the_only_error_of_a_long_log_counts_wherever_it_stands() -> None:
    early = "error: disk quota exceeded"
    assert weights(stderr="\n".join([early, *(f"step {n} done" for n in range(200))]))[early] is Weight.ERROR


def test_where_stderr_tells_of_an_error_a_long_stdout_is_output() -> None:
    line = "error: permission denied: see the runbook"
    seen = weights(stdout="\n".join([*(f"row {n}" for n in range(60)), line]), stderr="fatal: the last word")
    assert seen[line] is Weight.PLAIN


def test_fenced_code_is_masked() -> None:
    seen = weights(stdout="I suggest:\n```\nerror: connection refused\n```\ngiving up")
    assert "error: connection refused" not in seen
    assert "giving up" in seen


def test_a_log_prefix_is_no_part_of_what_the_tool_said() -> None:
    seen = view(
        failure(exit_code=1, stdout="2021-03-23T17:28:04.3930818Z Error response from daemon: x\n#12 3.4 no space left")
    )
    assert [line.text for line in seen.lines] == ["Error response from daemon: x", "no space left"]
    assert seen.lines[0].raw.startswith("2021")


def test_what_a_logger_of_columns_says_is_told_by_its_level() -> None:
    place = "| app.llm:ask:759 - "
    errors = f"2026-11-30 10:49:07.972 | ERROR    {place}HTTP 503"
    warned = f"2026-11-30 10:49:07.972 | WARNING  {place}HTTP 502"
    told = f"2026-11-30 10:49:07.972 | INFO     {place}HTTP 500"
    seen = {line.raw: line for line in view(failure(exit_code=1, stderr="\n".join([errors, warned, told]))).lines}
    assert (seen[errors].text, seen[errors].weight) == ("HTTP 503", Weight.ERROR)
    assert seen[warned].weight is Weight.WENT_ON
    assert told not in seen


def test_the_root_of_a_chain_of_causes_lies_deepest() -> None:
    seen = view(
        failure(
            exit_code=1,
            stderr=(
                "Traceback (most recent call last):\n"
                '  File "a.py", line 1, in <module>\n'
                "    connect()\n"
                "ConnectionRefusedError: [Errno 111] Connection refused\n"
                "\n"
                "The above exception was the direct cause of the following exception:\n"
                "\n"
                "Traceback (most recent call last):\n"
                '  File "b.py", line 1, in <module>\n'
                "    ask()\n"
                "openai.APIConnectionError: Connection error.\n"
            ),
        )
    )
    assert [(line.number, line.depth) for line in seen.lines] == [(4, 1), (11, 0)]
    assert ("exception", "openai.APIConnectionError", 11) in {
        (fact.kind, fact.value, fact.line.number) for fact in seen.facts if fact.line
    }


def test_an_error_raised_while_another_was_handled_is_not_its_consequence() -> None:
    text = (
        "Traceback (most recent call last):\n  File \"a\", line 1, in f\nKeyError: 'x'\n\n"
        "During handling of the above exception, another exception occurred:\n\n"
        'Traceback (most recent call last):\n  File "b", line 2, in g\nPermissionError: [Errno 13] Permission denied\n'
    )
    assert {line.depth for line in view(failure(exit_code=1, stderr=text)).lines} == {0}


def test_the_source_of_a_frame_is_seen_only_where_it_tells_what_the_error_means() -> None:
    def shown(source: str) -> list[str]:
        text = (
            f'Traceback (most recent call last):\n  File "a.py", line 1, in f\n    {source}\n    ^^^^^^\nKeyError: 1\n'
        )
        return [line.raw.strip() for line in view(failure(exit_code=1, stderr=text)).lines]

    assert shown('url = os.environ["URL"]') == ['url = os.environ["URL"]', "KeyError: 1"]
    assert shown("raise Timeout('connection refused')") == ["KeyError: 1"]


def test_the_leaves_of_a_printed_exception_group_are_read() -> None:
    text = (
        "  + Exception Group Traceback (most recent call last):\n"
        '  |   File "a.py", line 1, in <module>\n'
        "  | ExceptionGroup: unhandled errors in a TaskGroup (1 sub-exception)\n"
        "  +-+---------------- 1 ----------------\n"
        "    | Traceback (most recent call last):\n"
        '    |   File "b.py", line 1, in f\n'
        "    | httpx.ReadTimeout: The read operation timed out\n"
        "    +------------------------------------\n"
    )
    assert "httpx.ReadTimeout" in {fact.value for fact in view(failure(exit_code=1, stderr=text)).facts}


def test_a_node_stack_gives_its_error_and_hides_the_source_it_quotes() -> None:
    text = (
        "file:///srv/app/error.mjs:59\n"
        "            return new RateLimitError(status, 'connection refused');\n"
        "                   ^\n"
        "\n"
        "RateLimitError: 429 Rate limit reached\n"
        "    at generate (file:///srv/app/error.mjs:59:20) {\n"
        "  code: 'rate_limit_exceeded',\n"
        "}\n"
    )
    seen = view(failure(exit_code=1, stderr=text))
    assert {("exception", "RateLimitError"), ("status", "429"), ("code", "rate_limit_exceeded")} <= {
        (fact.kind, fact.value) for fact in seen.facts
    }
    assert not any("connection refused" in line.text for line in seen.lines)


@pytest.mark.parametrize(
    "stdout",
    [
        '{"hookSpecificOutput":{"permissionDecision":"deny"}}',
        '{"error": {"code": 500}}',
        '{"isError": true, "content": []}',
        'HTTP/1.1 403 Forbidden\nretry-after: 60\n\n{"message": "x"}',
        'working...\n{"is_error": true, "result": "x"}',
        '{"status": "error"}',
        '{"permission": "deny", "userMessage": "not here"}',
        '{"result": {"allow": false}}',
        "<html><head><title>503 Service Unavailable</title></head></html>",
        "<!DOCTYPE html>\n<html>\n<body>\n<h1>504 ERROR</h1>",
    ],
)
def test_a_structured_error_counts_whatever_the_exit_status(stdout: str) -> None:
    seen = view(failure(exit_code=0, stdout=stdout))
    assert not seen.succeeded
    assert seen.lines


@pytest.mark.parametrize(
    "stdout",
    [
        "error: connection refused, 503, permission denied",
        '{"result": "ok", "error": null}',
        "HTTP/1.1 200 OK\ncontent-type: text/plain\n\nHTTP 503",
        '["error"]',
        "{not json",
        "<html><title>Our 503 products</title></html>",
        '{"allowed": true}',
        "",
    ],
)
def test_alarming_words_under_exit_0_are_no_failure(stdout: str) -> None:
    assert view(failure(exit_code=0, stdout=stdout)).succeeded


def test_the_headers_of_a_printed_response_are_headers() -> None:
    seen = view(failure(exit_code=22, stdout="HTTP/1.1 403 Forbidden\nX-RateLimit-Remaining: 0\n\nslow down"))
    assert ("x-ratelimit-remaining", "0") in seen.headers


def test_of_very_many_lines_the_first_and_the_last_are_read() -> None:
    seen = view(failure(exit_code=1, stderr="\n".join(f"line {n}" for n in range(1, 4 * MAX_LINES))))
    assert len(seen.lines) == MAX_LINES
    assert (seen.lines[0].number, seen.lines[-1].number) == (1, 4 * MAX_LINES - 1)


TEXTS = st.text("ab\n\r\t \x1b\0\u0130{}[]\"'\\:=|+-@`~>#15E", max_size=200)


@given(TEXTS, TEXTS, TEXTS, st.sampled_from([None, 0, 1, 137]))
def test_no_text_breaks_the_reading_of_it(message: str, stderr: str, stdout: str, exit_code: int | None) -> None:
    evidence = failure(message=message, stderr=stderr, stdout=stdout, exit_code=exit_code)
    seen = view(evidence)
    counts = {stream.name.value: stream.total_lines for stream in evidence.streams}
    assert all(1 <= line.number <= counts[line.stream] and line.weight for line in seen.lines)
    assert all(fact.line is None or seen.lines[fact.place] is fact.line for fact in seen.facts)
