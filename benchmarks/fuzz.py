"""Names many random failures with the built-in rules: ``python benchmarks/fuzz.py 1000000 [--engine fast] [--seed S]``.

Nothing may raise, every name must be lawful (`tests.hostile.check`), and none may take more than 50 ms of CPU + 200 ms per MB,
20 ms per MB with the fast engine.
Prints the figures and stops at the count; ends with 1 when something was wrong. A case is made again from its seed alone:
``--seed S --only I``.
"""

from __future__ import annotations

import argparse
import json
import os
import sys
import time
import traceback
from collections import Counter
from pathlib import Path
from random import Random
from typing import TYPE_CHECKING, Any

sys.path.insert(0, str(Path(__file__).parents[1]))

from tests.hostile import Case, case, check, name

from rerail.recipes.fast import VARIABLE
from rerail.recipes.read import load, read_all

if TYPE_CHECKING:
    from rerail.rules import RuleSet

ROOT = Path(__file__).parents[1]
CORPUS = Path(os.environ.get("RERAIL_SHARED", ROOT.parent / "shared")) / "corpus"
BASE_S = 0.05
PER_MB_S = {"default": 0.2, "fast": 0.02}
MB = 1_000_000
SHOWN = 5


def main() -> int:
    options = _options()
    os.environ[VARIABLE] = options.engine
    per_mb_s = PER_MB_S[options.engine]
    rules = load(None).rules
    seeds = _seeds()
    _warm(rules, seeds)
    wrong = slow = 0
    kinds = Counter[str]()
    worst: list[tuple[float, int, str, int, float]] = []
    began = time.monotonic()
    for index in [options.only] if options.only is not None else range(options.count):
        made = _made(options.seed, index, seeds, options.most_chars)
        size = _size(made.payload)
        allowed_s = BASE_S + per_mb_s * size / MB
        kinds[made.kind] += 1
        try:
            spent_s = _spent(made.payload, rules)
            if spent_s > allowed_s:  # once more: the machine may have been busy, or a pattern was compiled
                spent_s = min(spent_s, _spent(made.payload, rules), _spent(made.payload, rules))
        except Exception:
            wrong += 1
            print(f"--only {index}: {made.kind}, {size} characters\n{traceback.format_exc(limit=-3)}", flush=True)
            continue
        slow += spent_s > allowed_s
        worst = sorted([*worst, (spent_s / allowed_s, index, made.kind, size, spent_s)], reverse=True)[:SHOWN]
        if options.only is not None:
            print(json.dumps(made.payload, default=repr)[:2000])
    spent_s = time.monotonic() - began
    rate = kinds.total() / spent_s
    print(f"{kinds.total()} inputs in {spent_s:.0f} s, {rate:.0f} a second: {wrong} wrong, {slow} too slow")
    print(", ".join(f"{kind} {count}" for kind, count in kinds.most_common()))
    allowance = f"{1000 * BASE_S:.0f} ms + {1000 * per_mb_s:.0f} ms per MB"
    print(f"nearest to {allowance} ({options.engine} engine, seed {options.seed}):")
    for share, index, kind, size, one_s in worst:
        shown = f"{1000 * one_s:.1f} ms, {one_s / size * MB:.3f} s per MB"
        print(f"  --only {index}: {share:.0%} of it, {kind}, {size} characters, {shown}")
    return 1 if wrong or slow else 0


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("count", type=int, nargs="?", default=10_000)
    parser.add_argument("--engine", choices=sorted(PER_MB_S), default="default")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--only", type=int, help="only the input of this number, shown")
    parser.add_argument("--most-chars", type=int, default=1 << 20)
    return parser.parse_args()


def _made(seed: int, index: int, seeds: list[dict[str, Any]], most_chars: int) -> Case:
    random = Random(f"{seed}/{index}")
    # Long inputs are rare, or nothing else would be tried; one in a thousand is as long as they come.
    limit = most_chars if random.random() < 0.001 else most_chars // 16 if random.random() < 0.02 else most_chars // 256
    return case(random, seeds, most_chars=limit)


def _seeds() -> list[dict[str, Any]]:
    """Return the examples of all built-in rules, and the public corpus where there is one."""
    rules = [rule for recipe in read_all(None) for rule in recipe.rules]
    seeds = [json.loads(example.input) for rule in rules for example in rule.matches]
    path = CORPUS / "public.jsonl"
    if path.is_file():
        cases = map(json.loads, path.read_text(encoding="utf-8").splitlines())
        seeds += [{name: value for name, value in each["input"].items() if value is not None} for each in cases]
    return seeds


def _warm(rules: RuleSet, seeds: list[dict[str, Any]]) -> None:
    """Compile the patterns that real failures need: a process does that once."""
    for seed in seeds:
        name(seed, rules)


def _spent(payload: object, rules: RuleSet) -> float:
    began = time.process_time()
    named = name(payload, rules)
    spent_s = time.process_time() - began
    if named is not None:
        check(*named)
    return spent_s


def _size(value: object) -> int:
    """Return the characters of all texts in a value."""
    if isinstance(value, dict):
        return sum(map(_size, value.keys())) + sum(map(_size, value.values()))
    return sum(map(_size, value)) if isinstance(value, list) else len(value) if isinstance(value, str) else 1


if __name__ == "__main__":
    sys.exit(main())
