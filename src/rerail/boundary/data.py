"""The data of every verb, typed: which facts a result carries, for whoever reads them.

Verbs hand in plain values and `rerail.boundary.serialize` writes them without pydantic; tests hold both to these models. A result
that an error ended carries no facts, or those of `Bug`, so every verb's data may be empty when it is not ok.
"""

from __future__ import annotations

from collections.abc import Mapping  # noqa: TC003  pydantic reads annotations
from types import MappingProxyType
from typing import Any, Literal

from pydantic import BaseModel, ConfigDict, Field


class Facts(BaseModel):
    """Facts by name; readers ignore those that they do not know."""

    model_config = ConfigDict(frozen=True, extra="ignore", populate_by_name=True, serialize_by_alias=True)


class Cited(Facts):
    """A line that decided, or a field."""

    stream: str = Field(description="stdout, stderr, message, body, or the name of a field of the evidence.")
    line: int = Field(description="Counted from 1 in the whole stream; 0 for a field.")
    text: str


class Candidate(Facts):
    """A rule that held, and how it fared."""

    rule: str
    class_: str = Field(alias="class")
    reason: str
    trust: str = Field(description="What it stood on: code, status, exit or text.")
    verdict: str = Field(description="won, or why it lost.")


class Classification(Facts):
    """What a failure is called, and why."""

    id: Any = Field(None, description="The evidence's own id, passed through.")
    class_: str = Field(alias="class")
    reason: str
    rule: str
    summary: str
    evidence: list[Cited]
    action: str
    retry_after_s: float | None = Field(description="The wait that the failure itself names, in seconds.")
    trace: list[Candidate]


class Failure(Facts):
    """One named failure of a run."""

    attempt: int = Field(description="Counted from 1.")
    class_: str = Field(alias="class")
    reason: str
    rule: str
    summary: str
    exit_code: int | None
    signal: str | None
    evidence: list[Cited]
    decision: str
    plan: str
    remaining: int
    budget: int


class RepairRequest(Facts):
    """What the caller is asked to change."""

    prompt: str


class WayData(Facts):
    """One way out for a person."""

    to: str
    commands: list[str] = Field(description="In order, as a shell takes them; words in capitals are yours to fill in.")


class HealData(Facts):
    """What a heal did."""

    outcome: Literal["healed", "paused", "stopped", "retry"]
    class_: str = Field(alias="class")
    reason: str
    recipe: str | None
    steps: list[str]
    backup: str | None = Field(description="The id for an undo.")
    undo: str | None = Field(description="The command that takes it back.")
    detail: str
    expired: list[str]
    question: str | None = Field(None, description="What a person is asked, where it paused.")
    ways: list[WayData] = Field([], description="What that person can run, the best way first.")


class RunData(Facts):
    """How a unit ended."""

    unit: str = ""
    outcome: Literal["succeeded", "handed-back", "paused", "stopped", "cancelled"] | None = Field(
        None, description="Absent where it may not be run."
    )
    attempts: int = 0
    failures: list[Failure] = []
    heals: list[HealData] = []
    landed: bool | None = Field(None, description="The attempt failed, and its effect turned out to be there.")
    refused: bool | None = Field(None, description="Nothing was run: the input is one that was already rejected.")
    repair: RepairRequest | None = None
    why: str | None = Field(None, description="Why it paused or stopped.")
    pause: str | None = None
    question: str | None = None
    resume_at: str | None = Field(None, description="UTC, ISO 8601.")
    output: dict[str, str] | None = Field(None, description="The end of each stream, where the caller is not shown it.")
    file: str | None = Field(None, description="Not run: where the operator would allow it.")
    entry: str | None = Field(None, description="Not run: what would allow it.")


class ReportData(Facts):
    """What a tool's own report counts."""

    format: str = Field(description="junit, sarif, ruff and so on.")
    total: int | None = Field(description="Null: the report names findings alone.")
    failed: int
    skipped: int
    warnings: int = Field(description="Findings that the tool itself does not call errors; they fail nothing.")


class FailedCheckData(Facts):
    """A check that failed: a test, or a finding at a place."""

    name: str = Field(description="The test's name, or the code of the rule that objects.")
    message: str
    file: str
    line: int | None = Field(description="Counted from 1.")
    column: int | None


class ChangedData(Facts):
    """A file that changed."""

    path: str
    added: int | None = Field(description="Lines; null for a binary file.")
    deleted: int | None


class ChangesData(Facts):
    """What changed in the work tree."""

    base: str = Field(description="The commit that it is compared with; empty where there is none yet.")
    base_name: str
    files: int
    added: int
    deleted: int
    changed: list[ChangedData] = Field(description="The first 100.")
    untracked: list[str] = Field(description="The first 100.")
    unmerged: list[str]


class PhaseData(Facts):
    """A phase of the ladder, and how it ended."""

    name: str
    unit: str
    outcome: Literal[
        "planned",
        "passed",
        "skipped",
        "unresolved",
        "not-reached",
        "handed-back",
        "paused",
        "flaky",
        "stopped",
        "cancelled",
    ] = Field(description="flaky: it passed, and had failed on the same input; it counts as paused.")
    command: list[str] | None = Field(
        description="{report} stands for a file of its own; null where no command is run."
    )
    source: str = Field(description="The file, and what in it, that states the phase.")
    detail: str
    also: list[str] = Field(description="What else is stated for the phase, and is not run.")
    duration_s: float | None = None
    report: ReportData | None = None
    failed_checks: list[FailedCheckData] = Field([], description="The first 100; report.failed counts all.")
    flaky_checks: list[str] = []
    notes: list[str] = Field([], description="Reports that were ignored, and why.")
    changes: ChangesData | None = None
    run: RunData | None = Field(None, description="How its unit ended, as `run` says it.")


class VerifyData(Facts):
    """The verification ladder."""

    outcome: (
        Literal["planned", "passed", "unresolved", "handed-back", "paused", "flaky", "stopped", "cancelled"] | None
    ) = Field(None, description="Of the worst phase. Absent where the ladder may not be run.")
    phases: list[PhaseData] = []
    faults: list[str] = Field([], description="Files that could not be read; what they state is not known.")
    file: str | None = Field(None, description="Not run: where the operator would allow it.")
    entry: str | None = Field(None, description="Not run: what would allow it.")


class ExcerptLine(Facts):
    """A line that decided, or one beside it."""

    line: int = Field(description="Counted from 1 in the whole stream.")
    text: str = Field(description="A long line is cut around what decided.")
    role: Literal["decides", "agrees", "says-most", "read", "masked"] = Field(
        description="decides: the rule stands on it; agrees: cited too; says-most: no rule has evidence; masked: no rule sees it."
    )
    spans: list[tuple[int, int]] = Field(description="Which parts of the text decided: start and stop, from 0.")


class Excerpt(Facts):
    """Consecutive lines of one stream."""

    stream: str
    total_lines: int = Field(description="Lines that the stream has.")
    lines: list[ExcerptLine]


class RunnerUp(Candidate):
    """A rule that held and lost."""

    evidence: list[Cited]


class WhyData(Facts):
    """What named a failure, and what lost."""

    event: int | None
    unit: str | None
    attempt: int | None
    at_s: float | None
    classification: Classification
    why: str | None
    source: str | None
    recipe: str | None
    excerpts: list[Excerpt]
    fields: list[Cited] = Field(description="What decided and is no line: an exit code, a signal, a header.")
    runners_up: list[RunnerUp]


class ExplainData(Facts):
    """The facts about one name; which there are depends on what it names."""

    model_config = ConfigDict(frozen=True, extra="allow")


class ReasonData(Facts):
    """A reason of a class."""

    name: str
    summary: str
    action: str
    hint: str


class ClassData(Facts):
    """A class in force."""

    name: str
    signal: str
    action: str
    budget: int
    pack: str
    reasons: list[ReasonData]


class TaxonomyData(Facts):
    """The classes in force."""

    classes: list[ClassData]


class PlanCondition(Facts):
    """A condition of a recipe, as it came out."""

    name: str
    verdict: str
    detail: str


class HealPlanData(Facts):
    """What a heal would do."""

    class_: str = Field(alias="class")
    reason: str
    recipe: str | None
    steps: list[str]
    conditions: list[PlanCondition]
    detail: str
    begins: bool
    question: str | None = Field(None, description="What a person would be asked.")
    ways: list[WayData] = []


class UndoData(Facts):
    """What an undo brought back, or what stands in its way."""

    outcome: Literal["undone", "retry", "paused"]
    undid: str | None
    recipe: str | None = None
    paths: list[str] = []
    refs: list[str] = []
    backup: str | None = None
    undo: str | None = None
    detail: str = ""
    expired: list[str] = []
    found: list[str] = []


class BackupsData(Facts):
    """The backups of a repository."""

    backups: list[dict[str, Any]]
    unreadable: list[str]
    age_s: float
    count: int


class CheckLine(Facts):
    """One line of the worktree check."""

    name: str
    verdict: str
    detail: str


class CheckData(Facts):
    """The worktree check."""

    ok: bool
    lines: list[CheckLine]


class PauseData(Facts):
    """A question to the operator."""

    id: str
    unit: str
    asked_at_s: float
    why: str
    question: str
    class_: str = Field(alias="class")
    reason: str
    rule: str
    evidence: str
    resume_at_s: float | None
    command: list[str] | None
    cwd: str
    answer: str | None
    note: str


class PausesData(Facts):
    """The open questions."""

    pauses: list[PauseData]


class AnswerData(Facts):
    """An answered question; or, where an agent may not answer it, what would allow that."""

    pause: PauseData | None = None
    file: str | None = None
    entry: str | None = None


class BalanceData(Facts):
    """What a unit has spent of a class."""

    unit: str
    class_: str = Field(alias="class")
    spent: int
    budget: int


class EventData(Facts):
    """A row of the history, in short."""

    id: int
    at_s: float
    unit: str
    attempt: int
    name: str
    class_: str | None = Field(None, alias="class")
    reason: str | None = None
    summary: str | None = None


class LedgerData(Facts):
    """What the ledger holds."""

    path: str
    note: str
    balances: list[BalanceData]
    events: list[EventData]


class ReleaseData(Facts):
    """Whom a unit was taken from."""

    unit: str
    pid: int
    host: str


class RuleData(Facts):
    """A rule in force."""

    slug: str
    class_: str = Field(alias="class")
    reason: str
    why: str
    source: str
    recipe: str


class RulesData(Facts):
    """The rules in force."""

    rules: list[RuleData]


class ExamplesData(Facts):
    """How the rules' own examples came out."""

    rules: int
    examples: int
    wrong: int


class DraftData(Facts):
    """Failures that say the same, and the rule that they lack."""

    slug: str
    count: int = Field(description="How many failures say so.")
    template: str = Field(description="What they say; <*> and <kind> stand for what varies.")
    tool: str
    exception: str
    pattern: str
    lines: list[str] = Field(description="A few of the lines, as they came.")
    units: list[str]
    events: list[int] = Field(description="A few of the events, the newest first.")
    toml: str = Field(description="The rule, with its class, reason, why and source left empty.")


class LearnData(Facts):
    """Failures without a name, and drafts of rules for them."""

    failures: int = Field(description="Failures that were looked at.")
    named_now: int = Field(description="Of those, the ones that the rules in force name.")
    not_failures: int = Field(description="Of those, the ones that ended well.")
    unnamed: int
    clusters: int
    drafts: list[DraftData] = Field(description="The largest clusters, in order.")
    toml: str = Field(description="All drafts as one recipe file.")


class RecipeData(Facts):
    """A recipe file, and what it would run."""

    name: str
    file: str
    description: str
    classes: list[str]
    rules: int
    heals: list[str]
    content_hash: str
    commands: list[dict[str, Any]]
    trusted: bool | None = Field(description="Null: it runs no commands, and needs no trust.")
    untrusted_because: str | None


class RecipesData(Facts):
    """The recipe files in force."""

    recipes: list[RecipeData]


class RecipeTestData(ExamplesData):
    """How the rules' own examples came out, and what the project's heals would run."""

    recipes: list[RecipeData]


class TrustData(Facts):
    """A recipe file that was trusted, or is not any more."""

    file: str
    content_hash: str | None = None
    programs: list[str] = []
    commands: list[dict[str, Any]] = []
    trusted: bool | None = None
    untrusted_because: str | None = None
    revoked: list[str] = []


class ClassScore(Facts):
    """The figures of one class."""

    class_: str = Field(alias="class")
    cases: int
    right: int
    precision: float | None = Field(description="Null: nothing was named so.")
    recall: float | None = Field(description="Null: nothing is so; as f1.")
    f1: float | None


class CaseData(Facts):
    """A case that is not as it should be."""

    id: str
    line: int = Field(description="In the corpus, counted from 1.")
    truth: str
    given: str
    reason: str
    rule: str = Field(description="Empty: no rule has evidence.")
    unsafe: bool
    cited: list[str]
    deciding: str = Field(description="The text that decides, as the corpus says.")
    stated_s: float | None = Field(description="The delay that the failure states, as the corpus says.")
    read_s: float | None


class EvalData(Facts):
    """How the rules in force do on a corpus."""

    corpus: str
    packs: list[str]
    cases: int
    accuracy: float
    macro_f1: float
    unsafe: int
    wrong: int
    evidence: float | None = Field(description="Null: the corpus does not say what decides.")
    retry_after: float | None = Field(description="Null: no case states a delay.")
    classes: list[ClassScore]
    confusion: dict[str, dict[str, int]] = Field(description="Truth to given class to number of cases.")
    wrong_cases: list[CaseData] = Field(description="Unsafe ones first.")
    cited_wrongly: list[CaseData]
    delays_misread: list[CaseData]
    picture: str | None


class InitData(Facts):
    """What was written; or the configuration of a harness that was asked for."""

    written: list[str] = []
    kept: list[str] = []
    file: str | None = None
    config: dict[str, Any] | None = None


class DoctorFinding(Facts):
    """One thing that was looked at."""

    name: str
    ok: bool
    detail: str


class DoctorData(Facts):
    """What was looked at."""

    findings: list[DoctorFinding]


class SchemaData(Facts):
    """The published schemas that were asked for, by name."""

    schemas: dict[str, dict[str, Any]]


class Bug(Facts):
    """A bug of rerail, whatever the verb."""

    version: str
    report: str


DATA: Mapping[str, tuple[type[Facts], ...]] = MappingProxyType(
    {
        "run": (RunData,),
        "verify": (VerifyData,),
        "resume": (RunData, VerifyData),
        "classify": (Classification,),
        "why": (WhyData,),
        "explain": (ExplainData,),
        "eval": (EvalData,),
        "taxonomy": (TaxonomyData,),
        "heal": (HealData, HealPlanData, UndoData, BackupsData),
        "check": (CheckData,),
        "pauses": (PausesData,),
        "answer": (AnswerData,),
        "ledger show": (LedgerData,),
        "ledger release": (ReleaseData,),
        "rules list": (RulesData,),
        "rules test": (ExamplesData,),
        "rules learn": (LearnData,),
        "recipes list": (RecipesData,),
        "recipes test": (RecipeTestData,),
        "recipes trust": (TrustData,),
        "init": (InitData,),
        "doctor": (DoctorData,),
        "schema": (SchemaData,),
    }
)
"""What each verb's data may be, as the verb is typed."""
