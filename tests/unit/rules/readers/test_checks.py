"""Shapes that checkers of every kind share: a finding with its place, and counts of what failed."""

from __future__ import annotations

import pytest

from rerail.evidence.payload import from_payload
from rerail.recipes import load
from rerail.rules import Classification, classify

RULES = load(None).rules


def named(text: str, command: str = "acme check-all", exit_code: int = 1) -> Classification:
    return classify(from_payload({"command": command, "exit_code": exit_code, "stdout": text}), RULES, now=0.0)


FINDINGS = (
    ("src/a.gleam:4:3: name should be lower case", "name should be lower case"),
    ("a.nim(3, 1) Error: undeclared identifier: 'x'", "undeclared identifier"),
    ("Main.hx:5: characters 3-6 : Unknown name : x", "Unknown name"),
    ("src/a.zz.ts\n  3:7  error  'x' is never used  no-unused", "is never used"),
    ("  error • Undefined name 'x' • lib/main.dart:14:3 • undefined_identifier", "Undefined name"),
    ("Oh: type mismatch\n   ┌─ src/a.gleam:4:3\n   │\n 4 │   1 + 2\n", "type mismatch"),
    ("lib/A.pm: Code before strictures at line 3, column 1.", "Code before strictures"),
    ("grammar.y:4: syntax error, unexpected ';'", "unexpected ';'"),
    ("STATIC ERROR: b.jsonnet:2:1: unexpected end of file.", "unexpected end of file"),
)


@pytest.mark.parametrize(("text", "cited"), FINDINGS, ids=[cited for _, cited in FINDINGS])
def test_a_line_with_a_place_in_a_file_is_a_finding_and_is_cited(text: str, cited: str) -> None:
    given = named(text)
    assert given.class_ == "verification"
    assert any(cited in citation.text for citation in given.evidence)


COUNTS = (
    "1 out of 14 tests failed (0.02s)",
    "** TESTS=3 PASS=2 FAIL=1 SKIP=0 **",
    "[ FAIL 1 | WARN 0 | SKIP 0 | PASS 3 ]",
    "2 successes / 1 failure / 0 errors",
    "mq run test 24 pass, 1 fail (25 total)",
    "Totals: 1 passed, 1 failed, 0 skipped",
    "Count: 3, Failed: 1, Skipped: 0",
    "FAIL: 1/3",
)


@pytest.mark.parametrize("text", COUNTS)
def test_a_count_of_what_failed_beside_what_passed_tells_of_checks(text: str) -> None:
    assert named(text, "acmetest").class_ == "verification"


NO_CHECKS = (
    "14 passed, 0 failed",
    "giving up after 3 failed attempts",
    "    at f (/w/a.js:3:9)",
    "main.go:42: nothing to do",
    "processed 120 invoices, 3 rejected",
    "FAILED: customer 12",
)


@pytest.mark.parametrize("text", NO_CHECKS)
def test_what_only_looks_like_a_finding_or_a_count_is_none(text: str) -> None:
    assert named(text, "./work").class_ == "unclassified"


def test_what_a_finding_quotes_names_no_failure() -> None:
    given = named(
        'src/a.gleam:4:3: error: cannot unify "connection refused" with \'Int\'\n    "request timed out" is no Int\n'
    )
    assert given.class_ == "verification"


def test_findings_that_only_warn_give_way_to_what_stopped_the_run() -> None:
    given = named(
        "a.c:3:5: warning: unused variable 'x'\nmake: *** No rule to make target 'gen.h', needed by 'all'.  Stop.\n",
        "make",
        2,
    )
    assert given.rule == "build-tool-failed"


ABOUT_THE_CODE = (
    "a.xml:2: parser error : Premature end of data in tag a line 1",
    "v.xml:1: element a: Schemas validity error : Element 'a': 'x' is not a valid value of the type 'int'.",
    "net.nut:9: error: field 'url' is required",
)


@pytest.mark.parametrize("text", ABOUT_THE_CODE)
def test_the_words_of_an_error_at_a_place_are_about_the_code(text: str) -> None:
    assert named(text).class_ == "verification"


def test_an_error_at_a_place_that_came_from_elsewhere_leaves_the_word_to_what_knows_it() -> None:
    assert named("a.c:1:10: fatal error: foo.h: No such file or directory").class_ == "environment"


def test_a_checker_that_names_a_file_and_its_error_speaks_of_the_file() -> None:
    given = named(
        'a.desktop: error: required key "Type" in group "Desktop Entry" is not present',
        "desktop-file-validate a.desktop",
    )
    assert given.class_ == "verification"
