"""The exit codes of every command: one table for code, help and docs."""

from __future__ import annotations

from enum import IntEnum

from rerail.light_typing import TYPE_CHECKING, assert_never

if TYPE_CHECKING:
    from rerail.boundary.slugs import ErrorSlug


class ExitCode(IntEnum):
    """What a rerail process ends with. ``rerail run --passthrough`` ends with the child's own code instead of 65, 70 or 75."""

    meaning: str
    """For people: what it says about the unit or the call."""

    def __new__(cls, code: int, meaning: str) -> ExitCode:
        """Make a member from its code and meaning."""
        member = int.__new__(cls, code)
        member._value_ = code
        member.meaning = meaning
        return member

    SUCCEEDED = 0, "it succeeded"
    BUG = 1, "a bug of rerail; nothing is known of the unit"
    USAGE = 2, "usage or configuration: the call, a file or the set-up must be corrected"
    HANDED_BACK = 65, "handed back: the caller must change the input, then run the unit again"
    STOPPED = 70, "stopped: surfaced to the operator, not to be run again as it is"
    PAUSED = 75, "paused: a person or a time is awaited"
    INTERRUPTED = 130, "cancelled by SIGINT (Ctrl-C)"
    TERMINATED = 143, "cancelled by SIGTERM or SIGHUP"


def exit_code(error: ErrorSlug | None, *, signal: int | None = None) -> ExitCode:
    """Return what a command that failed with *error* ends with.

    Args:
        error: The result's slug; None where a verb did its work, and what it looked at is not as it should be.
        signal: The signal that cancelled, SIGINT if None; read only for a cancellation.
    """
    import signal as signals  # here, as the slugs: a success has no use for what costs a hook 2 ms

    from rerail.boundary.slugs import ErrorSlug

    match error:
        case ErrorSlug.INTERNAL | ErrorSlug.GIT_COMMAND_FORBIDDEN:
            return ExitCode.BUG
        case ErrorSlug.HANDED_BACK | ErrorSlug.INPUT_UNCHANGED:
            return ExitCode.HANDED_BACK
        case (
            ErrorSlug.PAUSED
            | ErrorSlug.PAUSED_UNTIL
            | ErrorSlug.OUTCOME_UNKNOWN
            | ErrorSlug.UNCLASSIFIED
            | ErrorSlug.NOT_HEALED
            | ErrorSlug.HEAL_STEP_REFUSED
            | ErrorSlug.RECIPE_UNTRUSTED
            | ErrorSlug.UNDO_REFUSED
            | ErrorSlug.UNIT_BUSY
            | ErrorSlug.LEASE_LOST
            | ErrorSlug.NOT_ALLOWED
            | ErrorSlug.PHASE_UNRESOLVED
        ):
            return ExitCode.PAUSED
        case (
            ErrorSlug.STOPPED | ErrorSlug.NOT_RECOVERED | ErrorSlug.WORKTREE_REFUSED | ErrorSlug.BELOW_THRESHOLD | None
        ):
            return ExitCode.STOPPED
        case ErrorSlug.CANCELLED:
            return ExitCode.INTERRUPTED if signal in (None, signals.SIGINT) else ExitCode.TERMINATED
        case (
            ErrorSlug.RERAIL_ERROR
            | ErrorSlug.USAGE
            | ErrorSlug.EVIDENCE_INVALID
            | ErrorSlug.BLOCK_INVALID
            | ErrorSlug.UNKNOWN_NAME
            | ErrorSlug.FILE_INVALID
            | ErrorSlug.CORPUS_INVALID
            | ErrorSlug.RECIPE_INVALID
            | ErrorSlug.SETTINGS_INVALID
            | ErrorSlug.ALREADY_ANSWERED
            | ErrorSlug.LEDGER_UNUSABLE
            | ErrorSlug.GIT_UNUSABLE
            | ErrorSlug.GIT_FAILED
            | ErrorSlug.SPAWN_FAILED
            | ErrorSlug.COMMAND_NOT_FOUND
            | ErrorSlug.COMMAND_NOT_EXECUTABLE
            | ErrorSlug.WORKING_DIRECTORY_GONE
        ):
            return ExitCode.USAGE
    assert_never(error)
