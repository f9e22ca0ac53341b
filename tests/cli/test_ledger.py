"""``rerail ledger``: what is exported, and a unit that is let go of on the operator's word."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from typing import TYPE_CHECKING

from tests.ledgers import in_phase

from rerail.decisions.model import Phase
from rerail.ids import UnitName
from rerail.ledger.owner import current_owner
from rerail.ledger.sqlite import SqliteLedger

if TYPE_CHECKING:
    from pathlib import Path

    from tests.cli.conftest import Rerail

PYTHON = sys.executable
DENIED = ("sh", "-c", "echo 'HTTP 401 Unauthorized' >&2; exit 1")


def test_the_export_is_one_object_a_line_with_all_that_is_known(rerail: Rerail) -> None:
    rerail("run", "--unit", "u", "--", *DENIED)
    done = rerail("ledger", "export")
    records = [json.loads(line) for line in done.out.splitlines()]
    assert (done.code, done.err) == (0, b"")
    assert [each["kind"] for each in records] == ["ledger", "event", "event", "pause"]
    assert records[0]["schema_version"] == 1
    assert records[1]["fields"]["classification"]["class"] == "deterministic-policy"
    assert records[3]["command"] == list(DENIED)


def test_an_export_whose_reader_leaves_ends_quietly(project: Path, environ: dict[str, str], rerail: Rerail) -> None:
    rerail("run", "--unit", "u", "--", *DENIED)
    reader, writer = os.pipe()
    os.close(reader)
    done = subprocess.run(
        [PYTHON, "-m", "rerail", "ledger", "export"],
        cwd=project,
        env=environ,
        stdout=writer,
        stderr=subprocess.PIPE,
        timeout=60,
    )
    os.close(writer)
    assert (done.returncode, done.stderr) == (0, b"")


def test_a_unit_whose_host_vanished_runs_again_once_the_operator_lets_go_of_it(tmp_path: Path, rerail: Rerail) -> None:
    path = tmp_path / "shared.sqlite3"
    ledger = SqliteLedger(path)
    elsewhere = current_owner()._replace(host="a-host-that-is-gone")
    ledger.begin(in_phase(Phase.RUNNING, unit="u"), elsewhere, alive=lambda owner: True)
    ledger.close()
    env = {"RERAIL_LEDGER": str(path)}
    busy = rerail("run", "--json", "--unit", "u", "--", "true", env=env)
    assert (busy.code, busy.envelope["error"]) == (75, "unit-busy")
    released = rerail("ledger", "release", "u", "--json", env=env)
    assert released.envelope["data"]["host"] == "a-host-that-is-gone"
    parked = rerail("run", "--json", "--unit", "u", "--", "true", env=env)
    assert parked.envelope["data"]["failures"][0]["reason"] == "host-gone"


def test_a_unit_that_is_being_run_here_is_not_let_go_of(tmp_path: Path, rerail: Rerail) -> None:
    path = tmp_path / "ledger.sqlite3"
    ledger = SqliteLedger(path)
    ledger.begin(in_phase(Phase.RUNNING, unit="u"), current_owner(), alive=lambda owner: True)
    done = rerail("ledger", "release", "u", "--json", env={"RERAIL_LEDGER": str(path)})
    assert (done.code, done.envelope["error"]) == (75, "unit-busy")
    assert ledger.standing(UnitName("u")) is None
    ledger.close()


def test_letting_go_of_what_nobody_holds_says_so(rerail: Rerail) -> None:
    rerail("run", "--unit", "u", "--", *DENIED)
    assert rerail("ledger", "release", "u", "--json").envelope["error"] == "usage"
    assert rerail("ledger", "release", "nobody", "--json").envelope["error"] == "unknown-name"
