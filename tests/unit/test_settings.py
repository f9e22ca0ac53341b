"""Settings: which file counts, what it may say, and every fault told at once with its line."""

from __future__ import annotations

import subprocess
import sys
from typing import TYPE_CHECKING

import pytest

from rerail.budget.model import Window
from rerail.decisions.model import Effects
from rerail.decisions.policy import Backoff, Ceiling, Policy
from rerail.errors import SettingsError
from rerail.settings import Settings, load_settings
from rerail.settings_file import packs_in_force
from rerail.taxonomy import BUILT_IN, PACKS, Action, ClassSpec, ReasonSpec, Taxonomy

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

EVERYTHING = """\
packs = ["core", "verification"]
log = "json"

[budgets]
provider = 8
verification = 0

[actions]
"git/dirty-tree" = "pause"

[backoff]
initial_s = 2
cap_s = 30.5

[ceiling]
attempts = 50

[window]
charges = 5

[context]
workspace_id = "ws-1"
region = "eu"

[units."verify:tests"]
effects = "none"
budgets = { verification = 9 }
context = { region = "us" }
"""


def write(root: Path, text: str, name: str = "rerail.toml") -> Path:
    (root / name).write_text(text, encoding="utf-8")
    return root


def faults(root: Path) -> list[str]:
    with pytest.raises(SettingsError) as caught:
        load_settings(root)
    return str(caught.value).split("\n")


def test_without_a_file_everything_has_its_default(tmp_path: Path) -> None:
    assert load_settings(tmp_path) == Settings()
    assert Settings().policy == Policy()
    assert Settings().packs == PACKS


def test_an_empty_file_says_nothing(tmp_path: Path) -> None:
    settings = load_settings(write(tmp_path, ""))
    assert settings == Settings(path=tmp_path / "rerail.toml")


def test_a_file_that_says_everything(tmp_path: Path) -> None:
    settings = load_settings(write(tmp_path, EVERYTHING))
    policy = settings.policy
    assert (settings.packs, settings.log) == (("core", "verification"), "json")
    assert [spec.name for spec in policy.taxonomy if spec.pack != "core"] == ["verification"]
    assert policy.budgets == {"provider": 8, "verification": 0}
    assert policy.actions == {"git/dirty-tree": Action.PAUSE}
    assert policy.backoff == Backoff(initial_s=2.0, cap_s=30.5)
    assert policy.ceiling == Ceiling(attempts=50)
    assert policy.window == Window(5, Policy().window.length_s)
    assert settings.path == tmp_path / "rerail.toml"


def test_a_unit_goes_before_the_project(tmp_path: Path) -> None:
    settings = load_settings(write(tmp_path, EVERYTHING))
    assert settings.unit("verify:tests").effects is Effects.NONE
    assert settings.policy_of("verify:tests").budgets == {"provider": 8, "verification": 9}
    assert settings.context_of("verify:tests") == {"workspace_id": "ws-1", "region": "us"}


def test_a_unit_that_is_not_named_is_the_projects(tmp_path: Path) -> None:
    settings = load_settings(write(tmp_path, EVERYTHING))
    assert settings.unit("other").effects is None
    assert settings.policy_of("other") is settings.policy
    assert settings.context_of("other") == settings.context


def test_the_own_file_wins_over_the_shared_one_as_a_whole(tmp_path: Path) -> None:
    write(tmp_path, "[tool.rerail.budgets]\nprovider = 1\ngit = 1\n", "pyproject.toml")
    assert load_settings(tmp_path).policy.budgets == {"provider": 1, "git": 1}
    write(tmp_path, "budgets.provider = 2")
    assert load_settings(tmp_path).policy.budgets == {"provider": 2}


@pytest.mark.parametrize(
    "shared", ["", "[project]\nname = 'x'", "[tool.ruff]\nline-length = 100", "name = 'not ours'\nthis is no TOML"]
)
def test_a_shared_file_without_our_table_is_not_ours(tmp_path: Path, shared: str) -> None:
    assert load_settings(write(tmp_path, shared, "pyproject.toml")) == Settings()


@pytest.mark.parametrize("shared", ["[tool.other]\nx = 'rerail'", "[tool.rerail]\n"])
def test_a_shared_file_that_only_names_us_says_nothing(tmp_path: Path, shared: str) -> None:
    assert load_settings(write(tmp_path, shared, "pyproject.toml")) == Settings()


def test_faults_of_the_shared_file_stand_in_it(tmp_path: Path) -> None:
    write(
        tmp_path,
        "[project]\nname = 'x'\n\n[tool.rerail]\nlog = 'xml'\n\n[tool.rerail.budgets]\ngti = 1\n",
        "pyproject.toml",
    )
    assert faults(tmp_path) == [
        "pyproject.toml:5: tool.rerail.log: must be 'json', 'console' or 'off', got 'xml'",
        "pyproject.toml:8: tool.rerail.budgets.gti: there is no class named 'gti'; did you mean git?",
    ]


@pytest.mark.parametrize(
    ("shared", "fault"),
    [
        ("tool = 'rerail'", "pyproject.toml:1: tool: must be a table, got 'rerail'"),
        ("[tool]\nrerail = [1]", "pyproject.toml:2: tool.rerail: must be a table, got [1]"),
    ],
)
def test_a_shared_file_whose_tables_are_none_is_told(tmp_path: Path, shared: str, fault: str) -> None:
    assert faults(write(tmp_path, shared, "pyproject.toml")) == [fault]


def test_every_fault_is_told_at_once_in_the_order_of_its_line(tmp_path: Path) -> None:
    write(
        tmp_path,
        """\
packs = ["core", "verifcation", 3]
log = "xml"
paks = []
[budgets]
provider = -1
provder = 2
git = "3"
runtime = true
[actions]
"deterministic-policy/billing" = "retry"
"environment/port-in-use" = "stop"
"provider/overloaded" = "go"
"provider/overload" = "pause"
worktree = "stop"
[backoff]
intial_s = 2
cap_s = nan
horizon_s = 0
jitter = -0.5
[ceiling]
attempts = 0
[window]
charges = 1.5
[units."verify:tests"]
effects = "nothing"
budgets = { verification = -2, unknown = 2 }
efects = "none"
[units]
x = 4
""",
    )
    classes = ", ".join(spec.name for spec in BUILT_IN)
    assert faults(tmp_path) == [
        "rerail.toml:1: packs.1: there is no pack named 'verifcation'; did you mean verification?",
        "rerail.toml:1: packs.2: there is no pack named 3; there are core, verification, environment",
        "rerail.toml:2: log: must be 'json', 'console' or 'off', got 'xml'",
        "rerail.toml:3: paks: is no setting; did you mean packs?",
        "rerail.toml:5: budgets.provider: must be greater than or equal to 0, got -1",
        "rerail.toml:6: budgets.provder: there is no class named 'provder'; did you mean provider?",
        "rerail.toml:7: budgets.git: must be a whole number, got '3'",
        "rerail.toml:8: budgets.runtime: must be a whole number, got True",
        'rerail.toml:10: actions."deterministic-policy/billing": a deterministic-policy failure only pauses or stops, got retry',
        "rerail.toml:12: actions.\"provider/overloaded\": must be 'retry', 'repair', 'heal', 'pause' or 'stop', got 'go'",
        (
            "rerail.toml:13: actions.\"provider/overload\": there is no reason named 'provider/overload';"
            " did you mean provider/overloaded or provider/server-error or provider/timeout?"
        ),
        (
            "rerail.toml:14: actions.worktree: there is no reason named 'worktree/';"
            " did you mean worktree/locked or worktree/prunable or worktree/cwd-gone?"
        ),
        "rerail.toml:16: backoff.intial_s: is no setting; did you mean initial_s?",
        "rerail.toml:17: backoff.cap_s: must be a finite number, got nan",
        "rerail.toml:18: backoff.horizon_s: must be greater than 0, got 0",
        "rerail.toml:19: backoff.jitter: must be greater than 0, got -0.5",
        "rerail.toml:21: ceiling.attempts: must be greater than or equal to 1, got 0",
        "rerail.toml:23: window.charges: must be a whole number, got 1.5",
        "rerail.toml:25: units.\"verify:tests\".effects: must be 'none', 'idempotent' or 'unsafe', got 'nothing'",
        f"rerail.toml:26: units.\"verify:tests\".budgets.unknown: there is no class named 'unknown'; there are {classes}",
        'rerail.toml:26: units."verify:tests".budgets.verification: must be greater than or equal to 0, got -2',
        'rerail.toml:27: units."verify:tests".efects: is no setting; did you mean effects?',
        "rerail.toml:29: units.x: must be a table, got 4",
    ]


@pytest.mark.parametrize(
    ("text", "fault"),
    [
        ("budgets = 3", "rerail.toml:1: budgets: must be a table, got 3"),
        ("actions = []", "rerail.toml:1: actions: must be a table, got []"),
        ("units = 1", "rerail.toml:1: units: must be a table, got 1"),
        ("units.a.budgets = 1", "rerail.toml:1: units.a.budgets: must be a table, got 1"),
        ("backoff = 1", "rerail.toml:1: backoff: must be a table, got 1"),
        ("ceiling.attempt = 1", "rerail.toml:1: ceiling.attempt: is no setting; did you mean attempts?"),
        ("window.length = 1", "rerail.toml:1: window.length: is no setting; did you mean length_s?"),
        ('packs = "core"', "rerail.toml:1: packs: must be a list of packs, got 'core'"),
        (
            'packs = ["verification"]',
            "rerail.toml:1: packs: must have 'core' in it: only the other packs can be switched off",
        ),
        ("x = 1\nx = 2\n", "rerail.toml:2: is not TOML: Cannot overwrite a value"),
        (
            '"forged\\nrerail.toml:1" = 1',
            'rerail.toml:1: "forged\\nrerail.toml:1": is no setting; there are packs, budgets,',
        ),
    ],
)
def test_one_fault(tmp_path: Path, text: str, fault: str) -> None:
    (told,) = faults(write(tmp_path, text))
    assert told.startswith(fault)


def test_the_classes_of_a_pack_that_is_off_have_no_budget(tmp_path: Path) -> None:
    (told,) = faults(write(tmp_path, 'packs = ["core"]\nbudgets.verification = 1\n'))
    assert told.startswith("rerail.toml:2: budgets.verification: there is no class named 'verification'")


def test_a_projects_own_classes_are_in_force_while_the_settings_are_read(tmp_path: Path) -> None:
    asked: list[Sequence[str]] = []

    def with_ours(packs: Sequence[str]) -> Taxonomy:
        asked.append(tuple(packs))
        ours = ClassSpec("deploy", "a deployment failed", Action.PAUSE, 1, 60, "ask", "do not repeat it", "ours")
        return BUILT_IN.extended(
            [ours], [ReasonSpec("deploy", "frozen", "deployments are frozen", "wait", Action.PAUSE)]
        )

    write(tmp_path, 'packs = ["core"]\n[budgets]\ndeploy = 2\n[actions]\n"deploy/frozen" = "stop"\n')
    settings = load_settings(tmp_path, taxonomy=with_ours)
    assert asked == [("core",)]
    assert settings.policy.budget("deploy") == 2


def test_faulty_packs_do_not_hide_other_faults(tmp_path: Path) -> None:
    write(tmp_path, "packs = 3\nbudgets.verification = 1\nlog = 4\n")
    assert [fault.partition(": ")[0] for fault in faults(tmp_path)] == ["rerail.toml:1", "rerail.toml:3"]


@pytest.mark.parametrize("name", ["rerail.toml", "pyproject.toml"])
def test_a_file_that_is_not_utf_8_is_told(tmp_path: Path, name: str) -> None:
    (tmp_path / name).write_bytes(b"[tool.rerail]\nlog = '\xff'\n")
    assert faults(tmp_path) == [f"{name}:2: is not UTF-8"]


def test_a_file_that_cannot_be_read_is_told(tmp_path: Path) -> None:
    (tmp_path / "rerail.toml").mkdir()
    assert faults(tmp_path) == ["rerail.toml: cannot be read: Is a directory"]


class TestPacks:
    """What a hook asks, without reading anything else of the settings."""

    def test_all_are_on_by_default(self, tmp_path: Path) -> None:
        assert packs_in_force(tmp_path) == PACKS
        assert packs_in_force(write(tmp_path, "log = 'json'")) == PACKS

    def test_the_settings_say_which_are_on(self, tmp_path: Path) -> None:
        assert packs_in_force(write(tmp_path, EVERYTHING)) == ("core", "verification")

    def test_a_fault_is_told(self, tmp_path: Path) -> None:
        with pytest.raises(SettingsError, match="there is no pack named 'cor'; did you mean core"):
            packs_in_force(write(tmp_path, 'packs = ["cor"]'))

    def test_it_needs_nothing_but_the_standard_library(self, tmp_path: Path) -> None:
        heavy = ["attrs", "attr", "pydantic", "structlog", "dataclasses", "inspect", "asyncio", "tomllib", "subprocess"]
        code = (
            "import sys, pathlib; from rerail.settings_file import packs_in_force;"
            f"packs_in_force(pathlib.Path(sys.argv[1])); print(sorted(set({heavy}) & set(sys.modules)))"
        )
        done = subprocess.run(
            [sys.executable, "-S", "-c", code, tmp_path],
            capture_output=True,
            text=True,
            check=False,
            env={"PYTHONPATH": "src"},
        )
        assert (done.stdout, done.stderr) == ("[]\n", "")
