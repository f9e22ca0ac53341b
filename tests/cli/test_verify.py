"""``rerail verify`` as people and agents meet it: real repositories, real tools, and what comes of each way a phase can end."""

from __future__ import annotations

import json
import os
import shlex
import signal
import subprocess
import sys
from typing import TYPE_CHECKING, Any

import pytest
from tests.cli.conftest import Done

from rerail.boundary.block import find_blocks
from rerail.cli.main import main

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from pathlib import Path

    from tests.cli.conftest import Rerail

PYTHON = sys.executable
PYTEST = f"{PYTHON} -m pytest -q -p no:cacheprovider --junit-xml={{report}}"
FAILS = "def test_y():\n    assert 1 == 2\n\n\ndef test_z():\n    assert True\n"
PASSES = "def test_y():\n    assert 2 == 2\n"


@pytest.fixture
def rerail(
    project: Path,
    environ: Mapping[str, str],
    monkeypatch: pytest.MonkeyPatch,
    capfdbinary: pytest.CaptureFixture[bytes],
) -> Rerail:
    """Calls a verb in this process, which takes a third of the time; the phases run in theirs."""
    for name in ("RERAIL_RUN", "RERAIL_LEDGER", "NO_COLOR", "FORCE_COLOR"):
        monkeypatch.delenv(name, raising=False)

    def run(*words: str, env: Mapping[str, str] | None = None) -> Done:
        with monkeypatch.context() as patch:
            patch.chdir(project)
            for name, value in {**environ, **(env or {})}.items():
                patch.setenv(name, value)
            capfdbinary.readouterr()
            code = main(words)
            return Done(code, *capfdbinary.readouterr())

    return run


@pytest.fixture
def work(project: Path, environ: dict[str, str]) -> Path:
    """A repository with one commit, whose checks write nothing into it."""
    environ["PYTHONDONTWRITEBYTECODE"] = "1"

    def git(*words: str) -> None:
        subprocess.run(["git", *words], cwd=project, env=environ, check=True, capture_output=True)

    git("init", "-q", "-b", "main")
    (project / ".gitignore").write_text("/out/\n")
    git("add", "-A")
    git("-c", "user.name=a", "-c", "user.email=a@example.com", "commit", "-q", "-m", "first")
    return project


def settings(project: Path, **phases: Any) -> None:
    """Write what each phase runs; a text is a script of a shell, a mapping is the table."""
    lines = []
    for name, said in phases.items():
        table = {"command": ["sh", "-c", said]} if isinstance(said, str) else said
        lines += [f"[verify.{name}]", *(f"{key} = {json.dumps(value)}" for key, value in table.items())]
    (project / "rerail.toml").write_text("\n".join([*lines, ""]))


def phases(done: Done) -> dict[str, Any]:
    return {phase["name"]: phase for phase in done.envelope["data"]["phases"]}


def outcomes(done: Done) -> dict[str, str]:
    return {name: phase["outcome"] for name, phase in phases(done).items()}


def fail_until(marker: Path, said: str = "", code: int = 1) -> str:
    """A script that fails once, and passes from then on without anything in the project having changed."""
    return f"test -e {marker} && exit 0; touch {marker}; {said or 'true'}; exit {code}"


# -- what there is


def test_the_ladder_is_shown_before_anything_runs(work: Path, rerail: Rerail) -> None:
    settings(work, tests="echo ran", lint={"skip": "no linter yet"})
    done = rerail("verify")
    assert done.code == 0, done.text
    block, _, rest = done.err.decode().partition("verify:tests\n")
    lines = [line.split() for line in block.splitlines()]
    assert lines[0] == ["verify-ladder", "(resolved):"]
    assert lines[1][:2] == ["build:", "unresolved"]
    assert lines[3] == ["lint:", "skipped", "no", "linter", "yet", "(rerail.toml", "line", "3)"]
    assert lines[4][:4] == ["tests:", "sh", "-c", "'echo"]
    assert lines[6][:3] == ["diff:", "what", "changed"]
    assert done.out == b"ran\n"
    assert "recovery-classification" not in rest


def test_a_plan_runs_nothing(work: Path, rerail: Rerail) -> None:
    settings(work, tests="touch ran")
    shown, told = rerail("verify", "--plan"), rerail("verify", "--plan", "--json")
    assert (shown.code, told.code) == (0, 0)
    assert shown.out.startswith(b"verify-ladder (resolved):\n")
    assert told.envelope["data"]["outcome"] == "planned"
    assert set(outcomes(told).values()) == {"planned"}
    assert phases(told)["tests"]["command"] == ["sh", "-c", "touch ran"]
    assert not (work / "ran").exists()


def test_all_phases_pass(work: Path, rerail: Rerail) -> None:
    settings(work, **dict.fromkeys(("build", "types", "lint", "tests", "security"), "true"))
    done = rerail("verify", "--json")
    assert (done.code, done.envelope["data"]["outcome"]) == (0, "passed")
    assert set(outcomes(done).values()) == {"passed"}
    assert done.envelope["hints"] == []


def test_only_the_phases_that_are_named_are_run(work: Path, rerail: Rerail) -> None:
    settings(work, build="touch built", tests="true")
    assert outcomes(rerail("verify", "tests", "diff", "--json")) == {"tests": "passed", "diff": "passed"}
    assert not (work / "built").exists()


def test_a_phase_that_does_not_exist_is_told_with_the_near_ones(work: Path, rerail: Rerail) -> None:
    done = rerail("verify", "test", "--json")
    assert (done.code, done.envelope["error"]) == (2, "unknown-name")
    assert "did you mean tests" in done.envelope["message"]
    assert done.envelope["hints"][0]["command"] == ["rerail", "verify", "--plan"]


def test_a_broken_manifest_is_told_whole_and_nothing_runs(work: Path, rerail: Rerail) -> None:
    (work / "rerail.toml").write_text(
        '[verify]\nrequired = ["test"]\n[verify.tests]\ncommand = "touch \'ran"\nreport = "../r.xml"\n'
        '[verify.lint]\n[verify.build]\ncommand = []\nskip = ""\ntimeout_s = -1\ncolour = 1\n[verify.unit]\ncommand = "x"\n'
    )
    done = rerail("verify", "--json")
    assert (done.code, done.envelope["error"]) == (2, "settings-invalid")
    assert [(fault["line"], fault["key"]) for fault in done.envelope["diagnostics"]] == [
        (2, "verify.required.0"),
        (4, "verify.tests.command"),
        (5, "verify.tests.report"),
        (6, "verify.lint"),
        (8, "verify.build.command"),
        (9, "verify.build.skip"),
        (9, "verify.build.skip"),
        (10, "verify.build.timeout_s"),
        (11, "verify.build.colour"),
        (12, "verify.unit"),
    ]


# -- what no file states


def test_a_phase_that_is_asked_for_and_stated_nowhere_pauses_until_the_settings_say(work: Path, rerail: Rerail) -> None:
    done = rerail("verify", "security", "--json")
    assert (done.code, done.envelope["error"]) == (75, "phase-unresolved")
    assert outcomes(done) == {"security": "unresolved"}
    assert "[verify.PHASE] in rerail.toml" in done.envelope["hints"][0]["text"]
    settings(work, security="true")
    assert rerail("verify", "security").code == 0


def test_a_required_phase_pauses_and_one_that_nobody_asked_for_does_not(work: Path, rerail: Rerail) -> None:
    settings(work, tests="true")
    passed = rerail("verify", "--json")
    assert (passed.code, [hint["id"] for hint in passed.envelope["hints"]]) == (0, ["phases-unstated"])
    (work / "rerail.toml").write_text('[verify]\nrequired = ["lint"]\n[verify.tests]\ncommand = "true"\n')
    paused = rerail("verify", "--json")
    assert (paused.code, paused.envelope["error"]) == (75, "phase-unresolved")
    assert outcomes(paused)["tests"] == "not-reached"


def test_a_project_that_states_nothing_has_verified_nothing(work: Path, rerail: Rerail) -> None:
    done = rerail("verify", "--json")
    assert (done.code, done.envelope["error"]) == (75, "phase-unresolved")
    assert done.envelope["message"].startswith("nothing is verified")
    assert outcomes(done)["diff"] == "passed"


def test_every_phase_that_is_wanted_and_unstated_is_named(work: Path, rerail: Rerail) -> None:
    (work / "rerail.toml").write_text(
        '[verify]\nrequired = ["lint", "security"]\n[verify.tests]\ncommand = ["sh", "-c", "exit 3"]\n'
    )
    done = rerail("verify", "--keep-going", "--json")
    assert done.code == 75
    assert outcomes(done)["tests"] == "paused"
    (work / "rerail.toml").write_text('[verify]\nrequired = ["lint", "security"]\n[verify.build]\ncommand = "true"\n')
    done = rerail("verify", "--keep-going", "--json")
    assert (done.code, done.envelope["error"]) == (75, "phase-unresolved")
    assert done.envelope["message"].startswith("lint, security: not verified")


def test_a_project_that_leaves_everything_out_says_so_itself(work: Path, rerail: Rerail) -> None:
    settings(work, **{name: {"skip": "prose only"} for name in ("build", "types", "lint", "tests", "security")})
    assert rerail("verify").code == 0


# -- failures, by the tools' own reports


def test_the_evidence_names_tests_and_places_and_a_fix_passes(work: Path, rerail: Rerail) -> None:
    (work / "test_it.py").write_text(FAILS)
    settings(work, tests={"command": PYTEST})
    done = rerail("verify", "--json")
    assert (done.code, done.envelope["error"]) == (65, "handed-back")
    (block,) = find_blocks(done.err.decode())
    assert (block.class_, block.evidence_source) == ("verification", "report line 2")
    assert block.evidence_text == "test_it.py:2 test_y: assert 1 == 2"
    tests = phases(done)["tests"]
    assert tests["report"] == {"format": "junit", "total": 2, "failed": 1, "skipped": 0, "warnings": 0}
    assert tests["failed_checks"] == [
        {"name": "test_y", "message": "assert 1 == 2", "file": "test_it.py", "line": 2, "column": None}
    ]
    assert "test_it.py:2 test_y: assert 1 == 2" in tests["run"]["repair"]["prompt"]
    assert outcomes(done)["diff"] == "not-reached"
    refused = rerail("verify", "--json")
    assert (refused.code, refused.envelope["error"]) == (65, "input-unchanged")
    assert "test_it.py:2 test_y" in phases(refused)["tests"]["run"]["repair"]["prompt"]
    (work / "test_it.py").write_text(PASSES)
    assert rerail("verify").code == 0


def test_only_a_change_in_the_set_of_failing_checks_is_progress(work: Path, rerail: Rerail) -> None:
    (work / "test_it.py").write_text(FAILS + "\n\ndef test_w():\n    assert 3 == 4\n")
    settings(work, tests={"command": PYTEST})
    assert rerail("verify", "tests").code == 65
    (work / "test_it.py").write_text(FAILS)
    assert rerail("verify", "tests").code == 65, "one of two is mended"
    (work / "test_it.py").write_text(FAILS.replace("assert True", "print('noise')\n    assert True"))
    same = rerail("verify", "tests", "--json")
    assert (same.code, phases(same)["tests"]["run"]["why"]) == (75, "same-evidence")


def test_phases_resolved_from_python_tools_are_read_from_their_reports(
    work: Path, rerail: Rerail, environ: dict[str, str]
) -> None:
    environ["PATH"] = f"{os.path.dirname(PYTHON)}:{environ['PATH']}"  # noqa: PTH120
    (work / "pyproject.toml").write_text(
        "[tool.ruff]\n[tool.mypy]\ncache_dir = '/dev/null'\n[tool.pytest.ini_options]\n"
    )
    (work / "shop.py").write_text("import os\n\n\ndef total(prices: list[int]) -> int:\n    return 'x'\n")
    (work / "test_shop.py").write_text("import nowhere\n")
    done = rerail("verify", "--keep-going", "--json", env={"RUFF_NO_CACHE": "true"})
    assert outcomes(done) | {"diff": "passed"} == {
        "build": "unresolved",
        "types": "handed-back",
        "lint": "handed-back",
        "tests": "paused",
        "security": "unresolved",
        "diff": "passed",
    }
    by_phase = {
        name: phase["run"]["failures"][0]
        for name, phase in phases(done).items()
        if (phase.get("run") or {}).get("failures")
    }
    assert {name: f"{each['class']}/{each['reason']}" for name, each in by_phase.items()} == {
        "types": "verification/type-error",
        "lint": "verification/lint",
        "tests": "environment/missing-module",
    }
    checks = {(check["file"], check["line"], check["name"]) for check in phases(done)["lint"]["failed_checks"]}
    assert ("shop.py", 1, "F401") in checks
    assert (done.code, done.envelope["data"]["outcome"]) == (75, "paused"), "the worst phase speaks"


def test_a_report_on_stdout_is_read(work: Path, rerail: Rerail) -> None:
    finding = {"file": "a.py", "line": 3, "column": 0, "message": "bad", "hint": None, "code": "x", "severity": "error"}
    settings(work, types=f"echo {shlex.quote(json.dumps(finding))}; exit 1")
    done = rerail("verify", "types", "--json")
    assert phases(done)["types"]["report"]["format"] == "mypy"
    assert phases(done)["types"]["run"]["failures"][0]["reason"] == "type-error"


def report(*names: str) -> str:
    cases = "".join(
        f'<testcase classname="a" name="{name}"><failure message="assert 1 == 2"/></testcase>' for name in names
    )
    return f'<testsuite><testcase classname="a" name="ok"/>{cases}</testsuite>'


def writes(text: str, code: int) -> str:
    return f"mkdir -p out; printf '%s' {shlex.quote(text)} > out/r.xml; exit {code}"


def test_an_exit_status_of_0_is_not_believed_against_the_report(work: Path, rerail: Rerail) -> None:
    settings(work, tests={"command": ["sh", "-c", writes(report("t"), 0)], "report": "out/*.xml"})
    done = rerail("verify", "tests", "--json")
    assert (done.code, phases(done)["tests"]["run"]["failures"][0]["reason"]) == (65, "tests-failed")


def test_a_failure_that_the_report_does_not_name_is_read_from_the_output(work: Path, rerail: Rerail) -> None:
    said = "echo 'FAIL Required test coverage of 90% not reached. Total coverage: 41.00%' >&2; "
    settings(work, tests={"command": ["sh", "-c", said + writes(report(), 2)], "report": "out/r.xml"})
    done = rerail("verify", "tests", "--json")
    assert phases(done)["tests"]["run"]["failures"][0]["reason"] == "coverage"


def test_a_report_that_an_earlier_run_left_is_ignored_and_said(work: Path, rerail: Rerail) -> None:
    (work / "out").mkdir()
    (work / "out" / "r.xml").write_text(report("t"))
    settings(work, tests={"command": "true", "report": "out/r.xml"})
    done = rerail("verify", "tests", "--json")
    assert done.code == 0
    assert phases(done)["tests"]["report"] is None
    assert phases(done)["tests"]["notes"] == ["out/r.xml: 1 left by an earlier run, ignored; this run wrote none"]


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ('<!DOCTYPE x [<!ENTITY a "b">]><testsuite>&a;</testsuite>', "document type or an entity"),
        ("<torn", "is not XML"),
        ("", "is empty"),
        ('{"x": 1}', "JSON of no tool that is known"),
    ],
)
def test_a_report_that_cannot_be_read_is_said_and_the_output_speaks(
    text: str, said: str, work: Path, rerail: Rerail
) -> None:
    failed = "echo '1 failed, 2 passed in 0.1s'; "
    settings(work, tests={"command": ["sh", "-c", failed + writes(text, 1)], "report": "out/r.xml"})
    done = rerail("verify", "tests", "--json")
    assert done.code == 65
    assert said in phases(done)["tests"]["notes"][0]


def test_a_report_of_a_killed_run_is_no_verdict(work: Path, rerail: Rerail) -> None:
    killed = writes(report("t"), 0).replace("exit 0", "kill -9 $$")
    settings(work, tests={"command": ["sh", "-c", killed], "report": "out/r.xml"})
    done = rerail("verify", "tests", "--json")
    assert (done.code, outcomes(done)) == (70, {"tests": "stopped"})
    assert done.envelope["error"] == "stopped"


# -- order, and the worst of it


def test_the_first_phase_that_does_not_pass_ends_the_ladder(work: Path, rerail: Rerail) -> None:
    settings(work, build="echo 'error: permission denied by policy' >&2; exit 1", tests="touch ran")
    done = rerail("verify", "--json")
    assert (done.code, done.envelope["error"]) == (75, "paused")
    assert outcomes(done)["tests"] == "not-reached"
    assert not (work / "ran").exists()


@pytest.mark.parametrize("stopped", [False, True])
def test_with_keep_going_all_run_and_the_worst_decides(stopped: bool, work: Path, rerail: Rerail) -> None:
    settings(
        work,
        build="echo 'a.c:1:1: error: expected expression'; exit 1",
        tests="echo 'error: permission denied by policy' >&2; exit 1",
        security="kill -9 $$" if stopped else "true",
    )
    done = rerail("verify", "--keep-going", "--json")
    told = outcomes(done)
    assert (told["build"], told["tests"], told["diff"]) == ("handed-back", "paused", "passed")
    assert done.code == (70 if stopped else 75)
    assert done.envelope["data"]["outcome"] == ("stopped" if stopped else "paused")


def test_a_transient_failure_is_recovered_within_the_phase(work: Path, rerail: Rerail, tmp_path: Path) -> None:
    settings(work, build=fail_until(tmp_path / "once", "echo 'HTTP 503 Service Unavailable' >&2"))
    with (work / "rerail.toml").open("a") as file:
        file.write("[backoff]\ninitial_s = 0.01\n")
    done = rerail("verify", "build", "--json")
    assert (done.code, phases(done)["build"]["run"]["attempts"]) == (0, 2)
    assert outcomes(done) == {"build": "passed"}, "a provider that is back explains the pass"


# -- flaky


def test_a_pass_on_the_input_that_failed_is_flaky_until_a_person_has_looked(
    work: Path, rerail: Rerail, tmp_path: Path
) -> None:
    settings(work, tests=fail_until(tmp_path / "once", "echo odd >&2", 3))
    first = rerail("verify", "tests", "--json")
    assert (first.code, first.envelope["error"]) == (75, "unclassified")
    rerail("answer", phases(first)["tests"]["run"]["pause"], "retry")
    flaky = rerail("verify", "tests", "--json")
    assert (flaky.code, outcomes(flaky)) == (75, {"tests": "flaky"})
    assert flaky.envelope["error"] == "paused"
    assert phases(flaky)["tests"]["flaky_checks"]
    assert phases(flaky)["tests"]["run"]["failures"][0]["reason"] == "flaky"
    waiting = rerail("verify", "tests", "--json")
    assert (waiting.code, outcomes(waiting)) == (75, {"tests": "paused"})
    rerail("answer", phases(flaky)["tests"]["run"]["pause"], "approve")
    assert rerail("verify", "tests").code == 0
    assert rerail("verify", "tests").code == 0


def test_a_flaky_pass_names_its_tests_and_gives_no_budget_back(work: Path, rerail: Rerail, tmp_path: Path) -> None:
    (work / "test_it.py").write_text(
        f"import pathlib\n\n\ndef test_y():\n    at = pathlib.Path({str(tmp_path / 'n')!r})\n"
        "    n = int(at.read_text()) if at.exists() else 0\n    at.write_text(str(n + 1))\n    assert n >= 2, 'too few'\n"
    )
    settings(work, tests={"command": PYTEST})
    assert rerail("verify", "tests").code == 65
    (work / "note.txt").write_text("a change that mends nothing")
    paused = rerail("verify", "tests", "--json")
    assert phases(paused)["tests"]["run"]["why"] == "same-evidence"
    rerail("answer", phases(paused)["tests"]["run"]["pause"], "retry")
    flaky = rerail("verify", "tests", "--json")
    assert (flaky.code, phases(flaky)["tests"]["flaky_checks"]) == (
        75,
        ["test_it.py:8 test_y: AssertionError: too few"],
    )
    (spent,) = rerail("ledger", "show", "--json").envelope["data"]["balances"]
    assert (spent["class"], spent["spent"]) == ("verification", 2)
    rerail("answer", phases(flaky)["tests"]["run"]["pause"], "retry")
    assert rerail("verify", "tests").code == 0
    (left,) = rerail("ledger", "show", "--json").envelope["data"]["balances"]
    assert left["spent"] == 0


def test_a_change_of_the_input_makes_the_pass_a_pass(work: Path, rerail: Rerail, tmp_path: Path) -> None:
    settings(work, tests=fail_until(tmp_path / "once", "echo odd >&2", 3))
    first = rerail("verify", "tests", "--json")
    rerail("answer", phases(first)["tests"]["run"]["pause"], "retry")
    (work / "fixed.txt").write_text("x")
    assert rerail("verify", "tests").code == 0


def test_what_the_runner_itself_ran_again_is_flaky(work: Path, rerail: Rerail) -> None:
    text = '<testsuite><testcase classname="a" name="t"><flakyFailure message="assert 1 == 2"/></testcase></testsuite>'
    settings(work, tests={"command": ["sh", "-c", writes(text, 0)], "report": "out/r.xml"})
    done = rerail("verify", "tests", "--json")
    assert (done.code, phases(done)["tests"]["flaky_checks"]) == (75, ["a.t: assert 1 == 2"])


# -- pauses, processes, signals


def test_a_paused_phase_is_resumed_by_its_unit(work: Path, rerail: Rerail) -> None:
    (work / "test_it.py").write_text(PASSES)
    settings(
        work,
        tests={
            "command": [
                "sh",
                "-c",
                "test -e out/ok && exit 0; echo 'error: permission denied by policy' >&2; exit 1",
                "{report}",
            ]
        },
    )
    done = rerail("verify", "tests", "--json")
    (work / "out").mkdir()
    (work / "out" / "ok").touch()
    rerail("answer", phases(done)["tests"]["run"]["pause"], "approve")
    resumed = rerail("resume", "verify:tests", "--json")
    assert (resumed.code, resumed.envelope["verb"]) == (0, "resume")
    assert outcomes(resumed) == {"tests": "passed"}


def test_the_operators_skip_lets_the_ladder_go_on_without_the_phase_once(work: Path, rerail: Rerail) -> None:
    settings(work, lint="echo odd; exit 3", tests="true")
    done = rerail("verify", "--json")
    rerail("answer", phases(done)["lint"]["run"]["pause"], "skip")
    skipped = rerail("verify", "--json")
    assert (skipped.code, outcomes(skipped)["lint"], outcomes(skipped)["tests"]) == (0, "skipped", "passed")
    assert rerail("verify").code == 75


def test_the_operators_abort_stops_it(work: Path, rerail: Rerail) -> None:
    settings(work, lint="echo odd; exit 3", tests="true")
    done = rerail("verify", "--json")
    rerail("answer", phases(done)["lint"]["run"]["pause"], "abort")
    assert rerail("verify").code == 70


def test_a_killed_ladder_is_seen_by_the_next_one(work: Path, rerail: Rerail, environ: dict[str, str]) -> None:
    settings(work, build="true", tests="echo started; exec sleep 60")
    process = subprocess.Popen(
        [PYTHON, "-m", "rerail", "verify"], cwd=work, env=environ, stdout=subprocess.PIPE, start_new_session=True
    )
    assert process.stdout is not None
    assert process.stdout.readline() == b"started\n"
    os.killpg(process.pid, signal.SIGKILL)
    process.wait()
    process.stdout.close()
    settings(work, build="true", tests="true")
    next_one = rerail("verify", "--json")
    assert (next_one.code, outcomes(next_one)["build"], outcomes(next_one)["tests"]) == (75, "passed", "paused")
    assert phases(next_one)["tests"]["run"]["failures"][0]["reason"] == "host-gone"


def test_two_ladders_do_not_run_the_same_phase_at_once(work: Path, rerail: Rerail, environ: dict[str, str]) -> None:
    settings(work, tests="echo started; exec sleep 60")
    process = subprocess.Popen([PYTHON, "-m", "rerail", "verify"], cwd=work, env=environ, stdout=subprocess.PIPE)
    assert process.stdout is not None
    assert process.stdout.readline() == b"started\n"
    busy = rerail("verify", "--json")
    process.terminate()
    process.communicate(timeout=60)
    assert (busy.code, busy.envelope["error"]) == (75, "unit-busy")
    assert outcomes(busy)["tests"] == "paused"


@pytest.mark.parametrize(("number", "code"), [(signal.SIGTERM, 143), (signal.SIGINT, 130)])
def test_a_signal_ends_the_ladder_as_cancelled(
    number: signal.Signals, code: int, work: Path, rerail: Rerail, environ: dict[str, str]
) -> None:
    settings(work, build="echo started; exec sleep 60", tests="touch ran")
    process = subprocess.Popen(
        [PYTHON, "-m", "rerail", "verify", "--keep-going", "--json"],
        cwd=work,
        env=environ,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
    )
    assert process.stderr is not None
    while process.stderr.readline() != b"started\n":
        pass
    process.send_signal(number)
    out, _ = process.communicate(timeout=60)
    envelope = json.loads(out)
    assert (process.returncode, envelope["error"]) == (code, "cancelled")
    told = {phase["name"]: phase["outcome"] for phase in envelope["data"]["phases"]}
    assert (told["build"], told["tests"]) == ("cancelled", "not-reached")
    assert not (work / "ran").exists()


def test_a_closed_stdout_ends_nothing(work: Path, environ: dict[str, str]) -> None:
    settings(work, tests="echo out")
    for closed in ("<&-", ">&-", ">&- 2>&-"):
        done = subprocess.run(
            ["sh", "-c", f"{PYTHON} -m rerail verify tests {closed}"], cwd=work, env=environ, capture_output=True
        )
        assert done.returncode == 0, (closed, done.stderr)


def test_the_commands_output_is_untouched_and_with_json_it_is_on_stderr(work: Path, rerail: Rerail) -> None:
    settings(work, tests="printf 'a\\001b'; printf 'err' >&2")
    assert rerail("verify", "tests").out == b"a\x01b"
    done = rerail("verify", "tests", "--json")
    assert done.envelope["ok"]
    assert b"a\x01b" in done.err


def test_a_harness_session_has_its_own_units(work: Path, rerail: Rerail) -> None:
    settings(work, tests="exit 3")
    done = rerail("verify", "tests", "--json", env={"RERAIL_RUN": "job-7"})
    assert phases(done)["tests"]["unit"] == "verify:tests@job-7"


# -- the change itself


@pytest.fixture
def change(work: Path, environ: dict[str, str]) -> Callable[..., None]:
    def git(*words: str) -> None:
        who = ("-c", "user.name=a", "-c", "user.email=a@example.com")
        subprocess.run(["git", *who, *words], cwd=work, env=environ, check=True, capture_output=True)

    return git


CONFLICT = "a\n<<<<<<< HEAD\nb\n=======\nc\n>>>>>>> other\n"


def test_the_diff_tells_what_changed_since_the_branch_left_its_main_line(
    work: Path, rerail: Rerail, change: Callable[..., None]
) -> None:
    change("checkout", "-q", "-b", "topic")
    (work / "committed.txt").write_text("1\n2\n")
    change("add", "-A")
    change("commit", "-q", "-m", "second")
    (work / "committed.txt").write_text("1\n2\n3\n")
    (work / "new file.txt").write_text("x")
    changes = phases(rerail("verify", "diff", "--json"))["diff"]["changes"]
    assert changes["base_name"] == "where the branch left main"
    assert changes["changed"] == [{"path": "committed.txt", "added": 3, "deleted": 0}]
    assert changes["untracked"] == ["new file.txt"]


@pytest.mark.parametrize(
    ("name", "text", "check"),
    [
        ("a.py", CONFLICT, ("conflict-marker", 2)),
        ("new/a.py", CONFLICT, ("conflict-marker", 2)),
        ("a.py.orig", "x", ("left-behind", None)),
        ("a.rej", "x", ("left-behind", None)),
        ("a_BACKUP_4711.py", "x", ("left-behind", None)),
        (".a.py.swp", "x", ("left-behind", None)),
    ],
)
def test_what_nobody_means_to_hand_in_is_handed_back(
    name: str, text: str, check: tuple[str, int | None], work: Path, rerail: Rerail
) -> None:
    (work / name).parent.mkdir(exist_ok=True)
    (work / name).write_text(text)
    done = rerail("verify", "diff", "--json")
    assert done.code == 65
    assert [(each["name"], each["line"]) for each in phases(done)["diff"]["failed_checks"]] == [check]
    assert rerail("verify", "diff", "--json").envelope["error"] == "input-unchanged"
    (work / name).unlink()
    assert rerail("verify", "diff").code == 0


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("title.rst", "Title\n=======\n"),
        ("half.md", "<<<<<<< HEAD\nno end\n"),
        ("indented.md", "    <<<<<<< HEAD\n    =======\n    >>>>>>> x\n"),
        ("binary.bin", "\0<<<<<<< a\n=======\n>>>>>>> b\n"),
    ],
)
def test_what_only_looks_like_a_conflict_passes(name: str, text: str, work: Path, rerail: Rerail) -> None:
    (work / name).write_text(text)
    assert rerail("verify", "diff").code == 0


def test_a_conflict_that_was_always_there_passes(work: Path, rerail: Rerail, change: Callable[..., None]) -> None:
    (work / "fixture.txt").write_text(CONFLICT)
    change("add", "-A")
    change("commit", "-q", "-m", "a fixture")
    (work / "fixture.txt").write_text(CONFLICT + "more\n")
    assert rerail("verify", "diff").code == 0


def test_an_unresolved_merge_is_handed_back(work: Path, rerail: Rerail, change: Callable[..., None]) -> None:
    for branch, text in (("one", "1\n"), ("two", "2\n")):
        change("checkout", "-q", "-b", branch, "main")
        (work / "f").write_text(text)
        change("add", "-A")
        change("commit", "-q", "-m", branch)
    subprocess.run(["git", "merge", "one"], cwd=work, capture_output=True)
    done = rerail("verify", "diff", "--json")
    assert done.code == 65
    assert [each["name"] for each in phases(done)["diff"]["failed_checks"]] == ["unmerged"]


def test_a_directory_with_nothing_in_it_has_verified_nothing(project: Path, rerail: Rerail) -> None:
    done = rerail("verify", "--json")
    assert (done.code, done.envelope["error"]) == (75, "phase-unresolved")


def test_outside_a_repository_there_is_no_change_to_look_at(project: Path, rerail: Rerail) -> None:
    settings(project, tests="true")
    done = rerail("verify", "--json")
    assert (done.code, outcomes(done)["diff"]) == (0, "skipped")


def test_a_first_settings_file_proposes_what_is_stated(work: Path, rerail: Rerail) -> None:
    (work / "package.json").write_text('{"scripts": {"test": "true"}}')
    rerail("init")
    text = (work / "rerail.toml").read_text()
    proposed = [line.removeprefix("# ") for line in text[text.index("# [verify.build]") :].splitlines()]
    (work / "rerail.toml").write_text("\n".join(proposed))
    plan = phases(rerail("verify", "--plan", "--json"))
    assert plan["tests"]["command"] == ["npm", "run", "test"]
    assert plan["tests"]["source"].startswith("rerail.toml line ")
    assert plan["build"]["detail"].startswith("why (rerail.toml line ")
