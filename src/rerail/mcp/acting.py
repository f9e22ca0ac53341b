"""The tools that act: running a listed command, healing a repository, answering a pause where the operator allows it."""

from __future__ import annotations

import json
import shlex
from typing import TYPE_CHECKING, Annotated, Any

from pydantic import Field

from rerail.app import Loop, open_project
from rerail.boundary import hints
from rerail.boundary.evidence_schema import EVIDENCE_SCHEMA
from rerail.boundary.result import Result
from rerail.boundary.slugs import ErrorSlug
from rerail.boundary.words import action_in_words
from rerail.decisions.model import Answer, Effects, Why
from rerail.errors import UsageError
from rerail.ids import PauseId
from rerail.ladder.model import Runs, shown
from rerail.mcp.tool import Arguments, Call, Tool
from rerail.paths import find_root
from rerail.runner.command import Signalled
from rerail.settings_file import PHASES
from rerail.verbs import pauses
from rerail.verbs.ended import cancelled, result_of, spends_elsewhere, with_output
from rerail.verbs.heal import heal
from rerail.verbs.ladder import ladder_of, plan
from rerail.verbs.units import command_unit, nowhere_to_run
from rerail.verbs.verify import verify

if TYPE_CHECKING:
    from collections.abc import Mapping

    from rerail.decisions.effects import FailureRecord

Failure = Annotated[
    dict[str, Any], Field(description="What failed, as evidence JSON.", json_schema_extra=EVIDENCE_SCHEMA)
]
# Strict values, but a name is the way to write a member.
AnswerName = Annotated[Answer, Field(strict=False)]
EffectsName = Annotated[
    Effects, Field(strict=False, description="What a second run would do: nothing, the same again, or harm.")
]

_NO_ENTRY = "no entry covers this"


class Planned(Arguments):
    """What to plan a heal for."""

    failure: Failure | None = None


class Healed(Arguments):
    """What to heal."""

    failure: Failure


class Run(Arguments):
    """A command to run as a unit."""

    command: Annotated[list[str], Field(min_length=1, description="The command's words; no shell reads them.")]
    unit: Annotated[
        str | None, Field(description="Its name; budgets are kept under it. Default: made of the command.")
    ] = None
    effects: EffectsName = Effects.UNSAFE
    timeout_s: Annotated[float | None, Field(gt=0, allow_inf_nan=False, description="Seconds for one attempt.")] = None


class Verified(Arguments):
    """Which phases to verify."""

    phases: list[str] = Field([], description=f"Of {', '.join(PHASES)}; none asks for all.")
    keep_going: Annotated[bool, Field(description="Run the phases after one that did not pass as well.")] = False
    plan: Annotated[bool, Field(description="Show the phases, and run nothing.")] = False


class Answered(Arguments):
    """An answer to a pause."""

    pause: Annotated[str, Field(description="Its id.")]
    answer: AnswerName
    note: Annotated[str, Field(description="Why, for whoever reads the history.")] = ""


def _heal_plan(call: Call, taken: Planned) -> Result:
    return heal(call.cwd, taken.failure, plan_only=True)


def _heal(call: Call, taken: Healed) -> Result:
    # It is not cut off by a cancellation: a repository is left healed, or as it was.
    return heal(call.cwd, taken.failure)


def _run(call: Call, taken: Run) -> Result:
    command = tuple(taken.command)
    if not call.allowed.may_run(command):
        message = f"not run: the operator has not listed this command for agents: {shlex.join(command)}"
        return _not_allowed(call, "run", message, f"commands = {json.dumps([shlex.join(command)])}")
    if not call.cwd.is_dir():
        return nowhere_to_run(UsageError("the working directory no longer exists"))

    loop = _telling_loop(call)
    try:
        unit = command_unit(command, loop.root, name=taken.unit, effects=taken.effects)
        notices = spends_elsewhere(loop, unit.name, command, call.cwd)
        try:
            outcome = loop.run_command(unit, command, cwd=call.cwd, timeout_s=taken.timeout_s, end=call.end)
        except Signalled:
            return cancelled("run", unit.name, {})
        return with_output(result_of("run", unit.name, outcome, loop, command=command, notices=notices), outcome)
    finally:
        loop.tools.ledger.close()


def _telling_loop(call: Call) -> Loop:
    """Return a loop that tells the client how far it is, and whose waits end when the client cancels."""

    def show(record: FailureRecord) -> None:
        named = record.classification
        action = action_in_words(record, loop.project.loaded.taxonomy)
        call.tell(f"attempt {record.attempt} failed: {named.class_}/{named.reason}: {named.summary}: {action}")

    def note(event: str, fields: Mapping[str, object]) -> None:
        if event == "attempt.started":
            call.tell(f"attempt {fields.get('attempt')} of {fields.get('unit')}")

    def sleep(wait_s: float, /) -> None:
        if call.end.wait(wait_s):
            raise Signalled("SIGTERM")

    loop = Loop(find_root(call.cwd), on_failure=show, on_event=note, sleep=sleep)
    return loop


def _verify(call: Call, taken: Verified) -> Result:
    if not call.cwd.is_dir():
        return nowhere_to_run(UsageError("the working directory no longer exists"))._replace(verb="verify")
    if taken.plan:
        return plan(ladder_of(open_project(call.cwd), taken.phases))
    loop = _telling_loop(call)
    try:
        ladder = ladder_of(loop.project, taken.phases)
        # What a phase runs is stated by files that the agent writes: only what the operator listed, word for word, is run.
        commands = (phase.command for phase in ladder.phases if isinstance(phase, Runs))
        unlisted = [shown(command) for command in commands if not call.allowed.may_run(command)]
        if unlisted:
            message = f"not run: the operator has not listed these commands for agents: {'; '.join(unlisted)}"
            return _not_allowed(call, "verify", message, f"commands = {json.dumps(unlisted)}")
        climbed = verify(
            loop,
            ladder,
            keep_going=taken.keep_going,
            end=call.end,
            tell=lambda phase: call.tell(f"verify:{phase.name}"),
            with_outputs=True,
        )
        return climbed.result
    finally:
        loop.tools.ledger.close()


def _answer(call: Call, taken: Answered) -> Result:
    project = open_project(call.cwd)
    ledger = project.open_ledger()
    try:
        asked = ledger.pause(PauseId(taken.pause))
    finally:
        ledger.close()
    if not call.allowed.may_answer(asked.rule):
        whose = f"the pauses of {asked.rule}" if asked.rule else "failures that no rule names"
        message = f"{asked.unit}: not answered: {whose} are the operator's to answer"
        entry = f"answers = {json.dumps([asked.rule])}" if asked.rule else _NO_ENTRY
        return _not_allowed(call, "answer", message, entry)
    if asked.why is not Why.CLASS:
        # Whoever may answer a rule's own question may not lift the caps that hold the agent itself.
        message = f"{asked.unit}: not answered: it is paused because of {asked.why}, and that is the operator's to lift"
        return _not_allowed(call, "answer", message, _NO_ENTRY)
    return pauses.answer(project, taken.pause, taken.answer, taken.note)


def _not_allowed(call: Call, verb: str, message: str, entry: str) -> Result:
    file = str(call.allowed.file or "the user's configuration directory, of which there is none")
    data = {"file": file, "entry": entry}
    step = hints.ask_for_leave(entry=entry, file=file)
    return Result(False, verb, message, data, hints=(step,), error=ErrorSlug.NOT_ALLOWED)


TOOLS = (
    Tool(
        "run",
        "run",
        "Run a command under recovery",
        "Run one command as a unit under recovery. Only commands that the operator listed are run. A failure is named before"
        " anything is retried; the result says how it ended, and hints say what comes next. Its last output is in data.output.",
        Run,
        _run,
        read_only=False,
        destructive=True,
        idempotent=False,
    ),
    Tool(
        "verify",
        "verify",
        "Verify the work",
        "Run the project's own build, types, lint, tests, security and diff, each as a unit under recovery, until one does not"
        " pass. data.phases says how each ended and names the checks that failed. Only commands that the operator listed are run;"
        " with plan nothing is run, and data.phases says what would be.",
        Verified,
        _verify,
        read_only=False,
        destructive=True,
        idempotent=False,
    ),
    Tool(
        "heal_plan",
        "heal",
        "Plan a git heal",
        "Show the recipe and the steps that heal would take for a failure, and change nothing.",
        Planned,
        _heal_plan,
    ),
    Tool(
        "heal",
        "heal",
        "Heal the repository",
        "Heal the repository by a known recipe, with a backup; else say why not and change nothing. It does not run the command"
        " that failed.",
        Healed,
        _heal,
        read_only=False,
        idempotent=False,
    ),
    Tool(
        "answer",
        "answer",
        "Answer a pause",
        "Answer a pause, once: only of a rule whose pauses the operator lets agents answer. Otherwise ask the operator.",
        Answered,
        _answer,
        read_only=False,
        idempotent=False,
    ),
)
