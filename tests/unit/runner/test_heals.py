"""Heals on the one-way path: looked at before they are charged, charged before they act, and never a success by themselves."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, Any

import attrs
import pytest
from tests.loops import Named, Script, named_loop

from rerail import Effects, Loop, Paused, Stopped, StoppedError, Succeeded, Unit
from rerail.boundary.block import render_block
from rerail.decisions.model import Heal, Pause, Why
from rerail.git.report import HealPlan, HealReport

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from rerail.evidence.model import Evidence
    from rerail.rules.model import Classification

UNIT = Unit("unit", effects=Effects.NONE)
DETAIL = "src/app.py conflicts, and is written by hand"


class Healer:
    """A healer whose plans and heals come to what the test says, and that sees what was charged when it was asked."""

    def __init__(self, outcome: str, *, begins: bool) -> None:
        self.loop: Loop | None = None
        self._outcome, self._begins = outcome, begins
        self.spent_at: dict[str, list[int]] = {"plan": [], "heal": []}

    def plan(self, named: Classification, _evidence: Evidence, _cwd: str) -> HealPlan:
        self._note("plan")
        report = None if self._begins else self._report(named)
        return HealPlan(named.class_, named.reason, "a-recipe", ("do it",), (), DETAIL, report)

    def heal(self, named: Classification, _evidence: Evidence, _cwd: str) -> HealReport:
        self._note("heal")
        return self._report(named)

    def _report(self, named: Classification) -> HealReport:
        backup = "b1" if self._outcome == "healed" else None
        return HealReport(self._outcome, named.class_, named.reason, "a-recipe", ("did it",), backup, DETAIL)  # type: ignore[arg-type]

    def _note(self, what: str) -> None:
        assert self.loop is not None
        self.spent_at[what].append(sum(each.spent for each in self.loop.tools.ledger.balances()))


def healing(outcomes: list[object], healer: Healer, **options: Any) -> tuple[Loop, Script]:
    loop, names = named_loop(**options)
    loop.tools = attrs.evolve(loop.tools, healer=healer)
    healer.loop = loop
    return loop, Script(outcomes, names)


def drive(loop: Loop, script: Script, driver: str) -> Any:
    return loop.run(UNIT, script) if driver == "blocking" else asyncio.run(loop.arun(UNIT, script.awaited))


DRIVERS = pytest.mark.parametrize("driver", ["blocking", "awaiting"])


@DRIVERS
def test_what_no_recipe_fits_is_not_charged_and_says_why(driver: str) -> None:
    healer = Healer("paused", begins=False)
    loop, script = healing([Named("git/conflict")], healer)
    outcome = drive(loop, script, driver)
    assert isinstance(outcome, Paused)
    assert (outcome.why, script.calls) == (Why.NOT_HEALED, 1)
    assert [report.detail for report in outcome.heals] == [DETAIL]
    assert loop.tools.ledger.balances() == ()
    assert healer.spent_at == {"plan": [0], "heal": []}
    assert [event.name for event in loop.tools.ledger.events()] == ["failure.classified", "unit.finished"]
    (record,) = outcome.history
    assert record.decision == Pause(Why.NOT_HEALED)
    assert DETAIL in render_block(record, loop.project.loaded.taxonomy)
    assert DETAIL in loop.tools.ledger.pause(outcome.pause).question


@DRIVERS
def test_a_heal_that_cannot_begin_and_stops_is_not_charged_either(driver: str) -> None:
    healer = Healer("stopped", begins=False)
    loop, script = healing([Named("git/conflict")], healer)
    outcome = drive(loop, script, driver)
    assert isinstance(outcome, Stopped)
    assert outcome.why is Why.NOT_HEALED
    assert loop.tools.ledger.balances() == ()


@DRIVERS
def test_a_heal_is_charged_before_it_acts_and_the_rerun_decides(driver: str) -> None:
    healer = Healer("healed", begins=True)
    loop, script = healing([Named("git/index-lock"), "value"], healer)
    outcome = drive(loop, script, driver)
    assert isinstance(outcome, Succeeded)
    assert healer.spent_at == {"plan": [0], "heal": [1]}
    (record,) = outcome.history
    assert isinstance(record.decision, Heal)
    assert "a-recipe: do it" in render_block(record, loop.project.loaded.taxonomy)
    assert outcome.heals[0].undo == "rerail heal --undo b1"
    assert [event.name for event in loop.tools.ledger.events()] == [
        *("failure.classified", "heal.finished", "unit.finished")
    ]


def test_a_heal_that_healed_nothing_is_no_success() -> None:
    loop, script = healing(
        [Named("git/index-lock"), Named("git/index-lock", "again"), "value"], Healer("healed", begins=True)
    )
    assert isinstance(loop.run(UNIT, script), Succeeded)
    loop, script = healing([Named("git/index-lock", str(nth)) for nth in range(5)], Healer("healed", begins=True))
    outcome = loop.run(UNIT, script)
    assert isinstance(outcome, Paused)
    assert script.calls == 3, "two heals, which the budget of the class has"


def test_what_a_spent_budget_forbids_shows_no_plan() -> None:
    healer = Healer("healed", begins=True)
    loop, script = healing([Named("git/index-lock", str(nth)) for nth in range(5)], healer)
    outcome = loop.run(UNIT, script)
    assert isinstance(outcome, Paused)
    assert outcome.why is Why.BUDGET_SPENT
    assert outcome.history[-1].plan == ""


def test_an_event_says_what_a_heal_did() -> None:
    heard: list[tuple[str, dict[str, object]]] = []
    loop, script = healing(
        [Named("git/index-lock"), "value"],
        Healer("healed", begins=True),
        on_event=lambda name, fields: heard.append((name, dict(fields))),
    )
    loop.run(UNIT, script)
    (fields,) = [fields for name, fields in heard if name == "heal.finished"]
    assert fields["recipe"] == "a-recipe"
    assert fields["steps"] == ["did it"]
    assert fields["undo"] == "rerail heal --undo b1"


# --- refusals ------------------------------------------------------------------------------------------------------------


@pytest.fixture
def broken(tmp_path: Path) -> Path:
    (tmp_path / "tree").mkdir()
    (tmp_path / "tree" / ".git").write_text("gitdir: /nowhere\n")
    return tmp_path / "tree"


def _by_run(loop: Loop, script: Script) -> None:
    loop.run(UNIT, script).unwrap()


def _by_arun(loop: Loop, script: Script) -> None:
    asyncio.run(loop.arun(UNIT, script.awaited)).unwrap()


def _by_attempts(loop: Loop, script: Script) -> None:
    for attempt in loop.attempts(UNIT):
        with attempt:
            script()


@pytest.mark.parametrize("way", [_by_run, _by_arun, _by_attempts])
def test_a_refused_worktree_is_named_shown_and_ends_the_run(broken: Path, way: Callable[[Loop, Script], None]) -> None:
    shown: list[str] = []
    heard: list[str] = []
    loop, names = named_loop(root=broken, on_block=shown.append, on_event=lambda name, _: heard.append(name))
    script = Script(["value"], names)
    with pytest.raises(StoppedError) as caught:
        way(loop, script)
    outcome = caught.value.outcome
    assert isinstance(outcome, Stopped)
    assert (outcome.why, outcome.attempts, script.calls) == (Why.REFUSED_WORKTREE, 0, 0)
    assert [record.classification.class_ for record in outcome.history] == ["worktree"]
    assert len(shown) == 1
    assert heard == ["failure.classified", "unit.refused"]


def test_a_refusal_leaves_an_open_question_as_it_is(tmp_path: Path) -> None:
    loop, names = named_loop(root=tmp_path)
    paused = loop.run(UNIT, Script([Named("deterministic-policy/hook-denied")], names))
    assert isinstance(paused, Paused)
    (tmp_path / ".git").write_text("gitdir: /nowhere\n")
    assert isinstance(loop.run(UNIT, Script(["value"], names)), Stopped)
    assert [each.id for each in loop.pauses()] == [paused.pause]
    assert loop.tools.ledger.standing(UNIT.name) is not None


def test_a_worktree_is_refused_by_whatever_name_it_is_reached(broken: Path, tmp_path: Path) -> None:
    (tmp_path / "link").symlink_to(broken)
    loop, names = named_loop(root=tmp_path / "link")
    assert isinstance(loop.run(UNIT, Script(["value"], names)), Stopped)
    (broken / ".git").unlink()
    ledger = loop.tools.ledger
    assert ledger.refusal(str(broken)) is not None
    other, names = named_loop(root=broken, ledger=ledger)
    assert isinstance(other.run(UNIT, Script(["value"], names)), Stopped), "refused until a check passes"
