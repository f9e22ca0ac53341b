"""Revisions that a command names and this repository does not have: found at a remote, and brought in."""

from __future__ import annotations

import os
import re
from typing import TYPE_CHECKING

import attrs

from rerail.git.finding import Finding, fails
from rerail.git.repairs.transport import heads, only_remote, tracking_ref

if TYPE_CHECKING:
    from rerail.git.invocation import Invocation
    from rerail.git.state import RepoState

_VERBS = frozenset(
    {"checkout", "switch", "merge", "rebase", "cherry-pick", "revert", "log", "show", "diff", "worktree", "reset"}
)
_NEW_NAME = ("-b", "-B", "-c", "-C", "--orphan", "--create", "-m", "--message", "-s", "--strategy", "-X", "-n")
_OID = re.compile(r"[0-9a-f]{40}(?:[0-9a-f]{24})?")
_SIMPLE_NAME = re.compile(r"[A-Za-z0-9_][\w./+@#-]*")
FETCHED = "refs/rerail/fetched/"
"""Where a commit is kept that was fetched by its id and that no branch names here."""


@attrs.frozen
class RemoteRevision:
    """A revision that a remote has."""

    name: str
    """As the command named it."""
    remote: str
    source: str
    """The ref there, or a commit id."""
    target: str
    """The ref here that will name it."""
    refspec: str | None
    """A refspec to add, without which ``git checkout NAME`` would not find the branch."""


def missing_revision(state: RepoState, call: Invocation | None) -> str | Finding:
    """Return the one name of a command that is no revision and no file here."""
    if call is None or call.verb not in _VERBS:
        return fails("the command names no revision that could be fetched")
    new_names = {index + 1 for index, arg in enumerate(call.args) if arg in _NEW_NAME}
    before = call.args[: call.args.index("--")] if "--" in call.args else call.args
    names = [arg for index, arg in enumerate(before) if index not in new_names and not arg.startswith("-")]
    if not all(map(str.isprintable, names)):
        return fails("a name in the command cannot be printed, and is none that could be fetched")
    missing = [name for name in names if not _is_known(state, call, name)]
    if len(missing) != 1:
        return fails("which revision is missing is not clear" if missing else "every revision is here")
    if not _SIMPLE_NAME.fullmatch(missing[0]) or ".." in missing[0]:
        return fails(f"{missing[0]} is not a plain name")
    return missing[0]


def remote_revision(state: RepoState, name: str) -> RemoteRevision | Finding:
    """Return where a remote has a missing revision."""
    for remote in sorted(state.remotes, key=len, reverse=True):
        if name.startswith(f"{remote}/"):
            return _branch(state, remote, name.removeprefix(f"{remote}/"), name)
    default = only_remote(state)
    if default is None:
        return fails(
            "there is no remote" if not state.remotes else "there are several remotes, and none is the default"
        )
    if _OID.fullmatch(name):
        return RemoteRevision(name, default, name, f"{FETCHED}{name}", None)
    return _branch(state, default, name, name)


def _branch(state: RepoState, remote: str, short: str, name: str) -> RemoteRevision | Finding:
    branch, tag = f"refs/heads/{short}", f"refs/tags/{short}"
    there = heads(state, remote, branch, tag)
    if isinstance(there, Finding):
        return there
    if branch in there:
        mapped = tracking_ref(state, remote, branch)
        target = mapped or f"refs/remotes/{remote}/{short}"
        needs_spec = mapped is None and name == short
        return RemoteRevision(name, remote, branch, target, f"+{branch}:{target}" if needs_spec else None)
    if tag in there and name == short:
        return RemoteRevision(name, remote, tag, tag, None)
    return fails(f"{remote} has no branch and no tag named {short}")


def _is_known(state: RepoState, call: Invocation, name: str) -> bool:
    if state.git.ask("rev-parse", "-q", "--verify", f"{name}^{{commit}}"):
        return True
    return os.path.lexists(call.cwd / name) or (call.verb == "worktree" and name in {"add", "list", "move", "remove"})
