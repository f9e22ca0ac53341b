"""A heal that is killed, at every moment that it passes: every byte is still there, and the next heal puts it right."""

from __future__ import annotations

import json
import shutil
import signal
from typing import TYPE_CHECKING

import pytest
from tests.kill_cases import CASES, at_each_of, failed, in_the_way, killed_at
from tests.repositories import QUICK, Repo, built_in_recipes, lived_in, photograph

from rerail.evidence.payload import from_payload
from rerail.git.case import HealRequest
from rerail.git.heal import heal
from rerail.git.probe import probe
from rerail.git.recovery import finish_cut_heal

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path


KILLED = """
import json
from pathlib import Path
from rerail.evidence.payload import from_payload
from rerail.git.case import HealRequest, Pace
from rerail.git.heal import heal
from tests.repositories import built_in_recipes

class_, reason, failure = sys.argv[2], sys.argv[3], json.loads(sys.argv[4])
heal(
    HealRequest(Path(failure["cwd"]), class_, reason, from_payload(failure)),
    built_in_recipes(),
    pace=Pace(patience_s=0, watch_s=0.02),
    on_moment=at,
)
"""


@pytest.mark.slow
@pytest.mark.parametrize(("prepare", "named"), CASES, ids=[case[0].__name__ for case in CASES])
def test_a_kill_at_any_moment_costs_nothing(tmp_path: Path, prepare: Callable[[Repo], list[str]], named: str) -> None:
    repo = lived_in(tmp_path / "repo")
    command = prepare(repo)
    failure = failed(repo, command)
    before = photograph(repo.path)
    blobs = _contents(repo)
    kept = tmp_path / "kept"
    shutil.copytree(tmp_path / "repo", kept, symlinks=True)
    class_, _, reason = named.partition("/")
    request = HealRequest(repo.path, class_, reason, from_payload(failure))
    moments: list[str] = []
    assert heal(request, built_in_recipes(), pace=QUICK, on_moment=moments.append).outcome == "healed"
    assert moments[0] == "lease"
    assert moments[-1] == "done"

    for moment in at_each_of(moments, repo, kept, KILLED, class_, reason, json.dumps(failure)):
        assert blobs <= _reachable(repo), f"killed at {moment!r}: bytes are gone"
        if moment != "done":
            finish_cut_heal(probe(repo.path))
            assert photograph(repo.path) == before, f"killed at {moment!r}: not taken back exactly"
        assert heal(request, built_in_recipes(), pace=QUICK).outcome in {"healed", "retry"} or moment == "done"
        assert repo.passes(*command), f"killed at {moment!r}"


def test_work_that_went_on_after_a_kill_is_not_taken_back(tmp_path: Path) -> None:
    repo = lived_in(tmp_path / "repo")
    failure = failed(repo, in_the_way(repo))
    request = HealRequest(repo.path, "git", "dirty-tree", from_payload(failure))
    moments: list[str] = []
    copy = tmp_path / "copy"
    shutil.copytree(repo.path, copy, symlinks=True)
    heal(request, built_in_recipes(), pace=QUICK, on_moment=moments.append)
    shutil.rmtree(repo.path)
    shutil.copytree(copy, repo.path, symlinks=True)
    nth = moments.index("check") + 1
    assert killed_at(nth, KILLED, "git", "dirty-tree", json.dumps(failure)) == -signal.SIGKILL
    repo.write("src/app.py", "somebody has worked here since\n")
    note = finish_cut_heal(probe(repo.path))
    assert "work has gone on since" in note
    assert repo.read("src/app.py") == "somebody has worked here since\n"
    assert finish_cut_heal(probe(repo.path)) == "", "it is told once"


def _contents(repo: Repo) -> set[str]:
    """The blob of every file of the work tree and of every readable index entry."""
    files = [path for path in repo.path.rglob("*") if path.is_file() and ".git" not in path.parts]
    found = {repo.git("hash-object", "--no-filters", str(path), check=False) for path in files}
    if len(found) < 2:  # a broken HEAD: git hashes outside of the repository
        found = {Repo(repo.path.parent).git("hash-object", "--no-filters", str(path)) for path in files}
    rows = repo.git("ls-files", "-s", check=False).splitlines()
    return found | {row.split()[1] for row in rows}


def _reachable(repo: Repo) -> set[str]:
    """What the work tree still has, and what refs, reflogs and the index reach."""
    listing = repo.git("rev-list", "--objects", "--all", "--reflog", "--indexed-objects", check=False)
    if not listing:  # a broken HEAD or index: by refs alone
        stand_in = {"GIT_DIR": str(repo.path.parent / "stand-in")}
        shutil.rmtree(stand_in["GIT_DIR"], ignore_errors=True)
        Repo(repo.path.parent).git("init", "-q", "--bare", stand_in["GIT_DIR"])
        shutil.copytree(repo.path / ".git" / "objects", f"{stand_in['GIT_DIR']}/objects", dirs_exist_ok=True)
        shutil.copytree(repo.path / ".git" / "refs", f"{stand_in['GIT_DIR']}/refs", dirs_exist_ok=True)
        listing = Repo(repo.path.parent).git("rev-list", "--objects", "--all", env=stand_in)
    return _contents(repo) | {line.split()[0] for line in listing.splitlines()}
