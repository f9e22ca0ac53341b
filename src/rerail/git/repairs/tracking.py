"""Remote-tracking refs in the way of a fetch: the remote has dropped their branches and made others below the same name."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from rerail.git.finding import Finding, fails
from rerail.git.repairs.transport import heads

if TYPE_CHECKING:
    from collections.abc import Iterable

    from rerail.git.state import RepoState

_NAME = re.compile(r"refs/remotes/[^\s'\"’”»:;,]+")  # noqa: RUF001  closing quotes of other languages


def blocking_refs(state: RepoState, lines: Iterable[str]) -> dict[str, str] | None:
    """Return the tracking refs, with their values, that occupy names which the failure tells; None: there are none."""
    names = {match for line in lines for match in _NAME.findall(line)}
    listing = state.git("for-each-ref", "--format=%(refname) %(objectname)", "refs/remotes").lines() if names else ()
    existing = dict(line.rsplit(" ", 1) for line in listing)
    wanted = names - existing.keys()
    blocking = {
        ref: oid
        for ref, oid in existing.items()
        if any(name.startswith(f"{ref}/") or ref.startswith(f"{name}/") for name in wanted)
    }
    return blocking or None


def stale_refs(state: RepoState, lines: Iterable[str]) -> dict[str, str] | Finding:
    """Return the blocking tracking refs whose branches the remote no longer has."""
    blocking = blocking_refs(state, lines)
    if blocking is None:
        return fails("no tracking ref is in the way of another one")
    for ref in blocking:
        remote = next((name for name in state.remotes if ref.startswith(f"refs/remotes/{name}/")), None)
        if remote is None:
            return fails(f"{ref} belongs to no remote")
        branch = f"refs/heads/{ref.removeprefix(f'refs/remotes/{remote}/')}"
        there = heads(state, remote, branch)
        if isinstance(there, Finding):
            return there
        if branch in there:
            return fails(f"{remote} still has {branch}")
    return blocking
