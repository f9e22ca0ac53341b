"""A heal that is killed while a git of its own runs, which lives on, or when all that was left to do was to remove its note."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from typing import TYPE_CHECKING

import psutil
import pytest
from tests.kill_cases import in_the_way
from tests.repositories import QUICK, Repo, built_in_recipes, photograph

from rerail.evidence.payload import from_payload
from rerail.git.case import HealRequest
from rerail.git.heal import heal
from rerail.git.probe import probe
from rerail.git.recovery import finish_cut_heal
from rerail.git.undo import UndoRefusedError, undo

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

HEALS = """
import json, sys
from pathlib import Path
from rerail.evidence.payload import from_payload
from rerail.git.case import HealRequest
from rerail.git.heal import heal
from tests.repositories import QUICK, built_in_recipes

failure = json.loads(sys.argv[1])
request = HealRequest(Path(failure["cwd"]), "git", "dirty-tree", from_payload(failure))
heal(request, built_in_recipes(), pace=QUICK)
"""
PATIENCE_S = 30.0


def until(holds: Callable[[], bool]) -> None:
    end_s = time.monotonic() + PATIENCE_S
    while not holds():
        assert time.monotonic() < end_s, "it never came to be"
        time.sleep(0.01)


@pytest.fixture
def cut_short(repo: Repo, tmp_path: Path) -> Iterator[dict[str, object]]:
    """A failure whose heal was killed: its git still fills in a file, and goes on once ``go`` is there."""
    command = in_the_way(repo)
    done = repo.run(*command)
    failure = {"command": command, "exit_code": done.returncode, "stderr": done.stderr.decode(), "cwd": str(repo.path)}
    go, begun = tmp_path / "go", tmp_path / "begun"
    repo.git("config", "filter.slow.smudge", f"touch '{begun}'; until test -e '{go}'; do sleep 0.02; done; cat")
    (repo.git_dir / "info").mkdir(exist_ok=True)
    (repo.git_dir / "info" / "attributes").write_text("src/app.py filter=slow\n")
    environ = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)}
    with subprocess.Popen([sys.executable, "-c", HEALS, json.dumps(failure)], env=environ) as healer:
        until(begun.exists)
        healer.send_signal(signal.SIGKILL)
    yield failure
    go.touch()  # whatever the test came to, nothing is left behind


def gits(repo: Repo) -> list[psutil.Process]:
    return [each for each in psutil.process_iter(["name", "cwd"]) if each.info["cwd"] == str(repo.path)]


def test_a_cut_heal_is_taken_back_only_when_its_git_has_ended(
    repo: Repo, tmp_path: Path, cut_short: dict[str, object]
) -> None:
    request = HealRequest(repo.path, "git", "dirty-tree", from_payload(cut_short))
    (backup,) = repo.git("for-each-ref", "--format=%(refname)", "refs/rerail/backup/").splitlines()
    before = photograph(repo.path)
    report = heal(request, built_in_recipes(), pace=QUICK)
    assert report.outcome == "retry"
    assert "still works here" in report.detail
    with pytest.raises(UndoRefusedError, match="still works here") as refused:
        undo(backup.split("/")[3], repo.path, pace=QUICK)
    assert refused.value.waits
    assert photograph(repo.path) == before, "nothing was touched beside it"

    (tmp_path / "go").touch()
    until(lambda: not gits(repo))
    report = heal(request, built_in_recipes(), pace=QUICK)
    assert report.outcome == "healed"
    assert report.backup is not None
    assert "which was cut short, was taken back first" in report.detail
    undo(report.backup, repo.path, pace=QUICK)
    assert repo.read("src/app.py") == "and edited\n"
    assert repo.git("show", ":src/app.py") == "staged"


def test_a_heal_or_undo_that_is_killed_after_its_end_was_written_down_has_ended(repo: Repo) -> None:
    """The note is removed last: it may be left over from what has come to its end, and can be taken back by an undo."""
    note = repo.git_dir / "rerail" / "open-heal.json"
    notes: list[bytes] = []

    def keep_note(_moment: str) -> None:
        notes.extend([note.read_bytes()] if note.exists() else [])

    command = in_the_way(repo)
    request = HealRequest(repo.path, "git", "dirty-tree", repo.fails(*command))
    healed = heal(request, built_in_recipes(), pace=QUICK, on_moment=keep_note)
    assert healed.backup is not None
    note.write_bytes(notes[-1])
    assert finish_cut_heal(probe(repo.path)) == ""
    assert repo.passes(*command), "it is as the heal left it"
    repo.git("checkout", "-q", "main")

    undo(healed.backup, repo.path, pace=QUICK, on_moment=keep_note)
    note.write_bytes(notes[-1])
    assert finish_cut_heal(probe(repo.path)) == ""
    assert repo.read("src/app.py") == "and edited\n"
    with pytest.raises(UndoRefusedError, match="gone back to already"):
        undo(healed.backup, repo.path, pace=QUICK)
