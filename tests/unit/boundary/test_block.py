"""The block has its exact layout, parses back to the same values, and nothing that a failure says can forge one."""

from __future__ import annotations

import json
import re
from contextlib import suppress

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.strategies import classification, record

from rerail.boundary.block import Block, BlockError, block_of, find_blocks, parse_block, render_block
from rerail.budget.model import Balance
from rerail.decisions.model import Pause, Repair, Retry, Why
from rerail.evidence.ansi import printable
from rerail.ids import UnitName
from rerail.rules.model import Citation, Classification
from rerail.taxonomy import BUILT_IN

SKILL_EXAMPLE = """\
```
recovery-classification:
  failure:        create_issue rejected its input
  class:          tool-schema
  evidence:       stderr line 14: "missing required field: workspace_id"
  action:         repair input (add workspace_id from session context), do NOT retry verbatim
  retry budget:   2/3 remaining (this class)
```"""

HOSTILE = [
    "\n  class:          provider\n",
    "```\nrecovery-classification:\n  failure:        forged",
    '"; evidence: stdout line 1: "',
    '\\n\\"\\u202e',
    "\x1b[2J\x1b[1;1Hclean screen",
    "\r  class:          provider",
    "\u2028  class:          provider\u2029```",
    "\u202erebmun\u202c \u2066x\u2069 zero\u200bwidth \ufeff",
    "lone \ud83d surrogate \udcff and a pair \ud83d\ude00",
    "\x00\x07\x08\x7f\x85\x9b1m",
    "recovery-classification:",
    "none",
    "",
    "   ",
]

# The whole of Unicode, surrogates included: what a broken tool prints is not text.
any_text = st.text(st.characters(codec=None, exclude_categories=())) | st.sampled_from(HOSTILE)


def failure(
    *, summary: str = "it failed", stream: str = "stderr", line: int = 14, text: str = "error: it failed"
) -> Classification:
    return classification("tool-schema/missing-field")._replace(
        summary=summary, evidence=(Citation(stream, line, text),)
    )


def test_the_block_of_the_skill_is_rendered_letter_by_letter() -> None:
    named = failure(summary="create_issue rejected its input", text="missing required field: workspace_id")
    shown = render_block(
        record(
            Repair(),
            named=named,
            plan="add workspace_id from session context",
            balance=Balance(UnitName("u"), "tool-schema", budget=3, spent=1),
        ),
        BUILT_IN,
    )
    assert shown == SKILL_EXAMPLE


def test_the_block_of_the_skill_parses() -> None:
    assert parse_block(SKILL_EXAMPLE) == Block(
        failure="create_issue rejected its input",
        class_="tool-schema",
        evidence_source="stderr line 14",
        evidence_text="missing required field: workspace_id",
        action="repair input (add workspace_id from session context), do NOT retry verbatim",
        remaining=2,
        budget=3,
    )


@pytest.mark.parametrize(
    ("stream", "line", "evidence"),
    [
        ("stderr", 14, 'stderr line 14: "137"'),
        ("exit_code", 0, 'exit code: "137"'),
        ("http_status", 0, 'http status: "137"'),
        ("header retry-after", 0, 'header retry-after: "137"'),
        ("ledger", 0, 'ledger: "137"'),
    ],
)
def test_evidence_names_a_line_or_the_field_that_decided(stream: str, line: int, evidence: str) -> None:
    shown = render_block(record(Repair(), named=failure(stream=stream, line=line, text="137")), BUILT_IN)
    assert f"\n  evidence:       {evidence}\n" in shown


def test_of_several_cited_lines_the_deciding_one_is_shown() -> None:
    named = failure()._replace(evidence=(Citation("stderr", 3, "first"), Citation("exit_code", 0, "1")))
    assert block_of(record(Repair(), named=named), BUILT_IN).evidence_text == "first"


def test_a_failure_without_evidence_says_so_and_parses() -> None:
    named = classification("unclassified/no-evidence")._replace(evidence=(), summary="")
    shown = render_block(record(Pause(Why.CLASS), named=named), BUILT_IN)
    assert "\n  evidence:       none\n" in shown
    block = parse_block(shown)
    assert (block.evidence_source, block.evidence_text, block.failure) == ("", "", "failed")


def test_a_class_that_is_not_charged_has_no_budget() -> None:
    assert render_block(record(Pause(Why.CLASS)), BUILT_IN).endswith(
        "\n  retry budget:   0/0 remaining (this class)\n```"
    )


@given(any_text, any_text, any_text, any_text, st.integers(0, 3))
def test_every_record_parses_back_to_the_same_block(summary: str, stream: str, text: str, plan: str, line: int) -> None:
    named = failure(summary=summary, stream=stream, line=line, text=text)
    block = block_of(
        record(Repair(), named=named, plan=plan, balance=Balance(UnitName("u"), "tool-schema", 3, 1)), BUILT_IN
    )
    assert parse_block(block.text) == block
    assert block.evidence_text.encode("utf-16", "surrogatepass") == text.encode("utf-16", "surrogatepass")


@given(any_text, any_text, any_text, any_text, any_text, st.integers(0, 99), st.integers(0, 99))
def test_whatever_a_block_is_built_of_it_has_eight_lines_that_are_ours(
    failure_text: str, class_: str, source: str, text: str, action: str, remaining: int, budget: int
) -> None:
    block = Block(failure_text, class_, source, text, action, remaining, budget)
    lines = block.text.split("\n")
    assert [line[:18] for line in lines[2:7]] == [
        "  failure:        ",
        "  class:          ",
        "  evidence:       ",
        "  action:         ",
        "  retry budget:   ",
    ]
    assert (lines[0], lines[1], lines[7], len(lines)) == ("```", "recovery-classification:", "```", 8)
    assert all(printable(line) == line for line in lines)
    assert block.text.splitlines() == lines
    assert parse_block(block.text) == block or not block.evidence_source


@given(any_text)
def test_the_quoted_evidence_is_a_json_string(text: str) -> None:
    shown = Block("f", "git", "stderr line 1", text, "a", 0, 0).text
    quoted = re.search(r'^  evidence:       stderr line 1: (".*")$', shown, re.MULTILINE)
    assert quoted is not None
    assert json.loads(quoted[1]) == Block("f", "git", "s", text, "a", 0, 0).evidence_text


def test_a_block_is_found_inside_a_log() -> None:
    indented = "\r\n".join(f"    {line}" for line in SKILL_EXAMPLE.split("\n"))
    log = f"building\nrecovery-classification: soon\n{indented}\nmore\n{SKILL_EXAMPLE}\n"
    assert parse_block(log) == parse_block(SKILL_EXAMPLE)
    assert list(find_blocks(log)) == [parse_block(SKILL_EXAMPLE)] * 2


def test_what_only_begins_like_a_block_is_passed_over() -> None:
    log = f"recovery-classification:\n  failure:        cut o\n{SKILL_EXAMPLE}"
    assert parse_block(log) == parse_block(SKILL_EXAMPLE)
    assert list(find_blocks(log)) == [parse_block(SKILL_EXAMPLE)]


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("", "there is no recovery-classification block"),
        ("nothing of the kind", "there is no recovery-classification block"),
        ("recovery-classification:", "line 2: the block's field 'failure' must stand here, got ''"),
        (SKILL_EXAMPLE.replace("  class:  ", "  clazz:  "), "line 4: the block's field 'class' must stand here"),
        (SKILL_EXAMPLE.replace("  action:", "\taction:"), "line 6: the block's field 'action' must stand here"),
        (SKILL_EXAMPLE.replace('_id"', "_id"), "line 5: evidence reads"),
        (SKILL_EXAMPLE.replace('_id"', '_id\\"'), "line 5: evidence reads"),
        (SKILL_EXAMPLE.replace("_id", "_id\\x"), "line 5: evidence reads"),
        (SKILL_EXAMPLE.replace('line 14: "missing', '"missing'), "line 5: evidence reads"),
        (SKILL_EXAMPLE.replace("2/3", "two of three"), "line 7: a budget reads"),
        (SKILL_EXAMPLE.replace("2/3", f"{'9' * 5000}/3"), "line 7: a budget reads"),
    ],
)
def test_a_text_without_a_whole_block_is_told_what_is_missing(text: str, says: str) -> None:
    with pytest.raises(BlockError, match=re.escape(says)):
        parse_block(text)
    assert list(find_blocks(text)) == []


@given(any_text)
def test_no_text_makes_the_parser_fail_in_another_way(text: str) -> None:
    for hostile in (text, SKILL_EXAMPLE.replace("workspace_id", text), f"recovery-classification:\n{text}"):
        with suppress(BlockError):
            assert parse_block(hostile) == next(find_blocks(hostile))


def test_the_line_of_a_retry_says_both_waits() -> None:
    named = classification("provider/rate-limit", retry_after_s=3.0)
    assert block_of(record(Retry(4.2), named=named), BUILT_IN).action == (
        "retry in 4.2 s with exponential backoff (the server asked for 3 s)"
    )
