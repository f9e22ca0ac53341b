"""The built-in classes: six with one intentional action each, unclassified, and two extension packs."""

from __future__ import annotations

from rerail.taxonomy.actions import Action
from rerail.taxonomy.law import RETRY_SEVERITY, FailureClass
from rerail.taxonomy.model import ClassSpec
from rerail.taxonomy.packs import CORE_PACK, ENVIRONMENT_PACK, VERIFICATION_PACK


def _class(
    name: FailureClass,
    signal: str,
    action: Action,
    budget: int,
    severity: int,
    *,
    advice: str,
    pitfall: str,
    pack: str = CORE_PACK,
) -> ClassSpec:
    return ClassSpec(name.value, signal, action, budget, severity, advice, pitfall, pack)


# Severity orders readings of equal evidence by what a wrong one costs: a needless pause costs a question, a needless retry a
# budget, and a heal or a retry in a broken worktree costs work. So worktree stands highest and provider lowest of the named.
CLASSES: tuple[ClassSpec, ...] = (
    _class(
        FailureClass.PROVIDER,
        "API timeout, 5xx, 429, overload, network, a cut stream, a transient cloud error, a usage window with a known reset",
        Action.RETRY,
        budget=5,
        severity=RETRY_SEVERITY,
        advice="retry with exponential backoff, never before the server's own hint",
        pitfall="do not retry without a wait: the outage is shared, and so is the quota",
    ),
    _class(
        FailureClass.TOOL_SCHEMA,
        "input rejected by a validator: missing field, wrong type, unknown enum, tool or model, malformed JSON, 400 or 422",
        Action.REPAIR,
        budget=3,
        severity=50,
        advice="repair the input, do NOT retry verbatim",
        pitfall="do not send the same input again: the validator will reject it every time",
    ),
    _class(
        FailureClass.DETERMINISTIC_POLICY,
        "a hook, gate or sandbox denies; permission denied; 401 or 403; a bad key; billing; a content filter; a protected branch",
        Action.PAUSE,
        budget=0,
        severity=70,
        advice="pause and ask the operator, do NOT retry",
        pitfall="do not retry, reword or route around it: the gate exists because a retry is wrong",
    ),
    _class(
        FailureClass.GIT,
        "a conflict, unmerged paths, detached HEAD, a lock, a failed commit hook, non-fast-forward, an operation in progress",
        Action.HEAL,
        budget=2,
        severity=60,
        advice="heal by a known recipe, else pause",
        pitfall="do not reset, clean, force or skip hooks: work would be lost",
    ),
    _class(
        FailureClass.WORKTREE,
        "missing or broken .git, an invalid root, a lost lease, prunable, a foreign session, a branch checked out elsewhere",
        Action.STOP,
        budget=0,
        severity=90,
        advice="stop; nothing is spawned into a path that does not resolve",
        pitfall="do not fall back to another checkout: writes would land in the wrong tree",
    ),
    _class(
        FailureClass.RUNTIME,
        "out of memory, segfault, host kill, parent gone, disk full, context exhaustion",
        Action.STOP,
        budget=0,
        severity=80,
        advice="stop and surface it to the operator",
        pitfall="do not start it again as it is: the same work meets the same limit",
    ),
    _class(
        FailureClass.UNCLASSIFIED,
        "no rule has evidence",
        Action.PAUSE,
        budget=0,
        severity=0,
        advice="pause; the taxonomy needs an entry, not a retry",
        pitfall="do not treat it as transient: unknown is not transient",
    ),
    _class(
        FailureClass.VERIFICATION,
        "the product is wrong: failing tests, compile, type, lint, format, coverage or scan findings",
        Action.REPAIR,
        budget=3,
        severity=40,
        advice="repair the work, with the evidence handed back",
        pitfall="do not run it again unchanged: the same input fails the same checks",
        pack=VERIFICATION_PACK,
    ),
    _class(
        FailureClass.ENVIRONMENT,
        "a missing executable, module, version or setting; a port in use; TLS trust; lockfile drift",
        Action.HEAL,
        budget=1,
        severity=45,
        advice="heal by a project recipe, else pause",
        pitfall="do not install or change settings by guess: the environment is the operator's",
        pack=ENVIRONMENT_PACK,
    ),
)
