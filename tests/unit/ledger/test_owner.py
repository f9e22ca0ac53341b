"""A process is told apart from a later one with its pid, from one of an earlier boot, and from a corpse."""

from __future__ import annotations

import json
import os
import signal
from typing import TYPE_CHECKING, Any

import pytest
from tests.ledgers import finished, python

from rerail.ledger import owner as owner_module
from rerail.ledger.owner import current_owner, is_alive
from rerail.ledger.store import Owner

if TYPE_CHECKING:
    from collections.abc import Iterator
    from subprocess import Popen

TELL_AND_WAIT = """
import json, sys
from rerail.ledger.owner import current_owner
print(json.dumps(current_owner()), flush=True)
sys.stdin.read()
"""


@pytest.fixture
def process() -> Iterator[Popen[str]]:
    started = python(TELL_AND_WAIT, stdin=-1)
    yield started
    started.kill()
    started.communicate()


def told(process: Popen[str]) -> Owner:
    assert process.stdout is not None
    return Owner(*json.loads(process.stdout.readline()))


def test_this_process_is_itself_and_alive() -> None:
    assert current_owner() == current_owner()
    assert current_owner().pid == os.getpid()
    assert all(current_owner())
    assert is_alive(current_owner())


def test_another_process_is_alive_until_it_is_killed(process: Popen[str]) -> None:
    other = told(process)
    assert other != current_owner()
    assert other[2:] == current_owner()[2:]
    assert is_alive(other)

    os.kill(process.pid, signal.SIGKILL)
    os.waitid(os.P_PID, process.pid, os.WEXITED | os.WNOWAIT)
    assert not is_alive(other), "a zombie is not alive"
    process.wait()
    assert not is_alive(other)


def test_a_stopped_process_is_alive(process: Popen[str]) -> None:
    other = told(process)
    os.kill(process.pid, signal.SIGSTOP)
    os.waitid(os.P_PID, process.pid, os.WSTOPPED | os.WNOWAIT)
    assert is_alive(other)


@pytest.mark.parametrize("change", [{"started": "1"}, {"boot": "an earlier one"}, {"pid": 2**22 + 1}])
def test_the_same_pid_at_another_time_is_somebody_else(change: dict[str, Any]) -> None:
    assert not is_alive(current_owner()._replace(**change))


def test_a_process_of_another_host_cannot_be_seen_and_counts_as_alive() -> None:
    assert is_alive(current_owner()._replace(host="elsewhere", boot="theirs", started="1"))


def test_a_process_whose_start_was_hidden_counts_as_alive() -> None:
    assert is_alive(current_owner()._replace(started="", pid=2**22 + 1))


def test_a_name_with_parentheses_and_blanks_hides_nothing() -> None:
    code = """
import ctypes
ctypes.CDLL(None).prctl(15, b") Z 1 (x) 9", 0, 0, 0)
from rerail.ledger.owner import current_owner, is_alive
assert is_alive(current_owner())
print(current_owner().started.isdigit())
"""
    assert finished(python(code)) == "True\n"


def test_a_forked_child_is_another_owner() -> None:
    parent = current_owner()
    reader, writer = os.pipe()
    pid = os.fork()
    if pid == 0:
        os.write(writer, b"other" if current_owner() != parent and is_alive(parent) else b"same")
        os._exit(0)
    os.waitpid(pid, 0)
    assert os.read(reader, 10) == b"other"
    os.close(reader)
    os.close(writer)


def test_where_nothing_can_be_seen_everybody_may_be_alive(monkeypatch: pytest.MonkeyPatch) -> None:
    def hidden() -> str:
        raise PermissionError

    other = current_owner()._replace(pid=2**22 + 1)
    monkeypatch.setattr(owner_module, "_boot", hidden)
    monkeypatch.setattr(owner_module, "_current", None)
    assert current_owner().started == ""
    assert is_alive(other)
