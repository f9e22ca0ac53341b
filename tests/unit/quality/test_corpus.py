"""A labelled corpus is read whole: its cases, or every fault of every line."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rerail.errors import CorpusError
from rerail.quality.corpus import Case, read_corpus
from rerail.taxonomy import BUILT_IN

CLASSES = frozenset(str(spec.name) for spec in BUILT_IN)
CORE = frozenset(str(spec.name) for spec in BUILT_IN.without_packs({"verification", "environment"}))


def line(**changes: Any) -> str:
    fields = {"id": "a", "input": {"stderr": "HTTP 503"}, "label": "provider"} | changes
    return json.dumps({key: value for key, value in fields.items() if value is not ...})


def cases(*lines: str) -> tuple[Case, ...]:
    return read_corpus("\n".join(lines), "c.jsonl", CLASSES)


def faults(*lines: str) -> list[str]:
    with pytest.raises(CorpusError) as raised:
        cases(*lines)
    return [str(fault) for fault in raised.value.faults]


def test_a_case_says_what_its_line_says() -> None:
    (case,) = cases(
        line(core_label="unclassified", accept=["git"], evidence="503", retry_after_s=7, note="kept by the corpus")
    )
    assert (case.id, case.line, case.label, case.core_label) == ("a", 1, "provider", "unclassified")
    assert (case.accept, case.deciding, case.retry_after_s) == (("git",), "503", 7.0)
    assert case.evidence.streams[0].text == "HTTP 503"


def test_null_counts_as_absent_and_blank_lines_as_none() -> None:
    (case,) = cases("", line(core_label=None, accept=None, evidence=None, retry_after_s=None), "  ")
    assert (case.line, case.core_label, case.accept, case.deciding, case.retry_after_s) == (2, None, (), "", None)


def test_a_line_separator_inside_a_text_ends_no_line() -> None:
    (case,) = cases('{"id": "a", "input": {"stderr": "one\u2028two\x85three"}, "label": "git"}')
    assert case.label == "git"


def test_a_number_is_an_id_too() -> None:
    assert cases(line(id=7))[0].id == "7"


@pytest.mark.parametrize(
    ("broken", "told"),
    [
        ("{", "c.jsonl:1: expected a JSON object: Expecting property name enclosed in double quotes at column 2"),
        ("[1]", "c.jsonl:1: expected a JSON object, got [1]"),
        (line(id=...), "c.jsonl:1: id: is missing"),
        (line(id=True), "c.jsonl:1: id: expected text or a whole number, got True"),
        (line(label=...), "c.jsonl:1: label: is missing"),
        (line(label=["git"]), "c.jsonl:1: label: expected the name of a class, got ['git']"),
        (line(label="gti"), "c.jsonl:1: label: there is no class named 'gti'; did you mean git?"),
        (line(core_label="gti"), "c.jsonl:1: core_label: there is no class named 'gti'; did you mean git?"),
        (line(accept="git"), "c.jsonl:1: accept: expected a list of classes, got 'git'"),
        (line(accept=["gti"]), "c.jsonl:1: accept: there is no class named 'gti'; did you mean git?"),
        (line(evidence=["x"]), "c.jsonl:1: evidence: expected the deciding text, got ['x']"),
        (line(retry_after_s="7"), "c.jsonl:1: retry_after_s: expected a number of seconds, 0 or more, got '7'"),
        (line(retry_after_s=-1), "c.jsonl:1: retry_after_s: expected a number of seconds, 0 or more, got -1"),
        (line(input=...), "c.jsonl:1: input: evidence must be a JSON object, got null"),
        (line(input={}), "c.jsonl:1: input: at least one field must be present besides id"),
        (line(input={"stder": "x"}), 'c.jsonl:1: input: "stder": no such field, did you mean stderr?'),
        ('{"id": "a", "input": {"stderr": "x"}, "label": "git", "retry_after_s": NaN}', "got nan"),
    ],
)
def test_a_fault_is_told_with_its_line_and_key(broken: str, told: str) -> None:
    (fault,) = faults(broken)
    assert told in fault


def test_all_faults_of_all_lines_are_told_together() -> None:
    found = faults(line(), line(label="gti", accept=3), "{", line(id="a"), line(id="b"))
    assert [fault.split(": ")[0] for fault in found] == ["c.jsonl:2", "c.jsonl:2", "c.jsonl:3", "c.jsonl:4"]
    assert found[-1] == "c.jsonl:4: id: 'a' is used in line 1 already"


def test_a_file_of_another_kind_is_told_in_a_hundred_faults() -> None:
    found = faults(*["text"] * 5_000)
    assert len(found) == 101
    assert found[-1] == "c.jsonl: and 4900 more faults"


def test_an_empty_corpus_is_a_fault() -> None:
    assert faults("") == ["c.jsonl: holds no case: expected one JSON object a line"]


@pytest.mark.parametrize(
    ("label", "core_label", "classes", "core", "truth"),
    [
        ("git", None, CLASSES, False, "git"),
        ("git", "unclassified", CLASSES, False, "git"),
        ("git", "unclassified", CORE, True, "unclassified"),
        ("verification", None, CORE, True, "unclassified"),
        ("verification", None, CORE | {"environment"}, False, "unclassified"),
    ],
)
def test_what_no_class_in_force_can_name_is_unclassified(
    label: str, core_label: str | None, classes: frozenset[str], core: bool, truth: str
) -> None:
    (case,) = cases(line(label=label, core_label=core_label))
    assert case.truth(classes, core=core) == truth


@given(st.text(max_size=200), st.lists(st.text(max_size=40), max_size=4))
def test_no_text_ends_in_anything_but_cases_or_faults(text: str, keys: list[str]) -> None:
    try:
        found: tuple[object, ...] = read_corpus(text, "c.jsonl", CLASSES)
    except CorpusError as error:
        found = error.faults
    assert found
    with pytest.raises(CorpusError):
        read_corpus(json.dumps(dict.fromkeys(keys, text)), "c.jsonl", CLASSES)
