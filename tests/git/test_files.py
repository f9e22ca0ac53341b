"""Files that are replaced under git's own locks: a kill leaves no lock that stands in rerail's own way, nor takes another's."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from typing import TYPE_CHECKING

import pytest

from rerail.errors import GitError
from rerail.git.files import write_locked

if TYPE_CHECKING:
    from pathlib import Path

DIES_HOLDING_THE_LOCK = """
import os, signal, sys
from pathlib import Path
from rerail.git.files import write_locked

Path.replace = lambda *_: os.kill(os.getpid(), signal.SIGKILL)  # the moment before the one rename
write_locked(Path(sys.argv[1]), b"never seen", scratch=Path(sys.argv[2]))
"""


@pytest.fixture
def scratch(tmp_path: Path) -> Path:
    return tmp_path / "own"


def test_a_file_is_replaced_whole_and_nothing_is_left_beside_it(tmp_path: Path, scratch: Path) -> None:
    file = tmp_path / "git" / "HEAD"
    for content in (b"first", b"second"):
        write_locked(file, content, scratch=scratch, mode=0o640, mtime_ns=5_000_000_000)
        assert file.read_bytes() == content
    assert (file.stat().st_mode & 0o777, file.stat().st_mtime_ns, file.stat().st_nlink) == (0o640, 5_000_000_000, 1)
    assert [*file.parent.iterdir(), *scratch.iterdir()] == [file]


def test_a_lock_of_somebody_elses_is_refused_and_stays(tmp_path: Path, scratch: Path) -> None:
    file, lock = tmp_path / "HEAD", tmp_path / "HEAD.lock"
    file.write_bytes(b"before")
    lock.write_bytes(b"somebody's")
    with pytest.raises(GitError, match="held by somebody"):
        write_locked(file, b"ours", scratch=scratch)
    assert (file.read_bytes(), lock.read_bytes(), [*scratch.iterdir()]) == (b"before", b"somebody's", [])


def test_a_lock_that_a_killed_rerail_has_left_behind_is_taken_over(tmp_path: Path, scratch: Path) -> None:
    file, lock = tmp_path / "HEAD", tmp_path / "HEAD.lock"
    file.write_bytes(b"before")
    killed = subprocess.run([sys.executable, "-c", DIES_HOLDING_THE_LOCK, str(file), str(scratch)], check=False)
    assert killed.returncode == -signal.SIGKILL
    assert (file.read_bytes(), lock.read_bytes()) == (b"before", b"never seen")
    write_locked(file, b"after", scratch=scratch)
    assert file.read_bytes() == b"after"
    assert not lock.exists()


def test_without_second_names_for_files_the_lock_is_made_and_filled(
    tmp_path: Path, scratch: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(*_args: object) -> None:
        raise PermissionError(1, "Operation not permitted")  # what FAT and some network file systems say

    monkeypatch.setattr(os, "link", refuse)
    file = tmp_path / "HEAD"
    write_locked(file, b"after", scratch=scratch)
    assert file.read_bytes() == b"after"
    assert [*tmp_path.glob("HEAD*"), *scratch.iterdir()] == [file]
    (tmp_path / "HEAD.lock").write_bytes(b"somebody's")
    with pytest.raises(GitError, match="held by somebody"):
        write_locked(file, b"ours", scratch=scratch)
