"""Is this worktree safe to work in? Five lines, fail closed; a pass readmits a refused worktree."""

from __future__ import annotations

from typing import TYPE_CHECKING

from rerail.boundary import hints
from rerail.boundary.result import Diagnostic, Result
from rerail.boundary.slugs import ErrorSlug

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from rerail.git.safety import LeaseState
    from rerail.ledger.store import Lease, Owner


def check(cwd: Path) -> Result:
    """Check the worktree that *cwd* is in.

    Raises:
        GitError: git had to be asked and could not be run.
    """
    from rerail.app import open_project
    from rerail.git.safety import check_worktree
    from rerail.paths import worktree_key

    root = worktree_key(cwd)
    ledger = open_project(cwd).open_ledger()
    try:
        report = check_worktree(cwd, lease=_held(ledger.leases(root)))
        if report.ok and ledger.refusal(root) is not None:
            ledger.readmit(root)
    finally:
        ledger.close()
    data = {
        "ok": report.ok,
        "lines": [{"name": line.name, "verdict": line.verdict, "detail": line.text} for line in report.lines],
    }
    failed = report.failed
    if failed is None:
        return Result(True, "check", "", data)
    return Result(
        ok=False,
        verb="check",
        message=f"this worktree is refused: {failed.name}: {failed.text}",
        data=data,
        diagnostics=(Diagnostic(failed.text, failed.name),),
        hints=(hints.pass_worktree_check(root=str(cwd)),),
        error=ErrorSlug.WORKTREE_REFUSED,
    )


def _held(leases: Sequence[Lease]) -> LeaseState | None:
    """Return the lease that matters most to whoever asks: a living other process's, then his own, then a dead one's."""
    from rerail.git.safety import LeaseState
    from rerail.ledger.owner import is_alive

    states = [
        LeaseState(_named(lease), is_ours=_is_ours(lease.owner), is_live=is_alive(lease.owner)) for lease in leases
    ]
    return max(states, key=lambda state: (state.is_live and not state.is_ours, state.is_ours), default=None)


def _named(lease: Lease) -> str:
    owner = lease.owner
    return f"unit {lease.unit}, run {lease.run}, process {owner.pid} on {owner.host}, token {lease.token}"


def _is_ours(owner: Owner) -> bool:
    """Whether it is this process, or one that started it: an agent checks from within the unit that it is."""
    import psutil

    from rerail.ledger.owner import current_owner, is_alive

    here = current_owner()
    if (owner.host, owner.boot) != (here.host, here.boot) or not is_alive(owner):
        return False
    try:
        return owner == here or any(parent.pid == owner.pid for parent in psutil.Process().parents())
    except psutil.Error:
        return False
