"""Everything that the documents show is run, read or looked up: a page that is wrong fails here."""

from __future__ import annotations

import json
import re
import subprocess
import sys
import tomllib
from pathlib import Path
from typing import NamedTuple

import pytest

from rerail.cli.main import VERBS

ROOT = Path(__file__).parents[2]
PAGES = [ROOT / "README.md", *sorted((ROOT / "docs").rglob("*.md"))]
BLOCK = re.compile(r"^```(\w+)\n(.*?)^```$", re.MULTILINE | re.DOTALL)


class Example(NamedTuple):
    """One code block of a page."""

    page: Path
    line: int
    language: str
    code: str

    def __str__(self) -> str:
        return f"{self.page.name}:{self.line}"


def examples(language: str) -> list[Example]:
    texts = [(page, page.read_text(encoding="utf-8")) for page in PAGES]
    return [
        Example(page, text.count("\n", 0, match.start()) + 1, match[1], match[2])
        for page, text in texts
        for match in BLOCK.finditer(text)
        if match[1] == language
    ]


@pytest.mark.parametrize("example", examples("python"), ids=str)
def test_a_python_block_runs(example: Example, tmp_path: Path) -> None:
    done = subprocess.run(
        [sys.executable, "-W", "error", "-c", example.code], cwd=tmp_path, capture_output=True, text=True, timeout=60
    )
    assert done.returncode == 0, done.stderr


@pytest.mark.parametrize("example", examples("console"), ids=str)
def test_a_shown_command_is_one_that_exists(example: Example) -> None:
    shown = [line.removeprefix("$ ") for line in example.code.splitlines() if line.startswith("$ ")]
    assert shown
    for line in shown:
        for verb in re.findall(r"\brerail (\w+)", line.split("#")[0]):
            assert verb in VERBS, line


@pytest.mark.parametrize("example", examples("toml"), ids=str)
def test_a_toml_block_reads(example: Example) -> None:
    assert tomllib.loads(example.code)


@pytest.mark.parametrize("example", examples("json"), ids=str)
def test_a_json_block_reads(example: Example) -> None:
    assert json.loads(example.code)


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_a_link_leads_somewhere(page: Path) -> None:
    for target in re.findall(r"\]\(([^)#]+)[^)]*\)", page.read_text(encoding="utf-8")):
        if "://" not in target:
            assert (page.parent / target).exists(), target


def test_the_example_projects_rules_pass_their_own_examples() -> None:
    done = subprocess.run(
        [sys.executable, "-m", "rerail", "rules", "test", "--json"],
        cwd=ROOT / "docs" / "examples" / "project",
        capture_output=True,
        text=True,
        timeout=120,
    )
    assert done.returncode == 0, done.stdout
    assert json.loads(done.stdout)["data"]["wrong"] == 0
