"""The durable store under real processes: kills, contention, forks, one answer for two askers. Nothing here sleeps to pass."""

from __future__ import annotations

import os
import random
import signal
import sqlite3
import threading
from concurrent.futures import ThreadPoolExecutor
from subprocess import PIPE
from typing import TYPE_CHECKING

import pytest
from tests.ledgers import WIDE, charge, files, finished, in_phase, python
from tests.strategies import UNIT, classification

from rerail.budget.model import Balance
from rerail.decisions.model import Pause, Phase, Why
from rerail.ledger.owner import current_owner, is_alive
from rerail.ledger.sqlite import SqliteLedger
from rerail.ledger.store import UnitBusyError

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path
    from subprocess import Popen

BIG = WIDE._replace(charges=10**6)

PRELUDE = """
import sys
from rerail.budget.model import Charge, Window
from rerail.ledger.sqlite import SqliteLedger

def charge(attempt, *, run, budget, window_charges=1000):
    return Charge(run, "verify:tests", attempt, "provider", budget, Window(window_charges, 3600.0), 0.0)
"""

CHARGE_FOR_EVER = (
    PRELUDE
    + """
path, run = sys.argv[1:]
ledger = SqliteLedger(path)
attempt = 0
while True:
    attempt += 1
    if ledger.charge(charge(attempt, run=run, budget=10**6, window_charges=10**6)).granted:
        print(attempt, flush=True)
"""
)

CONTEND = (
    PRELUDE
    + """
path, run, tries, budget = sys.argv[1], sys.argv[2], int(sys.argv[3]), int(sys.argv[4])
ledger = SqliteLedger(path)
print("ready", flush=True)
sys.stdin.read()
granted = sum(ledger.charge(charge(n, run=run, budget=budget)).granted for n in range(1, tries + 1))
print(granted, flush=True)
"""
)

ANSWER = (
    PRELUDE
    + """
from rerail.decisions.model import Answer
from rerail.ledger.store import AlreadyAnsweredError
path, pause, word = sys.argv[1:]
ledger = SqliteLedger(path)
print("ready", flush=True)
sys.stdin.read()
try:
    print(ledger.answer(pause, Answer(word), note="", at_s=1.0).answer, flush=True)
except AlreadyAnsweredError:
    print("too late", flush=True)
"""
)

RUN_A_UNIT = (
    PRELUDE
    + """
from rerail.decisions.model import Effects, Phase, RunState
from rerail.ledger.owner import current_owner, is_alive
ledger = SqliteLedger(sys.argv[1])
state = RunState("run-1", "verify:tests", 0.0, Effects.NONE, Phase.RUNNING, attempt=1)
ledger.begin(state, current_owner(), alive=is_alive)
print("running", flush=True)
sys.stdin.read()
"""
)


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "state" / "ledger.sqlite3"


@pytest.fixture
def ledger(path: Path) -> Iterator[SqliteLedger]:
    opened = SqliteLedger(path)
    yield opened
    opened.close()


def line(process: Popen[str]) -> str:
    assert process.stdout is not None
    return process.stdout.readline().strip()


def together(processes: list[Popen[str]]) -> list[str]:
    """Let processes go at once that wait for the end of their input; return the last line of each."""
    assert [line(process) for process in processes] == ["ready"] * len(processes)
    for process in processes:
        assert process.stdin is not None
        process.stdin.close()
        process.stdin = None
    return [finished(process).strip() for process in processes]


@pytest.mark.parametrize("seed", range(6))
def test_a_kill_loses_no_charge_and_grants_none_twice(path: Path, ledger: SqliteLedger, seed: int) -> None:
    """What was printed was granted; after the kill all of it is there, and at most the one that was not printed yet."""
    granted: set[tuple[str, int]] = set()
    for life in range(4):
        run = f"run-{life}"
        process = python(CHARGE_FOR_EVER, path, run)
        printed = [int(line(process)) for _ in range(random.Random(seed * 10 + life).randint(1, 40))]
        process.kill()
        assert process.stdout is not None
        printed += [int(number) for number in process.stdout.read().split()]
        process.communicate()
        assert printed == list(range(1, len(printed) + 1))
        granted |= {(run, attempt) for attempt in printed}

        with sqlite3.connect(path) as connection:
            stored = set(connection.execute("SELECT run, attempt FROM charges"))
        connection.close()
        assert granted <= stored
        granted_but_unsaid = stored - granted
        assert len(granted_but_unsaid) <= 1
        assert ledger.balances() == (Balance(UNIT, "provider", 10**6, len(stored)),)
        granted = stored


def test_processes_that_contend_are_granted_exactly_the_budget(path: Path) -> None:
    """Eight processes, 320 tries, no ledger there before them."""
    processes = [python(CONTEND, path, f"run-{n}", 40, 100, stdin=PIPE) for n in range(8)]
    assert sum(map(int, together(processes))) == 100
    ledger = SqliteLedger(path)
    assert ledger.balances() == (Balance(UNIT, "provider", 100, 100),)
    ledger.close()
    assert [name for name in files(path.parent) if name != path.name] == []


def test_threads_of_processes_that_contend_are_granted_exactly_the_budget(path: Path, ledger: SqliteLedger) -> None:
    processes = [python(CONTEND, path, f"run-{n}", 40, 100, stdin=PIPE) for n in range(2)]
    own: list[int] = []

    def tries(thread: int) -> int:
        return sum(ledger.charge(charge(n, run=f"thread-{thread}", budget=100)).granted for n in range(1, 41))

    def contend() -> None:
        with ThreadPoolExecutor(6) as pool:
            own.extend(pool.map(tries, range(6)))

    here = threading.Thread(target=contend)
    here.start()
    theirs = together(processes)
    here.join()
    assert sum(own) + sum(map(int, theirs)) == 100


def test_two_processes_that_answer_at_once_give_one_answer(path: Path, ledger: SqliteLedger) -> None:
    paused = in_phase(Phase.PAUSED, last=classification("deterministic-policy/hook-denied"))
    for answers in range(1, 4):
        asked = ledger.finish(paused, Pause(Why.CLASS), record=None, at_s=0.0)
        assert asked is not None
        said = together([python(ANSWER, path, asked, word, stdin=PIPE) for word in ("retry", "abort")])
        assert sorted(said) in (["abort", "too late"], ["retry", "too late"])
        assert ledger.pause(asked).answer == min(said)
        assert [event.name for event in ledger.events()].count("pause.answered") == answers


def test_a_unit_is_busy_until_the_process_that_runs_it_is_killed(path: Path, ledger: SqliteLedger) -> None:
    process = python(RUN_A_UNIT, path, stdin=PIPE)
    assert line(process) == "running"
    mine = in_phase(Phase.RUNNING, run="mine")
    assert ledger.standing(UNIT) is None
    with pytest.raises(UnitBusyError, match=f"process {process.pid}"):
        ledger.begin(mine, current_owner(), alive=is_alive)

    process.kill()
    # Not collected yet: a zombie, which is as dead as can be.
    os.waitid(os.P_PID, process.pid, os.WEXITED | os.WNOWAIT)
    standing = ledger.standing(UNIT)
    assert standing is not None
    assert standing.state == in_phase(Phase.RUNNING)
    ledger.begin(mine, current_owner(), alive=is_alive)
    process.communicate()


@pytest.mark.filterwarnings("ignore:This process .* is multi-threaded:DeprecationWarning")  # the very case under test
def test_a_forked_child_and_its_parent_both_spend(path: Path, ledger: SqliteLedger) -> None:
    """Other threads are mid-charge when the process forks; neither side loses a charge or waits for ever."""
    stop = threading.Event()
    own: list[int] = []

    def keep_charging(thread: int) -> None:
        attempt = 0
        while not stop.is_set():
            attempt += 1
            ledger.charge(charge(attempt, run=f"thread-{thread}", budget=10**6, window=BIG))
        own.append(attempt)

    threads = [threading.Thread(target=keep_charging, args=(n,)) for n in range(2)]
    for thread in threads:
        thread.start()
    children = 0
    for child in range(10):
        pid = os.fork()
        if pid == 0:  # nothing of the test framework may run in the child
            granted = all(
                ledger.charge(charge(n, run=f"child-{child}", budget=10**6, window=BIG)).granted for n in (1, 2)
            )
            os._exit(0 if granted else 1)
        _, status = os.waitpid(pid, 0)
        assert status == 0
        children += 2
    stop.set()
    for thread in threads:
        thread.join()
    assert ledger.balances() == (Balance(UNIT, "provider", 10**6, sum(own) + children),)


def test_a_process_that_ends_by_a_signal_leaves_the_database_whole(path: Path) -> None:
    process = python(CHARGE_FOR_EVER, path, "r")
    assert line(process) == "1"
    process.send_signal(signal.SIGTERM)
    process.communicate()
    with sqlite3.connect(path) as connection:
        assert connection.execute("PRAGMA integrity_check").fetchone() == ("ok",)
    connection.close()


FINISH_AND_DIE = (
    PRELUDE
    + """
import os, signal
from rerail.decisions.model import Effects, Pause, Phase, RunState, Why
path, operations = sys.argv[1], int(sys.argv[2])
ledger = SqliteLedger(path)
ledger.balances()
ledger._database._connection.set_progress_handler(lambda: os.kill(os.getpid(), signal.SIGKILL), operations)
state = RunState("run-1", "verify:tests", 0.0, Effects.NONE, Phase.PAUSED, attempt=1)
ledger.finish(state, Pause(Why.CLASS), record=None, at_s=1.0)
print("finished")
"""
)


def test_a_kill_in_the_middle_of_an_end_leaves_all_of_it_or_nothing(path: Path, ledger: SqliteLedger) -> None:
    """The kill falls after every so many steps of SQLite's machine, until the end is reached."""
    running = in_phase(Phase.RUNNING)
    ledger.begin(running, current_owner(), alive=is_alive)
    ledger.charge(charge(1))
    kills = 0
    for operations in (1, *range(10, 400, 15)):
        process = python(FINISH_AND_DIE, path, operations)
        process.communicate()
        if process.returncode == 0:
            break
        assert process.returncode == -signal.SIGKILL
        kills += 1
        assert ledger.pauses() == ()
        assert list(ledger.events()) == []
        with sqlite3.connect(path) as connection:
            assert connection.execute("SELECT phase, pause FROM units").fetchall() == [("running", None)]
        connection.close()
    assert kills > 5
    standing = ledger.standing(UNIT)
    assert standing is not None
    assert standing.pause is not None
    assert [event.name for event in ledger.events()] == ["unit.finished"]
