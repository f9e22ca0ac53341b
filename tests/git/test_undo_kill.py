"""An undo of every kind of heal, killed at every moment that it passes: it is taken back whole, and then it goes through."""

from __future__ import annotations

import shutil
from typing import TYPE_CHECKING

import pytest
from tests.kill_cases import CASES, at_each_of, failed
from tests.repositories import QUICK, Repo, built_in_recipes, lived_in, photograph

from rerail.evidence.payload import from_payload
from rerail.git.case import HealRequest
from rerail.git.heal import heal
from rerail.git.probe import probe
from rerail.git.recovery import finish_cut_heal
from rerail.git.undo import undo

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

KILLED = """
from pathlib import Path
from rerail.git.case import Pace
from rerail.git.undo import undo

undo(sys.argv[2], Path(sys.argv[3]), pace=Pace(patience_s=0, watch_s=0.02), on_moment=at)
"""


def without_logs(repo: Repo) -> dict[str, tuple[int, bytes]]:
    """An undo is a step forward: reflogs grow."""
    return {path: facts for path, facts in photograph(repo.path).items() if not path.startswith(".git/logs/")}


@pytest.mark.slow
@pytest.mark.parametrize(("prepare", "named"), CASES, ids=[case[0].__name__ for case in CASES])
def test_an_undo_goes_through_or_is_taken_back(
    tmp_path: Path, prepare: Callable[[Repo], list[str]], named: str
) -> None:
    repo = lived_in(tmp_path / "repo")
    command = prepare(repo)
    failure = failed(repo, command)
    before = without_logs(repo)
    class_, _, reason = named.partition("/")
    report = heal(HealRequest(repo.path, class_, reason, from_payload(failure)), built_in_recipes(), pace=QUICK)
    assert report.backup is not None
    healed, healed_whole = without_logs(repo), photograph(repo.path)
    kept = tmp_path / "kept"
    shutil.copytree(repo.path, kept, symlinks=True)

    moments: list[str] = []
    undone = undo(report.backup, repo.path, pace=QUICK, on_moment=moments.append)
    assert without_logs(repo) == before
    assert undone.recipe == report.recipe
    assert moments[0] == "lease"
    assert moments[-1] == "done"
    undo(undone.backup, repo.path, pace=QUICK)
    assert without_logs(repo) == healed, "an undo can be taken back"

    for moment in at_each_of(moments, repo, kept, KILLED, report.backup, str(repo.path)):
        if moment != "done":
            finish_cut_heal(probe(repo.path))
            assert photograph(repo.path) == healed_whole, f"killed at {moment!r}: not taken back exactly"
            undo(report.backup, repo.path, pace=QUICK)
        assert without_logs(repo) == before, f"killed at {moment!r}"
