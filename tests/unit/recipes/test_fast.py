"""The fast engine: when it comes in, what it keeps, and that nothing is named otherwise by it."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import threading
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.failures import failure, rule, rules

from rerail.errors import UsageError
from rerail.evidence.payload import from_payload
from rerail.recipes import load, read_all
from rerail.recipes.fast import VARIABLE, WORTH_CHARS, FastScanner, scanner
from rerail.rules import classify
from rerail.rules.compile import RuleSet

needs_hyperscan = pytest.mark.skipif(find_spec("hyperscan") is None, reason="hyperscan has no wheel here")

DEFAULT = load(None).rules
FAST = RuleSet(DEFAULT.data, FastScanner(None, at_once=True))

ALARMS = Path(__file__).parents[2] / "corpus" / "false_alarms.jsonl"


def examples() -> list[dict[str, Any]]:
    """Every example of every built-in rule, and every failure that is none."""
    of_rules = [
        json.loads(example.input)
        for recipe in read_all(None)
        for rule in recipe.rules
        for example in (*rule.matches, *rule.passes_by)
    ]
    alarms = [json.loads(line) for line in ALARMS.read_text(encoding="utf-8").splitlines()]
    return of_rules + [{name: alarm[name] for name in alarm if name not in ("id", "may_be")} for alarm in alarms]


EXAMPLES = examples()
LINES = sorted(
    {line for each in EXAMPLES for value in each.values() if isinstance(value, str) for line in value.split("\n")}
)

# Characters that lowering lengthens, folds onto ASCII or leaves alone, and some that UTF-8 lacks.
ODD = st.sampled_from(
    ["\u0130", "\u212a", "\u017f", "\ufb01", "\ud800", "\x00", "\u2028", "\U0001f600", "\u00c9", "\x1b[31m"]
)


@st.composite
def mutated_lines(draw: st.DrawFn) -> str:
    """A line of some example: as it is, in another case, cut, torn, or with a stranger in it."""
    line = draw(st.sampled_from(LINES))
    at = draw(st.integers(0, len(line)))
    how = draw(st.sampled_from(["as it is", "upper", "swapped", "cut", "torn", "odd", "long"]))
    return {
        "as it is": line,
        "upper": line.upper(),
        "swapped": line.swapcase(),
        "cut": line[at:],
        "torn": line[:at] + "\n" + line[at:],
        "odd": line[:at] + draw(ODD) + line[at:],
        "long": "x" * 700 + line + "y" * 700,
    }[how]


@st.composite
def failures(draw: st.DrawFn) -> dict[str, Any]:
    """An example with lines of others in its streams."""
    evidence = dict(draw(st.sampled_from(EXAMPLES)))
    for field in draw(st.sets(st.sampled_from(["stdout", "stderr", "message"]), min_size=1)):
        lines = draw(st.lists(mutated_lines(), min_size=1, max_size=12))
        evidence[field] = "\n".join([*([evidence[field]] if isinstance(evidence.get(field), str) else []), *lines])
    return evidence


@needs_hyperscan
class TestEquality:
    @settings(deadline=None)  # the first one loads hyperscan
    @given(failures())
    def test_any_failure_is_named_alike(self, evidence: dict[str, Any]) -> None:
        given_evidence = from_payload(evidence)
        assert classify(given_evidence, FAST, now=0.0) == classify(given_evidence, DEFAULT, now=0.0)

    def test_every_example_is_named_alike(self) -> None:
        for each in EXAMPLES:
            evidence = from_payload(each)
            assert classify(evidence, FAST, now=0.0) == classify(evidence, DEFAULT, now=0.0), each

    @settings(deadline=None)
    @given(st.lists(mutated_lines(), max_size=30).map("\n".join))
    def test_any_text_has_the_same_texts_in_it(self, text: str) -> None:
        assert FAST.present(text.lower()) == DEFAULT.present(text.lower())

    def test_threads_share_it(self) -> None:
        texts = [("\n".join(LINES[start::8]) * 3).lower() for start in range(8)]
        expected = [DEFAULT.present(text) for text in texts]
        found: dict[int, set[str]] = {}

        def scan(number: int) -> None:
            found[number] = FAST.present(texts[number])

        threads = [threading.Thread(target=scan, args=(number,)) for number in range(8)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        assert [found[number] for number in range(8)] == expected


@needs_hyperscan
class TestWhenItPays:
    def test_it_comes_in_when_enough_was_scanned(self) -> None:
        scan, known = FastScanner(None, at_once=False), rules(rule("boom", "git/rejected", text="kaboom"))
        assert scan("x" * (WORTH_CHARS - 1), known) is None
        assert scan("kaboom", known) == {"kaboom"}

    def test_a_short_failure_does_not_import_it(self, tmp_path: Path) -> None:
        script = (
            "import sys; from pathlib import Path; from rerail.recipes import load\n"
            "rules = load(None, cache_dir=Path(sys.argv[1])).rules\n"
            "rules.present('x' * 2000); print('hyperscan' in sys.modules)\n"
            "rules.present('x' * 300000); print('hyperscan' in sys.modules)"
        )
        environ = {name: value for name, value in os.environ.items() if name != VARIABLE}
        done = subprocess.run(
            [sys.executable, "-c", script, str(tmp_path)], capture_output=True, text=True, check=True, env=environ
        )
        assert done.stdout.split() == ["False", "True"]

    def test_its_database_is_kept(self, tmp_path: Path) -> None:
        path = tmp_path / "texts.bin"
        text = "http 503 service unavailable"
        assert FastScanner(str(path), at_once=True)(text, DEFAULT) == DEFAULT.present(text)
        kept_at = path.stat().st_mtime_ns
        assert FastScanner(str(path), at_once=True)(text, DEFAULT) == DEFAULT.present(text)
        assert path.stat().st_mtime_ns == kept_at
        assert path.stat().st_mode & 0o777 == 0o600

    def test_a_damaged_database_is_made_again(self, tmp_path: Path) -> None:
        path = tmp_path / "texts.bin"
        FastScanner(str(path), at_once=True)("x", DEFAULT)
        whole = path.read_bytes()
        path.write_bytes(whole[:-100] + bytes(100))
        assert FastScanner(str(path), at_once=True)("http 503 ", DEFAULT) == DEFAULT.present("http 503 ")
        assert len(path.read_bytes()) == len(whole)


class TestChoice:
    def test_it_can_be_switched_off(self) -> None:
        assert scanner(None, {VARIABLE: "default"}) is None

    def test_without_it_the_default_engine_goes_on(self, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setitem(sys.modules, "hyperscan", None)
        without = RuleSet(DEFAULT.data, FastScanner(None, at_once=True))
        assert classify(failure(stderr="HTTP 503 Service Unavailable"), without).class_ == "provider"

    def test_what_is_not_installed_cannot_be_asked_for(self, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setitem(sys.modules, "hyperscan", None)
        with pytest.raises(UsageError, match="RERAIL_ENGINE asks for the fast engine, which is not installed"):
            scanner(None, {VARIABLE: "fast"})

    def test_another_word_is_refused(self) -> None:
        with pytest.raises(UsageError, match="RERAIL_ENGINE: expected default or fast, got 'turbo'"):
            scanner(None, {VARIABLE: "turbo"})
