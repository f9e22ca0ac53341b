"""What a tool's own report says failed names the failure, before whatever else was printed."""

from __future__ import annotations

from pathlib import Path

import pytest

from rerail.evidence import from_payload
from rerail.evidence.fingerprint import evidence_fingerprint
from rerail.evidence.payload import to_payload
from rerail.recipes.read import load
from rerail.rules.engine import classify
from rerail.rules.readers.reports import KINDS

RULES = load(Path("/")).rules


def named(report: str, **more: object) -> tuple[str, str, str]:
    found = classify(from_payload({"command": "make check", "exit_code": 1, "report": report, **more}), RULES)
    return found.class_, found.reason, found.evidence[0].text if found.evidence else ""


@pytest.mark.parametrize(
    ("report", "reason"),
    [
        ("tests: 1 of 3 failed\na.py:3 test_a: assert 1 == 2", "tests-failed"),
        ("tests: 1 of 3 failed\na.py:3 test_a: AssertionError: HTTP 503 Service Unavailable", "tests-failed"),
        ("tests: 1 of 3 failed\na.py:3 test_a: app.LimitError: no budget left", "tests-failed"),
        ("build: 1 failed\na.c:3:1 E1: rate limit exceeded", "compile-error"),
        ("types: 1 failed\na.py:3 arg: permission denied", "type-error"),
        ("lint: 1 failed\na.py:3 F401: `connection reset by peer` imported but unused", "lint"),
        ("security: 1 failed\na.py:3 B105: Possible password: 401 Unauthorized", "scan-finding"),
        ("diff: 1 failed\na.py:3 conflict-marker: <<<<<<< HEAD", "scan-finding"),
        ("flaky: passed\na.py:3 test_a: out of memory", "flaky"),
    ],
)
def test_words_of_checks_are_about_the_code(report: str, reason: str) -> None:
    assert named(report) == ("verification", reason, report.split("\n")[1])


def test_an_error_that_tests_only_passed_on_names_the_failure() -> None:
    report = "tests: 1 of 1 failed\ntests/test_a.py:1 tests.test_a: ModuleNotFoundError: No module named 'leftpad'"
    assert named(report)[:2] == ("environment", "missing-module")


def test_the_report_goes_before_what_was_printed() -> None:
    printed = "a.py:9: error: Incompatible types  [arg-type]\nFound 1 error in 1 file (checked 1 source file)"
    assert named("tests: 1 of 3 failed\na.py:3 test_a: assert 1 == 2", stdout=printed)[1] == "tests-failed"


@pytest.mark.parametrize("kind", KINDS)
def test_a_report_speaks_under_an_exit_status_of_0_too(kind: str) -> None:
    assert named(f"{kind}: 1 failed\na.py:3 t: assert 1 == 2", exit_code=0)[0] == "verification"


@pytest.mark.parametrize("report", ["", "tests", "nonsense: 1 failed\nx: y", "tests: 0 of 0 failed", "\n\n"])
def test_a_report_that_says_nothing_names_nothing_of_its_own(report: str) -> None:
    assert named(report)[1] in ("no-evidence", "tests-failed")


def test_only_the_set_of_failing_checks_tells_two_failures_apart() -> None:
    def identity(report: str, stdout: str = "") -> str:
        return evidence_fingerprint(
            from_payload({"command": "pytest", "exit_code": 1, "report": report, "stdout": stdout})
        )

    one = "tests: 2 of 9 failed\na.py:3 test_a: assert 1 == 2\nb.py:4 test_b: boom"
    assert identity(one) == identity(
        "tests: 2 of 11 failed\nb.py:40 test_b: boom\na.py:5 test_a: assert 1 == 2", "noise"
    )
    assert identity(one) != identity("tests: 1 of 9 failed\na.py:3 test_a: assert 1 == 2")
    assert identity(one) != identity("tests: 2 of 9 failed\na.py:3 test_a: assert 1 == 2\nc.py:4 test_c: boom")


def test_a_report_is_stored_and_comes_back_equal() -> None:
    evidence = from_payload({"command": "pytest", "exit_code": 1, "report": "tests: 1 of 1 failed\na.py:3 t: m"})
    assert from_payload(to_payload(evidence)) == evidence
