"""How fast a failure is named, beside a plain loop of `re` and hyperscan alone, in one run: ``make speed``.

Every figure stands beside the least or the most that it may be; all are made in this run, so that only ratios count across
machines. Times are processor time, the best of several rounds. The log is made from rule examples among lines of a quiet run.
"""

from __future__ import annotations

import json
import os
import random
import re
import statistics
import subprocess
import sys
import tempfile
import time
from functools import partial
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from rich.console import Console
from rich.markup import escape
from rich.table import Table

from rerail.evidence.payload import from_payload
from rerail.recipes import load, read_all
from rerail.recipes.fast import FastScanner
from rerail.rules import RuleSet, classify
from rerail.rules.compile import FLAGS
from rerail.rules.readers.model import Line, View, Weight
from rerail.rules.text import Text

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

ROUNDS = 5
MB = 1_000_000
KINDS = 12
"""Of failures for which processes are started."""
LOOP_CHARS = 100_000
"""The plain loop is shown a tenth of the log: all of it would take it half a minute."""


class Row(NamedTuple):
    """One line of the report."""

    what: str
    shown: str
    bar: str
    met: bool | None
    """None for a figure that stands there for comparison."""


def main() -> int:
    default = RuleSet(load(None).rules.data)
    fast = _fast(default)
    rows = [*scanning(default, fast), *latency(default, fast), *long_log(default, fast), *processes()]
    table = Table(title=f"{len(default.rules)} rules, {len(_patterns(default))} patterns")
    for heading in ("", "measured", "wanted", ""):
        table.add_column(heading)
    for row in rows:
        table.add_row(escape(row.what), row.shown, row.bar, {True: "met", False: "MISSED", None: ""}[row.met])
    Console(width=120).print(table)
    return 0 if all(row.met is not False for row in rows) else 1


def scanning(default: RuleSet, fast: RuleSet | None) -> list[Row]:
    """Find which patterns match in 1 MB of log."""
    lines = log(MB)
    text = "\n".join(lines)
    plain = [re.compile(pattern, FLAGS | re.MULTILINE) for pattern in _patterns(default)]
    loop = seconds(lambda: [each for each in plain if each.search(text, 0, LOOP_CHARS)], rounds=1) * MB / LOOP_CHARS
    engine = seconds(lambda: matching(lines, default))
    rows = [
        Row("plain loop of re, 1 MB", _speed(loop), "", None),
        Row(
            "default engine: patterns that match, and where",
            _against(engine, loop),
            ">= 5x the loop",
            loop >= 5 * engine,
        ),
    ]
    if fast is None:
        return [*rows, Row("rerail[fast]", "not installed", "", None)]
    assert matching(lines, fast) == matching(lines, default)
    alone = seconds(_hyperscan_alone(_patterns(default), text))
    scan = seconds(lambda: fast.present(text.lower()))
    whole = seconds(lambda: matching(lines, fast))
    return [
        *rows,
        Row("hyperscan alone: ids of the patterns that match", _against(alone, loop), "", None),
        Row("rerail[fast]: the rules that can hold", _against(scan, loop), ">= 100x the loop", loop >= 100 * scan),
        Row("", f"{alone / scan:.2f}x hyperscan alone", ">= 0.5x", alone >= 0.5 * scan),
        Row(
            "rerail[fast]: patterns that match, and where",
            _against(whole, loop),
            ">= 100x the loop",
            loop >= 100 * whole,
        ),
        Row("", f"{alone / whole:.2f}x hyperscan alone", "", None),
    ]


def latency(default: RuleSet, fast: RuleSet | None) -> list[Row]:
    """Name failures of 2 KB: every rule's examples, filled up with a quiet log."""
    cases = [from_payload({**case, "exit_code": case.get("exit_code") or 1}) for case in examples(2_000)]
    rows = []
    for name, rules in (("default", default), ("fast", fast)):
        if rules is not None:
            for case in cases:
                classify(case, rules)  # compiles what it needs
            times = [seconds(partial(classify, case, rules), rounds=2) for case in cases]
            p50, p99 = statistics.median(times), statistics.quantiles(times, n=100)[98]
            shown = f"p50 {p50 * 1e3:.2f} ms, p99 {p99 * 1e3:.2f} ms"
            rows.append(Row(f"a failure of 2 KB in process, {name}", shown, "p50 <= 1 ms", p50 <= 0.001))
    return rows


def long_log(default: RuleSet, fast: RuleSet | None) -> list[Row]:
    """Name a failure that left 10 MB of log, from its payload to its classification."""
    payload = {"command": "make", "exit_code": 2, "stdout": "\n".join(log(10 * MB))}
    rows = []
    for name, rules, most_s in (("default", default, 2.0), ("fast", fast, 0.15)):
        if rules is not None:
            spent = seconds(partial(_named, payload, rules))
            rows.append(Row(f"a log of 10 MB, {name}", f"{spent:.3f} s", f"<= {most_s} s", spent <= most_s))
    return rows


def processes() -> list[Row]:
    """Run on 2 KB what hooks run, beside an interpreter that does nothing: failures of many kinds, each met before."""
    environ = {name: value for name, value in os.environ.items() if name != "PYTHONDONTWRITEBYTECODE"}
    rerail = [sys.executable, "-c", "from rerail.__main__ import run; run()"]  # what the installed command does
    commands = {
        "rerail classify --json": [*rerail, "classify", "--json"],
        "rerail hook": [*rerail, "hook", "claude-code"],
        "rerail --version": [*rerail, "--version"],
    }
    bare = float("inf")
    with tempfile.TemporaryDirectory() as scratch:
        environ |= {"XDG_CACHE_HOME": scratch, "XDG_STATE_HOME": scratch}
        cases = list(examples(2_000))
        inputs = {name: [_given(name, case, scratch) for case in cases[:: len(cases) // KINDS]] for name in commands}
        best = {name: dict.fromkeys(inputs[name], float("inf")) for name in commands}
        for _ in range(2 + ROUNDS):  # the first two rounds fill the caches
            bare = min(bare, _child_seconds([sys.executable, "-c", "pass"], None, scratch, environ))
            for name, command in commands.items():
                for given, spent in best[name].items():
                    best[name][given] = min(spent, _child_seconds(command, given, scratch, environ))
    rows = [Row("process: python -c pass", f"{bare * 1e3:.1f} ms", "", None)]
    for name, spents in best.items():
        spent, most = statistics.median(spents.values()), max(spents.values())
        shown = f"p50 {spent * 1e3:.1f} ms, {spent / bare:.2f}x; most {most / bare:.2f}x"
        rows += [
            Row(f"process: {name}", shown, f"p50 <= {bar}x" if bar else "", spent <= bar * bare if bar else None)
            for bar in ((3, 2) if "classify" in name else (None,))
        ]
    return rows


def _given(name: str, case: dict[str, Any], scratch: str) -> Path:
    """Return a file that a command reads as its input: a failure as evidence, or as a harness tells of it."""
    said = "\n".join(case[field] for field in ("message", "stderr", "stdout") if isinstance(case.get(field), str))
    if "hook" in name:
        case = {
            "hook_event_name": "PostToolUseFailure",
            "session_id": "s",
            "tool_use_id": str(hash(said)),
            "tool_name": "Bash",
            "tool_input": {"command": "make"},
            "error": f"Exit code 1\n{said}",
        }
    text = json.dumps(case)
    file = Path(scratch, f"{name.rpartition(' ')[2]}-{hash(text)}.json")
    file.write_text(text)
    return file


def matching(lines: Sequence[str], rules: RuleSet) -> dict[str, int]:
    """Return the patterns that match in *lines*, each with its line."""
    rows = tuple(Line("stdout", number, line, line, Weight.PLAIN, 0) for number, line in enumerate(lines, start=1))
    text = Text(View(rows, (), frozenset(), "", (), succeeded=False))
    hits = {pattern: text.first("text", pattern, rules) for pattern in text.live(rules)}
    return {pattern: hit.place for pattern, hit in hits.items() if hit is not None}


def examples(chars: int) -> Any:
    """Yield an example of every rule, filled up to *chars* by a quiet log before it."""
    for recipe in read_all(None):
        for rule in recipe.rules:
            case = json.loads(rule.matches[0].input) if rule.matches else {}
            field = next((name for name in ("stderr", "stdout", "message") if isinstance(case.get(name), str)), None)
            if field is not None and len(case[field]) < chars:
                quiet = "\n".join(log(chars - len(case[field]), seed=len(rule.slug), failing=False))
                yield {**case, field: f"{quiet}\n{case[field]}"}


def log(chars: int, *, seed: int = 1, failing: bool = True) -> list[str]:
    """Return the lines of a log: steps that went well, and a failure in every few hundred."""
    draw = random.Random(seed)
    lines: list[str] = []
    while chars > 0:
        number = len(lines) + 1
        line = (
            f"2026-01-01T00:{number // 60 % 60:02}:{number % 60:02}Z worker-{draw.randint(1, 9)} INFO step {number} "
            f"took {draw.random():.3f} s, path=/srv/app/module_{draw.randint(1, 500)}.py"
        )
        if failing and number % 400 == 0:
            line = f"ERROR HTTP 503 Service Unavailable for request req_{number}"
        lines.append(line)
        chars -= len(line) + 1
    return lines


def seconds(function: Callable[[], object], *, rounds: int = ROUNDS) -> float:
    """Return the processor time of one call, in seconds: the best of *rounds*."""
    best = float("inf")
    for _ in range(rounds):
        started = time.process_time()
        function()
        best = min(best, time.process_time() - started)
    return best


def _named(payload: dict[str, Any], rules: RuleSet) -> object:
    return classify(from_payload(payload), rules)


def _fast(default: RuleSet) -> RuleSet | None:
    rules = RuleSet(default.data, FastScanner(None, at_once=True))
    rules.present("loads it, where it is installed")
    return rules if "hyperscan" in sys.modules else None


def _hyperscan_alone(patterns: Sequence[str], text: str) -> Callable[[], object]:
    """Return a scan for all patterns that hyperscan takes (it has no lookbehind)."""
    hyperscan: Any = import_module("hyperscan")
    flags = hyperscan.HS_FLAG_SINGLEMATCH | hyperscan.HS_FLAG_MULTILINE
    taken = [pattern for pattern in patterns if not re.search(r"\(\?<?[=!]|\(\?>|[*+?}]\+", pattern)]
    database = hyperscan.Database(mode=hyperscan.HS_MODE_BLOCK)
    database.compile(
        expressions=[pattern.encode() for pattern in taken], ids=list(range(len(taken))), flags=[flags] * len(taken)
    )
    data = text.encode()

    def scan() -> list[int]:
        found: list[int] = []
        database.scan(data, match_event_handler=lambda number, *_: found.append(number))
        return found

    return scan


def _patterns(rules: RuleSet) -> list[str]:
    return sorted({pattern for text in rules.texts() for pattern in rules.wakes[text]})


def _child_seconds(command: Sequence[str], given: Path | None, cwd: str, environ: dict[str, str]) -> float:
    import resource

    with Path(given or os.devnull).open("rb") as stdin:
        before = resource.getrusage(resource.RUSAGE_CHILDREN)
        subprocess.run(command, stdin=stdin, cwd=cwd, env=environ, stdout=subprocess.DEVNULL, check=True)
        after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


def _speed(spent: float) -> str:
    return f"{spent * 1e3:,.0f} ms, {1 / spent:.2f} MB/s"


def _against(spent: float, loop: float) -> str:
    return f"{spent * 1e3:,.1f} ms, {1 / spent:,.1f} MB/s, {loop / spent:,.0f}x the loop"


if __name__ == "__main__":
    sys.exit(main())
