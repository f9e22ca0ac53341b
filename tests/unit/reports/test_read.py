"""Every format that is known: what its tool writes, and the checks that it names."""

from __future__ import annotations

import json
import time
from contextlib import suppress

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rerail.reports import FORMATS, Report, ReportError, read_report
from rerail.reports.json_reports import SHAPES
from rerail.reports.model import MOST_CHECKS, Check, joined, report_of
from rerail.reports.read import without_banner

PYTEST = """<?xml version="1.0" encoding="utf-8"?><testsuites name="pytest tests">
<testsuite name="pytest" errors="1" failures="2" skipped="1" tests="5">
<testcase classname="tests.test_x" name="test_y" time="0.001"><failure message="assert 1 == 2">def test_y():
&gt;       assert helper() == 2
E       assert 1 == 2

tests/test_x.py:12:
_ _ _
src/app.py:3: AssertionError</failure></testcase>
<testcase classname="tests.test_x.TestShop" name="test_pays[a: b]">
<failure message="ConnectionError: refused">tests/test_x.py:20: ConnectionError</failure></testcase>
<testcase classname="" name="tests.test_gone"><error message="collection failure">tests/test_gone.py:1: in &lt;module&gt;
    import nowhere
E   ModuleNotFoundError: No module named 'nowhere'</error></testcase>
<testcase classname="tests.test_x" name="test_ok"/>
<testcase classname="tests.test_x" name="test_later"><skipped type="pytest.xfail" message="later"/></testcase>
</testsuite></testsuites>"""
SUREFIRE = """<testsuite name="shop.CartTest" tests="3"><testcase classname="shop.CartTest" name="adds">
<failure type="org.opentest4j.AssertionFailedError" message="expected: &lt;1&gt; but was: &lt;2&gt;">
org.opentest4j.AssertionFailedError: expected
	at org.junit.Assert.fail(Assert.java:55)
	at shop.CartTest.adds(CartTest.java:17)</failure></testcase>
<testcase classname="shop.CartTest" name="pays">
<flakyFailure type="java.net.ConnectException" message="refused">at shop.CartTest.pays(CartTest.java:30)</flakyFailure></testcase>
<testcase classname="shop.CartTest" name="ships"/></testsuite>"""
CHECKSTYLE = """<checkstyle version="8"><file name="a.php">
<error line="3" column="5" severity="error" message="Tabs" source="PSR12.Files.Tabs"/>
<error line="4" severity="warning" message="Long"/></file></checkstyle>"""
SARIF = {
    "version": "2.1.0",
    "runs": [
        {
            "tool": {"driver": {"name": "x", "rules": [{"id": "r2", "defaultConfiguration": {"level": "error"}}]}},
            "results": [
                {
                    "ruleId": "r1",
                    "message": {"text": "SQL injection"},
                    "locations": [
                        {
                            "physicalLocation": {
                                "artifactLocation": {"uri": "file:///w/a%20b.py"},
                                "region": {"startLine": 3, "startColumn": 5},
                            }
                        }
                    ],
                },
                {
                    "ruleId": "r2",
                    "message": {"text": "weak hash"},
                    "locations": [{"physicalLocation": {"artifactLocation": {"uri": "b.py"}}}],
                },
                {"ruleId": "r3", "level": "note", "message": {"text": "style"}},
                {"ruleId": "r4", "message": {"text": "accepted"}, "suppressions": [{"kind": "inSource"}]},
            ],
        }
    ],
}


def lines(*rows: object) -> str:
    return "\n".join(json.dumps(row) for row in rows)


READ: list[tuple[str, str, list[str]]] = [
    (
        "junit",
        PYTEST,
        [
            "tests/test_x.py:12 test_y: assert 1 == 2",
            "tests/test_x.py:20 TestShop.test_pays[a - b]: ConnectionError: refused",
            "tests/test_gone.py:1 tests.test_gone: ModuleNotFoundError: No module named 'nowhere'",
        ],
    ),
    ("junit", SUREFIRE, ["CartTest.java:17 adds: org.opentest4j.AssertionFailedError: expected: <1> but was: <2>"]),
    (
        "junit",
        (
            '<testsuite><testcase classname="a.test.js" name="adds" file="src/a.test.js" line="4">'
            '<failure message="expect(1).toBe(2)"/></testcase></testsuite>'
        ),
        ["src/a.test.js:4 adds: expect(1).toBe(2)"],
    ),
    ("checkstyle", CHECKSTYLE, ["a.php:3:5 Tabs: Tabs"]),
    ("sarif", json.dumps(SARIF), ["/w/a b.py:3:5 r1: SQL injection", "b.py r2: weak hash"]),
    (
        "ruff",
        json.dumps(
            [
                {
                    "code": "F401",
                    "filename": "a.py",
                    "location": {"row": 1, "column": 8},
                    "message": "`os` imported but unused",
                }
            ]
        ),
        ["a.py:1:8 F401: `os` imported but unused"],
    ),
    (
        "eslint",
        json.dumps(
            [
                {
                    "filePath": "a.js",
                    "messages": [
                        {"ruleId": "no-undef", "severity": 2, "line": 3, "column": 1, "message": "x is not defined"},
                        {"ruleId": "no-console", "severity": 1, "line": 4, "column": 1, "message": "no"},
                    ],
                }
            ]
        ),
        ["a.js:3:1 no-undef: x is not defined"],
    ),
    (
        "mypy",
        lines(
            {
                "file": "a.py",
                "line": 3,
                "column": 4,
                "message": "bad",
                "hint": None,
                "code": "arg-type",
                "severity": "error",
            },
            {"file": "a.py", "line": 3, "column": 4, "message": "see", "hint": None, "code": None, "severity": "note"},
        ),
        ["a.py:3:5 arg-type: bad"],
    ),
    (
        "mypy",
        lines(
            {
                "file": "a.py",
                "line": 3,
                "column": 4,
                "message": "bad",
                "hint": None,
                "code": "arg-type",
                "severity": "error",
            }
        ),
        ["a.py:3:5 arg-type: bad"],
    ),
    (
        "pyright",
        json.dumps(
            {
                "version": "1",
                "generalDiagnostics": [
                    {
                        "file": "a.py",
                        "severity": "error",
                        "message": "no",
                        "range": {"start": {"line": 0, "character": 3}},
                        "rule": "reportX",
                    },
                    {"file": "a.py", "severity": "warning", "message": "hm"},
                ],
            }
        ),
        ["a.py:1:4 reportX: no"],
    ),
    (
        "cargo",
        "   Compiling a v0.1.0\n"
        + lines(
            {"reason": "compiler-artifact"},
            {
                "reason": "compiler-message",
                "message": {
                    "level": "error",
                    "message": "cannot find value `x`",
                    "code": {"code": "E0425"},
                    "spans": [{"is_primary": True, "file_name": "src/main.rs", "line_start": 3, "column_start": 5}],
                },
            },
            {
                "reason": "compiler-message",
                "message": {"level": "warning", "message": "unused", "code": None, "spans": []},
            },
            {
                "reason": "compiler-message",
                "message": {"level": "error", "message": "aborting due to 1 previous error", "code": None, "spans": []},
            },
        ),
        ["src/main.rs:3:5 E0425: cannot find value `x`"],
    ),
    (
        "go-test",
        lines(
            {"Action": "run", "Package": "ex/a", "Test": "TestA"},
            {"Action": "output", "Package": "ex/a", "Test": "TestA", "Output": "=== RUN   TestA\n"},
            {"Action": "output", "Package": "ex/a", "Test": "TestA", "Output": "    a_test.go:12: got 1, want 2\n"},
            {"Action": "fail", "Package": "ex/a", "Test": "TestA"},
            {"Action": "pass", "Package": "ex/a", "Test": "TestB"},
            {"Action": "fail", "Package": "ex/a"},
        ),
        ["a_test.go:12 TestA: got 1, want 2"],
    ),
    (
        "golangci",
        json.dumps(
            {
                "Issues": [
                    {"FromLinter": "errcheck", "Text": "unchecked", "Pos": {"Filename": "a.go", "Line": 3, "Column": 2}}
                ],
                "Report": {},
            }
        ),
        ["a.go:3:2 errcheck: unchecked"],
    ),
    (
        "jest",
        json.dumps(
            {
                "numTotalTests": 3,
                "numPendingTests": 1,
                "testResults": [
                    {
                        "name": "/w/a.test.js",
                        "status": "failed",
                        "assertionResults": [
                            {
                                "status": "failed",
                                "fullName": "cart adds",
                                "failureMessages": ["\x1b[31mError: expect(received).toBe(expected)\x1b[39m\n at x"],
                                "location": {"line": 7},
                            },
                            {"status": "passed", "fullName": "ok"},
                        ],
                    },
                    {
                        "name": "/w/b.test.js",
                        "status": "failed",
                        "message": "Cannot find module 'x'",
                        "assertionResults": [],
                    },
                ],
            }
        ),
        [
            "/w/a.test.js:7 cart adds: Error: expect(received).toBe(expected)",
            "/w/b.test.js the file: Cannot find module 'x'",
        ],
    ),
    (
        "rubocop",
        json.dumps(
            {
                "metadata": {},
                "summary": {},
                "files": [
                    {
                        "path": "a.rb",
                        "offenses": [
                            {"cop_name": "Style/X", "message": "no", "location": {"start_line": 3, "start_column": 1}}
                        ],
                    }
                ],
            }
        ),
        ["a.rb:3:1 Style/X: no"],
    ),
    (
        "phpstan",
        json.dumps(
            {
                "totals": {"errors": 0},
                "files": {"a.php": {"messages": [{"message": "no", "line": 3, "identifier": "x.y"}]}},
                "errors": ["boom"],
            }
        ),
        ["a.php:3 x.y: no", "a check: boom"],
    ),
    (
        "bandit",
        json.dumps(
            {
                "generated_at": "",
                "metrics": {},
                "results": [{"test_id": "B105", "issue_text": "password", "filename": "a.py", "line_number": 9}],
            }
        ),
        ["a.py:9 B105: password"],
    ),
    (
        "semgrep",
        json.dumps(
            {
                "errors": [],
                "paths": {},
                "results": [
                    {"check_id": "r", "path": "a.py", "start": {"line": 3, "col": 1}, "extra": {"message": "no"}}
                ],
            }
        ),
        ["a.py:3:1 r: no"],
    ),
    (
        "gitleaks",
        json.dumps(
            [
                {
                    "RuleID": "key",
                    "File": "a.env",
                    "StartLine": 2,
                    "Description": "A key",
                    "Secret": "hunter2",
                    "Match": "k=hunter2",
                }
            ]
        ),
        ["a.env:2 key: A key"],
    ),
    (
        "pip-audit",
        json.dumps(
            {
                "dependencies": [{"name": "a", "version": "1", "vulns": [{"id": "CVE-1", "fix_versions": ["2"]}]}],
                "fixes": [],
            }
        ),
        ["a 1: CVE-1 (fixed in 2)"],
    ),
    (
        "npm-audit",
        json.dumps(
            {
                "auditReportVersion": 2,
                "vulnerabilities": {
                    "a": {"range": "<2", "severity": "high", "via": [{"title": "ReDoS"}]},
                    "b": {"via": ["a"]},
                },
            }
        ),
        ["a <2: high, ReDoS"],
    ),
    (
        "tap",
        (
            "TAP version 14\n# Subtest: cart\n    not ok 1 - adds\n      ---\n      location: '/w/a.test.js:3:5'\n"
            "      error: 'expected 1'\n"
            "      ...\n    ok 2 - pays\nnot ok 1 - cart\nok 2 - later # SKIP no\n1..2\n"
        ),
        ["/w/a.test.js:3 adds: expected 1"],
    ),
]


@pytest.mark.parametrize("told", [True, False], ids=["named", "found-out"])
@pytest.mark.parametrize(("name", "text", "checks"), READ, ids=[case[0] for case in READ])
def test_the_failed_checks_of_a_report_are_read(name: str, text: str, checks: list[str], told: bool) -> None:
    report = read_report(text.encode(), name if told else "")
    assert report.format == name
    assert [check.text for check in report.failed] == checks


def test_every_format_is_read_by_a_test() -> None:
    assert {case[0] for case in READ} == set(FORMATS)


def test_counts_are_the_reports_own() -> None:
    junit, tap = read_report(PYTEST.encode()), read_report(READ[-1][1].encode())
    assert (junit.total, junit.count, junit.skipped) == (5, 3, 1)
    assert (tap.total, tap.skipped) == (3, 1)
    assert read_report(json.dumps(SARIF).encode()).warnings == 1
    jest = next(text for name, text, _ in READ if name == "jest")
    assert (read_report(jest.encode()).total, read_report(jest.encode()).skipped) == (3, 1)


def test_a_check_that_the_tool_itself_ran_again_is_flaky_and_not_failed() -> None:
    report = read_report(SUREFIRE.encode())
    assert [check.text for check in report.flaky] == ["CartTest.java:30 pays: java.net.ConnectException: refused"]


def test_only_tests_and_the_tools_own_errors_contradict_an_exit_status_of_0() -> None:
    contradicts = {name: read_report(text.encode(), name).contradicts_success for name, text, _ in READ}
    assert {name for name, does in contradicts.items() if not does} == {
        "ruff", "golangci", "rubocop", "bandit", "semgrep", "gitleaks", "pip-audit", "npm-audit"
    }  # fmt: skip


@pytest.mark.parametrize(
    ("data", "left"),
    [
        (b"\n> a@1.0.0 test\n> node --test\n\nTAP version 13\n> x\n", b"TAP version 13\n> x\n"),
        (b"yarn run v1.22.19\n$ eslint -f json .\n[]\n", b"[]\n"),
        (b"[]", b"[]"),
        (b"text\n> quoted\n", b"text\n> quoted\n"),
        (b"\n" * 100_000 + b"{", b"{"),
    ],
)
def test_what_a_package_manager_says_first_is_no_part_of_a_report(data: bytes, left: bytes) -> None:
    assert without_banner(data) == left


HOSTILE: list[tuple[bytes, str]] = [
    (b"", "is empty"),
    (b"  \n", "is empty"),
    (b"<", "is not XML"),
    (b"<a/>", "no report that is known"),
    (b'<!DOCTYPE l [<!ENTITY a "b"><!ENTITY b "&a;&a;">]><testsuites>&b;</testsuites>', "document type or an entity"),
    (b'<!DOCTYPE x SYSTEM "file:///etc/passwd"><testsuites/>', "document type or an entity"),
    (b"<testsuite>" * 10_000, "nested too deeply"),
    (b"{", "is not JSON"),
    (b"[" * 200_000, "nested too deeply"),
    (b'{"a": 1}', "JSON of no tool that is known"),
    (b"hello", "is not JSON"),
    (b"\xff\xfe\x00", "is not JSON"),
]


@pytest.mark.parametrize(("data", "said"), HOSTILE, ids=[repr(data[:20]) for data, _ in HOSTILE])
def test_what_is_no_report_is_refused_with_a_reason(data: bytes, said: str) -> None:
    with pytest.raises(ReportError, match=said):
        read_report(data)


@given(data=st.binary(max_size=300), name=st.sampled_from(["", *FORMATS]))
def test_whatever_a_file_holds_it_is_a_report_or_refused(data: bytes, name: str) -> None:
    with suppress(ReportError):
        assert isinstance(read_report(data, name), Report)


KEYS = [
    "runs",
    "results",
    "files",
    "messages",
    "location",
    "message",
    "spans",
    "level",
    "file",
    "line",
    "severity",
    "testResults",
    "vulnerabilities",
    "via",
    "Pos",
]
JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=5),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.sampled_from(KEYS), inner, max_size=4),
    max_leaves=12,
)  # fmt: skip


@given(value=JSON, name=st.sampled_from(sorted(SHAPES)))
def test_a_report_of_the_wrong_shape_names_no_more_than_it_says(value: object, name: str) -> None:
    try:
        report = read_report(json.dumps(value).encode(), name)
    except ReportError:
        return
    for check in report.failed:
        assert "\n" not in check.text
        assert check.line is None or check.line > 0


@given(name=st.text(max_size=40), message=st.text(max_size=80), file=st.text(max_size=20))
def test_the_message_of_a_line_is_what_follows_the_first_colon(name: str, message: str, file: str) -> None:
    check = Check(name, message, file)
    assert check.text.partition(": ")[2] == (check.message or "failed")


def test_escape_codes_and_secrets_do_not_leave_a_report() -> None:
    check = Check("t", "\x1b[31mAuthorization: Bearer sk-ant-REDACTED-0123456789abcdef0123\x1b[0m")
    assert "\x1b" not in check.message
    assert "0123456789abcdef" not in check.message


def test_very_many_failures_are_counted_and_not_kept() -> None:
    report = report_of("x", (Check(str(number), "m", is_error=True) for number in range(MOST_CHECKS + 5)))
    assert (len(report.failed), report.count) == (MOST_CHECKS, MOST_CHECKS + 5)
    both = joined([report, report])
    assert both is not None
    assert (len(both.failed), both.count) == (MOST_CHECKS, 2 * MOST_CHECKS + 10)


def test_a_report_of_megabytes_is_read_in_seconds() -> None:
    case = '<testcase classname="a" name="b"><failure message="m">' + "a.py:1: x " * 2_000 + "</failure></testcase>"
    data = f"<testsuite>{case * 300}</testsuite>".encode()
    began = time.perf_counter()
    read_report(data)
    assert time.perf_counter() - began < 20


def test_files_are_named_from_the_projects_root() -> None:
    report = report_of(
        "x", [Check("a", "m", "/w/p/src/a.py", 1), Check("b", "m", "/w/other/b.py"), Check("c", "m", "c.py")]
    )
    assert [check.file for check in report.below(["/w/p"]).failed] == ["src/a.py", "/w/other/b.py", "c.py"]
