"""The built-in class names, and what no policy and no recipe can change about them."""

from __future__ import annotations

from enum import StrEnum

from rerail.taxonomy.actions import Action


class FailureClass(StrEnum):
    """The built-in class names, for code that dispatches on one. A project's own classes are plain names beside them."""

    PROVIDER = "provider"
    TOOL_SCHEMA = "tool-schema"
    DETERMINISTIC_POLICY = "deterministic-policy"
    GIT = "git"
    WORKTREE = "worktree"
    RUNTIME = "runtime"
    UNCLASSIFIED = "unclassified"
    VERIFICATION = "verification"
    ENVIRONMENT = "environment"


NEVER_RECOVERED = frozenset(
    {FailureClass.DETERMINISTIC_POLICY, FailureClass.WORKTREE, FailureClass.RUNTIME, FailureClass.UNCLASSIFIED}
)
"""Classes that only pause or stop, whatever a policy or recipe says: the gate, the broken root, the limit and the unknown are
there because going on by oneself is wrong."""

RETRY_SEVERITY = 10
"""Highest severity of a class in which anything is retried as it is: no recipe's retry outranks another reading of a failure."""


def unlawful(class_: str, action: Action, severity: int) -> str | None:
    """Say why a failure of *class_* must not lead to *action*; None when it may."""
    if class_ in NEVER_RECOVERED and action not in (Action.PAUSE, Action.STOP):
        return f"a {class_} failure only pauses or stops, got {action}"
    if action is Action.RETRY and severity > RETRY_SEVERITY:
        return f"a class in which anything is retried has a severity of at most {RETRY_SEVERITY}, got {severity}"
    return None
