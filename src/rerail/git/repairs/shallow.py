"""Histories that were cut off by a shallow clone: deepened until they meet, or whole."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from rerail.git.command import NETWORK_TIMEOUT_S
from rerail.git.finding import Finding, fails, holds
from rerail.git.repairs.transport import fault, only_remote

if TYPE_CHECKING:
    from rerail.git.invocation import Invocation
    from rerail.git.state import RepoState

_OLDER = re.compile(r"[A-Za-z0-9_@][\w./@-]*(?:[~^]\d{0,4}){1,8}")
_DEEPENINGS = ("--deepen=100", "--deepen=1000", "--unshallow")


def deepenable(state: RepoState) -> Finding:
    """Return whether the clone is shallow and has a remote that could have the rest."""
    if not state.is_shallow:
        return fails("the clone is not shallow")
    if only_remote(state) is None:
        return fails("which remote has the rest of the history is not clear")
    return holds("the clone is shallow")


def deepen(state: RepoState, call: Invocation | None) -> str | Finding:
    """Fetch more history until what the command needs meets; return how far, for people."""
    remote = only_remote(state)
    if remote is None:
        return fails("there is no remote")
    for depth in _DEEPENINGS:
        fetched = state.git(
            *("-c", "fetch.prune=false", "fetch", "--quiet", "--no-tags", "--no-write-fetch-head"),
            *("--no-auto-maintenance", "--no-recurse-submodules", depth, "--", remote),
            check=False,
            timeout_s=NETWORK_TIMEOUT_S,
        )
        if not fetched.ok:
            return fault(fetched)
        if meets(state, call) or not (state.here.common_dir / "shallow").exists():
            return "the whole history" if depth == "--unshallow" else f"{depth.partition('=')[2]} more commits"
    return fails("the remote is shallow itself")


def older_commits(call: Invocation) -> tuple[str, ...]:
    """Return the names of a command that are counted back from another commit: ``HEAD~3``, ``main^``."""
    return tuple(name for name in call.operands if _OLDER.fullmatch(name))


def meets(state: RepoState, call: Invocation | None) -> bool:
    """Return whether the commits that the command joins have a common ancestor; never true where all of the history is needed."""
    if call is not None and (older := older_commits(call)):
        return all(state.git.ask("rev-parse", "-q", "--verify", f"{name}^{{commit}}") for name in older)
    if call is None or call.verb not in {"merge", "rebase", "pull", "cherry-pick"}:
        return False
    names = [name for name in call.operands if state.git.ask("rev-parse", "-q", "--verify", f"{name}^{{commit}}")]
    return bool(names) and all(state.git.ask("merge-base", "HEAD", name) for name in names)
