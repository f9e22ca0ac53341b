"""What the package promises: its names, its weight, and that hostile input never hangs it."""

from __future__ import annotations

import ast
import subprocess
import sys
import time
from pathlib import Path

import pytest

import rerail.evidence
from rerail.evidence import evidence_fingerprint, from_exception, from_process, from_text, to_payload

PACKAGE = Path(rerail.evidence.__file__).parent
FORBIDDEN = {
    *("time", "datetime", "random", "secrets", "uuid"),
    *("os", "subprocess", "sqlite3", "socket", "asyncio"),
    *("inspect", "dataclasses", "tomllib", "attrs", "pydantic", "structlog", "tenacity"),
}


@pytest.mark.parametrize("name", rerail.evidence.__all__)
def test_every_public_name_is_there(name: str) -> None:
    assert getattr(rerail.evidence, name) is not None


def test_the_public_names_are_listed_in_order_and_no_other_is_invented() -> None:
    assert sorted(rerail.evidence.__all__, key=lambda name: (name[0].islower(), name)) == rerail.evidence.__all__
    with pytest.raises(AttributeError, match="no attribute 'nonsense'"):
        rerail.evidence.nonsense  # noqa: B018


@pytest.mark.parametrize("path", sorted(PACKAGE.glob("*.py")), ids=lambda path: path.stem)
def test_no_module_can_do_input_or_output_read_a_clock_or_draw(path: Path) -> None:
    imported = set()
    for node in ast.walk(ast.parse(path.read_text())):
        if isinstance(node, ast.Import):
            imported |= {alias.name.partition(".")[0] for alias in node.names}
        elif isinstance(node, ast.ImportFrom):
            imported.add((node.module or "").partition(".")[0])
    assert not imported & FORBIDDEN
    assert imported <= set(sys.stdlib_module_names) | {"rerail", "__future__"}


def test_reading_evidence_json_loads_no_other_normaliser() -> None:
    script = (
        "import sys; from rerail.evidence.payload import from_payload; from_payload({'message': 'no'});"
        "print(sorted(m.rpartition('.')[2] for m in sys.modules if m.startswith('rerail.evidence.')))"
    )
    done = subprocess.run([sys.executable, "-c", script], check=True, capture_output=True, text=True)
    loaded = ast.literal_eval(done.stdout)
    assert not {"exceptions", "exception_chain", "mcp", "hooks", "http", "fingerprint", "volatile"} & set(loaded)


@pytest.mark.parametrize(
    "text",
    [
        "\x1b[31m" * 200_000,
        "password: a " * 85_000,
        "token:'token:\"" * 70_000,
        "2026-11-30 20:07:11 attempt 1 of 5 at app.py:12:5 id 7f3c2b1a\n" * 16_000,
        '{"error": ' * 100_000,
        "-----BEGIN PRIVATE KEY-----\n" * 36_000,
        "x" * 1_000_000,
    ],
    ids=["escapes", "pairs", "quotes", "log", "json", "keys", "one-word"],
)
def test_a_megabyte_of_hostile_text_is_normalised_stored_and_fingerprinted_in_time(text: str) -> None:
    began_s = time.process_time()
    for evidence in (
        from_process("x", exit_code=1, stderr=text.encode()),
        from_text(text),
        from_exception(ValueError(text)),
    ):
        to_payload(evidence)
        evidence_fingerprint(evidence)
    assert time.process_time() - began_s < 10, "takes about a second for all three"
