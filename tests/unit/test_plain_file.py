"""A project's file is read whole or refused: nothing that lies in its place is waited for, or read without end."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from rerail.plain_file import MOST_BYTES, open_plain, read_all, read_plain


def open_descriptors() -> int:
    """Return how many descriptors this process has."""
    return sum(1 for _ in Path("/dev/fd").iterdir())


def test_a_plain_file_is_read_also_through_a_link(tmp_path: Path) -> None:
    (tmp_path / "file").write_bytes(b"a\r\n\x00")
    (tmp_path / "link").symlink_to("file")
    assert read_plain(tmp_path / "link") == b"a\r\n\x00"


def test_a_pipe_is_refused_at_once(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe")
    with pytest.raises(OSError, match="no plain file"):
        read_plain(tmp_path / "pipe")


def test_a_device_is_refused_also_behind_a_link(tmp_path: Path) -> None:
    (tmp_path / "link").symlink_to("/dev/zero")
    with pytest.raises(OSError, match="no plain file"):
        read_plain(tmp_path / "link")


def test_a_directory_is_refused_and_leaves_no_descriptor_open(tmp_path: Path) -> None:
    before = open_descriptors()
    with pytest.raises(IsADirectoryError):
        read_plain(tmp_path)
    assert open_descriptors() == before


def test_what_nobody_has_written_by_hand_is_refused_unread(tmp_path: Path) -> None:
    with (tmp_path / "huge").open("wb") as file:
        file.truncate(MOST_BYTES + 1)
    with pytest.raises(OSError, match="too large, more than 16 MB"):
        read_plain(tmp_path / "huge")


def test_what_a_program_made_may_be_as_large_as_it_is(tmp_path: Path) -> None:
    with (tmp_path / "huge").open("wb") as file:
        file.truncate(MOST_BYTES + 1)
    assert len(read_plain(tmp_path / "huge", None)) == MOST_BYTES + 1


def test_what_is_refused_leaves_no_descriptor_open(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe")
    before = open_descriptors()
    for name in ("pipe", "/dev/null", "none"):
        with pytest.raises(OSError, match=name):
            open_plain(tmp_path / name)
    assert open_descriptors() == before


def test_a_pipe_that_is_open_is_read_up_to_the_limit() -> None:
    for size, limit, fits in [(10, 10, True), (11, 10, False), (0, 0, True)]:
        read_end, write_end = os.pipe()
        os.write(write_end, bytes(size))
        os.close(write_end)
        with os.fdopen(read_end, "rb") as pipe:
            if fits:
                assert read_all(pipe, "pipe", limit) == bytes(size)
            else:
                with pytest.raises(OSError, match="too large"):
                    read_all(pipe, "pipe", limit)


def test_a_file_that_is_not_there_is_told_as_such(tmp_path: Path) -> None:
    with pytest.raises(FileNotFoundError):
        read_plain(tmp_path / "none")
