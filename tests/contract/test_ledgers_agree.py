"""Over any sequence of calls all stores say the same: their answers, their errors and all that can be read afterwards."""

from __future__ import annotations

import shutil
import tempfile
from operator import methodcaller
from pathlib import Path
from typing import TYPE_CHECKING, Any

from hypothesis import HealthCheck, settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, rule
from tests.ledgers import ME, OTHER, Living, in_phase
from tests.strategies import classification, record

from rerail.budget.model import Charge, Window
from rerail.decisions.model import Answer, Ending, HandBack, Pause, Phase, Proceed, Retry, RunState, Stop, Why
from rerail.errors import RerailError
from rerail.ids import EventId, PauseId, RunId, UnitName
from rerail.ledger.memory import MemoryLedger
from rerail.ledger.sqlite import SqliteLedger
from rerail.ledger.store import Refusal

if TYPE_CHECKING:
    from collections.abc import Callable

    from rerail.ledger.store import Ledger

units = st.sampled_from([UnitName("a"), UnitName("b\n\udcff")])
runs = st.sampled_from([RunId("r1"), RunId("r2")])
times = st.sampled_from([0.0, 10.0, 10.5, 99.0, 1e9])
windows = st.sampled_from([Window(2, 10.0), Window(3, 1e6)])
roots = st.sampled_from(["/w", '"/w"'])
states = st.builds(
    in_phase,
    st.sampled_from(Phase),
    run=runs,
    unit=units,
    attempt=st.integers(1, 3),
    last=st.none() | st.just(classification()),
    seen=st.sampled_from([frozenset(), frozenset({"f1", "f2"})]),
)
ENDINGS: dict[Phase, Ending] = {
    Phase.SUCCEEDED: Proceed(),
    Phase.HANDED_BACK: HandBack(),
    Phase.STOPPED: Stop(Why.CLASS),
    Phase.CANCELLED: Stop(Why.ABORTED),
    Phase.PROBING: Stop(Why.ABORTED),
}


class Ledgers(RuleBasedStateMachine):
    """Drives every store alike."""

    @initialize()
    def open_all(self) -> None:
        self.directory = Path(tempfile.mkdtemp())
        self.living = Living({ME})
        self.memory = MemoryLedger(owner=lambda: ME, alive=self.living)
        self.sqlite = SqliteLedger(self.directory / "ledger.sqlite3", owner=lambda: ME, alive=self.living)
        self.asked = [PauseId("p0")]

    def teardown(self) -> None:
        if hasattr(self, "sqlite"):
            self.sqlite.close()
            shutil.rmtree(self.directory)

    def both(self, call: Callable[[Ledger], Any]) -> Any:
        said = [_said(call, ledger) for ledger in (self.memory, self.sqlite)]
        assert said[0] == said[1]
        return said[0]

    @rule(owner=st.sampled_from([ME, OTHER]))
    def dies_or_comes_back(self, owner: Any) -> None:
        self.living ^= {owner}

    @rule(
        run=runs,
        unit=units,
        attempt=st.integers(1, 4),
        class_=st.sampled_from(["provider", "git"]),
        budget=st.integers(0, 3),
        window=windows,
        at_s=times,
    )
    def charge(self, **asked: Any) -> None:
        self.both(lambda ledger: ledger.charge(Charge(**asked)))

    @rule(state=states, owner=st.sampled_from([ME, OTHER]), root=st.just("") | roots)
    def begin(self, state: RunState, owner: Any, root: str) -> None:
        self.both(lambda ledger: ledger.begin(state, owner, alive=self.living, root=root))

    @rule(state=states, reason=st.sampled_from(["provider/timeout", "unclassified/no-evidence"]), at_s=times)
    def record(self, state: RunState, reason: str, at_s: float) -> None:
        failure = record(Retry(1.0), reason)._replace(run=state.run, unit=state.unit, at_s=at_s)
        self.both(lambda ledger: ledger.record(failure, state))

    @rule(state=states, at_s=times, resume_at_s=st.none() | times)
    def finish(self, state: RunState, at_s: float, resume_at_s: float | None) -> None:
        decision: Ending | None = ENDINGS.get(state.phase)
        if decision is None:
            state, decision = state._replace(phase=Phase.PAUSED), Pause(Why.CLASS, resume_at_s)
        asked = self.both(
            lambda ledger: ledger.finish(state, decision, record=None, at_s=at_s, command=("x", "\udcff"), cwd="/w")
        )
        if isinstance(asked, str):  # neither None nor what both refused it with
            self.asked.append(PauseId(asked))

    @rule(data=st.data(), answer=st.sampled_from(Answer), at_s=times)
    def answer(self, data: st.DataObject, answer: Answer, at_s: float) -> None:
        pause = data.draw(st.sampled_from(self.asked))
        self.both(lambda ledger: ledger.answer(pause, answer, note="so\nbe it", at_s=at_s))

    @rule(unit=units, run=runs)
    def append(self, unit: UnitName, run: RunId) -> None:
        self.both(
            lambda ledger: ledger.append("heal.finished", run=run, unit=unit, attempt=1, at_s=1.0, fields={"n": (1,)})
        )

    @rule(root=roots, since_s=times)
    def refuse(self, root: str, since_s: float) -> None:
        self.both(lambda ledger: ledger.refuse(Refusal(root, since_s, "broken", "")))

    @rule(root=roots)
    def readmit(self, root: str) -> None:
        self.both(lambda ledger: ledger.readmit(root))

    @rule()
    def the_process_ends_and_another_goes_on(self) -> None:
        self.sqlite.close()
        self.sqlite = SqliteLedger(self.directory / "ledger.sqlite3", owner=lambda: ME, alive=self.living)

    @invariant()
    def all_that_can_be_read_is_the_same(self) -> None:
        if not hasattr(self, "sqlite"):
            return
        for read in READS:
            self.both(read)
        self.both(lambda ledger: [_said(methodcaller("pause", asked), ledger) for asked in self.asked])


READS: list[Callable[[Ledger], Any]] = [
    lambda ledger: ledger.standing(UnitName("a")),
    lambda ledger: ledger.standing(UnitName("b\n\udcff")),
    lambda ledger: ledger.balances(),
    lambda ledger: ledger.balances(UnitName("a")),
    lambda ledger: list(ledger.events()),
    lambda ledger: list(ledger.events(unit=UnitName("a"), run=RunId("r1"), after=EventId(2))),
    lambda ledger: ledger.event(EventId(3)),
    lambda ledger: ledger.pauses(),
    lambda ledger: ledger.pauses(include_answered=True),
    lambda ledger: ledger.gaps(),
    lambda ledger: ledger.refusal("/w"),
    lambda ledger: ledger.leases("/w"),
    lambda ledger: ledger.refusal('"/w"'),
]


def _said(call: Callable[[Ledger], Any], ledger: Ledger) -> Any:
    try:
        return call(ledger)
    except RerailError as error:
        return type(error), error.message, error.hint


TestLedgersAgree = Ledgers.TestCase
TestLedgersAgree.settings = settings(
    max_examples=30, stateful_step_count=25, deadline=None, suppress_health_check=list(HealthCheck)
)
