"""Runs other libraries' failure classifiers on the labelled corpora, beside rerail's: ``make scoreboard``.

    python benchmarks/scoreboard.py [CORPUS.jsonl ...]

The public corpora by default (RERAIL_SHARED names the directory that holds ``corpus/``). One table a corpus: accuracy and macro
F1 against the six core classes, where failing tests and a missing module are nobody's to name, and against all eight; and how
many cases would be retried or healed that must not be.

How a failure reaches a peer. Those that read text are given all of it: message, stderr, stdout. Those that read exceptions are
given one as a wrapper around the call would have raised it, and more than that: its type is the innermost one that the text
names (a built-in where there is one of that name), its status, errno, codes and headers are those that rerail's own readers find
anywhere in the text. So what they are scored on is their judgement, not their reading. What ended with exit status 0 and says
no failure in data is given to none of them: nobody would have asked.

How a peer's labels become classes. `PEERS` says it, label by label, and generously: where a label could mean several classes, it
counts as right for each of them; where it can mean none, as ``unclassified``. No peer names git, a worktree, a killed process or
a full disk, for none sets out to: what a peer cannot say is not its fault, and the table's last column is about that.
"""

from __future__ import annotations

import builtins
import errno
import importlib.metadata
import os
import sys
import warnings
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from importlib import import_module
from pathlib import Path
from typing import NamedTuple

from rich.console import Console
from rich.table import Table
from rich.text import Text

from rerail.evidence.model import Evidence
from rerail.quality.corpus import Case, read_corpus
from rerail.quality.scores import Named, Score, score
from rerail.recipes.read import load
from rerail.rules.engine import classify
from rerail.rules.readers import view
from rerail.taxonomy import BUILT_IN

ROOT = Path(__file__).parents[1]
CORPUS = Path(os.environ.get("RERAIL_SHARED", ROOT.parent / "shared")) / "corpus"
CLASSES = tuple(str(spec.name) for spec in BUILT_IN)
CORE = tuple(str(spec.name) for spec in BUILT_IN.without_packs({"verification", "environment"}))

POLICY, SCHEMA, PROVIDER = ("deterministic-policy",), ("tool-schema",), ("provider",)
UNKNOWN = ("unclassified",)
GIVEN_UP = ("tool-schema", "deterministic-policy")
"""What "permanent" can mean: change the input, or ask somebody."""

LIBRARIES = ("httpx", "httpx2", "requests", "urllib3", "redis", "botocore", "sqlalchemy")
"""Whose exceptions peers know by their class; used where they are installed."""

Classifier = Callable[[Evidence], str]
"""Gives a peer's own label."""


class Peer(NamedTuple):
    """A library, and how it is asked."""

    package: str
    make: Callable[[], Classifier]
    """Imports it; raises ImportError where it is not installed."""
    labels: Mapping[str, tuple[str, ...]]
    """Its labels, each with the classes that it can mean, the likeliest first."""
    reads: str
    scope: str


# -- what a peer is given


def text_of(evidence: Evidence) -> str:
    return "\n".join(stream.text for stream in evidence.streams)


def exception_of(evidence: Evidence) -> Exception:
    """Return the failure as an exception that says all that can be known of it."""
    facts = view(evidence).facts
    known = {
        kind: [fact.value for fact in facts if fact.kind == kind] for kind in ("exception", "status", "errno", "code")
    }
    types = evidence.exceptions[-1].types if evidence.exceptions else (*known["exception"][-1:], "Exception")
    kind: type[Exception] = type(types[0].rpartition(".")[2] or "Exception", (_base(types),), {})
    # Not called: a constructor may want more than a message, and what a peer reads are attributes.
    raised = kind.__new__(kind, text_of(evidence))
    said: dict[str, object] = {"headers": dict(evidence.headers)}
    if known["status"]:
        said |= dict.fromkeys(("status", "status_code", "code"), int(known["status"][-1]))
    elif known["code"]:
        said["code"] = known["code"][-1]
    if known["errno"]:
        said["errno"] = getattr(errno, known["errno"][-1], None)
    for name, value in said.items():
        with suppress(AttributeError):  # one that the library computes
            setattr(raised, name, value)
    return raised


def _base(types: Sequence[str]) -> type[Exception]:
    """Return the first of the types that is really there: a built-in one, or one of a library that peers look for."""
    for qualified in types:
        module, _, name = qualified.rpartition(".")
        found = getattr(builtins, name, None)
        if module.partition(".")[0] in LIBRARIES:
            with suppress(ImportError):
                found = getattr(import_module(module), name, None)
        if isinstance(found, type) and issubclass(found, Exception):
            return found
    return Exception


# -- the peers


def redress() -> Classifier:
    from redress.extras import http_classifier

    return lambda evidence: http_classifier(exception_of(evidence)).name


def retryguard() -> Classifier:
    from retryguard import classify_error

    return lambda evidence: classify_error(exception_of(evidence)).category.name


def evenkeel() -> Classifier:
    from evenkeel.failure import FailureContext, RuleClassifier

    def name(evidence: Evidence) -> str:
        context = FailureContext(exception_of(evidence), task="", attempt=1, max_attempts=1)
        verdict = RuleClassifier().classify(context)
        # It gives up on whatever it does not know; only with a status does it know why.
        return f"{verdict.kind} ({'a status' if verdict.confidence > 0.5 else 'a guess'})"

    return name


def triage_agent() -> Classifier:
    from triage.classifier.rules import RulesClassifier
    from triage.taxonomy import Step
    from triage.trajectory import Trajectory

    def name(evidence: Evidence) -> str:
        trajectory = Trajectory()
        kind = type(exception_of(evidence)).__name__
        trajectory.append(Step(0, "call", tool_called=evidence.tool, error=text_of(evidence), exception_type=kind))
        return str(RulesClassifier().classify(trajectory, "").name)

    return name


def agent_callguard() -> Classifier:
    from callguard.errors import classify as classify_text

    return lambda evidence: str(classify_text(text_of(evidence)).kind)


PEERS = (
    Peer(
        "redress",
        redress,
        {
            "AUTH": POLICY,
            "PERMISSION": POLICY,
            "PERMANENT": GIVEN_UP,
            "CONCURRENCY": ("tool-schema", "git"),
            "RATE_LIMIT": PROVIDER,
            "SERVER_ERROR": PROVIDER,
            "TRANSIENT": PROVIDER,
            "UNKNOWN": UNKNOWN,
        },
        "exceptions",
        "statuses and names of exceptions, for retry policies of services (its http_classifier)",
    ),
    Peer(
        "retryguard",
        retryguard,
        {
            "NETWORK": PROVIDER,
            "TIMEOUT": PROVIDER,
            "RATE_LIMIT": PROVIDER,
            "SERVER": PROVIDER,
            "DATABASE": ("provider", "tool-schema"),
            "CLIENT": GIVEN_UP,
            "AUTH": POLICY,
            "VALIDATION": SCHEMA,
            "UNKNOWN": UNKNOWN,
        },
        "exceptions",
        "whether a backend's call may be retried: statuses, database states, cloud SDKs",
    ),
    Peer(
        "evenkeel",
        evenkeel,
        {
            "transient (a status)": PROVIDER,
            "bad_input (a status)": SCHEMA,
            "bad_output (a status)": SCHEMA,
            "needs_human (a status)": POLICY,
            "over_budget (a status)": POLICY,
            "fatal (a status)": GIVEN_UP,
            "fatal (a guess)": UNKNOWN,
        },
        "exceptions",
        "failures of LangChain agents, by its rules alone (its model-based classifier needs a network)",
    ),
    Peer(
        "triage-agent",
        triage_agent,
        {
            "EXTERNAL_FAULT": PROVIDER,
            "TIMEOUT": PROVIDER,
            "WRONG_TOOL_CALLED": SCHEMA,
            "SCHEMA_MISMATCH": SCHEMA,
            "CONSTRAINT_IGNORED": POLICY,
            "CONTEXT_OVERFLOW": ("runtime",),
            "LOOP_DETECTED": UNKNOWN,
            "PLAN_INCOMPLETE": UNKNOWN,
            "UNKNOWN": UNKNOWN,
        },
        "text and exception names",
        "an agent's steps, by its rules alone (its model-based classifier needs a network)",
    ),
    Peer(
        "agent-callguard",
        agent_callguard,
        {
            "transient": PROVIDER,
            "auth": POLICY,
            "parse": SCHEMA,
            "validation": SCHEMA,
            "missing_arg": SCHEMA,
            "not_found": SCHEMA,
            "unknown": UNKNOWN,
        },
        "text",
        "a tool call's error in thirteen patterns; its argument repair is not scored",
    ),
)


# -- the table


class Row(NamedTuple):
    """One classifier on one corpus."""

    name: str
    reads: str
    core: Score
    full: Score
    scope: str


def by_labels(peer: Peer, name: Classifier, classes: tuple[str, ...], *, core: bool) -> Callable[[Case], Named]:
    """Return a peer as one that names classes: of those that a label can mean, the one that is right counts."""

    def named(case: Case) -> Named:
        if view(case.evidence).succeeded:
            return Named("unclassified")
        meant = peer.labels[name(case.evidence)]
        right = {case.truth(classes, core=core), *case.accept}
        return Named(next((class_ for class_ in meant if class_ in right), meant[0]))

    return named


def ours(cases: tuple[Case, ...], classes: tuple[str, ...], *, core: bool) -> Score:
    rules = load(None, packs=("core",) if core else None).rules
    return score(cases, lambda case: Named.by(classify(case.evidence, rules, now=0.0)), classes, core=core)


def rows_of(cases: tuple[Case, ...], missing: dict[str, str]) -> list[Row]:
    core, full = ours(cases, CORE, core=True), ours(cases, CLASSES, core=False)
    scope = "what an agent's tools, gates, git and hosts print; says all, and cites what decided"
    table = [Row("rerail", "both", core, full, scope)]
    for peer in PEERS:
        try:
            name = peer.make()
        except ImportError as error:
            missing[peer.package] = f"not installed: {error}"
            continue
        core = score(cases, by_labels(peer, name, CORE, core=True), CORE, core=True)
        full = score(cases, by_labels(peer, name, CLASSES, core=False), CLASSES, core=False)
        said = sorted({class_ for meant in peer.labels.values() for class_ in meant} - {"unclassified"})
        version = importlib.metadata.version(peer.package)
        table.append(Row(f"{peer.package} {version}", peer.reads, core, full, f"{peer.scope}; says {', '.join(said)}"))
    return sorted(table, key=lambda row: -row.core.accuracy)


def show(console: Console, title: str, rows: list[Row]) -> None:
    drawn = Table(title=title, title_justify="left", box=None, pad_edge=False, header_style="bold")
    drawn.add_column("classifier", no_wrap=True)
    drawn.add_column("reads")
    for heading in ("accuracy", "macro F1", "unsafe", "acc. all 8", "F1 all 8"):
        drawn.add_column(heading, justify="right")
    drawn.add_column("scope", ratio=1)
    for row in rows:
        figures = (row.core.accuracy, row.core.macro_f1, len(row.core.unsafe), row.full.accuracy, row.full.macro_f1)
        shown = [f"{each}" if isinstance(each, int) else f"{each:.3f}" for each in figures]
        drawn.add_row(Text(row.name), row.reads, *shown, Text(row.scope))
    console.print(drawn)
    console.print()


def main() -> int:
    paths = [Path(name) for name in sys.argv[1:]] or [CORPUS / name for name in ("public.jsonl", "peer-messages.jsonl")]
    absent = [path for path in paths if not path.is_file()]
    if absent:
        print(
            f"no corpus {', '.join(map(str, absent))}; name one, or set RERAIL_SHARED to the directory that holds corpus/"
        )
        return 0
    warnings.simplefilter("ignore")  # the peers' own
    console = Console(width=None if sys.stdout.isatty() else 150)
    missing: dict[str, str] = {}
    for path in paths:
        cases = read_corpus(path.read_text(encoding="utf-8"), path.name, CLASSES)
        show(console, f"{path.name}, {len(cases)} cases, six core classes", rows_of(cases, missing))
    for package, why in missing.items():
        console.print(f"{package}: {why}", soft_wrap=True)
    return 0


if __name__ == "__main__":
    sys.exit(main())
