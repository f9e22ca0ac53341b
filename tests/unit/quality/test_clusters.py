"""Failures of one kind come together by what they say, in any order, and nothing else does."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rerail.evidence.payload import from_payload
from rerail.quality.clusters import ANY, Cluster, Gap, Said, clusters, said, words_of


def says(**payload: Any) -> Said:
    found = said(Gap(from_payload(payload)))
    assert found is not None
    return found


def of(*lines: str, tool: str = "sim") -> tuple[Cluster, ...]:
    return clusters([says(tool=tool, exit_code=1, stderr=line) for line in lines])


@pytest.mark.parametrize(
    ("line", "template"),
    [
        ("no seats for 'flow' on bilbo", "no seats for '<value>' on bilbo"),
        ('cannot read "a b" at all', 'cannot read "<value>" at all'),
        ("failed: {'code': 'x', \"why\": \"y\"}", "failed: {'code': '<value>', \"why\": \"<value>\"}"),
        ("cannot find 'x': gone", "cannot find '<value>': gone"),
        ("it doesn't know what it's for", "it doesn't know what it's for"),
        ("cannot open /usr/lib/x.so now", "cannot open <path> now"),
        ("cannot open ./a/b.c: gone", "cannot open <path>: gone"),
        ("cannot reach https://example.com:8/x?y=1 now", "cannot reach <address> now"),
        ("wobbled after 3.2s at 2026-11-30T20:07:11Z", "wobbled after <duration> at <time>"),
        ("code E501 and exit 3 stay", "code E501 and exit 3 stay"),
        ("and/or I/O stay", "and/or I/O stay"),
    ],
)
def test_what_varies_between_runs_is_replaced(line: str, template: str) -> None:
    assert " ".join(words_of(line)) == template


def test_lines_that_differ_in_a_word_are_one_cluster() -> None:
    (cluster,) = of("checkout failed: no seat on bilbo", "checkout failed: no seat on frodo")
    assert cluster.words[-1] == ANY
    assert [each.line for each in cluster.members] == sorted(each.line for each in cluster.members)


@pytest.mark.parametrize(
    "others",
    [
        ["checkout failed: no license"],
        ["checkout failed: bad port 3 on bilbo"],
        ["error: a b", "error: c d"],
        ["checkout failed: no seat on E404", "checkout failed: no seat on ENOENT", "checkout failed: no seat on 503"],
        ["one two", "one three"],
    ],
)
def test_lines_that_share_little_stay_apart(others: list[str]) -> None:
    assert len(of("checkout failed: no seat on bilbo", *others)) == len(others) + 1


def test_two_tools_that_say_the_same_stay_apart() -> None:
    found = clusters([says(tool=tool, exit_code=1, stderr="it broke at once") for tool in ("sim", "flow")])
    assert [cluster.tool for cluster in found] == ["flow", "sim"]


def test_a_shell_is_not_who_failed() -> None:
    (cluster,) = clusters([says(command=["bash", "-c", "x"], exit_code=1, stderr="it broke at once")])
    assert cluster.tool == ""


def test_the_largest_cluster_comes_first() -> None:
    found = of("a rare thing went by", "b common thing went by", "b common thing went by")
    assert [len(cluster.members) for cluster in found] == [2, 1]


def test_failures_that_say_nothing_come_together_by_how_they_ended() -> None:
    found = clusters([says(tool="sim", exit_code=code) for code in (3, 4, 3)])
    assert [(cluster.words, len(cluster.members)) for cluster in found] == [((), 2), ((), 1)]


def test_a_success_is_no_failure() -> None:
    assert said(Gap(from_payload({"exit_code": 0, "stdout": "all fine"}))) is None


words = st.sampled_from(["alpha", "beta", "gamma", "'x'", "/a/b", "3.2s", "delta:"])
lines = st.lists(words, min_size=1, max_size=6).map(" ".join)


@given(st.lists(lines, min_size=1, max_size=10).flatmap(lambda all_: st.tuples(st.just(all_), st.permutations(all_))))
def test_the_order_of_failures_does_not_matter(orders: tuple[list[str], list[str]]) -> None:
    one, other = (of(*each) for each in orders)
    assert one == other
    assert sum(len(cluster.members) for cluster in one) == len(orders[0])


@given(st.text(max_size=2_000))
def test_any_text_has_a_template_of_bounded_length(text: str) -> None:
    found = says(stderr=text or "x")
    assert len(found.words) <= 24
    assert len(found.line) <= 300
