"""What readers of test runners, linters, compilers and package managers let rules see: the tool's last word, no quotations."""

from __future__ import annotations

import time

import pytest
from tests.failures import failure

from rerail.rules.readers import view
from rerail.rules.readers.judged import is_judgement
from rerail.rules.readers.model import View, Weight


def seen(**streams: object) -> View:
    return view(failure(exit_code=1, **streams))  # type: ignore[arg-type]


def text_of(shown: View) -> str:
    return "\n".join(line.text for line in shown.lines)


def codes(shown: View) -> set[str]:
    return {fact.value for fact in shown.facts if fact.kind == "code" and ":" in fact.value}


PYTEST = """\
============================= test session starts ==============================
collected 2 items

tests/test_net.py::test_rate_limit[429 Too Many Requests] FAILED         [ 50%]
tests/test_net.py::test_ok PASSED                                        [100%]
printed by a test: connection refused
=================================== FAILURES ===================================
____________________ test_rate_limit[429 Too Many Requests] ____________________

    def test_rate_limit(text):
>       assert explain(text) == "503 Service Unavailable"
E       AssertionError: assert 'overloaded' == '503 Service Unavailable'
E         - 503 Service Unavailable
E         + overloaded

tests/test_net.py:4: AssertionError
------------------------------ Captured log call -------------------------------
ERROR    net:net.py:6 connection reset by peer
=========================== short test summary info ============================
FAILED tests/test_net.py::test_rate_limit[429 Too Many Requests] - AssertionError: assert 'overloaded' == '503 S...
========================= 1 failed, 1 passed in 0.11s ==========================
"""  # fmt: skip
JEST = """\
  console.error
    Error: connect ECONNREFUSED 127.0.0.1:6379

      at Object.error (net.test.js:2:75)

FAIL ./net.test.js
  ✕ 503 Service Unavailable is retried (7 ms)

  ● 503 Service Unavailable is retried

    expect(received).toBe(expected) // Object.is equality

    Expected: "429 Too Many Requests"
    Received: "connection reset by peer"

Test Suites: 1 failed, 1 total
Tests:       1 failed, 219 passed, 220 total
"""
GO = """\
=== RUN   TestConnectionRefused
    a_test.go:3: dial tcp 127.0.0.1:5432: connect: connection refused (expected)
    a_test.go:4: got 503, want 200
--- FAIL: TestConnectionRefused (0.00s)
FAIL
FAIL	example.com/a	0.004s
FAIL
"""
RUST = """\
running 1 test
test connection_reset ... FAILED

failures:

---- connection_reset stdout ----
thread 'connection_reset' panicked at src/lib.rs:4:5:
assertion `left == right` failed
  left: "connection reset by peer"
 right: "503 Service Unavailable"

failures:
    connection_reset

test result: FAILED. 0 passed; 1 failed; 0 ignored; 0 measured; 0 filtered out; finished in 0.00s
"""
RSPEC = """\
Failures:

  1) 429 Too Many Requests is waited for
     Failure/Error: expect("connection refused").to eq "503 Service Unavailable"

       expected: "503 Service Unavailable"
            got: "connection refused"

1 example, 1 failure

Failed examples:

rspec ./spec/net_spec.rb:1 # 429 Too Many Requests is waited for
"""
TAP = """\
1..2
ok 1 - connection reset by peer
not ok 2 - 429 Too Many Requests
#   Failed test '429 Too Many Requests'
#          got: 'connection refused'
#     expected: '503 Service Unavailable'
"""
SUREFIRE = """\
[ERROR] com.acme.NetTest.connectionRefused -- Time elapsed: 0.01 s <<< FAILURE!
org.opentest4j.AssertionFailedError: expected: <Connection refused> but was: <429 Too Many Requests>
\tat com.acme.NetTest.connectionRefused(NetTest.java:9)

[ERROR] Failures:
[ERROR]   NetTest.connectionRefused:9 expected: <Connection refused> but was: <429 Too Many Requests>
[ERROR] Tests run: 3, Failures: 1, Errors: 0, Skipped: 0
"""
UNITTEST = """\
F.
======================================================================
FAIL: test_503_service_unavailable (test_a.T.test_503_service_unavailable)
----------------------------------------------------------------------
Traceback (most recent call last):
  File "/srv/test_a.py", line 4, in test_503_service_unavailable
    self.assertEqual("connection refused", "429 Too Many Requests")
AssertionError: 'connection refused' != '429 Too Many Requests'
- connection refused
+ 429 Too Many Requests


----------------------------------------------------------------------
Ran 2 tests in 0.001s

FAILED (failures=1)
"""
ALARMING = ("429", "503", "connection re", "econnrefused", "overloaded", "too many requests")


@pytest.mark.parametrize(
    "report",
    [PYTEST, JEST, GO, RUST, RSPEC, TAP, SUREFIRE, UNITTEST],
    ids=["pytest", "jest", "go", "rust", "rspec", "tap", "surefire", "unittest"],
)
def test_what_tests_are_called_and_compare_is_never_seen(report: str) -> None:
    for shown in (seen(stdout=report), seen(stderr=report), seen(message=report)):
        assert "tests:failed" in codes(shown)
        assert not [word for word in ALARMING if word in text_of(shown).lower()]


def test_pytest_cites_the_assertion_itself_and_the_count() -> None:
    cited = {line.raw.strip() for line in seen(stdout=PYTEST).lines if line.weight is Weight.DECIDING}
    assert '>       assert explain(text) == "503 Service Unavailable"' in cited
    assert "========================= 1 failed, 1 passed in 0.11s ==========================" in cited


def test_an_error_from_outside_a_test_is_shown_and_names_only_that_tests_raised() -> None:
    report = PYTEST.replace(
        "E       AssertionError: assert 'overloaded' == '503 Service Unavailable'",
        "E       requests.exceptions.ConnectionError: connection to api.example.com refused",
    ).replace(
        "AssertionError: assert 'overloaded' == '503 S...", "requests.exceptions.ConnectionError: connection to api..."
    )
    shown = seen(stdout=report)
    assert codes(shown) == {"tests:raised", "tests:counted"}
    assert "requests.exceptions.ConnectionError: connection to api.example.com refused" in text_of(shown)
    assert "1 failed" not in text_of(shown)


def test_a_run_of_pytest_that_was_cut_off_hides_progress_and_shows_the_rest() -> None:
    shown = seen(
        stdout="=== test session starts ===\ntests/test_a.py::test_429 PASSED [ 50%]\ntests/test_a.py::test_join \nKilled"
    )
    assert text_of(shown) == "Killed"


@pytest.mark.parametrize(
    ("text", "judged"),
    [
        ("AssertionError: assert 1 == 2", True),
        ("KeyError: 'rate_limit'", True),
        ("Failed: DID NOT RAISE <class 'TimeoutError'>", True),
        ("org.opentest4j.AssertionFailedError: expected", True),
        ("openai.RateLimitError: Error code: 429", False),
        ("Failed: Error occurred: throttlingException", False),
        ("TypeError: fetch failed", False),
        ("TypeError: x is not a function", True),
        ("ModuleNotFoundError: No module named 'freezegun'", False),
        ("OSError: [Errno 28] No space left on device", False),
    ],
)
def test_a_judgement_is_told_from_an_error_that_came_from_elsewhere(text: str, judged: bool) -> None:
    assert is_judgement(text) is judged


def test_a_linters_findings_decide_by_their_shape_and_the_code_they_quote_is_hidden() -> None:
    shown = seen(
        stdout="F401 [*] `socket` imported but unused: connection refused\n --> a.py:1:8\n  |\n1 | import socket  # 503\n  |\n"
        "help: Remove unused import: connection refused\n  |\n  - import socket  # 503\n  |\n\nFound 1 error.\n"
        "fatal: not a git repository"
    )
    assert "check:lint" in codes(shown)
    assert text_of(shown).splitlines() == ["a finding", "Found 1 error."]


def test_lint_findings_within_a_commit_leave_the_word_to_the_hook() -> None:
    shown = seen(command="git commit -m x", stderr="a.py:1:1: E501 line too long\nFound 1 error.")
    assert "check:lint" not in codes(shown)


@pytest.mark.parametrize(
    ("line", "shown"),
    [
        (
            'a.ts(2,7): error TS2322: Type \'"socket hang up"\' is not assignable to type \'"ECONNRESET"\'.',
            "a.ts(2,7): error TS2322: Type '…' is not assignable to type '…'.",
        ),
        ('a.go:3:11: format %d has arg "429 Too Many Requests"', 'a.go:3:11: format %d has arg "…"'),
        ("a.c:1:10: fatal error: 'openssl/ssl.h' file not found", "a.c:1:10: fatal error: 'openssl/ssl.h' file not found"),
    ],
)  # fmt: skip
def test_what_a_diagnostic_quotes_is_emptied_unless_it_is_a_name(line: str, shown: str) -> None:
    assert text_of(seen(command="tsc", stderr=line)) == shown


def test_what_a_file_holds_is_no_failure_of_the_program_that_prints_it() -> None:
    log = "ERROR openai.RateLimitError: Error code: 429"
    assert not seen(command="cat app.log", stdout=log).lines
    assert text_of(seen(command="cat x", stdout=log, stderr="cat: x: No such file")) == "cat: x: No such file"
    assert text_of(seen(command="python agent.py", stdout=log)) == log


def test_pip_gives_its_last_warning_as_the_cause_once_it_gives_up() -> None:
    retry = "WARNING: Retrying (Retry(total=0)) after connection broken by 'ReadTimeoutError(...)': /simple/x/"
    shown = seen(stderr=f"{retry}\nERROR: No matching distribution found for x")
    assert {line.raw: line.weight for line in shown.lines}[retry] is Weight.DECIDING


def test_advice_of_npm_is_hidden_and_its_code_decides() -> None:
    shown = seen(
        stderr="npm error code E404\n"
        "npm error 404  The requested resource could not be found or you do not have permission to access it.\n"
        "npm error A complete log of this run can be found in: /home/user/x.log"
    )
    assert text_of(shown) == "npm error code E404"


def test_of_gradles_causes_the_innermost_is_the_root() -> None:
    shown = seen(
        stderr="FAILURE: Build failed with an exception.\n\n* What went wrong:\nCould not resolve all files\n> Could not GET x\n"
        "   > connect timed out\n\n* Try:\n> Run with --stacktrace"
    )
    assert {line.text: line.depth for line in shown.lines if line.depth} == {
        "Could not GET x": 1,
        "connect timed out": 2,
    }
    assert "--stacktrace" not in text_of(shown)


@pytest.mark.parametrize(
    "bait", [" " * 380 + "x", "1" * 390, "." * 390, " > " * 130, "a.py:1:1: " + " (a" * 130, "FAILED a.py" + "[" * 300]
)
@pytest.mark.parametrize("report", [PYTEST, JEST, RSPEC, RUST, TAP], ids=["pytest", "jest", "rspec", "rust", "tap"])
def test_reading_stays_linear_in_hostile_text(report: str, bait: str) -> None:
    hostile = failure(exit_code=1, stdout=report + "\n".join(f"{bait}{n}" for n in range(250)))
    started = time.thread_time()
    view(hostile)
    assert time.thread_time() - started < 1.0
