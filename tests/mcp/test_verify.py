"""The ladder through the server: only what the operator listed is run, whatever the project's files state."""

from __future__ import annotations

import json
from functools import partial
from typing import TYPE_CHECKING, Any

import anyio
import psutil
import pytest
from tests.envelopes import typed
from tests.mcp.envelopes import checked
from tests.mcp.test_parity import comparable

from rerail.cli.main import main

if TYPE_CHECKING:
    from collections.abc import Callable

    from tests.mcp.conftest import Place

    from mcp import Client

    Call = Callable[..., dict[str, Any]]
    Talk = Callable[[Callable[[Client], Any]], Any]


def states(place: Place, **phases: str) -> None:
    lines = [f"[verify.{name}]\ncommand = {json.dumps(['sh', '-c', script])}" for name, script in phases.items()]
    (place.project / "rerail.toml").write_text("\n".join([*lines, ""]))


def outcomes(envelope: dict[str, Any]) -> dict[str, str]:
    return {phase["name"]: phase["outcome"] for phase in envelope["data"]["phases"]}


def test_nothing_is_run_of_a_ladder_that_has_a_command_which_is_not_listed(place: Place, call: Call) -> None:
    states(place, build="touch built", tests="touch tested")
    place.allow(commands=["sh -c 'touch built'"])
    envelope = call("verify")
    assert envelope["error"] == "not-allowed"
    assert envelope["data"]["entry"] == """commands = ["sh -c 'touch tested'"]"""
    assert sorted(path.name for path in place.project.iterdir()) == ["rerail.toml"]
    place.allow(commands=["sh -c 'touch built'", "sh -c 'touch tested'"])
    assert outcomes(call("verify"))["tests"] == "passed"


def test_a_manifest_that_an_agent_changed_is_not_what_the_operator_listed(place: Place, call: Call) -> None:
    place.allow(commands=["sh -c 'exit 0'"])
    states(place, tests="exit 0")
    assert call("verify", phases=["tests"])["ok"]
    states(place, tests="exit 0; touch more")
    assert call("verify", phases=["tests"])["error"] == "not-allowed"
    assert not (place.project / "more").exists()


def test_a_command_with_a_report_is_listed_as_it_is_shown(place: Place, call: Call) -> None:
    (place.project / "rerail.toml").write_text('[verify.tests]\ncommand = "cp src.xml {report}"\n')
    (place.project / "src.xml").write_text(
        '<testsuite><testcase classname="a" name="t"><failure message="assert 1 == 2"/></testcase></testsuite>'
    )
    place.allow(commands=["cp src.xml {report}"])
    envelope = call("verify", phases=["tests"])
    assert [check["name"] for check in envelope["data"]["phases"][0]["failed_checks"]] == ["a.t"]


def test_a_plan_is_shown_to_everybody(place: Place, call: Call) -> None:
    states(place, tests="touch ran")
    envelope = call("verify", plan=True)
    assert (envelope["ok"], envelope["data"]["outcome"]) == (True, "planned")
    assert not (place.project / "ran").exists()


def test_what_a_phase_printed_comes_back_where_it_did_not_pass(place: Place, call: Call) -> None:
    states(place, build="echo fine", tests="echo odd; exit 3")
    place.allow(commands=["sh ..."])
    envelope = call("verify")
    build, tests = (phase for phase in envelope["data"]["phases"] if phase["name"] in ("build", "tests"))
    assert "output" not in build["run"]
    assert tests["run"]["output"]["stdout"].strip() == "odd"


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        ({}, ()),
        ({"phases": ["tests"]}, ("tests",)),
        ({"phases": ["security"]}, ("security",)),
        ({"phases": ["test"]}, ("test",)),
        ({"keep_going": True}, ("--keep-going",)),
        ({"plan": True}, ("--plan",)),
    ],
    ids=str,
)
def test_the_command_line_and_the_server_say_the_same(
    arguments: dict[str, Any],
    words: tuple[str, ...],
    place: Place,
    call: Call,
    monkeypatch: pytest.MonkeyPatch,
    capfd: pytest.CaptureFixture[str],
) -> None:
    states(place, build="echo 'a.c:1:1: error: expected expression'; exit 1", tests="echo zzz; exit 3")
    place.allow(commands=["sh ..."])
    served = call("verify", **arguments)
    monkeypatch.setenv("XDG_STATE_HOME", str(place.config.parent / "state-cli"))
    capfd.readouterr()
    main(("verify", *words, "--json"))
    assert comparable([served]) == comparable([typed(json.loads(capfd.readouterr().out))])


def test_progress_tells_of_phases_and_failures(place: Place, talk: Talk) -> None:
    states(place, build="exit 0", tests="echo zzz; exit 3")
    place.allow(commands=["sh ..."])
    heard: list[str] = []

    async def hear(progress: float, total: float | None, message: str | None) -> None:
        heard.append(message or "")

    async def run(client: Client) -> None:
        checked(await client.call_tool("verify", {}, progress_callback=hear))

    talk(run)
    assert [line for line in heard if line.startswith("verify:")] == ["verify:build", "verify:tests"]
    assert any(line.startswith("attempt 1 failed: unclassified/") for line in heard)


def test_a_cancelled_ladder_ends_its_phase_and_runs_no_further_one(place: Place, talk: Talk) -> None:
    states(place, build="echo $$ > shell.new; mv shell.new shell; sleep 600", tests="touch ran")
    place.allow(commands=["sh ..."])
    shell = place.project / "shell"

    async def cancel(client: Client) -> list[dict[str, Any]]:
        async with anyio.create_task_group() as group:
            group.start_soon(partial(client.call_tool, "verify", {"keep_going": True}))
            with anyio.fail_after(30):
                while not shell.exists():
                    await anyio.sleep(0.02)
            group.cancel_scope.cancel()
        with anyio.fail_after(30):
            while not (rows := checked(await client.call_tool("ledger", {"unit": "verify:build"}))["data"]["events"]):
                await anyio.sleep(0.05)
        return list(rows)

    rows = talk(cancel)
    assert rows[-1]["name"] == "unit.finished"
    assert not psutil.pid_exists(int(shell.read_text()))
    assert not (place.project / "ran").exists()


@pytest.mark.parametrize("arguments", [{"phases": "tests"}, {"phases": [1]}, {"keep_going": "yes"}, {"fix": True}])
def test_arguments_that_it_does_not_take_are_refused(arguments: dict[str, Any], call: Call) -> None:
    envelope = call("verify", **arguments)
    assert (envelope["ok"], envelope["error"]) == (False, "usage")
