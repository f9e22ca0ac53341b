"""The same failure has the same fingerprint; a changed one has another."""

from __future__ import annotations

import random
import time
from typing import TYPE_CHECKING

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rerail.evidence.exceptions import from_exception
from rerail.evidence.fingerprint import evidence_fingerprint, input_fingerprint
from rerail.evidence.process import from_process
from rerail.evidence.text import from_text
from rerail.evidence.volatile import normalised

if TYPE_CHECKING:
    from rerail.evidence.model import Evidence


def failure(stderr: str, *, exit_code: int = 1, command: str = "make test") -> Evidence:
    return from_process(command, exit_code=exit_code, stderr=stderr)


SAME = [
    ("2026-11-30T20:07:11.123Z ERROR no", "2026-12-01T08:00:00Z ERROR no"),
    ("[2026-11-30 20:07:11,123] no", "[2027-01-02 03:04:05,006] no"),
    ("Mon, 30 Nov 2026 20:18:58 GMT no", "Tue, 01 Dec 2026 07:00:00 GMT no"),
    ("Nov 30 20:18:58 host app[123]: no", "Dec  1 07:00:00 host app[9876]: no"),
    ("20:18:58 no", "07:00:00.001 no"),
    ("1 failed, 3 passed in 0.12s", "1 failed, 3 passed in 4.5s"),
    ("--- FAIL: TestFoo (0.00s)", "--- FAIL: TestFoo (1.25s)"),
    ("took 250 ms", "took 3 seconds"),
    ("timed out after 1m23s", "timed out after 59.9s"),
    ("attempt 1/5 failed", "attempt 4/5 failed"),
    ("Retry #1 of 3", "Retry #2 of 3"),
    ("3 retries left", "1 retries left"),
    ("  retry budget:   2/3 remaining (this class)", "  retry budget:   1/3 remaining (this class)"),
    ("retrying in 4.2s", "retrying in 17 s"),
    ("reached max retries: 4", "reached max retries: 2"),
    ("process 1234 died", "process 99 died"),
    ("==123==ERROR: AddressSanitizer", "==9==ERROR: AddressSanitizer"),
    ("./run.sh: line 3:  12345 Killed   ./x", "./run.sh: line 3:  678 Killed   ./x"),
    ("[gw0] FAILED test_a", "[gw3] FAILED test_a"),
    ("<Future at 0x7f81a300c7d0 state=finished>", "<Future at 0x7fe2b1c00f10 state=finished>"),
    ("cannot open /tmp/tmpab12cd/x", "cannot open /tmp/tmpzz99xy/x"),
    ("/tmp/pytest-of-u/pytest-12/t0/app.py: no", "/tmp/pytest-of-u/pytest-13/t0/app.py: no"),
    ("/private/var/folders/ab/x1/T/app.py: no", "/private/var/folders/cd/y2/T/app.py: no"),
    ("C:\\Users\\me\\AppData\\Local\\Temp\\a1\\main.c: no", "C:\\Users\\me\\AppData\\Local\\Temp\\b2\\main.c: no"),
    ("id 7f3c2b1a-1234-4abc-9def-0123456789ab", "id 00000000-1111-4222-8333-444444444444"),
    ("request id: req_011CSHoEeqs5C35K2UUqR7Fy", "request id: req_022DTIpFfrt6D46L3VVrS8Gz"),
    ("bad object 3f786850e387550fdab836ed7e6dc881de23001b", "bad object 89e6c98d92887913cadf06b2adb97f26cde4849b"),
    ("connect ECONNREFUSED 127.0.0.1:54321", "connect ECONNREFUSED 127.0.0.1:50001"),
    ("run 12345678901 failed", "run 12345678999 failed"),
    ("random seed: 12345", "random seed: 999"),
    ("app.py:12:5: E501 line too long", "app.py:90:7: E501 line too long"),
    ("src/a.ts(12,5): error TS2304: no 'x'", "src/a.ts(14,5): error TS2304: no 'x'"),
    ('  File "/w/a.py", line 12, in f', '  File "/w/a.py", line 15, in f'),
    ("  12:5  error  no-unused-vars", "  13:9  error  no-unused-vars"),
    ("12 | const x", "14 | const x"),
    ("goroutine 12 [running]:", "goroutine 34 [running]:"),
    ("12 MB at 4.5 MB/s", "12 MB at 900 kB/s"),
    (
        "Limit 30000, Used 29500, Requested 1200. Try again in 1.4s",
        "Limit 30000, Used 29990, Requested 1200. Try again in 9s",
    ),
]

DIFFERENT = [
    ("E501 line too long", "E502 line too long"),
    ("error TS2304", "error TS2305"),
    ("HTTP 429", "HTTP 503"),
    ("Error code: 429", "Error code: 400"),
    ('{"status":429}', '{"status":500}'),
    ("expected 3 got 4", "expected 3 got 5"),
    ("assert 1 == 2", "assert 1 == 3"),
    ("5 failed", "4 failed"),
    ("coverage 71%", "coverage 79%"),
    ("exit status 1", "exit status 137"),
    ("requested 9000 tokens", "requested 8500 tokens"),
    ("connect ECONNREFUSED 127.0.0.1:5432", "connect ECONNREFUSED 127.0.0.1:6379"),
    ("HRESULT 0x80070005", "HRESULT 0x80070020"),
    ("python 3.11.7 is too old", "python 3.10.2 is too old"),
    ("app.py:12: E501", "lib.py:12: E501"),
    ("FAILED tests/test_a.py::test_b[3]", "FAILED tests/test_a.py::test_b[4]"),
    ("TestHTTP2ConnectionRetriesWithBackoff failed", "TestHTTP3ConnectionRetriesWithBackoff failed"),
    ("claude-sonnet-4-20250514 not found", "claude-opus-4-20250514 not found"),
    ("called 1 times, expected 2 times", "called 3 times, expected 2 times"),
    ("missing field a", "missing field b"),
    ("api.example.com:443 refused", "api.example.com:8443 refused"),
]


@pytest.mark.parametrize(("one", "other"), SAME)
def test_what_differs_between_two_runs_of_one_failure_is_dropped(one: str, other: str) -> None:
    assert evidence_fingerprint(failure(one)) == evidence_fingerprint(failure(other))


@pytest.mark.parametrize(("one", "other"), DIFFERENT)
def test_codes_and_digits_that_carry_meaning_are_kept(one: str, other: str) -> None:
    assert evidence_fingerprint(failure(one)) != evidence_fingerprint(failure(other))


def test_the_order_and_the_repetition_of_lines_do_not_matter() -> None:
    lines = [f"FAILED tests/test_{name}.py::test_it" for name in "abcdef"]
    shuffled = [*lines, lines[0], ""]
    random.Random(4).shuffle(shuffled)
    assert evidence_fingerprint(failure("\n".join(lines))) == evidence_fingerprint(failure("\n".join(shuffled)))


def test_mending_one_of_two_like_findings_in_a_file_is_progress() -> None:
    two = failure("app.py:3:1: F401 unused\napp.py:9:1: F401 unused")
    moved = failure("app.py:5:1: F401 unused\napp.py:11:1: F401 unused")
    one = failure("app.py:9:1: F401 unused")
    assert evidence_fingerprint(two) == evidence_fingerprint(moved)
    assert evidence_fingerprint(two) != evidence_fingerprint(one)


def test_how_it_ended_counts_and_where_and_how_long_it_ran_does_not() -> None:
    base = from_process("make", exit_code=1, stderr="no")
    assert evidence_fingerprint(base) == evidence_fingerprint(
        from_process("make", exit_code=1, stderr="no", cwd="/w", duration_s=3)
    )
    assert evidence_fingerprint(base) != evidence_fingerprint(from_process("make", exit_code=2, stderr="no"))
    assert evidence_fingerprint(base) != evidence_fingerprint(from_process("make", exit_code=-9, stderr="no"))
    assert evidence_fingerprint(base) != evidence_fingerprint(from_process("make", exit_code=1, stdout="no"))
    assert evidence_fingerprint(base) != evidence_fingerprint(from_process("ninja", exit_code=1, stderr="no"))


def test_an_exception_is_told_by_its_type_and_code_too() -> None:
    prints = {
        evidence_fingerprint(from_exception(error))
        for error in (OSError(28, "no"), OSError(13, "no"), ValueError("no"))
    }
    assert len(prints) == 3
    assert evidence_fingerprint(from_exception(ValueError("at 0x7f81a300c7d0"))) == evidence_fingerprint(
        from_exception(ValueError("at 0x7fe2b1c00f10"))
    )


@given(st.lists(st.sampled_from(SAME), max_size=6), st.text(alphabet="abc XYZ.,", max_size=20))
def test_any_mix_of_such_lines_is_the_same_failure(pairs: list[tuple[str, str]], said: str) -> None:
    one = "\n".join([said, *(one for one, _ in pairs)])
    other = "\n".join([*(other for _, other in reversed(pairs)), said])
    assert evidence_fingerprint(failure(one)) == evidence_fingerprint(failure(other))


@given(st.sampled_from(SAME), st.sampled_from(DIFFERENT))
def test_noise_does_not_hide_a_change(noise: tuple[str, str], change: tuple[str, str]) -> None:
    one, other = (f"{before}\n{after}" for before, after in zip(noise, change, strict=True))
    assert evidence_fingerprint(failure(one)) != evidence_fingerprint(failure(other))


@given(st.text(max_size=200))
def test_any_text_has_a_fingerprint(text: str) -> None:
    assert len(evidence_fingerprint(from_text(text))) == 32


@pytest.mark.parametrize(
    "piece",
    ["1", "a1", "1 ", "1:", "1.", "/tmp/", "a_1", "attempt ", "line ", "0x", "Jan 1 ", "12d", "a.b:", "@@ -", "=="],
)
def test_hostile_lines_are_normalised_in_linear_time(piece: str) -> None:
    line = piece * (250_000 // len(piece))
    began_s = time.process_time()
    normalised(line)
    assert time.process_time() - began_s < 3, "takes about 0.2 s"


def test_a_command_is_its_arguments_its_directory_and_its_input() -> None:
    base = input_fingerprint((("git", "push"), "/w", b""))
    others = [
        input_fingerprint((("git push",), "/w", b"")),
        input_fingerprint((("git", "push"), "/v", b"")),
        input_fingerprint((("git", "push"), "/w", b"y")),
    ]
    assert len({base, *others}) == 4
