"""Heals the public zoo of broken repositories and holds the result to its thresholds: ``make zoo``.

The zoo is not part of this repository: RERAIL_SHARED names the directory that holds ``gitzoo/``, by default ``../shared``.
"""

from __future__ import annotations

import argparse
import json
import os
import shlex
import subprocess
import sys
from pathlib import Path
from typing import Any

ROOT = Path(__file__).parents[1]
SHARED = Path(os.environ.get("RERAIL_SHARED", ROOT.parent / "shared"))
RIGHT_AT_LEAST = 49
"""Of 51 scenarios, how many must get the right class and outcome reported; every one must pass its oracle."""


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--only", help="comma-separated globs over names or families")
    wish = parser.parse_args()
    if not (SHARED / "gitzoo").is_dir():
        print(f"no zoo in {SHARED}; set RERAIL_SHARED to the directory that holds gitzoo/")
        return 0
    heal = f"{shlex.quote(sys.executable)} -m rerail heal --repo {{repo}} --failure {{failure_json}} --json"
    command = [sys.executable, "-m", "gitzoo", "run", "--heal-cmd", heal, "--json", "--jobs", "2"]
    command += ["--seed", str(wish.seed), *(["--only", wish.only] if wish.only else [])]
    environ = {**os.environ, "PYTHONPATH": str(SHARED), "PYTHONDONTWRITEBYTECODE": "1"}
    done = subprocess.run(command, cwd=SHARED, stdout=subprocess.PIPE, env=environ)
    return judge(json.loads(done.stdout), whole=wish.only is None)


def judge(report: dict[str, Any], *, whole: bool) -> int:
    """Print the figures; return 0 when they meet the thresholds."""
    summary, rows = report["summary"], report["results"]
    right = sum(bool(row.get("class_ok")) and bool(row.get("outcome_ok")) for row in rows)
    for row in rows:
        if row["ok"] and not (row.get("class_ok") and row.get("outcome_ok")):
            print(f"reported wrong: {row['name']}: {row.get('reported')}")
    violating = summary["scenarios_violating"]
    print(
        f"passed {summary['ok']} of {summary['total']}, skipped {summary['skipped']}, violations by property {violating}"
    )
    print(f"class and outcome reported right: {right} of {summary['total']}")
    enough = min(RIGHT_AT_LEAST, summary["total"]) if whole else 0
    return 0 if summary["ok"] == summary["total"] and right >= enough else 1


if __name__ == "__main__":
    sys.exit(main())
