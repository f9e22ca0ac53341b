"""A pattern is judged once for all processes, and what is kept of it changes nothing but the time that compiling takes."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from rerail import kept
from rerail._version import __version__
from rerail.errors import RecipeError
from rerail.recipes import judged, load
from rerail.recipes.judged import FILE, judged_before
from rerail.rules import patterns
from rerail.rules.packing import packed

if TYPE_CHECKING:
    from pathlib import Path

    from rerail.recipes import Loaded

RULE = """
[[rule]]
slug = "ours"
class = "provider"
reason = "timeout"
why = "it says so"
source = "observed"
text = "{pattern}"
matches = ["the frobnicator timed out"]
"""


@pytest.fixture(autouse=True)
def fresh(monkeypatch: pytest.MonkeyPatch) -> dict[str, Any]:
    """As in a process of its own: nothing is known yet."""
    known: dict[str, Any] = {}
    monkeypatch.setattr(patterns, "_sound", known)
    return known


def recipe(project: Path, pattern: str) -> None:
    file = project / ".rerail" / "recipes" / "ours.toml"
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text(RULE.format(pattern=pattern))


def everything(loaded: Loaded) -> tuple[object, ...]:
    """What naming a failure goes by."""
    texts = loaded.rules.texts()
    return texts, loaded.rules.wakes, loaded.rules.needs, loaded.rules.asked, loaded.rules.rules


def test_after_an_edit_only_what_is_new_is_judged(
    tmp_path: Path, fresh: dict[str, Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    recipe(tmp_path, "frobnicator timed")
    load(tmp_path, cache_dir=tmp_path / "cache")
    assert (tmp_path / "cache" / FILE).is_file()
    assert "frobnicator timed" in fresh
    fresh.clear()
    judged_now: list[str] = []
    plain = patterns._parsed

    def parsed(pattern: str) -> Any:
        judged_now.append(pattern)
        return plain(pattern)

    monkeypatch.setattr(patterns, "_parsed", parsed)
    recipe(tmp_path, "frobnicator .{1,9} out")
    load(tmp_path, cache_dir=tmp_path / "cache")
    assert set(judged_now) == {"frobnicator .{1,9} out"}


def test_what_was_judged_before_is_what_would_be_found_now(tmp_path: Path, fresh: dict[str, Any]) -> None:
    recipe(tmp_path, "frobnicator timed")
    plain = load(tmp_path)
    found = dict(fresh)
    fresh.clear()
    load(tmp_path, cache_dir=tmp_path / "cache")
    fresh.clear()
    with judged_before(str(tmp_path / "cache")):
        assert fresh == found
        again = load(tmp_path)
    assert everything(again) == everything(plain)


def test_a_pattern_with_a_fault_is_told_each_time(tmp_path: Path, fresh: dict[str, Any]) -> None:
    recipe(tmp_path, "(frob|frobn)+x timed")
    for _ in range(2):
        with pytest.raises(RecipeError, match="frobn"):
            load(tmp_path, cache_dir=tmp_path / "cache")
        assert fresh, "what stands beside it was judged"
        assert not any("frobn" in pattern for pattern in fresh)


@pytest.mark.parametrize("spoiled", [b"", b"junk", b"\0" * 4096])
def test_a_file_that_cannot_be_read_is_none(tmp_path: Path, fresh: dict[str, Any], spoiled: bytes) -> None:
    (tmp_path / FILE).write_bytes(spoiled)
    with judged_before(str(tmp_path)):
        assert fresh == {}
        patterns.remember("frobnicator")
    fresh.clear()
    with judged_before(str(tmp_path)):
        assert fresh == {"frobnicator": (("frobnicator",),)}


def test_what_another_version_judged_is_judged_again(
    tmp_path: Path, fresh: dict[str, Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    with judged_before(str(tmp_path)):
        patterns.remember("frobnicator")
    fresh.clear()
    monkeypatch.setattr(judged, "__version__", "another")
    with judged_before(str(tmp_path)):
        assert fresh == {}


def test_too_many_are_forgotten(tmp_path: Path, fresh: dict[str, Any], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(judged, "MOST_PATTERNS", 2)
    many = {f"text {number}": ((f"text {number}",),) for number in range(3)}
    key = kept.digest(judged._FORMAT, __version__.encode())
    kept.write(str(tmp_path / FILE), key, {"needs": packed(many)})
    with judged_before(str(tmp_path)):
        assert fresh == {}
        patterns.remember("another")
    fresh.clear()
    with judged_before(str(tmp_path)):
        assert list(fresh) == ["another"]


def test_without_a_cache_nothing_is_kept(tmp_path: Path, fresh: dict[str, Any]) -> None:
    with judged_before(None):
        patterns.remember("frobnicator")
    assert list(tmp_path.iterdir()) == []
