"""Scores ``rerail classify --batch`` on the public corpora and holds the figures to their thresholds: ``make corpus``.

The corpora are not part of this repository: RERAIL_SHARED names the directory that holds ``corpus/``, by default ``../shared``.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any, NamedTuple

ROOT = Path(__file__).parents[1]
CORPUS = Path(os.environ.get("RERAIL_SHARED", ROOT.parent / "shared")) / "corpus"


class Bar(NamedTuple):
    """What one corpus must reach."""

    file: str
    core: bool
    unsafe: int
    """At most so many."""
    at_least: dict[str, float]


GOOD = {"accuracy": 0.97, "macro_f1": 0.96, "evidence": 0.95, "retry_after": 1.0}
BARS = (
    Bar("public.jsonl", core=False, unsafe=0, at_least=GOOD),
    Bar("public.jsonl", core=True, unsafe=0, at_least=GOOD),
    Bar("peer-messages.jsonl", core=False, unsafe=2, at_least={"accuracy": 0.90}),
)


def main() -> int:
    if not CORPUS.is_dir():
        print(f"no corpus in {CORPUS}; set RERAIL_SHARED to the directory that holds corpus/")
        return 0
    with tempfile.TemporaryDirectory() as scratch:
        return max(judge(bar, score(bar, Path(scratch))) for bar in BARS)


def score(bar: Bar, scratch: Path) -> dict[str, Any]:
    """Classify a corpus by the command line, as a user would, and return its own scorer's figures."""
    cases = map(json.loads, (CORPUS / bar.file).read_text(encoding="utf-8").splitlines())
    batch = "\n".join(json.dumps({"id": case["id"], **case["input"]}) for case in cases)
    (scratch / "rerail.toml").write_text('packs = ["core"]\n' if bar.core else "")
    predictions = scratch / "predictions.jsonl"
    with predictions.open("wb") as out:
        command = [sys.executable, "-m", "rerail", "classify", "--batch", "--json", "-"]
        subprocess.run(command, input=batch.encode(), stdout=out, cwd=scratch, check=True)
    flags = ["--core"] if bar.core else []
    scorer = [sys.executable, str(CORPUS / "score.py"), "--json", *flags, str(CORPUS / bar.file), str(predictions)]
    figures: dict[str, Any] = json.loads(subprocess.run(scorer, stdout=subprocess.PIPE, check=True).stdout)
    return figures


def judge(bar: Bar, figures: dict[str, Any]) -> int:
    """Print the figures; return 0 when they meet the bar."""
    shown = {
        key: figures[key] for key in ("cases", "missing", "unsafe", "accuracy", "macro_f1", "evidence", "retry_after")
    }
    print(bar.file, "(core)" if bar.core else "", json.dumps(shown))
    met = all(figures[name] >= least for name, least in bar.at_least.items())
    return 0 if met and figures["unsafe"] <= bar.unsafe else 1


if __name__ == "__main__":
    sys.exit(main())
