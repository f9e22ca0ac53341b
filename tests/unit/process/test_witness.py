from __future__ import annotations

import os
import signal

import psutil
import pytest

from rerail.process.witness import GroupWitness


@pytest.fixture
def witness() -> GroupWitness:
    return GroupWitness()


def the_process_of(witness: GroupWitness) -> psutil.Process:
    assert witness._cat is not None
    return psutil.Process(witness._cat.pid)


def test_a_witness_that_lives_saw_nothing(witness: GroupWitness) -> None:
    assert [witness.was_hit(), witness.was_hit()] == [False, False]
    witness.close()


@pytest.mark.parametrize("name", ["SIGINT", "SIGTERM", "SIGHUP"])
def test_a_witness_tells_of_each_hit_once(witness: GroupWitness, name: str) -> None:
    for _ in range(20):
        # Right after the signal, without any pause: that is how close the question can come.
        os.kill(the_process_of(witness).pid, signal.Signals[name])
        assert witness.was_hit() is True
        assert witness.was_hit() is False
    witness.close()


@pytest.mark.parametrize("name", ["SIGKILL", "SIGSTOP"])
def test_what_happens_to_the_witness_alone_is_no_hit(witness: GroupWitness, name: str) -> None:
    os.kill(the_process_of(witness).pid, signal.Signals[name])
    assert witness.was_hit() is False
    os.kill(the_process_of(witness).pid, signal.SIGTERM)
    assert witness.was_hit() is True
    witness.close()


def test_without_a_witness_nobody_can_tell(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(os, "defpath", "/nowhere")
    witness = GroupWitness()
    assert witness.was_hit() is None
    witness.close()


def test_a_witness_leaves_nothing_behind(witness: GroupWitness) -> None:
    process, open_before = the_process_of(witness), psutil.Process().num_fds()
    witness.close()
    assert not process.is_running()
    assert psutil.Process().num_fds() == open_before - 2
