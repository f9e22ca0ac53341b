"""What is shown of a failure: the lines that decided, the parts of them that did, what surrounds them, and what no rule sees."""

from __future__ import annotations

from functools import cache
from itertools import pairwise
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rerail.evidence.payload import from_payload
from rerail.quality.excerpts import SHOWN_CHARS, Excerpt, Role, ShownLine, excerpts
from rerail.recipes.read import Loaded, load
from rerail.rules.engine import classify


@cache
def loaded() -> Loaded:
    return load(None)


def shown(**payload: Any) -> tuple[Excerpt, ...]:
    evidence = from_payload(payload)
    return excerpts(evidence, classify(evidence, loaded().rules, now=0.0), loaded().rules)


def marked(line: ShownLine) -> list[str]:
    return [line.text[start:stop] for start, stop in line.spans]


def of_role(excerpt: Excerpt, role: Role) -> list[ShownLine]:
    return [line for line in excerpt.lines if line.role is role]


def test_the_deciding_line_stands_in_its_surroundings() -> None:
    before, after = [f"step {n} of the build" for n in range(1, 11)], [f"cleanup {n}" for n in range(12, 30)]
    (excerpt,) = shown(
        stderr="\n".join([*before, "fatal: unable to access: HTTP 503 Service Unavailable", *after]), exit_code=1
    )
    assert (excerpt.stream, excerpt.total_lines) == ("stderr", 29)
    assert [line.number for line in excerpt.lines] == list(range(8, 15))
    (deciding,) = of_role(excerpt, Role.DECIDES)
    assert deciding.number == 11
    assert "Service Unavailable" in " ".join(marked(deciding))
    assert all(not line.spans for line in excerpt.lines if line is not deciding)


def test_lines_that_no_rule_sees_are_told_apart() -> None:
    text = (
        "=================================== FAILURES ===================================\n"
        "___________________________ test_timeout ___________________________\n"
        "t.py:3: in test_timeout\n"
        "    assert read() == 'HTTP 503'\n"
        "E   AssertionError: assert 'x' == 'HTTP 503'\n"
        "=========================== short test summary info ============================\n"
        "FAILED t.py::test_timeout - AssertionError: assert 'x' == 'HTTP 503'\n"
        "============================== 1 failed in 0.01s ===============================\n"
    )
    (excerpt,) = shown(command="pytest", exit_code=1, stdout=text)
    roles = {line.number: line.role for line in excerpt.lines}
    assert roles[3] is Role.MASKED
    assert Role.DECIDES in roles.values()


def test_places_far_apart_are_shown_apart_and_near_ones_together() -> None:
    line = "npm error code E503"
    far = shown(stderr="\n".join([line, *["quiet"] * 40, "npm error 503 Service Unavailable - GET x"]), exit_code=1)
    for one, other in pairwise(far):
        assert one.stream != other.stream or one.lines[-1].number + 1 < other.lines[0].number
    (near,) = shown(stderr=f"{line}\nnpm error 503 Service Unavailable - GET x", exit_code=1)
    assert len(near.lines) == 2


def test_a_field_that_decides_is_no_line() -> None:
    assert shown(exit_code=137, signal="SIGKILL") == ()


def test_without_a_rule_the_line_that_says_most_is_shown() -> None:
    (excerpt,) = shown(stderr="starting\nunit 7\nerror: the frobnicator wobbled", exit_code=3)
    (most,) = of_role(excerpt, Role.SAYS_MOST)
    assert (most.number, most.spans) == (3, ())


def test_a_long_line_is_cut_around_what_decided() -> None:
    (excerpt,) = shown(stderr="error: " + "x " * 300 + "HTTP 503 Service Unavailable" + " y" * 3_000, exit_code=1)
    (deciding,) = of_role(excerpt, Role.DECIDES)
    assert len(deciding.text) <= SHOWN_CHARS + 2
    assert deciding.text.startswith("…")
    assert "Service Unavailable" in " ".join(marked(deciding))


def test_a_name_that_rules_of_another_day_gave_keeps_its_lines() -> None:
    evidence = from_payload({"stderr": "one\nHTTP 503 Service Unavailable\nthree", "exit_code": 1})
    named = classify(evidence, loaded().rules, now=0.0)
    own = named.trace[0]._replace(rule="gone")  # type: ignore[arg-type]
    (excerpt,) = excerpts(evidence, named._replace(rule="gone", trace=(own,)), loaded().rules)  # type: ignore[arg-type]
    (deciding,) = of_role(excerpt, Role.DECIDES)
    assert marked(deciding) == ["HTTP 503 Service Unavailable"], "the whole line, for nobody knows which part it was"


@pytest.mark.parametrize("noise", ["\x1b[31m", "\u202e", "\x00", "\udcff", "\u017f", "\u0130"])
def test_spans_stay_inside_their_line_whatever_stands_beside_them(noise: str) -> None:
    for excerpt in shown(stderr=f"{noise} HTTP 503 {noise} Service Unavailable {noise}", exit_code=1):
        for line in excerpt.lines:
            assert all(0 <= start < stop <= len(line.text) for start, stop in line.spans)


PARTS = st.sampled_from(
    ["HTTP 503", "error: ", "\n", "fatal: ", "Permission denied", "x" * 150, " ", "E   ", "\t", "İ", "'"]
)


@given(st.lists(PARTS, min_size=1, max_size=30).map("".join))
def test_every_excerpt_is_ordered_bounded_and_marks_only_what_is_there(text: str) -> None:
    for excerpt in shown(stderr=text, exit_code=1):
        numbers = [line.number for line in excerpt.lines]
        assert numbers == list(range(numbers[0], numbers[0] + len(numbers)))
        for line in excerpt.lines:
            assert len(line.text) <= SHOWN_CHARS + 2
            ends = [0, *(edge for span in line.spans for edge in span)]
            assert ends == sorted(ends)
            assert ends[-1] <= len(line.text)
