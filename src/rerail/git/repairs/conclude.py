"""Operations that were left behind: concluding one that is resolved, and setting the debris of a crashed one aside.

Nothing is ever aborted. An operation with everything resolved is concluded by git's own ``--continue``, after its remaining steps
have been tried in the object database; a hand-resolved conflict is work, and an abort would throw it away.
"""

from __future__ import annotations

import re
import shutil
from typing import TYPE_CHECKING

from rerail.git import reflog
from rerail.git.files import free_name, move_aside
from rerail.git.finding import Finding, absent, fails, holds
from rerail.git.moves import REFLOG_MARK
from rerail.git.operation import OperationKind
from rerail.git.place import own_dir
from rerail.git.repairs.integrate import three_way
from rerail.git.state import HeadCondition

if TYPE_CHECKING:
    from pathlib import Path

    from rerail.git.invocation import Invocation
    from rerail.git.operation import Operation
    from rerail.git.state import RepoState

_CONTINUES = {
    OperationKind.MERGE: "merge",
    OperationKind.REBASE: "rebase",
    OperationKind.AM: "am",
    OperationKind.CHERRY_PICK: "cherry-pick",
    OperationKind.REVERT: "revert",
}
_BY_HAND = re.compile(r"commit(?: \(\w+\))?: ")
# A rebase that stopped at one of these stopped for a conflict; at any other it waits for its author.
_PICKS = frozenset({"pick", "p", "squash", "s", "fixup", "f", "drop", "d", "noop"})
_SETTLING_OPTIONS = ("--continue", "--abort", "--skip", "--quit", "--edit-todo")


def settles_itself(call: Invocation | None, operation: Operation) -> bool:
    """Return whether the command that failed is itself the end of the operation: then it must find it unfinished."""
    if call is None:
        return False
    if call.verb == "commit":
        return operation.kind is not OperationKind.BISECT
    return call.has(*_SETTLING_OPTIONS) or (call.verb == "bisect")


def concludable(state: RepoState, call: Invocation | None) -> Finding:
    """Return whether the operation in progress is resolved, and its remaining steps go through."""
    operation = state.operation
    if operation is None:
        return absent("no operation is in progress")
    for check in (_state_refusal, _stop_refusal, _resolution_refusal, _rest_refusal):
        refusal = check(state, operation)
        if refusal:
            return fails(refusal)
    if settles_itself(call, operation):
        return fails(f"the command itself would conclude the {operation.kind}")
    return holds(f"the {operation.kind} is resolved; only its conclusion is missing")


def conclude(state: RepoState) -> OperationKind:
    """Conclude the operation by git's own means, its hooks and its message included; return what it was.

    Raises:
        GitError: git, or a hook, refused.
    """
    operation = state.operation
    if operation is None:
        raise ValueError("no operation is in progress")
    action = {"GIT_REFLOG_ACTION": f"{REFLOG_MARK}conclude the {operation.kind}"}
    state.git.at(state.root)(_CONTINUES[operation.kind], "--continue", env=action)
    return operation.kind


def debris(state: RepoState) -> Finding:
    """Return whether what looks like an operation is only what a crashed one left: git can neither continue nor abort it."""
    operation = state.operation
    if operation is None or operation.directory is None:
        return absent("no operation's state directory is there")
    if operation.is_whole:
        return fails(f"the {operation.kind} is whole: git can go on with it")
    if state.head.branch is None or state.head.condition is not HeadCondition.BORN:
        return fails("HEAD is not on a branch: where the operation began is not certain")
    if state.unmerged:
        return fails("there are unmerged paths")
    return holds(f"{operation.directory} is what a crashed {operation.kind} left; HEAD is on its branch")


def set_debris_aside(state: RepoState, aside: Path) -> str:
    """Move a crashed operation's directory aside and return its name.

    An autostash in it becomes a stash entry, as ``--quit`` would do.
    """
    operation = state.operation
    if operation is None or operation.directory is None:
        raise ValueError("no operation's state directory is there")
    folder = state.here.git_dir / operation.directory
    stashed = folder / "autostash"
    if stashed.is_file():
        oid = stashed.read_text(encoding="ascii", errors="replace").strip()
        state.git("stash", "store", "-q", "-m", f"{REFLOG_MARK}autostash of a crashed rebase", oid)
    move_aside(folder, free_name(aside, operation.directory))
    return operation.directory


def bisect_finished(state: RepoState) -> Finding:
    """Return whether a bisection has found its commit and nothing local hinders going back."""
    operation = state.operation
    if operation is None or operation.kind is not OperationKind.BISECT:
        return absent("no bisection is in progress")
    if operation.current != "finished":
        return fails("the bisection has not found its commit yet")
    if state.unmerged:
        return fails("there are unmerged paths")
    return holds("the bisection has found its commit")


def reset_bisect(state: RepoState) -> None:
    """Go back to where a bisection began."""
    state.git.at(state.root)("bisect", "reset")


def operation_ref(state: RepoState) -> str | None:
    """Return the branch that the operation will move."""
    operation = state.operation
    if operation is not None and operation.kind is OperationKind.REBASE and operation.directory:
        name = state.here.git_dir / operation.directory / "head-name"
        return name.read_text(encoding="utf-8", errors="surrogateescape").strip() if name.is_file() else None
    return state.head.branch


def _state_refusal(state: RepoState, operation: Operation) -> str:
    if not operation.is_whole:
        return f"the state of the {operation.kind} is not whole"
    if operation.kind not in _CONTINUES:
        return f"a {operation.kind} is in progress, and has no conclusion that could be drawn"
    if state.unmerged:
        return f"unmerged paths wait for a decision: {', '.join(state.unmerged[:5])}"
    if state.index_fault or state.status_fault:
        return "the index or the work tree cannot be read"
    return ""


def _stop_refusal(state: RepoState, operation: Operation) -> str:
    if operation.kind is not OperationKind.REBASE:
        return ""
    if operation.directory == "rebase-merge" and operation.current not in _PICKS:
        return f"the rebase waits for its author at '{operation.current or 'its start'}'"
    if any(line.split()[0] not in _PICKS for line in operation.todo):
        return "the rest of the rebase has steps that are the author's"
    if any(change.unstaged != "." for change in state.changes):
        return "there are unstaged changes, which may belong to the resolution"
    return ""


def _resolution_refusal(state: RepoState, operation: Operation) -> str:
    staged = [change for change in state.changes if change.staged != "."]
    is_between = operation.kind in {OperationKind.CHERRY_PICK, OperationKind.REVERT} and not operation.current
    if is_between:
        return "something is staged that belongs to no step of the sequence" if staged else ""
    if not staged and operation.kind is not OperationKind.MERGE and not _is_committed(state, operation):
        return "nothing is staged: the resolution is missing, or left nothing of the change"
    for change in staged:
        if (
            change.index_oid.strip("0")
            and not change.is_submodule
            and _gained_markers(state, change.index_oid, change.head_oid)
        ):
            return f"{change.path} is staged with conflict markers in it"
    return ""


def _is_committed(state: RepoState, operation: Operation) -> bool:
    """Whether a rebase's stop was committed by hand, so that nothing is left to stage; HEAD's reflog tells."""
    if operation.directory != "rebase-merge":
        return False
    entries = reflog.read(state.here.git_dir / "logs" / "HEAD")
    return bool(entries) and entries[-1].new == state.head.oid and _BY_HAND.match(entries[-1].message) is not None


def _rest_refusal(state: RepoState, operation: Operation) -> str:
    """Try the remaining steps on trees; writes objects only."""
    if not operation.todo:
        return ""
    tip = staged_tree(state)
    for line in operation.todo:
        verb, _, rest = line.partition(" ")
        commit = state.git.line("rev-parse", "-q", "--verify", f"{rest.split(' ')[0]}^{{commit}}", check=False)
        if verb in {"noop", "drop", "d"}:
            continue
        if not commit:
            return f"a remaining step cannot be read: {line[:60]}"
        if state.git.line("rev-list", "--count", "--no-walk", "--merges", commit) != "0":
            return f"a remaining step is a merge: {line[:60]}"
        before, after = (commit, f"{commit}^") if verb == "revert" else (f"{commit}^", commit)
        tree = three_way(state.git, before, tip, after)
        if tree is None:
            return f"the next step conflicts: {line[:60]}"
        tip = tree
    return ""


def staged_tree(state: RepoState) -> str:
    """Return the tree that the index stands for, from a copy: ``git write-tree`` rewrites the index that it reads."""
    copy = own_dir(state.here) / "tree.index"
    copy.parent.mkdir(parents=True, exist_ok=True)
    shutil.copy2(state.here.git_dir / "index", copy)
    try:
        return state.git("write-tree", env={"GIT_INDEX_FILE": str(copy)}).text
    finally:
        copy.unlink()


_MARKERS = tuple(re.compile(rb"^" + mark * 7 + rb"(?: |\r?$)", re.MULTILINE) for mark in (rb"<", rb"=", rb">"))


def has_markers(text: bytes) -> bool:
    """Return whether a text has all three conflict markers at the begin of lines."""
    return all(marker.search(text) for marker in _MARKERS)


def _gained_markers(state: RepoState, oid: str, head_oid: str) -> bool:
    if not has_markers(state.git("cat-file", "blob", oid).out):
        return False
    return not (head_oid.strip("0") and has_markers(state.git("cat-file", "blob", head_oid).out))
