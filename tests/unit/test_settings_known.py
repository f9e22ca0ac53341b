"""What a hook asks of the settings is what the file says, whether it was read before or not."""

from __future__ import annotations

import subprocess
import sys
from typing import TYPE_CHECKING

import pytest

from rerail.errors import SettingsError
from rerail.settings_known import KnownSettings, known_settings
from rerail.taxonomy import PACKS

if TYPE_CHECKING:
    from pathlib import Path

CORE = "packs = ['core']\n[budgets]\nprovider = 2\n"


def known(root: Path, cache: Path) -> list[KnownSettings]:
    """What is said without a cache, the first time with one, and the second."""
    return [known_settings(str(root), directory) for directory in (None, str(cache), str(cache))]


@pytest.mark.parametrize(
    ("name", "text", "expected"),
    [
        ("rerail.toml", CORE, KnownSettings(("core",), {"packs": ["core"], "budgets": {"provider": 2}})),
        ("rerail.toml", "", KnownSettings(PACKS, {})),
        ("pyproject.toml", "[tool.rerail]\npacks = ['core']", KnownSettings(("core",), {"packs": ["core"]})),
        ("pyproject.toml", "[project]\nname = 'rerail'", KnownSettings(PACKS, {})),
        ("pyproject.toml", "[project]\nname = 'other'", KnownSettings(None, {})),
        ("setup.cfg", "[rerail]", KnownSettings(None, {})),
    ],
)
def test_it_is_what_the_file_says(tmp_path: Path, name: str, text: str, expected: KnownSettings) -> None:
    (tmp_path / name).write_text(text)
    assert known(tmp_path, tmp_path / "cache") == [expected] * 3


def test_a_project_with_a_file_of_its_own_has_no_other_settings(tmp_path: Path) -> None:
    (tmp_path / "pyproject.toml").write_text("[tool.rerail]\npacks = ['core']")
    (tmp_path / "rerail.toml").write_text("")
    assert known(tmp_path, tmp_path / "cache") == [KnownSettings(PACKS, {})] * 3


def test_a_change_is_seen(tmp_path: Path) -> None:
    file = tmp_path / "rerail.toml"
    for packs in (("core",), ("core", "verification"), ("core",)):
        file.write_text(f"packs = {list(packs)}")
        assert [each.packs for each in known(tmp_path, tmp_path / "cache")] == [packs] * 3
    file.unlink()
    assert known(tmp_path, tmp_path / "cache") == [KnownSettings(None, {})] * 3


@pytest.mark.parametrize("text", ["packs = ['cor']", "packs = 'core'", "packs =", "\xff"])
def test_a_fault_is_told_each_time(tmp_path: Path, text: str) -> None:
    (tmp_path / "rerail.toml").write_text(text, encoding="latin-1")
    for directory in (None, str(tmp_path / "cache"), str(tmp_path / "cache")):
        with pytest.raises(SettingsError, match=r"rerail\.toml"):
            known_settings(str(tmp_path), directory)


def test_what_is_no_file_is_told(tmp_path: Path) -> None:
    (tmp_path / "rerail.toml").mkdir()
    with pytest.raises(SettingsError, match="cannot be read"):
        known_settings(str(tmp_path), str(tmp_path / "cache"))


def test_a_date_is_no_setting_and_is_not_kept(tmp_path: Path) -> None:
    (tmp_path / "rerail.toml").write_text("since = 2026-01-01")
    assert len(set(map(str, known(tmp_path, tmp_path / "cache")))) == 1
    assert not (tmp_path / "cache").exists()


def test_settings_that_were_read_are_not_parsed_again(tmp_path: Path) -> None:
    (tmp_path / "rerail.toml").write_text(CORE)
    code = (
        "import sys; from rerail.settings_known import known_settings; known_settings(*sys.argv[1:])\n"
        "print(sorted({'tomllib', 'pathlib', 'difflib'} & sys.modules.keys()))"
    )
    command = [sys.executable, "-c", code, str(tmp_path), str(tmp_path / "cache")]
    first, second = (subprocess.run(command, capture_output=True, text=True, check=True).stdout for _ in range(2))
    assert (first, second) == ("['difflib', 'pathlib', 'tomllib']\n", "[]\n")
