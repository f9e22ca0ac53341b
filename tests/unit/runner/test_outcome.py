"""An outcome is shown in a line: how it ended and what was counted, without evidence, tracebacks or secrets."""

from __future__ import annotations

import pytest
from tests.loops import Named, scripted

from rerail import HandedBack, NotRecoveredError, Succeeded, Unit

PURE = Unit("unit", effects="none")
SECRET = "sk-abcdefghijklmnopqrstuvwxyz0123456789"
ENDS = {
    "Paused": "deterministic-policy/hook-denied",
    "Stopped": "runtime/killed",
    "HandedBack": "tool-schema/wrong-type",
}


@pytest.mark.parametrize(("kind", "reason"), ENDS.items())
def test_what_ended_badly_is_one_short_line_with_its_name(kind: str, reason: str) -> None:
    loop, script = scripted([Named(reason, f"{SECRET} " + "x" * 5000)])
    outcome = loop.run(PURE, script, a=SECRET)
    shown = repr(outcome)
    assert shown.startswith(f"{kind}(unit='unit', attempts=1, history=<1, last {reason}>, error=<Named>")
    assert len(shown) < 300
    assert "\n" not in shown
    assert SECRET not in shown


def test_a_success_shows_its_value_and_its_attempts() -> None:
    loop, script = scripted([Named("provider/timeout"), Named("provider/overloaded"), {"a": 1}])
    shown = repr(loop.run(PURE, script))
    assert shown == (
        "Succeeded(value={'a': 1}, attempts=3, history=<2, last provider/overloaded>, landed=False, heals=())"
    )


def test_a_long_value_is_clipped() -> None:
    assert len(repr(Succeeded("x" * 100_000))) < 300
    assert repr(Succeeded(1)) == "Succeeded(value=1, attempts=1, history=(), landed=False, heals=())"


def test_a_refused_run_shows_that_nothing_was_tried() -> None:
    loop, script = scripted([Named("tool-schema/wrong-type")])
    loop.run(PURE, script, a=1)
    refused = loop.run(PURE, script, a=1)
    assert isinstance(refused, HandedBack)
    assert "history=(), error=None" in repr(refused)


@pytest.mark.parametrize("reason", ENDS.values())
def test_the_error_of_an_outcome_counts_in_words(reason: str) -> None:
    loop, script = scripted([Named(reason)])
    with pytest.raises(NotRecoveredError, match=rf"after 1 attempt: {reason}: "):
        loop.run(PURE, script).unwrap()
