"""Reads the reports of test runners outside Python and JavaScript; `SHAPES` says what each prints.

All of them have one form: a head with the test's name, what it ended with, details, and counts at the end. Only the
counts and what tests ended with may decide. Source: the runners' own reporters; observed where they could be run.
"""

from __future__ import annotations

from rerail.light_typing import TYPE_CHECKING, NamedTuple
from rerail.regex import compiled
from rerail.rules.readers.judged import FAILED, NAMED, conclude, is_judgement
from rerail.rules.readers.model import Weight

if TYPE_CHECKING:
    import re
    from collections.abc import Sequence

    from rerail.rules.readers.model import Draft, Scene


class Shape(NamedTuple):
    """What a family of runners prints when tests fail."""

    sign: str
    """Lower-case text without which it is not read."""
    head: re.Pattern[str]
    """Opens one failing test."""
    end: re.Pattern[str]
    """What a test ended with; the first such line after a head, its first group if it has one."""
    last: re.Pattern[str]
    """The runner's own counts."""
    mask: re.Pattern[str] | None = None
    """Lines that say nothing wherever they stand."""
    judged: re.Pattern[str] | None = None
    """What a test ended with, when it is a judgement in words of this runner."""
    is_log: bool = False
    """Tests end in lines of their log, in no order that tells which: one judgement among them speaks for the run."""


_NEVER = compiled(r"(?!)")
_ERROR = r"(?:[A-Za-z_][\w.$:\\]*)?(?:Error|Exception|Failure|Timeout|Errno::[A-Z]+)\b"
SHAPES: dict[str, Shape] = {
    "libtest": Shape(
        "test result: failed",
        compiled(r"^---- \S.* std(?:out|err) ----$"),
        compiled(
            r"^(assertion.*|called `.*|Error: .*|.*panicked at '.*|index out of bounds.*|attempt to .*"
            r"|explicit panic|not (?:yet )?implemented.*|[^\s=].*)$"),
        compiled(r"^test result: FAILED\..*"),
        compiled(
            r"^(?:test \S+ .*|thread '.*' (?:\(\d+\) )?panicked at .*:$|failures:|running \d+ tests?|    \S+$"
            r"|note: .*|stack backtrace:)$"),
        compiled(
            r"^(?:assertion|called `Option::unwrap|called `Result::\w+\(\)` on an `(?:Err|Ok)` value: (?:\""
            r"|\w+$|[\w(){}]+$)|index out of bounds|attempt to |explicit panic|not (?:yet )?implemented"
            r"|test did not panic|[^:]{0,200}$)"),
    ),
    "go test": Shape(
        "fail",
        compiled(r"^(?:\s*--- FAIL: .*|=== (?:RUN|FAIL:?) +.*)$"),
        compiled(r"^\s{2,}\S+_test\.go:\d+: ?(\S.*)$|^(panic: .*)$|^\s+Error:\s+(\S.*)$"),
        compiled(r"^FAIL(?:\s+\S+\s+(?:[\d.]+s|\(cached\)))?$|^DONE \d+ tests?.*, [1-9]\d{0,6} (?:failure|error)s?.*"),
        compiled(
            r"^(?:=== (?:PAUSE|CONT|NAME) .*|\s*--- (?:PASS|SKIP): .*|ok  \t.*|\?   \t.*|PASS|exit status \d+"
            r"|coverage: .*|goroutine \d+ \[.*|\t\S+\.go:\d+ .*)$"),
        compiled(
            r"(?i).*\bgot\b.{0,200}\bwant|.*\bwant\b.{0,200}\bgot\b|.*\(-want \+got\)|.*race detected during"
            r"|(?!.*(?:dial tcp|connection refused|no such host|i/o timeout|context deadline exceeded"
            r"|TLS handshake|EOF$|status(?: code)?:? [45]\d\d))"),
        is_log=True,
    ),
    "RSpec": Shape(
        "failures:\n",
        compiled(r"^\s{2}\d+\) .*$"),
        compiled(
            rf"^\s{{5,}}+((?:expected|Expected)\b.*|{_ERROR}.*|.*(?:to eq|to be|to match|to raise|but (?:nothing"
            rf"|got)).*)$"),
        compiled(r"^\d+ examples?, (?:[1-9]\d{0,6} failures?.*|0 failures, .*errors? occurred.*)$"),
        compiled(
            r"^(?:rspec \S+.*|Failed examples:|Failures:|\s+# \S.*|\s+Failure/Error:.*|\s+got: .*"
            r"|\s+\(compared using .*|\s{2,}[-+@].*)$"),
        compiled(r"^(?:[Ee]xpected|(?!.*Error).*to )"),
    ),
    "minitest": Shape(
        " runs, ",
        compiled(r"^\s*\d+\) (?:Failure|Error):$"),
        compiled(
            rf"^(Expected.*|{_ERROR}.*|--- expected|Failed (?:assertion|refutation).*|.+ expected but .*"
            rf"|<.*> expected.*)$"),
        compiled(r"^\d+ runs, \d+ assertions, (?:[1-9]\d{0,6} failures|\d+ failures, [1-9]\d{0,6} errors).*"),
        compiled(r"^(?:\S+#test_\S+.*|Run options: .*|# Running:|[.FES]+|\s+Actual: .*)$"),
        compiled(r"^(?:Expected|---|Failed|.*expected)"),
    ),
    "test-unit": Shape(
        " tests, ",
        compiled(r"^(?:Failure|Error): test.*"),
        compiled(rf"^(<.*> expected.*|{_ERROR}.*|.* is not true\.)$"),
        compiled(r"^\d+ tests, \d+ assertions, (?:[1-9]\d{0,6} failures|\d+ failures, [1-9]\d{0,6} errors).*"),
        None,
        compiled(r"^<|.*is not true"),
    ),
    "PHPUnit": Shape(
        "assertions: ",
        compiled(r"^\d+\) \S+::\S+.*$"),
        compiled(rf"^(Failed asserting.*|{_ERROR}.*)$"),
        compiled(r"^(?:Tests: \d+, Assertions: .*(?:Failures|Errors): [1-9].*|(?:FAILURES|ERRORS)!)$"),
        compiled(
            r"^(?:There (?:was|were) \d+ (?:failure|error)s?:|--- Expected|\+\+\+ Actual|@@ @@|[-+]\S.*"
            r"|\S+\.php:\d+)$"),
        compiled(r"^Failed asserting"),
    ),
    "Surefire": Shape(
        "tests run:",
        compiled(r"^(?:\[ERROR\] )?\S+(?:\(\S+\))? .*(?:<<< (?:FAILURE|ERROR)!|FAILED)$"),
        compiled(rf"^({_ERROR}.*)$"),
        compiled(
            r"^(?:\[(?:ERROR|WARNING)\] )?Tests run: \d+, (?:Failures: [1-9]|Failures: 0, Errors: [1-9]).*"
            r"|^\[ERROR\] .*There are test failures\..*"),
        compiled(
            r"^\[ERROR\] (?:Failures:|Errors:|  \S+:\d+.*|  \S+\.\S+ .*|Please refer to .*|-> \[Help 1\]"
            r"|To see the full stack.*|Re-run Maven .*|For more information .*|\[Help \d\] .*"
            r"|After correcting .*|$)|^\s*(?:at \S.*|\.\.\. \d+ more)"),
    ),
    "Gradle": Shape(
        " tests completed, ",
        compiled(r"^\S.* > .* FAILED$"),
        compiled(rf"^\s++({_ERROR}.*?)(?: at \S+:\d+)?$"),
        compiled(r"^\d+ tests? completed, [1-9]\d{0,6} failed.*|.*There were failing tests\..*"),
    ),
    "dotnet test": Shape(
        "failed!",
        compiled(r"^\s*+(?:Failed \S.* \[.*\]|\[xUnit\.net .*\] .* \[FAIL\]|X \S.*)$"),
        compiled(rf"^\s++(Assert\.\w+.*|Expected.*|{_ERROR}.*|.*(?:Expected|but was).*)$"),
        compiled(r"^\s*+(?:Failed! {2}- Failed: +[1-9].*|Test Run Failed\..*|.*[1-9]\d{0,6} failed, .*)$"),
        compiled(
            r"^\s*+(?:\[xUnit\.net .*|Error Message:|Stack Trace:|at \S.*|Passed \S.*\[.*"
            r"|Standard Output Messages:|↓ .*|Expected: .*|Actual: .*)$"),
        compiled(r"^(?:Assert|Expected|.*but was)"),
    ),
    "CTest": Shape(
        "tests passed, ",
        compiled(r"^\s*\d+/\d+ Test +#\d+: .*\*\*\*.*$"),
        _NEVER,
        compiled(r"^(?:\d+% tests passed, [1-9]\d{0,6} tests? failed out of \d+|The following tests FAILED:)$"),
        compiled(
            r"^(?:\s+Start +\d+: .*|Test project .*|\s*\d+/\d+ Test .*|\s+\d+ - \S+ \(.*\).*"
            r"|Errors while running CTest.*|Total Test time .*)$"),
    ),
    "TAP": Shape(
        "",
        compiled(r"^#   Failed test.*|^t/\S+ \.+.*"),
        _NEVER,
        compiled(
            r"^(?:\s*not ok \d+(?!.*# (?:TODO|SKIP|todo|skip)).*|Result: FAIL|# [Ll]ooks like you failed .*"
            r"|# fail +[1-9]\d{0,6}|Failed \d+/\d+ (?:subtests|test programs).*|\d+ tests, [1-9]\d{0,6} failures?.*"
            r"|# failed [1-9].*)$"),
        compiled(
            r"^\s*+(?:ok \d+.*|# .*|#$|\s{3,}\S.*|---|\.\.\.|Test Summary Report|Failed tests?:? .*"
            r"|Non-zero exit status: .*|Files=\d+.*)$"),
    ),
    "ExUnit": Shape(
        " failure",
        compiled(r"^\s+\d+\) (?:test|property|doctest) .*"),
        compiled(rf"^\s++((?:Assertion with|Expected|match \(=\) failed|Assertion failed|\*\* \().*|{_ERROR}.*)$"),
        compiled(r"^(?:\d+ \w+, )*\d+ tests?, [1-9]\d{0,6} failures?.*"),
        compiled(r"^\s++(?:code: .*|left: .*|right: .*|stacktrace:.*|\S+\.exs:\d+.*)$"),
        compiled(r"^(?:Assertion|Expected|match)"),
    ),
    "GoogleTest": Shape(
        "[  failed  ]",
        compiled(r"^\S+:\d+: Failure$"),
        compiled(r"^((?:Expected|Value of|C\+\+ exception|The difference|Failed|Which is).*)$"),
        compiled(r"^\[  FAILED  \] \d+ tests?, listed below:.*|^\s*[1-9]\d{0,6} FAILED TESTS?$"),
        compiled(
            r"^\[(?: RUN|       OK|  PASSED|  FAILED|-{3,}|={3,}).*\].*|^\s+(?:Actual|Which is|Expected"
            r"|To be equal): .*"),
        compiled(r"^(?!C\+\+ exception)"),
    ),
    "Behave": Shape(
        " failed, ",
        compiled(r"^\s*+(?:Scenario|Scenario Outline): .*"),
        compiled(rf"^\s*+((?:Assertion Failed|ASSERT FAILED): .*|{_ERROR}.*)$"),
        compiled(
            r"^\d+ (?:features?|scenarios?|steps?) passed, [1-9]\d{0,6} failed.*"
            r"|^\d+ scenarios? \([1-9]\d{0,6} failed.*"),
        compiled(r"^\s*+(?:Given|When|Then|And|But|Feature:|Scenario:|Failing scenarios:|features/\S+:\d+) ?.*$"),
        compiled(r"^(?:Assertion Failed|ASSERT FAILED)"),
    ),
    "Foundry": Shape(
        "suite result: failed",
        compiled(r"^\[FAIL[:.\]].*"),
        _NEVER,
        compiled(r"^Suite result: FAILED\..*"),
        compiled(r"^\[(?:PASS|FAIL)[:.\]].*|^Ran \d+ tests? .*|^Failing tests:|^Encountered .*"),
    ),
    "Robot Framework": Shape(
        "| fail |",
        compiled(r"^.* \| FAIL \|$"),
        _NEVER,
        compiled(r"^\d+ tests?, \d+ passed, [1-9]\d{0,6} failed$"),
        compiled(r"^(?:=+|-+|.* \| PASS \|)$"),
    ),
}  # fmt: skip


_PLAN = compiled(r"(?m)^1\.\.\d+\b|^tap version|^result: fail")
"""Without its plan, ``not ok`` may be anybody's words."""


def read(drafts: Sequence[Draft], scene: Scene) -> None:
    """Read every stream by each shape whose counts say that tests failed."""
    del scene
    for name, shape in SHAPES.items():
        if any(shape.sign in draft.low and (name != "TAP" or _PLAN.search(draft.low)) for draft in drafts):
            counts = [[index for index, line in enumerate(draft.bare) if shape.last.match(line)] for draft in drafts]
            for draft, last in zip(drafts, counts, strict=True):
                if any(counts):
                    _read(draft, shape, last)


def _read(draft: Draft, shape: Shape, last: list[int]) -> None:
    ends: list[tuple[int, str]] = []
    judged: list[int] = []
    inside = found = False
    named = -1
    counted = frozenset(last)
    for index, line in enumerate(draft.bare):
        if draft.weights[index] is not None:
            continue
        if index in counted:
            inside = False
        elif shape.head.match(line):
            inside, found = True, False
            if named < 0:
                named = index
                draft.mark(Weight.PLAIN, index)
                draft.shown_as(index, "a test")
            draft.mask(index)
        elif (
            inside
            and (shape.is_log or not found)
            and line.strip()
            and (end := shape.end.match(line))
            and not _masked(shape, line)
        ):
            found = True
            text = next((group for group in end.groups() if group), line)
            if shape.judged and shape.judged.match(text):
                judged.append(index)
            else:
                ends.append((index, text))
        elif inside or _masked(shape, line):
            draft.mask(index)
    if shape.is_log and judged:
        draft.mask(*(index for index, _ in ends))
        ends = []
    for index in judged:
        draft.mark(Weight.DECIDING, index)
        draft.shown_as(index, "a test judged")
        draft.fact("code", FAILED, index)
    if named >= 0 and (judged or (ends and is_judgement(ends[0][1]))):
        draft.fact("code", NAMED, named)
    if ends or (last and not judged):
        conclude(draft, ends, last)
    if shape.end is _NEVER and last:
        draft.fact("code", FAILED, last[0])  # these runners do not say what a test ended with
    draft.mark(Weight.DECIDING, *last)
    for index in last:
        if draft.bare[index].lstrip().startswith("not ok"):
            draft.shown_as(index, "not ok")


def _masked(shape: Shape, line: str) -> bool:
    return shape.mask is not None and shape.mask.match(line) is not None
