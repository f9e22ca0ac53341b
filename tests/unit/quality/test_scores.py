"""The figures are those of the corpora's own scorer."""

from __future__ import annotations

import importlib.util
import json
import os
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rerail.quality.corpus import read_corpus
from rerail.quality.scores import Named, Score, score
from rerail.recipes.read import load
from rerail.rules.engine import classify
from rerail.taxonomy import BUILT_IN

CORPUS = Path(os.environ.get("RERAIL_SHARED", Path(__file__).parents[4] / "shared")) / "corpus"
CLASSES = tuple(str(spec.name) for spec in BUILT_IN)
CORE = tuple(str(spec.name) for spec in BUILT_IN.without_packs({"verification", "environment"}))
needs_corpus = pytest.mark.skipif(not CORPUS.is_dir(), reason="the public corpora are not part of the repository")

Given = list[tuple[dict[str, Any], dict[str, Any]]]
"""Corpus lines, each with what it was named."""


def scored(given: Given, *, core: bool = False) -> Score:
    text = "\n".join(json.dumps(case) for case, _ in given)
    named = {
        str(case["id"]): Named(said["class"], tuple(each["text"] for each in said["evidence"]), said["retry_after_s"])
        for case, said in given
    }
    cases = read_corpus(text, "c.jsonl", CLASSES)
    return score(cases, lambda case: named[case.id], CORE if core else CLASSES, core=core)


def case(identity: str, label: str, given: str, **more: Any) -> tuple[dict[str, Any], dict[str, Any]]:
    said = {
        "id": identity,
        "class": given,
        "evidence": more.pop("cited", []),
        "retry_after_s": more.pop("read_s", None),
    }
    return {"id": identity, "input": {"stderr": "x"}, "label": label, "core_label": label, **more}, said


MIXED: Given = [
    case("1", "provider", "provider", evidence="503", cited=[{"text": "HTTP  503\nUnavailable"}]),
    case("2", "provider", "unclassified", retry_after_s=5, read_s=5.9),
    case("3", "git", "worktree"),
    case("4", "worktree", "git"),
    case("5", "runtime", "provider", accept=["git"]),
    case("6", "tool-schema", "git", accept=["git"], evidence="x", cited=[{"text": "y"}], retry_after_s=1, read_s=2.1),
    case("7", "unclassified", "unclassified", evidence="never counted"),
]


def test_figures_of_a_small_corpus() -> None:
    figures = scored(MIXED)
    assert figures.accuracy == 3 / 7
    assert {each.case.id for each in figures.unsafe} == {"4", "5"}
    assert [each.case.id for each in figures.wrong] == ["4", "5", "2", "3"], "unsafe ones first"
    assert figures.evidence == 0.5
    assert figures.retry_after == 0.5
    provider = figures.classes[0]
    assert (provider.name, provider.precision, provider.recall) == ("provider", 0.5, 0.5)
    assert figures.confusion["tool-schema"] == {"tool-schema": 1}, "what is accepted counts as the label"


def test_a_class_that_was_never_named_has_no_precision() -> None:
    (only,) = scored([case("1", "git", "unclassified")]).classes
    assert (only.precision, only.recall, only.f1) == (None, 0.0, 0.0)


def test_a_corpus_that_says_nothing_of_evidence_or_delays_has_no_such_figure() -> None:
    figures = scored([case("1", "git", "git")])
    assert (figures.evidence, figures.retry_after) == (None, None)


def scorer() -> Any:
    spec = importlib.util.spec_from_file_location("score", CORPUS / "score.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def assert_agree(figures: Score, theirs: dict[str, Any]) -> None:
    assert figures.accuracy == pytest.approx(theirs["accuracy"])
    assert figures.macro_f1 == pytest.approx(theirs["macro_f1"])
    assert len(figures.unsafe) == theirs["unsafe"]
    assert figures.evidence == pytest.approx(theirs["evidence"])
    assert figures.retry_after == pytest.approx(theirs["retry_after"])
    assert {name: dict(row) for name, row in figures.confusion.items()} == theirs["confusion"]
    assert {(each.case.id, each.truth, each.named.class_) for each in figures.wrong} == set(theirs["wrong"])
    assert {(each.case.id, each.truth, each.named.class_) for each in figures.unsafe} == set(theirs["unsafe_cases"])
    assert {each.name: (each.cases, each.right, round(each.f1, 4)) for each in figures.classes} == {
        name: (row["cases"], row["right"], row["f1"]) for name, row in theirs["per_class"].items()
    }


names = st.sampled_from(CORE)
texts = st.text("ab X\n", max_size=4)
delays = st.none() | st.floats(0, 9).map(lambda value: round(value, 1))
rows = st.lists(
    st.tuples(names, names, st.lists(names, max_size=2), texts, st.lists(texts, max_size=2), delays, delays),
    min_size=1,
    max_size=12,
)


@needs_corpus
@given(rows, st.booleans())
def test_every_figure_agrees_with_the_corpus_scorer(drawn: list[Any], core: bool) -> None:
    given = [
        case(
            str(at),
            label,
            named,
            accept=accept,
            evidence=evidence,
            cited=[{"text": text} for text in cited],
            retry_after_s=stated,
            read_s=read,
        )
        for at, (label, named, accept, evidence, cited, stated, read) in enumerate(drawn)
    ]
    theirs = scorer().score([each for each, _ in given], [said for _, said in given], core)
    assert_agree(scored(given, core=core), theirs)


@needs_corpus
@pytest.mark.parametrize("core", [False, True])
def test_every_figure_of_a_public_corpus_agrees_with_its_scorer(core: bool) -> None:
    text = (CORPUS / "public.jsonl").read_text(encoding="utf-8")
    raw = [json.loads(line) for line in text.splitlines() if line.strip()]
    loaded = load(None, packs=("core",) if core else None)
    cases = read_corpus(text, "public.jsonl", CLASSES)
    # Every seventh is named wrongly, so that the figures are not all 1.
    named = {
        each.id: Named("provider") if at % 7 == 0 else Named.by(classify(each.evidence, loaded.rules, now=0.0))
        for at, each in enumerate(cases)
    }
    predictions = [
        {
            "id": identity,
            "class": said.class_,
            "evidence": [{"text": cited} for cited in said.cited],
            "retry_after_s": said.retry_after_s,
        }
        for identity, said in named.items()
    ]
    figures = score(cases, lambda each: named[each.id], [str(spec.name) for spec in loaded.taxonomy], core=core)
    assert len(figures.judged) == len(raw)
    assert_agree(figures, scorer().score(raw, predictions, core))
