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

import rerail
from rerail.cli.main import VERBS
from rerail.evidence import from_payload
from rerail.recipes.schema import read_recipe
from rerail.settings import load_settings

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


def of_page(name: str, language: str) -> list[Example]:
    found = [example for example in examples(language) if example.page.name == name]
    assert found
    return found


@pytest.mark.parametrize("example", examples("python"), ids=str)
def test_a_python_block_runs(example: Example, tmp_path: Path) -> None:
    done = subprocess.run(
        [sys.executable, "-W", "error", "-c", example.code], cwd=tmp_path, capture_output=True, text=True, timeout=60
    )
    assert done.returncode == 0, done.stderr


@pytest.mark.slow
def test_the_python_blocks_pass_a_strict_type_check(tmp_path: Path) -> None:
    for example in examples("python"):
        (tmp_path / f"{example.page.stem.lower()}_{example.line}.py").write_text(example.code, encoding="utf-8")
    done = subprocess.run(
        [sys.executable, "-m", "mypy", "--strict", "--config-file", ROOT / "pyproject.toml", *tmp_path.glob("*.py")],
        cwd=ROOT,
        capture_output=True,
        text=True,
        timeout=300,
    )
    assert done.returncode == 0, done.stdout + done.stderr


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


@pytest.mark.parametrize("example", of_page("recipes.md", "toml"), ids=str)
def test_a_shown_recipe_is_one(example: Example) -> None:
    read_recipe(example.code, str(example))


@pytest.mark.parametrize("example", [*of_page("settings.md", "toml"), *of_page("verify.md", "toml")], ids=str)
def test_shown_settings_are_settings(example: Example, tmp_path: Path) -> None:
    (tmp_path / "rerail.toml").write_text(example.code, encoding="utf-8")
    assert load_settings(tmp_path).path is not None


@pytest.mark.parametrize("example", of_page("evidence.md", "json"), ids=str)
def test_shown_evidence_is_evidence(example: Example) -> None:
    from_payload(json.loads(example.code))


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_a_link_leads_somewhere(page: Path) -> None:
    for target in links(page):
        path, _, anchor = target.partition("#")
        at = page.parent / path if path else page
        assert at.exists(), target
        assert not anchor or anchor in anchors(at), target


def test_every_page_can_be_reached_from_the_readme() -> None:
    found: set[Path] = set()
    left = [PAGES[0]]
    while left:
        page = left.pop()
        if page not in found and page.suffix == ".md":
            found.add(page)
            left += [(page.parent / target.partition("#")[0]).resolve() for target in links(page)]
    assert not [page for page in PAGES if page not in found and page.parent.name != "changes"]


def links(page: Path) -> list[str]:
    targets = re.findall(r"\]\(([^)]+)\)", page.read_text(encoding="utf-8"))
    return [target for target in targets if "://" not in target]


def anchors(page: Path) -> set[str]:
    headings = re.findall(r"^#+ (.+)$", page.read_text(encoding="utf-8"), re.MULTILINE)
    return {re.sub(r"[^\w -]", "", heading.lower()).replace(" ", "-") for heading in headings}


def test_every_public_name_is_on_the_page_of_the_api() -> None:
    page = (ROOT / "docs" / "api.md").read_text(encoding="utf-8")
    assert not [name for name in rerail.__all__ if f"`{name}`" not in page and name != "__version__"]


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
