"""A small agent that knows nothing but the hints: for every slug it reads the envelope and takes the next step by rule.

It cannot read prose. It knows three rules: advice for the operator is handed to the operator; a command that a hint brings is
run; where there is neither, it corrects what the result names, and runs the same command again. What it corrects, and what an
operator does who is told, is the scenario's; whether the agent gets to the one or the other is the hints' doing.
"""

from __future__ import annotations

import importlib
import json
import os
import pkgutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any

import attrs
import pytest
from tests.envelopes import typed
from tests.repositories import Repo, lived_in

import rerail
from rerail.boundary import hints
from rerail.boundary.block import BlockError
from rerail.boundary.result import Result, failed
from rerail.boundary.serialize import serialize_result, to_json
from rerail.boundary.slugs import ErrorSlug
from rerail.errors import FileFault, FileFaultsError, GitError, RerailError
from rerail.mcp import acting
from rerail.mcp.policy import Allowed
from rerail.mcp.tool import Call
from rerail.process import EndRequest
from rerail.verbs.failed import of_bug, of_error

if TYPE_CHECKING:
    from tests.cli.conftest import Rerail

PATIENCE = 60
"""Times that the agent runs a command again whose hint says to wait."""


@attrs.define
class World:
    """What the agent works in."""

    project: Path
    rerail: Rerail
    environ: dict[str, str]

    def call(self, *argv: str, stdin: bytes = b"", env: dict[str, str] | None = None) -> dict[str, Any]:
        """Run a rerail command and return its envelope."""
        at = argv.index("--") if "--" in argv else len(argv)
        done = self.rerail(*argv[:at], "--json", *argv[at:], stdin=stdin, cwd=self.project, env=env or {})
        return done.envelope

    def write(self, name: str, text: str = "") -> None:
        path = self.project / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)


Act = Callable[[World], object]


def nothing(world: World) -> None:
    """Nothing has to be done besides."""


@attrs.frozen
class Case:
    """One way into a slug."""

    command: tuple[str, ...]
    arrange: Act = nothing
    mend: Act = nothing
    """What whoever corrects it does: the agent where the step is the caller's, else the operator."""
    corrected: tuple[str, ...] | None = None
    """The call as it is after the correction, where that is in the call."""
    for_operator: bool = False
    stdin: bytes = b""
    env: dict[str, str] = attrs.field(factory=dict)
    runs_again: bool = True
    """Whether the command is to be run again after the step; not where a person took over, or chooses."""


def unit(script: str) -> tuple[str, ...]:
    return ("run", "--unit", "u", "--", "sh", "-c", script)


def unless_mended(saying: str, code: int = 1) -> tuple[str, ...]:
    return unit(f"test -e mended && exit 0; {saying}; exit {code}")


def mended(world: World) -> None:
    world.write("mended")


def answered(answer: str) -> Act:
    def act(world: World) -> None:
        mended(world)
        (pause,) = world.call("pauses")["data"]["pauses"]
        assert world.call("answer", pause["id"], answer)["ok"]

    return act


def once(*command: str) -> Act:
    return lambda world: world.call(*command)


SCHEMA = unless_mended("echo 'error: missing required field: workspace_id' >&2")
DENIED = unless_mended("echo 'HTTP 401 Unauthorized' >&2")
WRONG_LABEL = json.dumps({"id": "a", "input": {"stderr": "HTTP 503 Service Unavailable"}, "label": "runtime"})
CORPUS = ("eval", "corpus.jsonl", "--fail-under", "accuracy=1")


def paused_and_answered(world: World) -> None:
    world.call(*DENIED)
    answered("retry")(world)


def broken_worktree(world: World) -> None:
    repo = lived_in(world.project / "repo")
    repo.git("worktree", "add", "-q", "../linked", "topic")
    (world.project / "linked" / ".git").rename(world.project / "pointer")
    (world.project / "linked" / ".git").write_text("gitdir: /nowhere\n")
    world.project = world.project / "linked"


def mended_worktree(world: World) -> None:
    (world.project.parent / "pointer").replace(world.project / ".git")


def conflict(world: World) -> None:
    repo = lived_in(world.project / "repo")
    repo.write("src/app.py", "mine\n")
    repo.git("commit", "-qam", "mine")
    repo.git("checkout", "-q", "topic")
    repo.write("src/app.py", "theirs\n")
    repo.git("commit", "-qam", "theirs")
    repo.run("git", "merge", "main")
    world.project = repo.path


MERGE = {
    "command": "git merge main",
    "exit_code": 1,
    "stdout": "CONFLICT (content): Merge conflict in src/app.py\nAutomatic merge failed; fix conflicts and then commit.\n",
}

RECIPE = """
[[heal]]
slug = "ours-install"
class = "environment"
reasons = ["missing-module"]
sees = "a module that is not installed"
why = "the installer brings what the lockfile says"
source = "observed"
steps = [{ run = ["touch", "mended"], timeout_s = 20 }]
undo = "delete mended"
question = "Install the modules, or say why one is missing."
"""


def untrusted(world: World) -> None:
    repo = lived_in(world.project / "repo")
    world.project = repo.path
    world.write(".rerail/recipes/ours.toml", RECIPE)
    world.write(".gitignore", "mended\n")


def trusted(world: World) -> None:
    assert world.call("recipes", "trust", ".rerail/recipes/ours.toml")["ok"]
    answered("retry")(world)


def healed_and_gone_on(world: World) -> str:
    repo = lived_in(world.project / "repo")
    world.project = repo.path
    repo.write("src/topic.txt", "mine\n")
    ended = repo.run("git", "merge", "topic")
    failure = {"command": "git merge topic", "exit_code": ended.returncode, "stderr": ended.stderr.decode()}
    backup: str = world.call("heal", "--failure", "-", stdin=json.dumps(failure).encode())["data"]["backup"]
    repo.write("src/topic.txt", "newer\n")
    return backup


CASES: dict[ErrorSlug, Case] = {
    ErrorSlug.HANDED_BACK: Case(SCHEMA, mend=mended),
    ErrorSlug.INPUT_UNCHANGED: Case(SCHEMA, once(*SCHEMA), mended),
    ErrorSlug.PAUSED: Case(DENIED, mend=answered("retry"), for_operator=True),
    ErrorSlug.PAUSED_UNTIL: Case(
        ("run", "--unit", "u", "--effects", "none", *unless_mended("echo 'HTTP 429; retry-after: 2' >&2")[3:]),
        lambda world: world.write("rerail.toml", "[backoff]\nhorizon_s = 1\n"),
        mended,
    ),
    ErrorSlug.OUTCOME_UNKNOWN: Case(
        ("run", "--unit", "u", "--timeout", "0.2", "--", "sh", "-c", "test -e mended || sleep 60"),
        mend=answered("retry"),
        for_operator=True,
    ),
    ErrorSlug.UNCLASSIFIED: Case(unless_mended("echo zork", 3), mend=answered("retry"), for_operator=True),
    ErrorSlug.STOPPED: Case(unless_mended("kill -9 $$"), mend=mended, for_operator=True),
    ErrorSlug.CANCELLED: Case(unit("test -e mended || { kill -TERM $PPID; sleep 60; }"), mend=mended),
    ErrorSlug.WORKTREE_REFUSED: Case(("run", "--", "true"), broken_worktree, mended_worktree),
    ErrorSlug.NOT_HEALED: Case(
        ("heal", "--failure", "-"),
        conflict,
        lambda world: Repo(world.project).git("merge", "--abort"),
        for_operator=True,
        stdin=json.dumps(MERGE).encode(),
        runs_again=False,
    ),
    ErrorSlug.RECIPE_UNTRUSTED: Case(
        unless_mended("echo \"ModuleNotFoundError: No module named 'leftpad'\" >&2"),
        untrusted,
        trusted,
        for_operator=True,
    ),
    ErrorSlug.BELOW_THRESHOLD: Case(
        CORPUS,
        lambda world: world.write("corpus.jsonl", WRONG_LABEL),
        lambda world: world.write("corpus.jsonl", WRONG_LABEL.replace("runtime", "provider")),
    ),
    ErrorSlug.PHASE_UNRESOLVED: Case(
        ("verify", "tests"),
        mend=lambda world: world.write("rerail.toml", '[verify.tests]\ncommand = "true"\n'),
        for_operator=True,
    ),
    ErrorSlug.ALREADY_ANSWERED: Case(("answer", "PAUSE", "retry"), paused_and_answered, corrected=DENIED),
    ErrorSlug.USAGE: Case(("run", "--effects", "none"), corrected=("run", "--effects", "none", "--", "true")),
    ErrorSlug.EVIDENCE_INVALID: Case(
        ("heal", "--plan", "--failure", "failure.json"),
        lambda world: world.write("failure.json", "{"),
        lambda world: world.write("failure.json", json.dumps(MERGE)),
    ),
    ErrorSlug.UNKNOWN_NAME: Case(("explain", "provder"), corrected=("explain", "provider")),
    ErrorSlug.CORPUS_INVALID: Case(
        CORPUS,
        lambda world: world.write("corpus.jsonl", "{"),
        lambda world: world.write("corpus.jsonl", WRONG_LABEL.replace("runtime", "provider")),
    ),
    ErrorSlug.RECIPE_INVALID: Case(
        ("taxonomy",),
        lambda world: world.write(".rerail/recipes/ours.toml", "[[rule]]\nslug = 1\n"),
        lambda world: (world.project / ".rerail" / "recipes" / "ours.toml").unlink(),
    ),
    ErrorSlug.SETTINGS_INVALID: Case(
        ("taxonomy",),
        lambda world: world.write("rerail.toml", "budgets = 3\n"),
        lambda world: world.write("rerail.toml", ""),
    ),
    ErrorSlug.UNDO_REFUSED: Case(("heal", "--undo", "BACKUP"), for_operator=True, runs_again=False),
}
"""Slugs that a command gives."""


def _refused(error: RerailError) -> Callable[[], Result]:
    return lambda: of_error("run", error)


def _of_slug(slug: ErrorSlug) -> Result:
    """Return the result of an error of the tree with a slug, as whatever raises it would make it."""
    for module in pkgutil.walk_packages(rerail.__path__, "rerail."):
        if not module.name.endswith("__main__"):
            importlib.import_module(module.name)
    kinds = [RerailError]
    for kind in kinds:
        kinds.extend(each for each in kind.__subclasses__() if each.__module__.startswith("rerail."))
    kind = next(each for each in kinds if each.slug == slug)
    error = kind.__new__(kind)
    RerailError.__init__(error, "what was expected, and what came")
    return failed("run", error)


def _not_recovered() -> Result:
    error = RerailError("u: not recovered after 1 attempt: runtime/killed: killed by SIGKILL")
    step = hints.remove_cause(failure_class="runtime", remedy="give it more memory")
    return failed("run", error, step)._replace(error=ErrorSlug.NOT_RECOVERED)


def _not_allowed() -> Result:
    """Ask through MCP for what nobody allowed."""
    run = next(tool for tool in acting.TOOLS if tool.name == "run")
    return run.perform(Call(Path.cwd(), Allowed(), EndRequest(), lambda said: None), {"command": ["true"]})


MADE: dict[ErrorSlug, tuple[Callable[[], Result], bool]] = {
    ErrorSlug.BLOCK_INVALID: (_refused(BlockError("there is no block in the text")), False),
    ErrorSlug.FILE_INVALID: (_refused(FileFaultsError([FileFault("f.toml", 3, "a", "expected a number")])), False),
    ErrorSlug.GIT_UNUSABLE: (_refused(GitError("git cannot be run: no such file")), True),
    ErrorSlug.RERAIL_ERROR: (_refused(RerailError("the widget must be blue, got red")), False),
    ErrorSlug.NOT_RECOVERED: (_not_recovered, True),
    ErrorSlug.NOT_ALLOWED: (_not_allowed, True),
    ErrorSlug.INTERNAL: (lambda: of_bug("run", ZeroDivisionError("division by zero")), True),
}
"""Slugs that only a library's caller, another machine or a bug gives: the failure is made, and nothing is to be run again."""

CALLERS = frozenset(
    {
        ErrorSlug.COMMAND_NOT_FOUND,
        ErrorSlug.COMMAND_NOT_EXECUTABLE,
        ErrorSlug.WORKING_DIRECTORY_GONE,
        ErrorSlug.SPAWN_FAILED,
        ErrorSlug.UNIT_BUSY,
        ErrorSlug.LEASE_LOST,
    }
)
"""Of the rest, what the caller can do something about."""


@attrs.define
class Agent:
    """Reads an envelope, and takes the next step by rule."""

    world: World
    asked_operator: bool = False

    def step(self, envelope: dict[str, Any], case: Case) -> None:
        """Do what the first next step says."""
        hint = next(each for each in envelope["hints"] if each["category"] == "next-step")
        if hint["audience"] == "operator":
            self.asked_operator = True
        elif hint["command"] and "--help" not in hint["command"]:
            self.world.rerail(*hint["command"][1:], cwd=self.world.project, env=case.env)


@pytest.fixture
def world(project: Path, rerail: Rerail, environ: dict[str, str], git_isolation: None) -> World:
    return World(project, rerail, environ)


def _filled(world: World, case: Case, made: object) -> tuple[str, ...]:
    """Return a command with what only the arrangement knows."""
    words = [made if word == "BACKUP" else word for word in case.command]
    if "PAUSE" in words:
        pauses = world.call("pauses", "--all")["data"]["pauses"]
        words = [pauses[0]["id"] if word == "PAUSE" else word for word in words]
    return tuple(map(str, words))


@pytest.mark.parametrize("slug", CASES)
def test_the_next_step_resolves_the_failure_or_reaches_who_can(slug: ErrorSlug, world: World) -> None:
    case = CASES[slug]
    made = healed_and_gone_on(world) if slug is ErrorSlug.UNDO_REFUSED else case.arrange(world)
    command = _filled(world, case, made)
    envelope = world.call(*command, stdin=case.stdin, env=case.env)
    assert envelope["error"] == slug, envelope["message"]
    agent = Agent(world)
    if not case.for_operator:
        case.mend(world)
    agent.step(envelope, case)
    assert agent.asked_operator is case.for_operator, envelope["hints"]
    if case.for_operator:
        case.mend(world)
    if case.runs_again:
        again = _run_again(world, case, case.corrected or command)
        assert again["ok"], again["message"]


def _run_again(world: World, case: Case, command: tuple[str, ...]) -> dict[str, Any]:
    """Run a command until it says something else than that a time has to come."""
    said = ""
    for _ in range(PATIENCE):
        envelope = world.call(*command, stdin=case.stdin, env=case.env)
        if envelope["error"] != ErrorSlug.PAUSED_UNTIL:
            return envelope
        said = envelope["message"]
    raise AssertionError(said)


def test_a_unit_that_is_run_elsewhere_goes_on_once_the_other_run_has_ended(world: World) -> None:
    os.mkfifo(world.project / "gate")
    command = unit("echo started; cat gate")
    first = subprocess.Popen(
        [sys.executable, "-m", "rerail", *command], cwd=world.project, env=world.environ, stdout=subprocess.PIPE
    )
    assert first.stdout is not None
    assert first.stdout.readline() == b"started\n"
    envelope = world.call(*unit("true"))
    assert envelope["error"] == ErrorSlug.UNIT_BUSY
    agent = Agent(world)
    (world.project / "gate").write_text("")
    assert first.wait(timeout=60) == 0
    first.stdout.close()
    agent.step(envelope, Case(()))
    assert not agent.asked_operator
    assert world.call(*unit("true"))["ok"]


@pytest.mark.parametrize("slug", [slug for slug in ErrorSlug if slug not in CASES])
def test_what_no_command_can_be_brought_to_say_still_reaches_who_can_act(slug: ErrorSlug, world: World) -> None:
    make, for_operator = MADE.get(slug) or (lambda: _of_slug(slug), slug not in CALLERS)
    envelope = json.loads(to_json(serialize_result(make())))
    assert typed(envelope)["error"] == slug
    agent = Agent(world)
    agent.step(envelope, Case(()))
    assert agent.asked_operator is for_operator, envelope["hints"]
