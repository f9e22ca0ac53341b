"""What a pattern needs and what it may cost."""

from __future__ import annotations

import re
import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rerail.rules.compile import FLAGS
from rerail.rules.patterns import fault, literals, needs


@pytest.mark.parametrize(
    ("pattern", "needed"),
    [
        ("Permission denied", ("permission denied",)),
        (r"Unable to create '.*index\.lock': File exists", ("index.lock': file exists",)),
        ("(?i)rate limit|too many requests", ("rate limit", "too many requests")),
        ("[Cc]onnection (?:refused|reset)", ("connection re",)),
        (r"\.(?:go|rs):\d+: ", (".go:", ".rs:")),
        (r"no (?:active )?[Pp]lan", ("no active plan", "no plan")),
        ("[`'\"]abc", ('"abc', "'abc", "`abc")),
        (r"(?:ab|(?:cd)?)(?:ef)? ?gh", ()),
        ("(?:foo)?barbaz", ("barbaz",)),
        ("(?:retry){2}", ("retry",)),
        (r"^\d+ errors?$", (" error",)),
        ("(?:ab|cdef)ghi", ("abghi", "cdefghi")),
        (r"^\d{3}$", ()),
        ("ab", ()),
        ("(?:abc|x)", ()),
        ("café au lait", (" au lait",)),
        ("余额不足|请先充值", ("余额不足", "请先充值")),
        ("欠费", ()),
    ],
)
def test_the_text_a_pattern_cannot_match_without_is_found(pattern: str, needed: tuple[str, ...]) -> None:
    assert literals(pattern) == needed


@pytest.mark.parametrize(
    ("pattern", "needed"),
    [
        ("(?i)error .{0,40}quota", (("error ",), ("quota",))),
        (r"\.(?:py|ts):\d+ (?:error|fatal)", ((" error", " fatal"), (".py:", ".ts:"))),
        ("(?:permission|access) denied .{1,9} denied", (("access denied ", "permission denied "),)),
    ],
)
def test_all_that_a_pattern_cannot_match_without_is_found(pattern: str, needed: tuple[tuple[str, ...], ...]) -> None:
    assert sorted(needs(pattern)) == sorted(needed)


@pytest.mark.parametrize(
    ("pattern", "part"),
    [
        ("(a+)+$", "repeats a group that itself repeats"),
        ("(a|aa)*b", "repeats a group that itself repeats or chooses"),
        ("(.*)*x", "repeats a group"),
        (r"(?:\w+, )*end", "repeats a group"),
        (r"\s*\s*foo", "two endless repeats side by side"),
        (r"(\w+)(\d+)abc", "two endless repeats side by side"),
        (".*foo.*bar.*baz", "gaps that multiply"),
        ("a.{0,200}b.{0,200}c", "gaps that multiply"),
        (r".{0,20}.{0,20}\w+\.", "gaps that multiply"),  # one scan of the word for each way to place the gaps
        (r"(x)\1abc", "refers back to a group"),
        ("(abc", "is not a regular expression"),
        ("a{99999999999}", "is not a regular expression"),
    ],
)
def test_a_pattern_that_some_text_could_hang_is_refused_with_the_reason(pattern: str, part: str) -> None:
    assert part in (fault(pattern) or "")


@pytest.mark.parametrize(
    "pattern",
    [
        r"Unable to create '.*index\.lock': File exists",
        r"fatal: '[^']*' is already checked out at '[^']*'",
        r"\w+Error: (\S+) x",
        "a.{0,80}b.{0,80}cde",
        r"^error\[E\d+\]: ",
        r"(?:\w{1,20}\.){1,6}com refused",
        "(?i)quota exceeded|billing",
    ],
)
def test_a_pattern_that_ends_on_any_text_is_accepted(pattern: str) -> None:
    assert fault(pattern) is None


WORDS = st.text("abAB .'", min_size=1, max_size=6).map(re.escape)
GAPS = st.sampled_from([".{0,20}", r"\w+", r"\s*", "[^']*", r"\d{1,3}", "."])
CHOICES = st.tuples(WORDS, WORDS).map(lambda pair: f"(?:{pair[0]}|{pair[1]})")
PIECES = st.one_of(WORDS, GAPS, CHOICES, CHOICES.map(lambda choice: f"{choice}?"), st.just(r"\b(?!B)"))
PATTERNS = st.tuples(st.sampled_from(["", "(?i)"]), st.lists(PIECES, min_size=1, max_size=5)).map(
    lambda parts: parts[0] + "".join(parts[1])
)


@given(PATTERNS, st.text("abAB .'1\u0130\u017f", max_size=60))
def test_no_match_is_possible_without_one_text_of_each_set(pattern: str, text: str) -> None:
    if re.compile(pattern, FLAGS).search(text):
        assert all(any(literal in text.lower() for literal in needed) for needed in needs(pattern))


@given(PATTERNS, st.sampled_from(["a", "ab", "a b", "'", "aB.", "a1", " "]))
def test_an_accepted_pattern_ends_soon_on_a_window_of_hostile_text(pattern: str, unit: str) -> None:
    if fault(pattern) is None:
        started = time.perf_counter()
        re.compile(pattern, FLAGS).search((unit * 1_024)[:1_024] + "\x00")
        assert time.perf_counter() - started < 1.0
