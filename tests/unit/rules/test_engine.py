"""How a failure gets its name: which evidence wins, what is cited, and what the trace says."""

from __future__ import annotations

import itertools
import time
from typing import TYPE_CHECKING

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.failures import failure, rule, rules

from rerail.rules import Citation, Classification, Rule, RuleSet, Trust, classify
from rerail.rules.packing import packed, unpacked
from rerail.taxonomy import Action

if TYPE_CHECKING:
    from rerail.evidence.model import Evidence

RATE = rule("rate", "provider/rate-limit", status=("429",))
SERVER = rule("server", "provider/server-error", status=("5xx",))
FORBIDDEN = rule("forbidden", "deterministic-policy/forbidden", status=("403",))
BAD_REQUEST = rule("bad-request", "tool-schema/bad-request", status=("400", "422"))
QUOTA = rule("quota", "deterministic-policy/billing", code=("insufficient_quota",))
QUOTA_TEXT = rule("quota-text", "deterministic-policy/billing", text=("(?i)credit balance is too low",))
LIMIT_CODE = rule("limit-code", "provider/rate-limit", code=("rate_limit_error",), general=True)
LIMIT_TEXT = rule("limit-text", "provider/rate-limit", text=("(?i)rate limit exceeded",))
OVERFLOW = rule("overflow", "runtime/context-overflow", text=("maximum context length",))
REFUSED = rule("refused", "provider/network", text=("[Cc]onnection refused",))
DENIED = rule("denied", "deterministic-policy/os-permission", text=("Permission denied",))
DISK = rule("disk", "runtime/disk-full", errno=("ENOSPC",))
KILLED = rule("killed", "runtime/killed", exit_code=(137,))
PUSH = rule("push", "git/rejected", text=("failed to push some refs",), general=True)
HOOK = rule("hook", "deterministic-policy/protected-branch", text=("pre-receive hook declined",))
NO_REPO = rule("no-repo", "worktree/not-a-repository", text=("not a git repository",))
CONFLICT = rule(
    "conflict", "git/conflict", text=(r"^CONFLICT \(content\): Merge conflict in (\S+)",), summary="conflict in {0}"
)
MEMORY = rule("memory", "runtime/out-of-memory", exception=("MemoryError",))
TESTS = rule("tests", "verification/tests-failed", text=(r"\d+ failed",))
REFUSAL = rule("refusal", "deterministic-policy/forbidden", text=("not allowed here",), general=True)
ANY_REQUEST = rule("any-request", "tool-schema/bad-request", code=("invalid_request",), general=True)
WORDED = rule("worded", "provider/rate-limit", code=("~rate limit",), general=True)
CONNECTION = rule("connection", "provider/network", exception=("APIConnectionError",), general=True)
ALL = (
    RATE, SERVER, FORBIDDEN, BAD_REQUEST, QUOTA, QUOTA_TEXT, LIMIT_CODE, LIMIT_TEXT, OVERFLOW, REFUSED, DENIED, DISK, KILLED,
    PUSH, HOOK, NO_REPO, CONFLICT, MEMORY, TESTS, CONNECTION, REFUSAL, ANY_REQUEST, WORDED,
)  # fmt: skip
RULES = rules(*ALL)


CMAKE = rule("cmake", "verification/build-failed", text=("^CMake Error at ",))


def named(**facts: object) -> Classification:
    """The classification of a failure with all rules of this module in force."""
    return classify(failure(**facts), RULES, now=0.0)  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("facts", "slug"),
    [
        # A status without more is what it is, also when it only stands in the text.
        ({"http_status": 429}, "rate"),
        ({"stderr": "Error code: 503 - upstream", "exit_code": 1}, "server"),
        # The body's meaning overrides the status.
        ({"http_status": 429, "message": "{'error': {'code': 'insufficient_quota'}}"}, "quota"),
        ({"http_status": 429, "message": "Your credit balance is too low"}, "quota-text"),
        ({"http_status": 400, "message": "This model's maximum context length is 8 tokens"}, "overflow"),
        ({"http_status": 403, "message": "API rate limit exceeded for 203.0.113.7"}, "limit-text"),
        (
            {"stdout": "API rate limit exceeded", "stderr": "403 Client Error: Forbidden for url", "exit_code": 1},
            "limit-text",
        ),
        # A code that vendors use for everything does not decide against words of another class.
        ({"message": "429 {'type': 'rate_limit_error', 'message': 'credit balance is too low'}"}, "quota-text"),
        # General words of a refusal override a status and whatever may pass by itself; general words of others do not.
        ({"http_status": 400, "message": "This account is not allowed here"}, "refusal"),
        ({"http_status": 500, "message": "This account is not allowed here"}, "refusal"),
        ({"message": "RequestRateLimitReached: this account is not allowed here"}, "refusal"),
        # A refusing status says more than a code for any request that is wrong.
        ({"http_status": 403, "message": "{'code': 'invalid_request'}"}, "forbidden"),
        # A code is known by its words, and however these are joined.
        ({"codes": ("AccountRateLimitReached",)}, "worded"),
        ({"codes": ("insufficient-quota",)}, "quota"),
        # Code before exit status before text.
        ({"exit_code": 137, "stderr": "Permission denied"}, "killed"),
        ({"exit_code": 137, "stderr": "OSError: [Errno 28] No space left on device"}, "disk"),
        # An echo never wins over the cause.
        (
            {
                "stderr": "! [remote rejected] main (pre-receive hook declined)\nerror: failed to push some refs",
                "exit_code": 1,
            },
            "hook",
        ),
        ({"stderr": "error: failed to push some refs", "exit_code": 1}, "push"),
        # Of equal evidence the safer class wins.
        ({"message": "Connection refused, Permission denied"}, "denied"),
        ({"message": "CONFLICT (content): Merge conflict in a.py: not a git repository"}, "no-repo"),
        # The root of a chain, not the wrapper.
        ({"exceptions": ("openai.APIConnectionError", "builtins.MemoryError")}, "memory"),
        # Trouble that the run outlived loses to what ended it, but is evidence where nothing else speaks.
        ({"stderr": "warning: Connection refused, retrying\nPermission denied", "exit_code": 1}, "denied"),
        ({"stderr": "Connection refused, retrying in 3s (attempt 5/5)", "exit_code": 1}, "refused"),
    ],
)
def test_the_strongest_evidence_names_the_failure(facts: dict[str, object], slug: str) -> None:
    assert named(**facts).rule == slug


@pytest.mark.parametrize(
    ("facts", "reason"),
    [
        ({"message": "nothing known"}, "no-evidence"),
        ({"exit_code": 1, "stdout": ""}, "no-evidence"),
        ({"exit_code": 0, "stdout": "Permission denied, Connection refused, HTTP 503"}, "not-a-failure"),
        ({"exit_code": 1, "stdout": "ok 1 - Connection refused\n+ Permission denied"}, "no-evidence"),
        ({"message": "500 lines, port 429, line 403"}, "no-evidence"),
    ],
)
def test_without_evidence_there_is_no_class_but_a_pause(facts: dict[str, object], reason: str) -> None:
    result = named(**facts)
    assert (result.class_, result.reason, result.rule, result.action) == ("unclassified", reason, "", Action.PAUSE)
    assert result.evidence == ()


def test_words_of_a_retryable_failure_in_ordinary_output_are_no_evidence() -> None:
    log = "\n".join(
        [*(f"row {n}" for n in range(40)), "docs say connection refused means down", *(f"row {n}" for n in range(40))]
    )
    assert named(stdout=log, stderr="fatal: zxqv", exit_code=1).class_ == "unclassified"
    assert named(stdout=log, exit_code=1).class_ == "provider"


def test_the_deciding_line_is_cited_with_its_true_number_and_stream() -> None:
    result = named(stdout="a\nb", stderr="one\ntwo\nPermission denied: /etc/app.conf\nfour", exit_code=1)
    assert result.evidence[0] == Citation("stderr", 3, "Permission denied: /etc/app.conf")


def test_a_field_that_decided_is_cited_as_a_field() -> None:
    assert named(exit_code=137).evidence == (Citation("exit_code", 0, "137"),)


def test_a_status_in_a_field_is_cited_with_the_line_that_carries_the_message() -> None:
    assert named(http_status=503, message="upstream went away").evidence == (
        Citation("message", 1, "upstream went away"),
        Citation("http_status", 0, "503"),
    )


def test_a_long_line_is_cited_around_what_matched() -> None:
    result = named(message="x" * 5_000 + " Permission denied " + "y" * 5_000)
    assert "Permission denied" in result.evidence[0].text
    assert len(result.evidence[0].text) <= 300


def test_the_summary_takes_what_the_pattern_caught() -> None:
    assert named(stdout="CONFLICT (content): Merge conflict in src/a.py", exit_code=1).summary == "conflict in src/a.py"


def test_a_summary_is_one_printable_line() -> None:
    summary = named(message="Permission denied\x1b[31m\u202e\r\x00 forged" + "z" * 900).summary
    assert summary.isprintable()
    assert len(summary) <= 160


def test_the_trace_says_why_each_candidate_lost() -> None:
    result = named(
        http_status=429,
        message="credit balance is too low; Connection refused",
        stderr="warning: Permission denied, retrying\nerror: failed to push some refs",
    )
    verdicts = {str(candidate.rule): candidate.verdict for candidate in result.trace}
    assert next(iter(verdicts.items())) == ("quota-text", "won")
    assert "names only the family" in verdicts["rate"]
    assert "names only the family" in verdicts["push"]
    assert "less safe than quota-text" in verdicts["refused"]
    assert "less precisely" in verdicts["denied"]


def test_the_reason_is_the_most_precise_of_the_class_that_won() -> None:
    result = named(exit_code=137, stderr="MemoryError: x")
    assert (result.reason, result.trace[0].trust) == ("out-of-memory", Trust.CODE)


def test_priority_orders_what_is_otherwise_equal() -> None:
    low = rule("a-general", "git/rejected", text=("cannot lock",))
    high = rule("b-special", "git/ref-lock", text=("cannot lock ref",), priority=1)
    assert classify(failure(message="cannot lock ref"), rules(low, high)).rule == "b-special"


@pytest.mark.parametrize(
    ("when", "facts", "holds"),
    [
        ({"stderr": ("boom!",)}, {"stderr": "boom!", "exit_code": 1}, True),
        ({"stderr": ("boom!",)}, {"message": "boom!"}, True),
        ({"stderr": ("boom!",)}, {"stdout": "boom!", "exit_code": 1}, False),
        ({"stdout": ("boom!",)}, {"stdout": "boom!", "exit_code": 1}, True),
        ({"text": ("boom!",), "not_text": ("handled",)}, {"stderr": "boom!\nhandled", "exit_code": 1}, False),
        ({"text": ("boom!",), "exit_code": (2,)}, {"stderr": "boom!", "exit_code": 1}, False),
        (
            {"text": ("boom!",), "tool": ("pytest",)},
            {"stderr": "boom!", "command": "uv run pytest -q", "exit_code": 1},
            True,
        ),
        ({"text": ("boom!",), "tool": ("pytest",)}, {"stderr": "boom!", "command": "git push", "exit_code": 1}, False),
        (
            {"text": ("boom!",), "command": ("push .*--force",)},
            {"message": "boom!", "command": "git push a --force"},
            True,
        ),
        ({"signal": ("SIGKILL",)}, {"signal": "SIGKILL"}, True),
        ({"exception": ("RateLimitError",)}, {"exceptions": ("openai.RateLimitError",)}, True),
        ({"exception": ("openai.RateLimitError",)}, {"exceptions": ("openai.RateLimitError",)}, True),
        ({"exception": ("openai.RateLimitError",)}, {"exceptions": ("anthropic.RateLimitError",)}, False),
        ({"exception": ("LimitError",)}, {"exceptions": ("openai.RateLimitError",)}, False),
        ({"status": ("5xx",)}, {"http_status": 529}, True),
        ({"status": ("5xx",)}, {"http_status": 429}, False),
        ({"code": ("Insufficient_Quota",)}, {"codes": ("insufficient_quota",)}, True),
        ({"header": (("x-left", "^0$"),)}, {"http_status": 403, "headers": {"x-left": "0"}}, True),
        ({"header": (("x-left", "^0$"),)}, {"http_status": 403, "headers": {"x-left": "10"}}, False),
        ({"text": ("^boom!$",)}, {"message": '{"message": "boom!"}'}, True),
        ({"text": ("^boom!$",)}, {"stderr": "2026-11-30 10:00:00 boom!", "exit_code": 1}, True),
    ],
)
def test_every_key_of_a_matcher_must_hold(when: dict[str, object], facts: dict[str, object], holds: bool) -> None:
    only = rules(rule("only", "git/rejected", **when))  # type: ignore[arg-type]
    assert (classify(failure(**facts), only).rule == "only") is holds  # type: ignore[arg-type]


def test_a_hint_on_when_to_come_back_is_read_for_every_class() -> None:
    assert named(http_status=429, headers={"retry-after": "26"}).retry_after_s == 26
    assert named(message="Permission denied. Please try again in 20s.").retry_after_s == 20


def test_a_rule_of_a_pack_that_is_off_is_left_out() -> None:
    from rerail.rules import compile_rules
    from rerail.taxonomy import BUILT_IN

    core = compile_rules(ALL, BUILT_IN.without_packs(["verification"]))
    assert classify(failure(exit_code=1, stdout="2 failed"), core).class_ == "unclassified"
    assert "tests" not in {rule.slug for rule in core.rules}


def test_what_a_pack_that_is_off_would_have_named_is_named_by_no_other_class() -> None:
    from rerail.rules import compile_rules
    from rerail.taxonomy import BUILT_IN

    core = compile_rules((TESTS, LIMIT_CODE), BUILT_IN.without_packs(["verification"]))
    result = classify(failure(message="rate_limit_error: 2 failed"), core)
    assert (result.class_, result.reason, result.rule, result.evidence) == ("unclassified", "no-evidence", "", ())
    assert result.trace[0].rule == "tests"


def test_a_rule_set_survives_a_cache() -> None:
    again = RuleSet(unpacked(packed(RULES.data)))
    evidence = failure(http_status=429, message="insufficient_quota: Permission denied", headers={"a": "b"})
    assert classify(evidence, again) == classify(evidence, RULES)


PIECES = (
    "Permission denied", "Connection refused", "HTTP 429", "Error code: 503", "rate limit exceeded", "insufficient_quota",
    "OSError: [Errno 28] No space left on device", "CONFLICT (content): Merge conflict in a", "3 failed", "row", "", "ok 1 - x",
    "Traceback (most recent call last):", "  File \"a\", line 1", "MemoryError", "warning: retrying",
    "error: failed to push some refs", "not a git repository",
    '{"error": {"type": "rate_limit_error", "message": "maximum context length"}}',
)  # fmt: skip
TEXTS = st.lists(st.sampled_from(PIECES), max_size=30).map("\n".join)
FAILURES = st.builds(
    failure,
    message=TEXTS,
    stderr=TEXTS,
    stdout=TEXTS,
    exit_code=st.sampled_from([None, 0, 1, 137]),
    http_status=st.sampled_from([None, 200, 400, 403, 429, 503]),
    exceptions=st.sampled_from([(), ("openai.APIConnectionError",), ("a.B", "builtins.MemoryError")]),
)


@given(FAILURES, st.permutations(ALL))
@settings(max_examples=60)
def test_the_order_of_rules_changes_nothing(evidence: Evidence, order: list[Rule]) -> None:
    assert classify(evidence, rules(*order)) == classify(evidence, RULES)


@given(FAILURES)
def test_a_classification_stands_on_lines_that_are_there(evidence: Evidence) -> None:
    result = classify(evidence, RULES)
    lines = {(stream.name.value, number): line for stream in evidence.streams for number, line in stream.lines()}
    for citation in result.evidence:
        assert citation.line == 0 or citation.text in lines[citation.stream, citation.line]
    assert bool(result.evidence) is (result.class_ != "unclassified")
    assert [candidate.verdict == "won" for candidate in result.trace] == [n == 0 for n in range(len(result.trace))]


@given(st.text(max_size=400), st.text(max_size=400), st.sampled_from([None, 0, 1]))
def test_no_text_breaks_it(stderr: str, stdout: str, exit_code: int | None) -> None:
    assert classify(failure(stderr=stderr, stdout=stdout, exit_code=exit_code), RULES, now=0.0).summary.isprintable()


MASKS = (
    "ok 7 - {}",
    "+ {}",
    "  ✓ {}",
    "INFO: {}",
    "  12 | {}",
    "    at {}",
    "src/a.py:3:{}",
    "abcdef0 {}",
    "$ echo {}",
)


@given(
    st.sampled_from(MASKS),
    st.sampled_from(["Permission denied", "Connection refused", "not a git repository", "HTTP 429"]),
)
def test_masked_text_never_matches(mask: str, words: str) -> None:
    assert classify(failure(stdout=f"begin\n{mask.format(words)}\nend", exit_code=1), RULES).class_ == "unclassified"


HOSTILE = (
    "Permission denied",
    "CONFLICT (content): Merge conflict in ",
    "(a+)+$",
    "\x1b[",
    "a",
    " ",
    "'",
    '{"message":"',
    "HTTP 4",
    "\\",
    "1 failed",
)


@pytest.mark.parametrize(("unit", "newline"), list(itertools.product(HOSTILE, ["", "\n"])))
def test_hostile_text_of_a_quarter_megabyte_ends_soon(unit: str, newline: str) -> None:
    text = (unit + newline) * (262_144 // len(unit + newline))
    evidence = failure(stderr=text, exit_code=1)
    started = time.perf_counter()
    classify(evidence, RULES, now=0.0)
    assert time.perf_counter() - started < 3.0


def test_an_exit_status_is_cited_with_the_error_that_stands_beside_it() -> None:
    answer = named(exit_code=137, stderr="step 1 of 9\nfatal: the compiler went away\n")
    assert [citation.text for citation in answer.evidence] == ["137", "fatal: the compiler went away"]
    assert [citation.text for citation in named(exit_code=137).evidence] == ["137"]


def test_a_line_that_only_announces_its_message_is_cited_with_it() -> None:
    said = "CMake Error at CMakeLists.txt:3 (find_package):\n  Could not find a package called NopeLib\n"
    answer = classify(failure(stderr=said), rules(CMAKE), now=0.0)
    assert [citation.line for citation in answer.evidence] == [1, 2]


def test_what_stands_before_every_line_is_cited_and_never_matched() -> None:
    answer = named(stdout="".join(f"api-1  | {line}\n" for line in ("up", "maximum context length reached", "bye")))
    assert answer.rule == "overflow"
    assert answer.evidence[0].text == "api-1  | maximum context length reached"
