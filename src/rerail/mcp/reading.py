"""The tools that only read: naming a failure, and asking what is known."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any

from pydantic import ConfigDict, Field

from rerail.app import open_project
from rerail.boundary.evidence_schema import EVIDENCE_SCHEMA
from rerail.mcp.tool import Arguments, Call, Tool
from rerail.verbs import ledger, pauses
from rerail.verbs.check import check
from rerail.verbs.classify import classified, classifier
from rerail.verbs.explain import explain
from rerail.verbs.taxonomy import taxonomy
from rerail.verbs.why import LAST, why

if TYPE_CHECKING:
    from rerail.boundary.result import Result


class Nothing(Arguments):
    """A tool that takes nothing."""


class Evidence(Arguments):
    """Evidence JSON. What its fields may be is said by whoever reads it, for the command line too."""

    model_config = ConfigDict(extra="allow")


class Named(Arguments):
    """A name to explain."""

    name: Annotated[
        str, Field(description="A class, a reason (provider/rate-limit), a rule, a heal, an error slug, an exit code.")
    ]


class Asked(Arguments):
    """A failure that was recorded."""

    event: Annotated[
        str, Field(description="An event's number, a pause's id, a unit for its last failure, or last.")
    ] = LAST


class PausesAsked(Arguments):
    """Which pauses."""

    include_answered: Annotated[bool, Field(description="Also those that have their answer.")] = False


class LedgerAsked(Arguments):
    """Which part of the ledger."""

    unit: Annotated[str | None, Field(description="Of one unit alone.")] = None
    failures: Annotated[bool, Field(description="Only named failures.")] = False
    last: Annotated[int, Field(ge=1, le=1000, description="How many events.")] = ledger.LAST_EVENTS


def _classify(call: Call, taken: Evidence) -> Result:
    given: dict[str, Any] = dict(taken.model_extra or {})
    return classified(classifier(call.cwd)(given), given.get("id"))


def _explain(call: Call, taken: Named) -> Result:
    return explain(open_project(call.cwd), taken.name)


def _why(call: Call, taken: Asked) -> Result:
    return why(open_project(call.cwd), taken.event)


def _taxonomy(call: Call, _taken: Nothing) -> Result:
    return taxonomy(open_project(call.cwd))


def _check(call: Call, _taken: Nothing) -> Result:
    return check(call.cwd)


def _pauses(call: Call, taken: PausesAsked) -> Result:
    return pauses.pauses(open_project(call.cwd), include_answered=taken.include_answered)


def _ledger(call: Call, taken: LedgerAsked) -> Result:
    return ledger.show(open_project(call.cwd), unit=taken.unit, failures=taken.failures, count=taken.last)


TOOLS = (
    Tool(
        "classify",
        "classify",
        "Name a failure",
        "Name a failure before you retry anything: give what you have of it (command, exit_code, stderr, http_status, ...)."
        " Returns its class and reason, the lines that decided, and the action: retry, repair, heal, pause or stop."
        " Nothing is run and nothing is written.",
        Evidence,
        _classify,
        input_schema=EVIDENCE_SCHEMA,
    ),
    Tool(
        "explain",
        "explain",
        "Explain a name",
        "Say what a name in a result means: a class, a reason, a rule, a heal, an error slug or an exit code.",
        Named,
        _explain,
    ),
    Tool(
        "why",
        "why",
        "Why a failure got its name",
        "Show what named a recorded failure, which rules lost, and why.",
        Asked,
        _why,
    ),
    Tool(
        "taxonomy",
        "taxonomy",
        "Classes and actions",
        "List the classes in force, their actions and budgets.",
        Nothing,
        _taxonomy,
    ),
    Tool(
        "check",
        "check",
        "Check the worktree",
        "Check that the worktree is safe to work in, before you work in it. A failed check means: do not work here, and nowhere"
        " else instead. A pass readmits a worktree that was refused.",
        Nothing,
        _check,
        read_only=False,
    ),
    Tool(
        "pauses",
        "pauses",
        "Open questions",
        "List the questions that await the operator's answer. They are the operator's to answer, not yours.",
        PausesAsked,
        _pauses,
    ),
    Tool(
        "ledger",
        "ledger show",
        "Budgets and history",
        "Show what each unit has spent, and the last events.",
        LedgerAsked,
        _ledger,
    ),
)
