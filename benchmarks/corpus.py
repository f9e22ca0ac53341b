"""Score the recipes in force against labelled corpora, in process.

    python benchmarks/corpus.py PATH/public.jsonl [MORE.jsonl ...] [--family WORD] [--label CLASS] [--id PART]
                                [--packs core] [--all] [--trace]

Prints, per corpus, accuracy, macro F1, unsafe count, evidence hit rate and retry-after rate as the corpus' own scorer counts
them, the families with mistakes, and each wrong case with what decided. ``--all`` also lists the right ones; ``--trace`` prints
every candidate and why it lost.
"""

from __future__ import annotations

import argparse
import json
import time
from collections import Counter, defaultdict
from pathlib import Path
from typing import Any

from rerail.errors import RecipeError
from rerail.evidence.payload import from_payload
from rerail.recipes import built_in_dir
from rerail.recipes.read import taxonomy_of
from rerail.recipes.schema import read_recipe
from rerail.rules import Classification, RuleSet, classify, compile_rules

NOW = 1_796_065_200.0
"""The corpora were made in November 2026; clock times in them are read from there."""


def main() -> None:
    options = _options()
    rules = _rules(options.packs.split(",") if options.packs else None)
    for path in options.corpus:
        cases = [json.loads(line) for line in Path(path).read_text(encoding="utf-8").splitlines() if line.strip()]
        cases = [case for case in cases if _is_labelled(case) and _is_wanted(case, options)]
        started = time.perf_counter()
        named = {str(case["id"]): classify(from_payload(_payload(case["input"])), rules, now=NOW) for case in cases}
        spent = time.perf_counter() - started
        core = options.packs == "core"
        print(f"\n{path}: {len(cases)} cases, {1000 * spent / max(1, len(cases)):.2f} ms each")
        _report(cases, named, core=core, options=options)


def _rules(packs: list[str] | None) -> RuleSet:
    """Return the built-in rules; a file with faults is left out and named, for somebody may be writing it right now."""
    recipes = []
    for path in sorted(built_in_dir().glob("*.toml")):
        try:
            recipes.append(read_recipe(path.read_text(encoding="utf-8"), path.name))
        except RecipeError as error:
            print(f"left out: {path.name}: {len(error.faults)} faults, first: {error.faults[0]}")
    return compile_rules([rule for recipe in recipes for rule in recipe.rules], taxonomy_of((), (), packs))


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("corpus", nargs="+")
    parser.add_argument("--family", default="", help="only families that contain this word")
    parser.add_argument("--label", default="", help="only cases of this class")
    parser.add_argument("--id", default="", help="only cases whose id contains this")
    parser.add_argument(
        "--packs", default="", help="class packs that are on, by comma; 'core' scores against core labels"
    )
    parser.add_argument("--all", action="store_true", help="list right cases too")
    parser.add_argument("--trace", action="store_true", help="print every candidate")
    return parser.parse_args()


def _payload(given: dict[str, Any]) -> dict[str, Any]:
    """Return a case's input as evidence JSON: raw bytes as they would be captured, and nothing for null."""
    payload = {key: value for key, value in given.items() if value is not None}
    if "stderr_bytes_hex" in payload:
        payload["stderr"] = bytes.fromhex(payload.pop("stderr_bytes_hex")).decode("utf-8", "replace")
    return payload


def _is_labelled(case: dict[str, Any]) -> bool:
    """Tell whether a line is a case with evidence; reports may be scenarios in words, or expect no class."""
    return "label" in case or (
        "scenario" not in case["input"] and bool({"class", "acceptable_classes"} & case["expected"].keys())
    )


def _is_wanted(case: dict[str, Any], options: argparse.Namespace) -> bool:
    family, label = str(case.get("family", "")), _truth(case, core=False)[0]
    return options.family in family and options.id in str(case["id"]) and (not options.label or options.label == label)


def _truth(case: dict[str, Any], *, core: bool) -> tuple[str, set[str]]:
    if "label" in case:
        truth = case["core_label"] if core else case["label"]
        return truth, {truth, *case.get("accept", ())}
    expected = case["expected"]
    truth = str(expected.get("class", "")).replace("none", "unclassified") or expected["acceptable_classes"][0]
    return truth, {truth, *expected.get("acceptable_classes", ())}


def _report(
    cases: list[dict[str, Any]], named: dict[str, Classification], *, core: bool, options: argparse.Namespace
) -> None:
    right, wrong, families = Counter[str](), Counter[str](), defaultdict[str, list[bool]](list)
    false_positives = Counter[str]()
    unsafe = cited = citable = delays = delays_right = 0
    for case in cases:
        truth, accepted = _truth(case, core=core)
        given = named[str(case["id"])]
        correct = given.class_ in accepted
        families[str(case.get("family", case.get("kind", "")))].append(correct)
        (right if correct else wrong)[truth] += 1
        is_unsafe = not correct and (given.class_ == "provider" or (given.class_ == "git" and truth == "worktree"))
        unsafe += is_unsafe
        if not correct:
            false_positives[given.class_] += 1
        evidence_right = True
        if correct and case.get("evidence") and truth != "unclassified":
            citable += 1
            evidence_right = _overlaps(case["evidence"], given)
            cited += evidence_right
        delay_right = True
        if case.get("retry_after_s") is not None:
            delays += 1
            delay_right = given.retry_after_s is not None and abs(given.retry_after_s - case["retry_after_s"]) <= 1
            delays_right += delay_right
        if options.all or not (correct and evidence_right and delay_right):
            note = " UNSAFE" if is_unsafe else ""
            note += "" if evidence_right else f" CITED WRONG, deciding text is {case['evidence']!r}"
            note += "" if delay_right else f" DELAY {given.retry_after_s} for {case['retry_after_s']}"
            _show(case, truth, given, note, trace=options.trace)
    f1 = [2 * right[c] / (2 * right[c] + false_positives[c] + wrong[c]) for c in right.keys() | wrong.keys()]
    total = max(1, len(cases))
    print(
        f"accuracy {sum(right.values()) / total:.4f}  macro_f1 {sum(f1) / max(1, len(f1)):.4f}  unsafe {unsafe}", end=""
    )
    print(f"  evidence {cited}/{citable}  retry_after {delays_right}/{delays}")
    print("  ".join(f"{c} {right[c]}/{right[c] + wrong[c]}" for c in sorted(right.keys() | wrong.keys())))
    bad = {family: marks for family, marks in families.items() if not all(marks)}
    print(
        "families with mistakes:",
        ", ".join(f"{family} {sum(marks)}/{len(marks)}" for family, marks in sorted(bad.items())) or "none",
    )


def _overlaps(deciding: str, given: Classification) -> bool:
    wanted = " ".join(deciding.split()).lower()
    texts = [" ".join(citation.text.split()).lower() for citation in given.evidence]
    return any(text and (wanted in text or text in wanted) for text in texts)


def _show(case: dict[str, Any], truth: str, given: Classification, note: str, *, trace: bool) -> None:
    print(
        f"  {case['id']} {case.get('family', '')}: {truth} taken for {given.class_}/{given.reason} "
        f"by {given.rule or 'nothing'}{note}"
    )
    for citation in given.evidence[:3]:
        print(f"      {citation.stream}:{citation.line}: {citation.text[:160]!r}")
    if trace:
        for candidate in given.trace:
            print(f"      - {candidate.rule} ({candidate.class_}, {candidate.trust.name.lower()}): {candidate.verdict}")
            for citation in candidate.evidence[:1]:
                print(f"          {citation.stream}:{citation.line}: {citation.text[:120]!r}")


if __name__ == "__main__":
    main()
