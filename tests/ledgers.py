"""What ledger tests share: owners that live or not as told, charges in a line, strategies for stored values, real processes."""

from __future__ import annotations

import os
import subprocess
import sys
from typing import TYPE_CHECKING, Any

from hypothesis import strategies as st
from tests.strategies import RUN, UNIT

from rerail.budget.model import Balance, Charge, Window
from rerail.decisions.effects import FailureRecord
from rerail.decisions.model import (
    Again,
    Effects,
    HandBack,
    Heal,
    Pause,
    Phase,
    Probe,
    Proceed,
    Repair,
    Retry,
    RunState,
    Stop,
    Why,
)
from rerail.evidence.model import Evidence, Segment, Source, Stream, StreamName
from rerail.ids import Fingerprint, RuleSlug, RunId, UnitName
from rerail.ledger.store import Owner
from rerail.rules.model import Candidate, Citation, Classification, Trust
from rerail.taxonomy import Action

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

WIDE = Window(charges=1000, length_s=3600.0)

ME = Owner(100, "start-1", "boot-1", "here")
OTHER = Owner(200, "start-2", "boot-1", "here")


class Living(set[Owner]):
    """The processes that live now; tests kill them by removing them."""

    def __call__(self, owner: Owner) -> bool:
        return owner in self


def charge(
    attempt: int = 1,
    *,
    class_: str = "provider",
    budget: int = 5,
    run: str = RUN,
    unit: str = UNIT,
    window: Window = WIDE,
    at_s: float = 0.0,
) -> Charge:
    return Charge(RunId(run), UnitName(unit), attempt, class_, budget, window, at_s)


def in_phase(phase: Phase, *, run: str = RUN, unit: str = UNIT, attempt: int = 1, **fields: Any) -> RunState:
    return RunState(
        RunId(run), UnitName(unit), started_at_s=0.0, effects=Effects.NONE, phase=phase, attempt=attempt, **fields
    )


def python(code: str, *arguments: object, **options: Any) -> subprocess.Popen[str]:
    """Start a Python process of its own."""
    return subprocess.Popen(
        [sys.executable, "-c", code, *map(str, arguments)],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        **options,
    )


def finished(process: subprocess.Popen[str], *, timeout_s: float = 60.0) -> str:
    """Wait for a process that must end well; return what it printed."""
    out, err = process.communicate(timeout=timeout_s)
    assert process.returncode == 0, err
    return out


def without_rights(function: Callable[[], str], *, uid: int = 65534) -> str:
    """Return what *function* says in a process of a user without rights: root has all of them."""
    # Read before the rights to read them are gone.
    import hashlib

    import platformdirs.unix
    import psutil

    from rerail.ledger import creation

    del hashlib, platformdirs, psutil, creation
    reader, writer = os.pipe()
    pid = os.fork()
    if pid == 0:
        try:
            if os.geteuid() == 0:
                os.setgroups([])
                os.setgid(uid)
                os.setuid(uid)
            os.write(writer, function().encode())
        except BaseException as error:
            os.write(writer, repr(error).encode())
        finally:
            os._exit(0)
    os.close(writer)
    with os.fdopen(reader, encoding="utf-8") as pipe:
        said = pipe.read()
    os.waitpid(pid, 0)
    return said


def files(directory: Path) -> dict[str, bytes]:
    """Every file below a directory with its bytes, to show that nothing was touched."""
    return {str(path.relative_to(directory)): path.read_bytes() for path in directory.rglob("*") if path.is_file()}


# -- strategies

texts = st.text(st.characters(exclude_categories=()), max_size=20)
"""Any text, lone surrogates, NUL and escape codes included: paths and output are not always UTF-8."""
numbers = st.floats(allow_nan=False, allow_infinity=False)
counts = st.integers(0, 10**6)
citations = st.builds(Citation, texts, counts, texts)
classifications = st.builds(
    Classification,
    class_=texts,
    reason=texts,
    rule=texts.map(RuleSlug),
    summary=texts,
    evidence=st.lists(citations, max_size=3).map(tuple),
    action=st.sampled_from(Action),
    retry_after_s=st.none() | numbers,
    resets_at=st.none() | numbers,
    may_have_landed=st.booleans(),
    trace=st.lists(
        st.builds(
            Candidate,
            rule=texts.map(RuleSlug),
            class_=texts,
            reason=texts,
            trust=st.sampled_from(Trust),
            evidence=st.lists(citations, max_size=2).map(tuple),
            verdict=texts,
        ),
        max_size=2,
    ).map(tuple),
)
fingerprints = st.frozensets(texts.map(Fingerprint), max_size=3)
states = st.builds(
    RunState,
    run=texts.map(RunId),
    unit=texts.map(UnitName),
    started_at_s=numbers,
    effects=st.sampled_from(Effects),
    phase=st.sampled_from(Phase),
    attempt=counts,
    failures=st.lists(texts, max_size=3).map(tuple),
    waited_s=numbers,
    rejected=fingerprints,
    seen=fingerprints,
    last=st.none() | classifications,
)
whys = st.sampled_from(Why)
decisions = st.one_of(
    st.builds(Retry, numbers),
    st.builds(Pause, whys, st.none() | numbers),
    st.builds(Stop, whys),
    st.builds(Proceed, st.booleans()),
    st.sampled_from([Repair(), Heal(), Probe(), HandBack(), Again()]),
)
balances = st.builds(Balance, texts.map(UnitName), texts, counts, counts)
records = st.builds(
    FailureRecord,
    run=texts.map(RunId),
    unit=texts.map(UnitName),
    attempt=counts,
    at_s=numbers,
    evidence=st.sampled_from(
        [
            Evidence(Source.PROCESS),  # as of a host that is gone
            Evidence(Source.PROCESS, command=("make", "test"), exit_code=2, cwd="/w", duration_s=0.5),
            Evidence(Source.TEXT, streams=(Stream(StreamName.STDERR, (Segment(1, "a"), Segment(90, "z")), 99, 4096),)),
        ]
    ),
    classification=classifications,
    decision=decisions,
    plan=texts,
    balance=st.none() | balances,
)
