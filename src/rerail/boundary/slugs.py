"""The closed vocabulary of public failures, and how each may recover.

Every member of `ErrorSlug` has one `Recovery`: its mode, and the audit that the mode rests on. `failure_recovery` is the
authority. It ends in ``assert_never``, so a new slug fails the type check and this module's import until somebody has decided.

What the modes mean is enforced by `rerail.boundary.serialize`; which hint continues which slug is up to `rerail.boundary.hints`.
"""

from __future__ import annotations

from enum import StrEnum
from types import MappingProxyType

from rerail.light_typing import TYPE_CHECKING, NamedTuple, assert_never

if TYPE_CHECKING:
    from collections.abc import Mapping


class ErrorSlug(StrEnum):
    """Why a verb's result is not ok. Members are never renamed or reused: agents and scripts compare them."""

    HANDED_BACK = "handed-back"
    INPUT_UNCHANGED = "input-unchanged"
    PAUSED = "paused"
    PAUSED_UNTIL = "paused-until"
    OUTCOME_UNKNOWN = "outcome-unknown"
    UNCLASSIFIED = "unclassified"
    STOPPED = "stopped"
    NOT_RECOVERED = "not-recovered"
    CANCELLED = "cancelled"
    WORKTREE_REFUSED = "worktree-refused"
    NOT_HEALED = "not-healed"
    HEAL_STEP_REFUSED = "heal-step-refused"
    RECIPE_UNTRUSTED = "recipe-untrusted"
    UNIT_BUSY = "unit-busy"
    LEASE_LOST = "lease-lost"
    BELOW_THRESHOLD = "below-threshold"
    PHASE_UNRESOLVED = "phase-unresolved"
    NOT_ALLOWED = "not-allowed"
    ALREADY_ANSWERED = "already-answered"
    USAGE = "usage"
    EVIDENCE_INVALID = "evidence-invalid"
    BLOCK_INVALID = "block-invalid"
    UNKNOWN_NAME = "unknown-name"
    FILE_INVALID = "file-invalid"
    CORPUS_INVALID = "corpus-invalid"
    RECIPE_INVALID = "recipe-invalid"
    SETTINGS_INVALID = "settings-invalid"
    COMMAND_NOT_FOUND = "command-not-found"
    COMMAND_NOT_EXECUTABLE = "command-not-executable"
    WORKING_DIRECTORY_GONE = "working-directory-gone"
    SPAWN_FAILED = "spawn-failed"
    LEDGER_UNUSABLE = "ledger-unusable"
    GIT_UNUSABLE = "git-unusable"
    GIT_FAILED = "git-failed"
    GIT_COMMAND_FORBIDDEN = "git-command-forbidden"
    UNDO_REFUSED = "undo-refused"
    RERAIL_ERROR = "rerail-error"
    INTERNAL = "internal"


class Mode(StrEnum):
    """How a failed result may say what comes next."""

    EVIDENCE = "evidence"
    """The message or the first diagnostic carries the correction: the generic hint may point at it, where there is one."""
    TAILORED = "tailored"
    """The correction lies elsewhere: only a hint that is registered for the slug may say where."""


class Recovery(NamedTuple):
    """The decision for one slug, with what it rests on."""

    mode: Mode
    producers: str
    """Who returns it."""
    audit: str
    """Why the message suffices, or where the correction lives instead."""


def failure_recovery(slug: ErrorSlug) -> Recovery:
    """Return how a failure with *slug* may recover."""
    match slug:
        case ErrorSlug.HANDED_BACK:
            return _tailored("run, resume, verify", "data.repair says what was rejected and what is expected")
        case ErrorSlug.INPUT_UNCHANGED:
            return _tailored(
                "run, resume, verify",
                "the rejection that was handed back before; nothing has changed since, so nothing was run",
            )
        case ErrorSlug.PAUSED:
            return _tailored("run, resume, verify", "consent: only the operator's answer to data.pause lets it go on")
        case ErrorSlug.PAUSED_UNTIL:
            return _tailored("run, resume, verify", "data.resume_at names a time; before it nothing can be corrected")
        case ErrorSlug.OUTCOME_UNKNOWN:
            return _tailored(
                "run, resume, verify", "partial effect: somebody must look whether it landed before anything runs again"
            )
        case ErrorSlug.UNCLASSIFIED:
            return _tailored(
                "run, resume, verify",
                "consent: the rules need an entry, and the operator's answer; the message is only the symptom",
            )
        case ErrorSlug.STOPPED:
            return _tailored(
                "run, resume, verify, heal", "the cause lies outside the unit; its class and reason say where"
            )
        case ErrorSlug.NOT_RECOVERED:
            return _tailored("the library's base of the three ended outcomes", "the outcome's last failure says where")
        case ErrorSlug.CANCELLED:
            return _tailored(
                "run, resume, verify",
                "partial effect: the attempt was cut off; nothing is wrong that could be corrected",
            )
        case ErrorSlug.WORKTREE_REFUSED:
            return _tailored(
                "check, run, resume, verify",
                "the failed line of the worktree check, in data.lines; refused until a check passes",
            )
        case ErrorSlug.NOT_HEALED:
            return _tailored("heal", "partial effect: data.steps and data.backup say what was tried and restored")
        case ErrorSlug.HEAL_STEP_REFUSED:
            return _tailored(
                "a step of a heal, which then ends as not-healed",
                "partial effect: the steps before it were undone; what stands in its way is outside",
            )
        case ErrorSlug.RECIPE_UNTRUSTED:
            return _tailored(
                "heal, run, resume, verify: a heal that would run a project's commands",
                "consent: the operator must read and trust the recipe's exact content",
            )
        case ErrorSlug.UNIT_BUSY:
            return _tailored("run, resume, verify", "another live process runs the unit; nothing here can be corrected")
        case ErrorSlug.LEASE_LOST:
            return _tailored(
                "run, resume, verify",
                "partial effect: the attempt was made, and its end is not recorded; another process runs the unit now",
            )
        case ErrorSlug.BELOW_THRESHOLD:
            return _tailored(
                "eval", "the rules or the labels of the cases in data.wrong; the message says only how many"
            )
        case ErrorSlug.PHASE_UNRESOLVED:
            return _tailored(
                "verify",
                "the operator's choice: no file states how the phase is verified, and the settings are where it belongs",
            )
        case ErrorSlug.NOT_ALLOWED:
            return _tailored(
                "run, verify, answer, through MCP",
                "consent: what agents may do is said by the operator, in the file that data.file names",
            )
        case ErrorSlug.ALREADY_ANSWERED:
            return _tailored("answer", "the first answer stands; the continuation is the unit's next run")
        case ErrorSlug.USAGE:
            return _evidence("every verb", "names the option or argument, what was expected and what came")
        case ErrorSlug.EVIDENCE_INVALID:
            return _evidence("classify, heal", "names the field of the evidence, what was expected and what came")
        case ErrorSlug.BLOCK_INVALID:
            return _evidence("parse_block", "names the line of the block and what was expected there")
        case ErrorSlug.UNKNOWN_NAME:
            return _tailored(
                "every verb that takes a name", "the names that exist; the message knows only near ones, if any"
            )
        case ErrorSlug.FILE_INVALID:
            return _evidence(
                "the base of the three below",
                "a diagnostic per fault: file, line, key, what was expected and what came",
            )
        case ErrorSlug.CORPUS_INVALID:
            return _evidence(
                "eval, rules learn", "a diagnostic per fault: file, line, key, what was expected and what came"
            )
        case ErrorSlug.RECIPE_INVALID:
            return _evidence(
                "every verb that reads recipes",
                "a diagnostic per fault: file, line, key, what was expected and what came",
            )
        case ErrorSlug.SETTINGS_INVALID:
            return _evidence(
                "every verb that reads settings",
                "a diagnostic per fault: file, line, key, what was expected and what came",
            )
        case ErrorSlug.COMMAND_NOT_FOUND:
            return _evidence("run", "names the command that is not there")
        case ErrorSlug.COMMAND_NOT_EXECUTABLE:
            return _evidence("run", "names the file and the right or the interpreter that it lacks")
        case ErrorSlug.WORKING_DIRECTORY_GONE:
            return _evidence("run", "names the directory and what is wrong with it")
        case ErrorSlug.SPAWN_FAILED:
            return _evidence("run", "names the command and what the system said of it")
        case ErrorSlug.LEDGER_UNUSABLE:
            return _tailored(
                "every verb that reads or writes state",
                "the operator's state directory; the message says only what the store said",
            )
        case ErrorSlug.GIT_UNUSABLE:
            return _tailored(
                "heal, check, run", "the operator's git installation; the message says only what the system said"
            )
        case ErrorSlug.GIT_FAILED:
            return _tailored("heal, check, run", "the repository itself; the message says only what git said")
        case ErrorSlug.GIT_COMMAND_FORBIDDEN:
            return _tailored(
                "heal, check, by a bug", "nothing that the caller sent is known to be wrong; nothing was run"
            )
        case ErrorSlug.UNDO_REFUSED:
            return _tailored(
                "heal --undo", "consent: newer work would be written over; which to keep is a person's choice"
            )
        case ErrorSlug.RERAIL_ERROR:
            return _evidence("errors of a project that bring no slug of their own", "the message that its author wrote")
        case ErrorSlug.INTERNAL:
            return _tailored(
                "every verb, by a bug", "nothing that the caller sent is known to be wrong; the report is in data"
            )
    assert_never(slug)


def _evidence(producers: str, audit: str) -> Recovery:
    return Recovery(Mode.EVIDENCE, producers, audit)


def _tailored(producers: str, audit: str) -> Recovery:
    return Recovery(Mode.TAILORED, producers, audit)


ERROR_FAILURE_RECOVERY: Mapping[ErrorSlug, Recovery] = MappingProxyType(
    {slug: failure_recovery(slug) for slug in ErrorSlug}
)
"""Every slug's recovery."""

ERRORLESS_FAILURE_RECOVERY = Recovery(
    Mode.EVIDENCE,
    "rules test, doctor: verbs that looked, and found something wrong",
    "a diagnostic per finding: where it is, what was expected, what is there; without one the result is refused",
)
"""The recovery of a failure without a slug."""

NEVER_GENERIC = frozenset(
    {
        ErrorSlug.PAUSED,
        ErrorSlug.UNCLASSIFIED,
        ErrorSlug.RECIPE_UNTRUSTED,
        ErrorSlug.NOT_ALLOWED,
        ErrorSlug.PHASE_UNRESOLVED,
        ErrorSlug.OUTCOME_UNKNOWN,
        ErrorSlug.LEASE_LOST,
        ErrorSlug.CANCELLED,
        ErrorSlug.NOT_HEALED,
        ErrorSlug.HEAL_STEP_REFUSED,
        ErrorSlug.UNDO_REFUSED,
    }
)
"""Where consent is awaited or an effect may be half done: to correct and run again would be false, whatever the message says."""


def recovery_of(error: ErrorSlug | None) -> Recovery:
    """Return the recovery of a failed result's slug, or of its having none."""
    return ERRORLESS_FAILURE_RECOVERY if error is None else ERROR_FAILURE_RECOVERY[error]
