"""Hands hostile results and tool inputs to the boundary: ``python benchmarks/fuzz_envelopes.py 100000``.

Of what comes out, each must be valid against the published schema of its verb, one line of printable ASCII, with a next step when
it failed; and nothing may be raised. One in ten is a tool call, the others are results as a faulty verb might make them.
"""

from __future__ import annotations

import argparse
import json
import os
import random
import sys
import tempfile
import time
from collections import Counter
from pathlib import Path
from typing import Any

from jsonschema import Draft202012Validator

from rerail.boundary.hints import REGISTRY, Category, Hint
from rerail.boundary.result import Diagnostic, Result, with_recovery_hint
from rerail.boundary.schemas import envelope_of, published
from rerail.boundary.serialize import to_json
from rerail.boundary.slugs import ErrorSlug
from rerail.mcp.policy import Allowed
from rerail.mcp.server import TOOLS, left, performed
from rerail.mcp.tool import Call
from rerail.process import EndRequest

QUICK_TOOLS = ("classify", "explain", "why", "pauses", "ledger", "taxonomy", "answer", "run")
BAIT = (
    "\x1b[8m", "\x1b]0;x\x07", "\0", "\r\n", "\n```\n", "\ud800", "\udcff", "\x7f", "\x9b31m", "\u202e", "\u2028", "\ufeff",
    '"}', "\\u0000", "{{", "`rerail run`", "", " ", "é", "\U0001d54f", "Traceback (most recent call last):", "-32603", "NaN",
    "null", "../../etc", "; rm -rf /", "$(x)", "'", "0" * 400,
)  # fmt: skip


def text(draw: random.Random) -> str:
    return "".join(draw.choice(BAIT) for _ in range(draw.randrange(5)))


def value(draw: random.Random, depth: int = 3) -> Any:
    kind = draw.randrange(12 if depth else 8)
    if kind < 4:
        return text(draw)
    if kind < 8:
        return draw.choice((None, True, 0, -1, 2**70, 1.5, float("nan"), float("inf"), -0.0))
    if kind < 10:
        return {text(draw): value(draw, depth - 1) for _ in range(draw.randrange(4))}
    return draw.choice((list, tuple))(value(draw, depth - 1) for _ in range(draw.randrange(4)))


def hint(draw: random.Random, error: ErrorSlug | None) -> Hint:
    """Return a hint that a verb might fire for a failure; one in twenty belongs to another, or is filled in wrongly."""
    is_lawful = draw.random() < 0.95
    fitting = [entry for entry in REGISTRY.values() if not is_lawful or error in entry.family or not entry.family]
    entry = draw.choice(fitting)
    fields: dict[str, object] = {name: text(draw).strip() or "x" for name in entry.fields}
    if not is_lawful:
        fields[text(draw)] = draw.choice((None, 1, b"bytes"))
    return Hint(entry.id, fields)


def result(draw: random.Random) -> Result:
    """Return what a verb might hand in; one in fifty has data that no JSON carries."""
    error = draw.choice((None, *ErrorSlug))
    data = {text(draw): value(draw) for _ in range(draw.randrange(4))}
    own = [entry for entry in REGISTRY.values() if error in entry.family and entry.category is Category.NEXT_STEP]
    steps = [Hint(entry.id, dict.fromkeys(entry.fields, "x")) for entry in own[:1]]
    made = Result(
        ok=error is None and draw.random() < 0.5,
        verb=draw.choice(("run", "heal", "classify", text(draw))),
        message=text(draw),
        data=data if draw.random() < 0.98 else draw.choice(({"a": object()}, {"b": b"bytes"}, "text", None)),
        diagnostics=tuple(
            Diagnostic(text(draw), text(draw), draw.choice((None, 1, 9)), text(draw), text(draw))
            for _ in range(draw.randrange(3))
        ),
        hints=(*steps, *(hint(draw, error) for _ in range(draw.randrange(3)))),
        error=error,
    )
    return with_recovery_hint(made)


def arguments(draw: random.Random, name: str) -> dict[str, Any]:
    known = [*TOOLS[name].schema().get("properties", {}), text(draw)]
    made = {draw.choice(known): value(draw) for _ in range(draw.randrange(4))}
    # As it would arrive: what is no JSON never does.
    return json.loads(json.dumps(made, default=str).replace("NaN", "null").replace("Infinity", "1"))  # type: ignore[no-any-return]


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("count", type=int, nargs="?", default=100_000)
    parser.add_argument("--seed", type=int, default=1)
    wish = parser.parse_args()
    draw = random.Random(wish.seed)
    any_envelope = Draft202012Validator(published("envelope"))
    of_verb = {tool.verb: Draft202012Validator(envelope_of(tool.verb)) for tool in TOOLS.values()}
    ended: Counter[str] = Counter()
    started = time.perf_counter()
    with tempfile.TemporaryDirectory() as directory:
        os.environ |= {"XDG_STATE_HOME": directory, "XDG_CONFIG_HOME": directory, "HOME": directory}
        os.environ.pop("RERAIL_LEDGER", None)
        os.chdir(directory)
        call = Call(Path(directory), Allowed(), EndRequest(), print)
        for number in range(wish.count):
            if number % 10:
                leaving = left(result(draw))
                validator = any_envelope
            else:
                tool = TOOLS[draw.choice(QUICK_TOOLS)]
                leaving = left(performed(tool, call, arguments(draw, tool.name)))
                validator = of_verb[tool.verb]
            envelope = leaving.structured_content
            line = to_json(envelope)
            fault = next(validator.iter_errors(envelope), None)
            if fault is not None or not (line.isascii() and line.isprintable()):
                print(f"{wish.seed}:{number}: {fault.message if fault else 'not printable'}: {line[:500]}")
                return 1
            if not envelope["ok"] and not any(each["category"] == "next-step" for each in envelope["hints"]):
                print(f"{wish.seed}:{number}: no next step: {line[:500]}")
                return 1
            ended[str(envelope["error"])] += 1
    took_s = time.perf_counter() - started
    print(f"{wish.count} envelopes in {took_s:.0f} s, all valid; of them {ended['internal']} told as bugs of the verb")
    print(", ".join(f"{name} {count}" for name, count in ended.most_common()))
    return 0


if __name__ == "__main__":
    sys.exit(main())
