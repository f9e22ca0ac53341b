"""Runs the property that no heal loses a byte over many generated repositories: ``python benchmarks/heal_property.py 1000``.

Each is a random history of actions, with or without damage, a failure to heal, and something that goes wrong at a random
moment.
"""

from __future__ import annotations

import sys
import time
from collections import Counter
from pathlib import Path
from typing import Any

from hypothesis import HealthCheck, Phase, given, settings

sys.path.insert(0, str(Path(__file__).parents[1]))

from tests.heal_examples import EXAMPLES, check, template


def main() -> int:
    count = int(sys.argv[1]) if len(sys.argv) > 1 else 1000
    failures: Counter[str] = Counter()
    began = time.monotonic()
    with template() as made:

        @settings(
            max_examples=count,
            deadline=None,
            database=None,
            phases=[Phase.generate, Phase.shrink],
            suppress_health_check=list(HealthCheck),
        )
        @given(**EXAMPLES)  # type: ignore[arg-type]  # strategies by name
        def many(**example: Any) -> None:
            failures["/".join(example["failure"][:2])] += 1
            check(made, **example)

        many()
    print(f"{failures.total()} repositories in {time.monotonic() - began:.0f} s, none lost a byte; asked to heal:")
    for name, times in failures.most_common():
        print(f"  {times:5} {name}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
