"""What a hook's process does before it answers: little, and the same whether it is the first or the hundredth."""

from __future__ import annotations

import json
import re
import subprocess
import sys
from typing import TYPE_CHECKING

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rerail.cli.ready import ReadyPatterns
from rerail.recipes import load

if TYPE_CHECKING:
    from pathlib import Path

    from tests.cli.conftest import Rerail

EVIDENCE = json.dumps({"command": "make", "exit_code": 2, "stderr": "HTTP 503 Service Unavailable"})

SLOW = {
    *("typing", "re", "json", "contextlib", "datetime", "importlib", "warnings", "pathlib", "hashlib", "tomllib", "difflib"),
    *("platformdirs", "tempfile", "shutil", "urllib.parse", "random", "pydantic", "attrs", "attr", "click", "rich", "structlog"),
    *("dataclasses", "inspect", "asyncio", "subprocess", "logging", "signal", "shlex", "threading", "weakref", "sqlite3"),
    *("importlib.metadata", "hyperscan", "zipfile", "rerail.toml_lines", "rerail.settings_file", "rerail.boundary.slugs"),
    *("rerail.boundary.hints", "rerail.taxonomy.model", "rerail.recipes.model", "rerail.rules.wait_hints"),
}  # fmt: skip
"""Modules that take up to 10 ms to import, or bring such, and that nothing needs to name a failure that says nothing of time."""


def run(code: str, cache: Path, cwd: Path, *arguments: str) -> str:
    """Run Python as a hook's process would be, and return its stdout."""
    environ = {"PATH": "", "HOME": str(cwd), "XDG_CACHE_HOME": str(cache)}
    done = subprocess.run(
        [sys.executable, "-c", code, *arguments],
        input=EVIDENCE,
        capture_output=True,
        text=True,
        check=True,
        cwd=cwd,
        env=environ,
    )
    return done.stdout


@pytest.fixture(scope="module")
def cache(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A cache that has what the recipes compile to, and nothing else."""
    path = tmp_path_factory.mktemp("cache")
    load(None, cache_dir=path / "rerail")
    return path


IMPORTED = (
    "import sys, os; from rerail.__main__ import run\n"
    "os._exit = lambda code: print(*sorted(sys.modules), file=sys.stderr) or sys.exit(code)\n"
    "run()"
)
"""Runs as a hook does, and says on stderr what that imported."""

KINDS = {
    "program": {"command": "make", "exit_code": 2, "stderr": "make: *** [all] Segmentation fault"},
    "git": {"command": "git push", "exit_code": 1, "stderr": " ! [rejected]        main -> main (non-fast-forward)"},
    "pytest": {
        "command": "pytest",
        "exit_code": 1,
        "stdout": "E   assert 1 == 2\n\nt.py:3: AssertionError\n1 failed in 0.12s",
    },
    "traceback": {
        "command": "python x.py",
        "exit_code": 1,
        "stderr": "Traceback (most recent call last):\nKeyError: 'x'",
    },
    "compiler": {
        "command": "tsc",
        "exit_code": 2,
        "stdout": "a.ts(3,5): error TS2322: Type 'string' is not assignable.",
    },
    "http": {"http_status": 422, "body": '{"error": {"message": "password=hunter2hunter2 is missing"}}'},
    "tool": {"tool": "Read", "message": "InputValidationError: missing required parameter 'path'"},
}


@pytest.mark.parametrize("kind", KINDS)
def test_nothing_slow_is_imported_to_name_a_failure(cache: Path, tmp_path: Path, kind: str) -> None:
    for ready in (False, True):  # what is compiled, which takes `re`, is there the next time
        done = subprocess.run(
            [sys.executable, "-c", IMPORTED, "classify", "--json"],
            input=json.dumps(KINDS[kind]),
            capture_output=True,
            text=True,
            check=True,
            cwd=tmp_path,
            env={"PATH": "", "HOME": str(tmp_path), "XDG_CACHE_HOME": str(cache)},
        )
        assert json.loads(done.stdout)["data"]["class"] != "unclassified"
        if ready:
            assert SLOW & set(done.stderr.split()) == set()


def test_settings_that_were_read_before_are_not_read_again(cache: Path, tmp_path: Path) -> None:
    """TOML takes a hook 15 ms."""
    environ = {"PATH": "", "HOME": str(tmp_path), "XDG_CACHE_HOME": str(cache)}
    for text, class_ in [
        ("[tool.rerail]\npacks = ['core', 'environment']", "unclassified"),
        ("[tool.rerail]\npacks = ['core', 'verification']", "verification"),
    ]:
        (tmp_path / "pyproject.toml").write_text(text)
        for imported in ({"tomllib", "rerail.settings_file"}, set()):
            done = subprocess.run(
                [sys.executable, "-c", IMPORTED, "classify", "--json"],
                input=json.dumps(
                    {"command": "mypy x.py", "exit_code": 1, "stdout": 'x.py:1: error: Name "x" is not defined'}
                ),
                capture_output=True,
                text=True,
                check=True,
                cwd=tmp_path,
                env=environ,
            )
            assert json.loads(done.stdout)["data"]["class"] == class_
            assert {"tomllib", "rerail.settings_file"} & set(done.stderr.split()) == imported


def test_the_first_and_the_next_call_answer_alike(cache: Path, tmp_path: Path) -> None:
    code = "from rerail.__main__ import run; run()"
    first, second = (run(code, cache, tmp_path, "classify", "--json") for _ in range(2))
    assert first == second
    assert (cache / "rerail" / "patterns.bin").stat().st_mode & 0o777 == 0o600


def test_an_answer_arrives_whole_through_a_pipe(rerail: Rerail) -> None:
    case = {"stderr": "\n".join(f"error: step {number} failed: HTTP 503" for number in range(5_000))}
    batch = "\n".join(json.dumps({**case, "id": number}) for number in range(200))
    done = rerail("classify", "--batch", stdin=batch.encode())
    assert done.code == 0
    assert [json.loads(line)["id"] for line in done.out.splitlines()] == list(range(200))


class TestReadyPatterns:
    CODE = (
        "import sys; from rerail.cli.ready import ReadyPatterns; ready = ReadyPatterns(sys.argv[1]); ready.install()\n"
        "from rerail.regex import compiled; pattern = compiled(sys.argv[2], int(sys.argv[3]))\n"
        "print(repr(pattern), pattern.flags, pattern.groups, dict(pattern.groupindex), pattern.findall(sys.argv[4]), end=' ')\n"
        "print(ready._missed)\n"
        "ready.keep()"
    )

    def test_a_pattern_that_is_kept_is_the_pattern_that_was_compiled(self, tmp_path: Path) -> None:
        arguments = (str(tmp_path / "patterns.bin"), r"(?i)(?P<word>[a-zé]+)\s(?:x|(y))*\b", "256", "Ab yx café y")
        first, second = (run(self.CODE, tmp_path, tmp_path, *arguments).rsplit(" ", 1) for _ in range(2))
        assert first[0] == second[0]
        assert int(first[1]) > int(second[1]) == 0

    def test_one_that_is_damaged_is_compiled_again(self, tmp_path: Path) -> None:
        path = tmp_path / "patterns.bin"
        arguments = (str(path), r"a+(b)", "0", "aab")
        first = run(self.CODE, tmp_path, tmp_path, *arguments)
        path.write_bytes(path.read_bytes()[:-3])
        assert run(self.CODE, tmp_path, tmp_path, *arguments) == first

    def test_new_patterns_are_kept_while_there_is_room(self, tmp_path: Path) -> None:
        path = tmp_path / "patterns.bin"
        for count, kept_anew in [(8, True), (8, False), (9, True)]:
            before = path.read_bytes() if path.exists() else b""
            ready = ReadyPatterns(str(path))
            for number in range(count):
                assert ready.compile(f"x{number}").search(f"x{number}")
            ready.keep()
            assert (path.read_bytes() != before) is kept_anew

    def test_where_it_is_full_few_new_patterns_leave_it_as_it_is(
        self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setattr("rerail.cli.ready._MOST", 9)
        path = tmp_path / "patterns.bin"
        for count, kept_anew in [(8, True), (10, False), (16, True)]:
            before = path.read_bytes() if path.exists() else b""
            ready = ReadyPatterns(str(path))
            for number in range(count):
                assert ready.compile(f"x{number}").search(f"x{number}")
            ready.keep()
            assert (path.read_bytes() != before) is kept_anew

    @pytest.mark.filterwarnings("ignore::FutureWarning")  # of sets within sets
    @given(st.from_regex(r"[a-c().|*+?\[\]\\{}0-9^$-]{0,12}", fullmatch=True), st.text("abc0-", max_size=8))
    def test_any_pattern_is_compiled_or_refused_as_ever(self, pattern: str, text: str) -> None:
        ready = ReadyPatterns("/dev/null/nowhere")
        try:
            expected = re.compile(pattern, re.ASCII).findall(text)
        except (re.error, OverflowError):
            with pytest.raises((re.error, OverflowError)):
                ready.compile(pattern, re.ASCII.value)
        else:
            for _ in range(2):
                assert ready.compile(pattern, re.ASCII.value).findall(text) == expected
