"""Private files that can be made again: read whole and under their own key, or not at all."""

from __future__ import annotations

import os
import sys
from typing import TYPE_CHECKING

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rerail import kept

if TYPE_CHECKING:
    from pathlib import Path

KEY = kept.digest(b"what it was made of")
PARTS = {"rules": b"some", "texts": b"\x00\xff"}


def written(directory: Path) -> Path:
    """A file with `PARTS` in it."""
    path = directory / "below" / "kept.bin"
    kept.write(str(path), KEY, PARTS)
    return path


def test_what_was_kept_comes_back_under_its_key_alone(tmp_path: Path) -> None:
    path = str(written(tmp_path))
    assert kept.read(path, KEY) == PARTS
    assert kept.read(path, kept.digest(b"something else")) is None


def test_where_there_is_nothing_nothing_comes_back(tmp_path: Path) -> None:
    assert kept.read(str(tmp_path / "missing"), KEY) is None
    assert kept.read(str(tmp_path), KEY) is None


def test_a_byte_that_is_wrong_makes_it_worthless(tmp_path: Path) -> None:
    path = written(tmp_path)
    whole = path.read_bytes()
    for place in range(len(whole)):
        path.write_bytes(whole[:place] + bytes([whole[place] ^ 1]) + whole[place + 1 :])
        assert kept.read(str(path), KEY) is None
    for length in range(len(whole)):
        path.write_bytes(whole[:length])
        assert kept.read(str(path), KEY) is None


@pytest.mark.skipif(sys.platform == "win32", reason="there are no permission bits")
def test_it_is_private_and_believed_only_while_it_is(tmp_path: Path) -> None:
    path = written(tmp_path)
    assert path.stat().st_mode & 0o777 == 0o600
    assert path.parent.stat().st_mode & 0o777 == 0o700
    path.chmod(0o620)
    assert kept.read(str(path), KEY) is None
    assert kept.read(str(path), KEY, private=False) == PARTS


def test_where_it_cannot_be_written_nothing_happens(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("not a directory")
    kept.write(str(tmp_path / "file" / "kept.bin"), KEY, PARTS)
    (tmp_path / "taken").mkdir()
    (tmp_path / "taken" / "file").touch()
    kept.write(str(tmp_path / "taken"), KEY, PARTS)
    assert sorted(path.name for path in tmp_path.iterdir()) == ["file", "taken"]


def test_what_nobody_made_again_for_weeks_goes_when_one_of_its_kind_is_written(tmp_path: Path) -> None:
    for name in (
        "recipes-old.bin",
        "recipes-old.bin.texts",
        "recipes-left.bin.4711",
        "recipes-new.bin",
        "other-old.bin",
        "old",
    ):
        (tmp_path / name).touch()
        if "new" not in name:
            os.utime(tmp_path / name, (1_000_000, 1_000_000))
    kept.write(str(tmp_path / "recipes-x.bin"), KEY, PARTS)
    assert sorted(path.name for path in tmp_path.iterdir()) == [
        "old",
        "other-old.bin",
        "recipes-new.bin",
        "recipes-x.bin",
    ]


def test_of_too_many_of_a_kind_the_oldest_go(tmp_path: Path) -> None:
    for number in range(kept.MOST_FILES + 5):
        kept.write(str(tmp_path / f"recipes-{number}.bin"), KEY, PARTS)
        os.utime(tmp_path / f"recipes-{number}.bin", (2e9 + number, 2e9 + number))
    kept.write(str(tmp_path / "recipes-last.bin"), KEY, PARTS)
    names = {path.name for path in tmp_path.iterdir()}
    assert len(names) <= kept.MOST_FILES + 1
    assert {"recipes-last.bin", f"recipes-{kept.MOST_FILES + 4}.bin"} <= names
    assert "recipes-0.bin" not in names


@pytest.mark.skipif(sys.platform == "win32", reason="links need a privilege")
def test_nothing_is_removed_but_files_beside_it(tmp_path: Path) -> None:
    (tmp_path / "caches" / "recipes-directory").mkdir(parents=True)
    aim = tmp_path / "aim"
    aim.write_text("somebody's")
    (tmp_path / "caches" / "recipes-link").symlink_to(aim)
    os.utime(tmp_path / "caches" / "recipes-directory", (1_000_000, 1_000_000))
    kept.write(str(tmp_path / "caches" / "recipes-x.bin"), KEY, PARTS)
    assert aim.read_text() == "somebody's"
    assert (tmp_path / "caches" / "recipes-directory").is_dir()


@given(st.lists(st.binary(max_size=8), max_size=4), st.lists(st.binary(max_size=8), max_size=4))
def test_a_digest_tells_parts_apart_wherever_they_are_cut(one: list[bytes], other: list[bytes]) -> None:
    assert (kept.digest(*one) == kept.digest(*other)) == (one == other)
