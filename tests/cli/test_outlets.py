"""Whatever stdout and stderr are - full, closed, left by their reader - the exit code is the verb's, without a traceback."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

FULL = Path("/dev/full")
pytestmark = pytest.mark.skipif(not FULL.exists(), reason="needs a device that is always full")

RERAIL = [sys.executable, "-m", "rerail"]
PAGES = [["--help"], ["--version"], ["run", "--help"], ["ledger", "--help"], ["classify", "--help"], ["hook", "--help"]]


@pytest.mark.parametrize("page", PAGES, ids=" ".join)
def test_a_page_that_cannot_be_written_ends_with_2_and_one_that_nobody_reads_with_0(
    tmp_path: Path, environ: dict[str, str], page: list[str]
) -> None:
    with FULL.open("wb") as full:
        done = subprocess.run(
            [*RERAIL, *page], stdout=full, stderr=subprocess.PIPE, cwd=tmp_path, env=environ, check=False
        )
    assert (done.returncode, done.stderr.splitlines()) == (
        2,
        [b"rerail: the result could not be written: No space left on device"],
    )
    with subprocess.Popen(
        [*RERAIL, *page], stdout=subprocess.PIPE, stderr=subprocess.PIPE, cwd=tmp_path, env=environ
    ) as process:
        assert process.stdout is not None
        assert process.stderr is not None
        process.stdout.close()
        told = process.stderr.read()
    assert (process.returncode, told) == (0, b"")


@pytest.mark.parametrize(
    ("verb", "code"),
    [
        (["run", "--unit", "u", "--", sys.executable, "-c", "raise SystemExit(3)"], 75),
        (["run", "--json", "--unit", "u", "--", sys.executable, "-c", "raise SystemExit(3)"], 75),
        (["run", "--", sys.executable, "-c", ""], 0),
        (["answer", "p9-none", "retry"], 2),
        (["check"], 70),
        (["hook", "claude-code"], 0),
        (["hook", "nobody"], 2),
    ],
    ids=lambda value: " ".join(value)[:30] if isinstance(value, list) else "",
)
def test_the_exit_code_is_the_verbs_own_where_stderr_is_full(
    tmp_path: Path, environ: dict[str, str], verb: list[str], code: int
) -> None:
    with FULL.open("wb") as full:
        done = subprocess.run(
            [*RERAIL, *verb], input=b"no payload", stdout=full, stderr=full, cwd=tmp_path, env=environ, check=False
        )
    assert done.returncode == code


def test_an_export_with_no_stdout_at_all_ends_as_any_other(tmp_path: Path, environ: dict[str, str]) -> None:
    script = (
        "import os, sys; os.close(1); os.execv(sys.executable, [sys.executable, '-m', 'rerail', 'ledger', 'export'])"
    )
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, cwd=tmp_path, env=environ, check=False)
    assert (done.returncode, done.stderr) == (0, b"")
