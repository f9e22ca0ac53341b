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
from collections import defaultdict
from pathlib import Path
from typing import Any

from rerail.errors import RecipeError
from rerail.evidence.payload import from_payload
from rerail.quality.corpus import Case
from rerail.quality.scores import Judged, Named, Score, score
from rerail.recipes import built_in_dir
from rerail.recipes.read import taxonomy_of
from rerail.recipes.schema import read_recipe
from rerail.rules import Classification, RuleSet, classify, compile_rules
from rerail.taxonomy import BUILT_IN

NOW = 1_796_065_200.0
"""The corpora were made in November 2026; clock times in them are read from there."""


def main() -> None:
    options = _options()
    rules = _rules(options.packs.split(",") if options.packs else None)
    for path in options.corpus:
        cases, families = [], {}
        for number, line in enumerate(Path(path).read_text(encoding="utf-8").splitlines(), start=1):
            raw = json.loads(line)
            family = str(raw.get("family", raw.get("kind", "")))
            if (case := _case(raw, number)) is not None and _is_wanted(case, family, options):
                cases.append(case)
                families[case.id] = family
        started = time.perf_counter()
        named = {case.id: classify(case.evidence, rules, now=NOW) for case in cases}
        spent = time.perf_counter() - started
        print(f"\n{path}: {len(cases)} cases, {1000 * spent / max(1, len(cases)):.2f} ms each")
        classes = [str(spec.name) for spec in BUILT_IN]
        scored = score(cases, lambda case: Named.by(named[case.id]), classes, core=options.packs == "core")  # noqa: B023
        _report(scored, named, families, options)


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


def _case(raw: dict[str, Any], line: int) -> Case | None:
    """Return a line as a case; None where it has no evidence, or expects no class: reports may be scenarios in words."""
    if "label" in raw:
        accept, expected, core_label = raw.get("accept", ()), {"class": raw["label"]}, raw["core_label"]
        retry_after_s = raw.get("retry_after_s")
    else:
        expected, core_label, retry_after_s = raw["expected"], None, None
        accept = expected.get("acceptable_classes", ())
        if "scenario" in raw["input"] or not ({"class", "acceptable_classes"} & expected.keys()):
            return None
    label = str(expected.get("class", "")).replace("none", "unclassified") or accept[0]
    deciding = raw.get("evidence") or ""
    evidence = from_payload(_payload(raw["input"]))
    return Case(str(raw["id"]), line, evidence, label, core_label or label, tuple(accept), deciding, retry_after_s)


def _payload(given: dict[str, Any]) -> dict[str, Any]:
    """Return a case's input as evidence JSON: raw bytes as they would be captured, and nothing for null."""
    payload = {key: value for key, value in given.items() if value is not None}
    if "stderr_bytes_hex" in payload:
        payload["stderr"] = bytes.fromhex(payload.pop("stderr_bytes_hex")).decode("utf-8", "replace")
    return payload


def _is_wanted(case: Case, family: str, options: argparse.Namespace) -> bool:
    return options.family in family and options.id in case.id and (not options.label or options.label == case.label)


def _report(
    score: Score, named: dict[str, Classification], families: dict[str, str], options: argparse.Namespace
) -> None:
    marks = defaultdict[str, list[bool]](list)
    for judged in score.judged:
        marks[families[judged.case.id]].append(judged.is_right)
        is_good = judged.is_right and judged.cites is not False and judged.reads_delay is not False
        if options.all or not is_good:
            _show(judged, named[judged.case.id], families[judged.case.id], trace=options.trace)
    print(f"accuracy {score.accuracy:.4f}  macro_f1 {score.macro_f1:.4f}  unsafe {len(score.unsafe)}", end="")
    for name, each in (
        ("evidence", [judged.cites for judged in score.judged]),
        ("retry_after", [judged.reads_delay for judged in score.judged]),
    ):
        print(f"  {name} {each.count(True)}/{len(each) - each.count(None)}", end="")
    print()
    print(
        "  ".join(
            f"{each.name} {each.right}/{each.cases}" for each in sorted(score.classes, key=lambda each: each.name)
        )
    )
    bad = {family: each for family, each in marks.items() if not all(each)}
    print(
        "families with mistakes:",
        ", ".join(f"{family} {sum(each)}/{len(each)}" for family, each in sorted(bad.items())) or "none",
    )


def _show(judged: Judged, given: Classification, family: str, *, trace: bool) -> None:
    note = " UNSAFE" if judged.is_unsafe else ""
    note += f" CITED WRONG, deciding text is {judged.case.deciding!r}" if judged.cites is False else ""
    note += f" DELAY {given.retry_after_s} for {judged.case.retry_after_s}" if judged.reads_delay is False else ""
    print(
        f"  {judged.case.id} {family}: {judged.truth} taken for {given.class_}/{given.reason} "
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
