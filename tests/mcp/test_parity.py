"""The command line and the server say the same: every verb's failures through both, and the objects compared.

Each case is done twice from the same beginning, with a state directory of its own each time. What only time and chance decide is
blotted out: when something was, and the id of a pause.
"""

from __future__ import annotations

import json
import os
import re
import shutil
from typing import TYPE_CHECKING, Any, NamedTuple

import anyio
import pytest
from tests.mcp.envelopes import checked

from mcp import Client
from rerail.boundary.slugs import ErrorSlug
from rerail.cli.main import main
from rerail.mcp.server import TOOLS, RerailServer

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from tests.mcp.conftest import Place


class Step(NamedTuple):
    """One call, both ways."""

    words: tuple[str, ...]
    tool: str
    arguments: dict[str, Any]


def verb(*words: str, tool: str = "", **arguments: Any) -> Step:
    return Step(words, tool or words[0], arguments)


def run(script: str, *, unit: str = "u", effects: str = "none") -> Step:
    words = ("run", "--unit", unit, "--effects", effects, "--", "sh", "-c", script)
    return verb(*words, command=["sh", "-c", script], unit=unit, effects=effects)


def evidence(tool: str, value: object, *words: str) -> Step:
    """A call that hands evidence in: through a file, and as it is."""
    given = {"failure": value} if tool.startswith("heal") else value
    return Step((*words, f"@{json.dumps(value)}"), tool, given)  # type: ignore[arg-type]


UNNAMED = "echo zzz >&2; exit 3"
DENIED = "echo 'HTTP 401 Unauthorized' >&2; exit 1"
REJECTED = "echo 'error: missing required field: workspace_id' >&2; exit 1"
CUT = "echo 'HTTP 504 Gateway Timeout' >&2; exit 22"
LIMITED = "echo '429 Too Many Requests, retry-after: 7200' >&2; exit 22"
CASES: dict[str, tuple[Step, ...]] = {
    "classify-slip": (evidence("classify", {"stdrr": "x", "exit_code": 1}, "classify", "--json"),),
    "classify-types": (evidence("classify", {"exit_code": "one", "stderr": "x"}, "classify", "--json"),),
    "classify-ok": (evidence("classify", {"stderr": "HTTP 503", "id": 7}, "classify", "--json"),),
    "explain-unknown": (verb("explain", "provder", name="provder"),),
    "explain-reason-unknown": (verb("explain", "provider/nope", name="provider/nope"),),
    "why-nothing": (verb("why"),),
    "why-unknown": (verb("why", "nope", event="nope"),),
    "why-no-event": (verb("why", "99", event="99"),),
    "why-other-event": (run("exit 0"), run(UNNAMED), verb("why", "1", event="1")),
    "why-unit-without-failure": (run(UNNAMED), verb("why", "u2", event="u2")),
    "why-ok": (run(UNNAMED), verb("why", "u", event="u")),
    "check-nowhere": (verb("check"),),
    "answer-unknown": (verb("answer", "p9-0000", "retry", pause="p9-0000", answer="retry"),),
    "ledger-ok": (run(UNNAMED), verb("ledger", "show", tool="ledger")),
    "pauses-ok": (run(DENIED), verb("pauses")),
    "heal-slip": (evidence("heal", {"comand": "git push"}, "heal", "--json", "--failure"),),
    "heal-nowhere": (
        evidence(
            "heal", {"command": "git push", "stderr": "fatal: not a git repository"}, "heal", "--json", "--failure"
        ),
    ),
    "heal-unnamed": (evidence("heal", {"message": "zzz"}, "heal", "--json", "--failure"),),
    "plan-nothing": (verb("heal", "--plan", tool="heal_plan"),),
    "plan-slip": (evidence("heal_plan", {"comand": "x"}, "heal", "--json", "--plan", "--failure"),),
    "run-unclassified": (run(UNNAMED),),
    "run-paused": (run(DENIED),),
    "run-paused-again": (run(DENIED), run(DENIED)),
    "run-handed-back": (run(REJECTED),),
    "run-unchanged": (run(REJECTED), run(REJECTED)),
    "run-unknown-outcome": (run(CUT, effects="unsafe"),),
    "run-until": (run(LIMITED),),
    "run-killed": (run("kill -9 $$"),),
    "run-not-found": (verb("run", "--unit", "u", "--", "no-such-program", command=["no-such-program"], unit="u"),),
    "run-disk-full": (run("echo 'No space left on device' >&2; exit 1"),),
    "run-bad-name": (verb("run", "--unit", "", "--", "sh", command=["sh"], unit=""),),
    "run-succeeds": (run("exit 0"),),
    "verify-unknown": (verb("verify", "test", phases=["test"]),),
    "verify-unstated": (verb("verify", "tests", phases=["tests"]),),
    "verify-nothing": (verb("verify"),),
    "taxonomy-ok": (verb("taxonomy"),),
}
EVERY_VERB: tuple[Step, ...] = (
    evidence("classify", {"stderr": "HTTP 503"}, "classify", "--json"),
    verb("explain", "git", name="git"),
    verb("why"),
    verb("taxonomy"),
    verb("check"),
    verb("pauses"),
    verb("ledger", "show", tool="ledger"),
    verb("answer", "p1-0000", "retry", pause="p1-0000", answer="retry"),
    verb("heal", "--plan", tool="heal_plan"),
    evidence("heal", {"message": "x"}, "heal", "--json", "--failure"),
    run("exit 0"),
    verb("verify"),
)


def faulty_settings(project: Path) -> None:
    # Also where classify, which reads no more of the settings than it needs, looks.
    (project / "rerail.toml").write_text('packs = ["cor"]\n[budgets]\nprovidr = 3\n')


def settings_that_are_no_toml(project: Path) -> None:
    (project / "rerail.toml").write_text("packs = [\n")


def faulty_recipes(project: Path) -> None:
    (project / ".rerail" / "recipes").mkdir(parents=True)
    (project / ".rerail" / "recipes" / "ours.toml").write_text('[[rule]]\nslug = "x"\n')


def broken_repository(project: Path) -> None:
    (project / ".git").write_text("gitdir: /no/such/place\n")


SPOILED: dict[str, Callable[[Path], None]] = {
    "settings": faulty_settings,
    "toml": settings_that_are_no_toml,
    "recipes": faulty_recipes,
    "repository": broken_repository,
}


class Both:
    """Does a step on the command line and through the server."""

    def __init__(self, place: Place, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]) -> None:
        self._place, self._monkeypatch, self._capfd = place, monkeypatch, capfd
        place.allow(commands=["sh ...", "no-such-program"], answers=["any"])

    def on_the_command_line(self, steps: tuple[Step, ...]) -> list[dict[str, Any]]:
        return [self._command(step) for step in steps]

    def through_the_server(self, steps: tuple[Step, ...]) -> list[dict[str, Any]]:
        async def talk() -> list[dict[str, Any]]:
            async with Client(RerailServer(self._place.project).sdk) as client:
                return [checked(await client.call_tool(step.tool, step.arguments)) for step in steps]

        return anyio.run(talk)

    def afresh(self, name: str) -> None:
        self._monkeypatch.setenv("XDG_STATE_HOME", str(self._place.config.parent / f"state-{name}"))

    def _command(self, step: Step) -> dict[str, Any]:
        words = list(step.words)
        if words[-1].startswith("@"):
            file = self._place.config / "failure.json"
            file.write_text(words[-1][1:])
            words[-1] = str(file)
        if "--json" not in words:
            words.insert(1, "--json") if words[0] != "ledger" else words.insert(2, "--json")
        self._capfd.readouterr()
        main(words)
        envelope: dict[str, Any] = json.loads(self._capfd.readouterr().out)
        return envelope


@pytest.fixture
def both(place: Place, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]) -> Both:
    return Both(place, monkeypatch, capfd)


def comparable(envelopes: list[dict[str, Any]]) -> Any:
    """Return envelopes without what only time and chance decide, and without the output that is shown elsewhere on a terminal."""
    text = json.dumps([_without_output(envelope) for envelope in envelopes], sort_keys=True)
    text = re.sub(r"\bp\d+-[0-9a-f]{4}\b", "PAUSE", text)
    text = re.sub(r'"(\w*at_s|duration_s)": [0-9.e+]+', r'"\1": 0', text)
    text = re.sub(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ", "TIME", text)
    text = re.sub(r"state-(cli|mcp)", "state", text)
    return json.loads(text)


def _without_output(value: Any) -> Any:
    if isinstance(value, list):
        return [_without_output(each) for each in value]
    if isinstance(value, dict):
        return {name: _without_output(each) for name, each in value.items() if name != "output"}
    return value


def told_by_both(both: Both, steps: tuple[Step, ...]) -> list[dict[str, Any]]:
    both.afresh("cli")
    by_hand = both.on_the_command_line(steps)
    both.afresh("mcp")
    served = both.through_the_server(steps)
    assert comparable(served) == comparable(by_hand)
    return served


@pytest.mark.parametrize("case", CASES)
def test_both_say_the_same(both: Both, case: str) -> None:
    last = told_by_both(both, CASES[case])[-1]
    assert last["ok"] is (case.endswith(("-ok", "-succeeds")) or case == "plan-nothing")


@pytest.mark.parametrize("spoiled", SPOILED)
def test_both_say_the_same_where_the_project_is_spoiled(place: Place, both: Both, spoiled: str) -> None:
    SPOILED[spoiled](place.project)
    told = told_by_both(both, EVERY_VERB)
    if spoiled != "repository":
        expected = {"settings": "settings-invalid", "toml": "settings-invalid", "recipes": "recipe-invalid"}[spoiled]
        assert {envelope["error"] for envelope in told} == {expected}


def test_both_say_the_same_where_the_ledger_is_unusable(
    place: Place, both: Both, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setenv("RERAIL_LEDGER", str(tmp_path))
    told = told_by_both(both, EVERY_VERB)
    assert ErrorSlug.LEDGER_UNUSABLE in {envelope["error"] for envelope in told}


def test_a_second_answer_is_refused_alike(place: Place, both: Both) -> None:
    def answered(ask: Callable[[tuple[Step, ...]], list[dict[str, Any]]]) -> list[dict[str, Any]]:
        (ended,) = ask((run(DENIED),))
        place.allow(commands=["sh ..."], answers=[ended["data"]["failures"][0]["rule"]])
        pause = ended["data"]["pause"]
        step = verb("answer", pause, "skip", "--note", "n", pause=pause, answer="skip", note="n")
        return ask((step, step, run(DENIED)))

    both.afresh("cli")
    by_hand = answered(both.on_the_command_line)
    both.afresh("mcp")
    served = answered(both.through_the_server)
    assert comparable(served) == comparable(by_hand)
    assert [envelope["error"] for envelope in served] == [None, "already-answered", "stopped"]


def test_both_say_the_same_where_the_directory_has_gone(place: Place, both: Both) -> None:
    both.afresh("cli")
    served: list[dict[str, Any]] = []

    async def talk() -> None:
        async with Client(RerailServer(place.project).sdk) as client:
            shutil.rmtree(place.project)
            arguments = {"command": ["sh", "-c", "exit 0"], "unit": "u"}
            served.append(checked(await client.call_tool("run", arguments)))

    anyio.run(talk)
    by_hand = both.on_the_command_line((run("exit 0"),))
    os.chdir(place.config)
    assert comparable(served) == comparable(by_hand)
    assert served[0]["error"] == "stopped"


def test_every_tool_is_compared() -> None:
    assert {step.tool for steps in (*CASES.values(), EVERY_VERB) for step in steps} == set(TOOLS)
