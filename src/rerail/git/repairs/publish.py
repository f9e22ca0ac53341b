"""Which branch of which remote a push or a pull means, and giving a branch an upstream."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from rerail.git.finding import Finding, fails, holds
from rerail.git.repairs.transport import fetch, heads, only_remote, remote_branch

if TYPE_CHECKING:
    from collections.abc import Iterable

    from rerail.git.invocation import Invocation
    from rerail.git.repairs.transport import RemoteBranch
    from rerail.git.state import RepoState

_REJECTED = re.compile(r"^ ! \[[^\]]+\]\s+(\S+)\s+->\s+(\S+)\s+\((?:fetch first|non-fast-forward)\)")
_FORCING = ("-f", "--force", "--force-with-lease", "--mirror", "--delete", "-d", "--prune", "--all", "--tags")
_VALUE_OPTIONS = ("-o", "--push-option", "--receive-pack", "--exec", "--repo", "-s", "-X", "--strategy", "--depth")

Counterparts = tuple[str, "RemoteBranch"]
"""A local branch by its full name, and the remote branch that it is to be joined with."""


def pushed(state: RepoState, call: Invocation | None, lines: Iterable[str]) -> Counterparts | Finding:
    """Return what a refused push meant to update."""
    if call is not None and call.has(*_FORCING):
        return fails("the push was not a plain one; what it may overwrite is for a person to say")
    remote, specs = _remote_and_specs(state, call)
    if remote is None:
        return fails("which remote the push meant is not clear")
    pairs = [match.groups() for match in map(_REJECTED.match, lines) if match]
    if not pairs:
        pairs = [_sides(spec) for spec in specs]
    if not pairs:
        return _upstream(state, remote)
    if len(pairs) > 1:
        return fails("more than one branch was refused")
    source, target = pairs[0]
    branch = _local_branch(state, source)
    if branch is None:
        return fails(f"{source} is not a local branch")
    return branch, remote_branch(state, remote, target if target != "HEAD" else branch)


def pulled(state: RepoState, call: Invocation | None) -> Counterparts | Finding:
    """Return what a refused pull meant to bring in."""
    remote, specs = _remote_and_specs(state, call)
    branch = state.head.branch
    if branch is None:
        return fails("HEAD is not on a branch")
    if remote is None:
        return fails("which remote the pull meant is not clear")
    if len(specs) > 1 or any(":" in spec or spec.startswith("+") for spec in specs):
        return fails("the pull was not a plain one")
    return (branch, remote_branch(state, remote, specs[0])) if specs else _upstream(state, remote)


def publishable(state: RepoState) -> Counterparts | Finding:
    """Return what a branch without an upstream can be published as: the remote branch of its own name, if that is free."""
    branch = state.head.branch
    if branch is None or state.head.oid is None:
        return fails("HEAD is not on a branch with commits")
    if state.setting(f"branch.{branch.removeprefix('refs/heads/')}.merge"):
        return fails("the branch follows one already, and which of the two names is meant is not clear")
    lost = _lost_remote(state, branch)
    if lost is not None:
        return lost
    if state.setting("push.default") == "nothing":
        return fails("push.default says that nothing is pushed unless it is named")
    asked = _ask_remote(state, branch)
    if isinstance(asked, Finding):
        return asked
    remote, there = asked
    if branch in there:
        tip = fetch(state, remote, branch)
        if isinstance(tip, Finding):
            return tip
        if not state.git.ask("merge-base", "--is-ancestor", tip, state.head.oid):
            return fails(f"{remote} has another branch of that name, with commits that are not here")
    return branch, remote_branch(state, remote, branch)


def trackable(state: RepoState) -> Counterparts | Finding:
    """Return the remote branch of the same name, for a branch that follows none."""
    branch = state.head.branch
    if branch is None:
        return fails("HEAD is not on a branch")
    lost = _lost_remote(state, branch)
    if lost is not None:
        return lost
    asked = _ask_remote(state, branch)
    if isinstance(asked, Finding):
        return asked
    remote, there = asked
    if branch not in there:
        return fails(f"{remote} has no branch of that name")
    return branch, remote_branch(state, remote, branch)


def set_upstream(state: RepoState, branch: str, remote: RemoteBranch) -> None:
    """Let a branch follow a remote branch, which need not exist yet."""
    name = branch.removeprefix("refs/heads/")
    state.git("config", "--local", f"branch.{name}.remote", remote.remote)
    state.git("config", "--local", f"branch.{name}.merge", remote.ref)


def follows(state: RepoState, branch: str, remote: RemoteBranch) -> Finding:
    """Return whether a branch follows a remote branch."""
    name = branch.removeprefix("refs/heads/")
    is_set = (
        state.setting(f"branch.{name}.remote") == remote.remote and state.setting(f"branch.{name}.merge") == remote.ref
    )
    return holds("the upstream is set") if is_set else fails("the upstream is not set")


def _remote_and_specs(state: RepoState, call: Invocation | None) -> tuple[str | None, tuple[str, ...]]:
    operands = _operands(call) if call is not None else ()
    if operands:
        named = operands[0]
        return (named if named in state.remotes else None), operands[1:]
    name = (state.head.branch or "").removeprefix("refs/heads/")
    keys = (
        ["branch.{}.remote"]
        if call is None or call.verb == "pull"
        else ["branch.{}.pushremote", "remote.pushdefault", "branch.{}.remote"]
    )
    configured = next((value for key in keys if (value := state.setting(key.format(name)))), None)
    return configured or only_remote(state), ()


def _operands(call: Invocation) -> tuple[str, ...]:
    """Return the operands without the values of separate options."""
    skipped = {index + 1 for index, arg in enumerate(call.args) if arg in _VALUE_OPTIONS}
    kept = tuple(arg for index, arg in enumerate(call.args) if index not in skipped)
    return tuple(arg for arg in kept if not arg.startswith("-"))


def _upstream(state: RepoState, remote: str) -> Counterparts | Finding:
    branch = state.head.branch
    if branch is None:
        return fails("HEAD is not on a branch")
    name = branch.removeprefix("refs/heads/")
    merge = state.setting(f"branch.{name}.merge")
    if merge and state.setting(f"branch.{name}.remote") == remote:
        return branch, remote_branch(state, remote, merge)
    return branch, remote_branch(state, remote, branch)


def _ask_remote(state: RepoState, branch: str) -> tuple[str, dict[str, str]] | Finding:
    """Return the remote that is meant where none is named, and the branch of this name there, if it has one."""
    remote = only_remote(state)
    if remote is None:
        return fails(
            "there is no remote" if not state.remotes else "there are several remotes, and none is the default"
        )
    there = heads(state, remote, branch)
    return there if isinstance(there, Finding) else (remote, there)


def _lost_remote(state: RepoState, branch: str) -> Finding | None:
    named = state.setting(f"branch.{branch.removeprefix('refs/heads/')}.remote")
    if named is None or named in {*state.remotes, "."}:
        return None
    return fails(f"the branch follows {named}, which is not configured; which remote it belongs to is not ours to say")


def _sides(spec: str) -> tuple[str, str]:
    source, sep, target = spec.partition(":")
    return source, target if sep else source


def _local_branch(state: RepoState, name: str) -> str | None:
    if name in {"HEAD", "@"}:
        return state.head.branch
    ref = name if name.startswith("refs/") else f"refs/heads/{name}"
    is_there = ref.startswith("refs/heads/") and state.git.ask("show-ref", "--verify", "--quiet", ref)
    return ref if is_there else None
