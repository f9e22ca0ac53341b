"""The recipes in force: which files, what they make together, and the cache on the way of every hook."""

from __future__ import annotations

import os
import subprocess
import sys
import time
from typing import TYPE_CHECKING

import pytest
from tests.failures import failure

from rerail import kept
from rerail.errors import RecipeError, UnknownNameError
from rerail.recipes import load, read_all
from rerail.rules import classify
from rerail.rules.packing import Rows, pack_rows, packed

if TYPE_CHECKING:
    from pathlib import Path

OWN_RULE = """
[[rule]]
slug = "{slug}"
class = "git"
reason = "rejected"
why = "because"
source = "observed"
text = "acme: {words}"
matches = ["acme: {example}"]
"""


BUILT_IN_RULE = next(rule for recipe in read_all(None) for rule in recipe.rules)


def write(root: Path, name: str, text: str) -> Path:
    """Put a recipe into a project."""
    path = root / ".rerail" / "recipes" / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text, encoding="utf-8")
    return path


def own_rule(slug: str = "acme-boom", words: str = "boom", example: str = "boom") -> str:
    """A recipe of one rule."""
    return OWN_RULE.format(slug=slug, words=words, example=example)


def slugs(root: Path | None, **options: object) -> set[str]:
    """The rules in force."""
    return {rule.slug for rule in load(root, **options).rules.rules}  # type: ignore[arg-type]


def test_a_projects_rules_stand_beside_the_built_in_ones(tmp_path: Path) -> None:
    write(tmp_path, "acme.toml", own_rule())
    assert slugs(tmp_path) == slugs(None) | {"acme-boom"}
    assert classify(failure(message="acme: boom"), load(tmp_path).rules).rule == "acme-boom"
    assert load(tmp_path).texts["acme-boom"].pack == "acme"


def test_a_project_without_recipes_has_the_built_in_ones(tmp_path: Path) -> None:
    assert slugs(tmp_path) == slugs(None) != set()


def test_a_project_adds_classes_that_another_of_its_files_uses(tmp_path: Path) -> None:
    write(
        tmp_path,
        "a-classes.toml",
        """
        [[class]]
        name = "quota"
        signal = "s"
        action = "stop"
        budget = 0
        advice = "a"
        pitfall = "p"
        [[reason]]
        class = "quota"
        name = "spent"
        summary = "spent"
        hint = "ask"
        """,
    )
    write(tmp_path, "b-rules.toml", own_rule().replace('"git"', '"quota"').replace('"rejected"', '"spent"'))
    loaded = load(tmp_path)
    named = classify(failure(message="acme: boom"), loaded.rules)
    assert (named.class_, named.reason, named.action) == ("quota", "spent", "stop")
    assert "quota" in loaded.taxonomy


def test_a_pack_that_is_off_takes_its_classes_and_rules_along() -> None:
    core = load(None, packs=["core"])
    assert "verification" not in core.taxonomy
    assert "environment" not in core.taxonomy
    assert {rule.class_ for rule in core.rules.rules} <= {str(spec.name) for spec in core.taxonomy}


def test_a_pack_that_does_not_exist_is_refused() -> None:
    with pytest.raises(UnknownNameError, match="no pack named 'verifcation'"):
        load(None, packs=["verifcation"])


@pytest.mark.parametrize(
    ("files", "parts"),
    [
        (
            {"a.toml": own_rule(), "b.toml": own_rule()},
            ["b.toml:3: rule.0.slug: rule 'acme-boom' belongs to", "a.toml already"],
        ),
        ({"a.toml": own_rule(slug=BUILT_IN_RULE.slug)}, [f"rule '{BUILT_IN_RULE.slug}' belongs to"]),
        (
            {"a.toml": "[[class]]\nname='git'\nsignal='s'\naction='heal'\nbudget=1\nadvice='a'\npitfall='p'"},
            ["a.toml:2: class.0.name: class 'git' belongs to the built-in classes already"],
        ),
        ({"a.toml": own_rule(example="bang")}, ["a.toml:9: rule.0.matches.0: does not hold for", "acme: bang"]),
        ({"a.toml": own_rule() + 'passes_by = "acme: boom"'}, ["a.toml:10: rule.0.passes_by.0: holds for"]),
        (
            {"a.toml": "x = = 1", "b.toml": own_rule().replace("slug", "slag")},
            ["a.toml:1: is not TOML", "b.toml:2: rule.0.slug: is missing"],
        ),
    ],
)
def test_what_cannot_stand_together_is_refused_naming_both_sides(
    tmp_path: Path, files: dict[str, str], parts: list[str]
) -> None:
    for name, text in files.items():
        write(tmp_path, name, text)
    with pytest.raises(RecipeError) as raised:
        load(tmp_path)
    for part in parts:
        assert part in str(raised.value)


def test_a_rule_whose_example_another_rule_names_otherwise_is_refused(tmp_path: Path) -> None:
    write(
        tmp_path,
        "a.toml",
        own_rule(words="HTTP 429", example="HTTP 429").replace("git", "provider").replace("rejected", "timeout"),
    )
    write(tmp_path, "b.toml", own_rule(slug="acme-b", words="HTTP 429", example="HTTP 429"))
    with pytest.raises(RecipeError, match=r"is named git by acme-b: less safe"):
        load(tmp_path)


def test_a_file_that_is_not_utf8_is_a_fault(tmp_path: Path) -> None:
    write(tmp_path, "a.toml", "").write_bytes(b"# caf\xe9")
    with pytest.raises(RecipeError, match=r"a\.toml:1: is not UTF-8"):
        load(tmp_path)


def forge(directory: Path, key: bytes | None = None) -> Path:
    """Rename a rule in the one cached file, and have its check sum be right all the same; with *key* it is of other recipes."""
    (file,) = directory.glob("recipes-*.bin")
    key_before = file.read_bytes()[:16]
    parts = kept.read(str(file), key_before)
    assert parts is not None
    (_, *first), *following = Rows(parts["rules"])
    seen = parts["seen"] if key is None else b"other files"
    forged = pack_rows([("forged", *first), *following])
    kept.write(str(file), key or key_before, {**parts, "seen": seen, "rules": forged})
    return file


class TestCache:
    def test_what_comes_from_it_is_what_was_compiled(self, tmp_path: Path) -> None:
        write(tmp_path, "acme.toml", own_rule())
        fresh, cached = (load(tmp_path, cache_dir=tmp_path / "cache") for _ in range(2))
        assert cached.rules.rules == fresh.rules.rules
        assert sorted(cached.rules.texts()) == sorted(fresh.rules.texts())
        assert cached.texts == fresh.texts
        assert list(cached.taxonomy) == list(fresh.taxonomy)

    def test_it_is_private(self, tmp_path: Path) -> None:
        load(tmp_path, cache_dir=tmp_path / "cache")
        (file,) = (tmp_path / "cache").glob("recipes-*.bin")
        assert file.stat().st_mode & 0o777 == 0o600

    def test_a_change_of_a_recipe_is_seen(self, tmp_path: Path) -> None:
        write(tmp_path, "acme.toml", own_rule())
        load(tmp_path, cache_dir=tmp_path / "cache")
        write(tmp_path, "acme.toml", own_rule(slug="acme-new"))
        assert "acme-new" in slugs(tmp_path, cache_dir=tmp_path / "cache")

    def test_files_that_stay_as_they_are_are_not_read(self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        now = time.time
        monkeypatch.setattr("rerail.recipes.files.time", type("later", (), {"time": staticmethod(lambda: now() + 60)}))
        file = write(tmp_path, "acme.toml", own_rule())
        first = slugs(tmp_path, cache_dir=tmp_path / "cache")
        with monkeypatch.context() as nobody_reads:
            nobody_reads.setattr("rerail.recipes.files.read_plain", None)
            assert slugs(tmp_path, cache_dir=tmp_path / "cache") == first
        os.utime(file, (1_000_000, 1_000_000))  # touched, and what it holds is what was compiled
        with monkeypatch.context() as nobody_compiles:
            nobody_compiles.setattr("rerail.recipes.read._assembled", None)
            assert slugs(tmp_path, cache_dir=tmp_path / "cache") == first

    def test_packs_have_caches_of_their_own(self, tmp_path: Path) -> None:
        everything = slugs(tmp_path, cache_dir=tmp_path / "cache")
        slugs(tmp_path, packs=["core"], cache_dir=tmp_path / "cache")
        assert slugs(tmp_path, cache_dir=tmp_path / "cache") == everything

    @pytest.mark.parametrize(
        "damage",
        [b"", b"{", b"null", b"[1]", b'{"key": "x"}', b"\xff\xfe", b'{"key": 1, "data": {}}', b"[" * 100_000],
    )
    def test_a_damaged_one_is_made_again(self, tmp_path: Path, damage: bytes) -> None:
        expected = slugs(tmp_path, cache_dir=tmp_path / "cache")
        (file,) = (tmp_path / "cache").glob("recipes-*.bin")
        file.write_bytes(damage)
        assert slugs(tmp_path, cache_dir=tmp_path / "cache") == expected
        assert file.stat().st_size > len(damage) or len(damage) > 50_000

    @pytest.mark.parametrize(
        "parts",
        [
            {"taxonomy": b"", "rules": b"", "texts": b""},
            {"taxonomy": packed(([], [], None)), "rules": packed((1, 2)), "texts": packed({})},
            {"taxonomy": packed(([], [["nowhere", "x", "", "", "stop"]], None)), "rules": b"", "texts": b""},
        ],
    )
    def test_one_of_another_shape_is_made_again(self, tmp_path: Path, parts: dict[str, bytes]) -> None:
        expected = slugs(tmp_path, cache_dir=tmp_path / "cache")
        (file,) = (tmp_path / "cache").glob("recipes-*.bin")
        kept.write(str(file), file.read_bytes()[:16], parts)
        assert slugs(tmp_path, cache_dir=tmp_path / "cache") == expected
        assert kept.read(str(file), file.read_bytes()[:16]) not in (None, parts)

    def test_those_of_projects_that_are_gone_do_not_pile_up(self, tmp_path: Path) -> None:
        for name in ("one", "other"):
            write(tmp_path / name, "acme.toml", own_rule())
            load(tmp_path / name, cache_dir=tmp_path / "cache")
            for file in (tmp_path / "cache").glob("recipes-*.bin"):
                os.utime(file, (1_000_000, 1_000_000))
        write(tmp_path / "one", "acme.toml", own_rule(slug="acme-new"))
        load(tmp_path / "one", cache_dir=tmp_path / "cache")
        assert len(list((tmp_path / "cache").glob("recipes-*.bin"))) == 1

    def test_one_that_was_made_of_something_else_is_made_again(self, tmp_path: Path) -> None:
        expected = slugs(tmp_path, cache_dir=tmp_path / "cache")
        forge(tmp_path / "cache", key=b"x" * 16)
        assert slugs(tmp_path, cache_dir=tmp_path / "cache") == expected

    def test_one_that_others_may_write_is_not_believed(self, tmp_path: Path) -> None:
        load(tmp_path, cache_dir=tmp_path / "cache")
        file = forge(tmp_path / "cache")
        assert "forged" in slugs(tmp_path, cache_dir=tmp_path / "cache")
        file.chmod(0o666)
        assert "forged" not in slugs(tmp_path, cache_dir=tmp_path / "cache")

    def test_projects_without_recipes_share_one(self, tmp_path: Path) -> None:
        for name in ("one", "other"):
            (tmp_path / name).mkdir()
            load(tmp_path / name, cache_dir=tmp_path / "cache")
        assert len(list((tmp_path / "cache").glob("recipes-*.bin"))) == 1

    def test_where_none_can_be_kept_only_time_is_lost(self, tmp_path: Path) -> None:
        blocked = tmp_path / "file"
        blocked.write_text("not a directory")
        assert slugs(tmp_path, cache_dir=blocked / "cache") == slugs(None)

    def test_nothing_slow_is_imported_on_the_way_through_it(self, tmp_path: Path) -> None:
        script = (
            "import sys; from pathlib import Path; from rerail.recipes import load; from rerail.rules import classify\n"
            "load(None, cache_dir=Path(sys.argv[1]))\n"
            "slow = {'pydantic', 'attrs', 'attr', 'tomllib', 'dataclasses', 'inspect', 'asyncio', 'structlog', 'subprocess'}\n"
            "print(sorted(slow & sys.modules.keys()) if len(sys.argv) > 2 else '')\n"
        )
        command = [sys.executable, "-c", script, str(tmp_path)]
        subprocess.run(command, capture_output=True, check=True)
        warm = subprocess.run([*command, "warm"], capture_output=True, text=True, check=True)
        assert warm.stdout.strip() == "[]"


def test_recipes_are_read_as_they_are_written(tmp_path: Path) -> None:
    write(tmp_path, "acme.toml", own_rule())
    recipe = read_all(tmp_path)[-1]
    assert (recipe.name, [rule.slug for rule in recipe.rules]) == ("acme", ["acme-boom"])
    assert recipe.rules[0].matches
