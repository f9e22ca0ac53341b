"""``rerail check``: the five lines, and who holds the worktree."""

from __future__ import annotations

import subprocess
import sys
from typing import TYPE_CHECKING, Any

import pytest

from rerail.decisions.model import Phase, RunState
from rerail.ids import RunId, UnitName
from rerail.ledger.owner import current_owner, is_alive
from rerail.ledger.sqlite import SqliteLedger
from rerail.paths import worktree_key

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

    from tests.repositories import Repo

    from rerail.ledger.store import Owner

    Rerail = Callable[..., Any]


@pytest.fixture
def take(repo: Repo, tmp_path: Path, environ: dict[str, str]) -> Iterator[Callable[[Owner], None]]:
    """Take the lease of unit "agent" as an owner."""
    environ["RERAIL_LEDGER"] = str(tmp_path / "ledger.sqlite3")
    ledger = SqliteLedger(tmp_path / "ledger.sqlite3")
    state = RunState(RunId("r1"), UnitName("agent"), started_at_s=1.0, phase=Phase.RUNNING, attempt=1)
    yield lambda owner: ledger.begin(state, owner, alive=is_alive, root=worktree_key(repo.path))
    ledger.close()


def lines(rerail: Rerail, repo: Repo) -> dict[str, tuple[str, str]]:
    rows = rerail("check", "--json", cwd=repo.path).envelope["data"]["lines"]
    return {row["name"]: (row["verdict"], row["detail"]) for row in rows}


def test_five_lines_are_resolved(rerail: Rerail, repo: Repo) -> None:
    done = rerail("check", cwd=repo.path)
    assert done.code == 0
    assert done.text.splitlines()[0] == "worktree-safety (resolved):"
    assert list(lines(rerail, repo)) == ["root", ".git", "registration", "branch", "lease"]


def test_a_lease_of_another_living_process_fails_and_names_it(
    rerail: Rerail, repo: Repo, take: Callable[[Owner], None]
) -> None:
    other = subprocess.Popen([sys.executable, "-c", "input()"], stdin=subprocess.PIPE)
    try:
        here = current_owner()
        with open(f"/proc/{other.pid}/stat", "rb") as stat:  # noqa: PTH123  its start time, as the ledger reads it
            started = stat.read().rpartition(b")")[2].split()[19].decode()
        take(here._replace(pid=other.pid, started=started))
        done = rerail("check", cwd=repo.path)
        assert done.code != 0
        verdict, detail = lines(rerail, repo)["lease"]
    finally:
        other.communicate(b"\n")
    assert verdict == "FAIL"
    assert f"unit agent, run r1, process {other.pid}" in detail
    assert lines(rerail, repo)["lease"][0] == "ok", "its holder is gone"


def test_an_agent_that_checks_from_within_its_unit_holds_the_lease_itself(
    rerail: Rerail, repo: Repo, take: Callable[[Owner], None]
) -> None:
    take(current_owner())  # of the process that starts the command
    verdict, detail = lines(rerail, repo)["lease"]
    assert (verdict, detail.partition(":")[0]) == ("ok", "held by this run")
