"""What a case tells about the command and its repository, beside `rerail.git.found`: asked once a case, by signs and facts.

The functions read, and change nothing; none of them asks a remote. An empty answer is "not known".
"""

from __future__ import annotations

import difflib
import os
import re
from typing import TYPE_CHECKING

from rerail.git import reflog
from rerail.git.finding import Finding, absent
from rerail.git.repairs import aside, publish, revisions

if TYPE_CHECKING:
    from rerail.git.case import Case
    from rerail.git.repairs.publish import Counterparts

HEADS = "refs/heads/"
_HOOKS = {
    "commit": ("pre-commit", "prepare-commit-msg", "commit-msg"),
    "merge": ("pre-merge-commit", "commit-msg"),
    "push": ("pre-push",),
    "rebase": ("pre-rebase",),
    "am": ("applypatch-msg", "pre-applypatch"),
}
_MOST_COMPARED = 2000
"""Names that are looked through for one much like another: each comparison takes its time."""


def hooks(case: Case) -> tuple[str, ...]:
    """Return the hooks that run before what the command does, and can refuse it."""
    call = case.call(*_HOOKS)
    if call is None:
        return ()
    git = case.state.git.at(case.top)
    paths = (case.top / git.line("rev-parse", "--git-path", f"hooks/{name}") for name in _HOOKS[call.verb])
    return tuple(str(path) for path in paths if path.is_file() and os.access(path, os.X_OK))


def unstaged(case: Case) -> tuple[str, ...]:
    """Return the tracked files with changes that are not staged."""
    return tuple(each.path for each in case.state.changes if each.unstaged != "." and not each.is_submodule)


def partly_staged(case: Case) -> tuple[str, ...]:
    """Return the files with changes that are staged and others that are not."""
    return tuple(each.path for each in case.state.changes if each.unstaged != "." and each.staged != ".")


def changed(case: Case) -> tuple[str, ...]:
    """Return the tracked files with changes: those that the failure lists, where it lists some."""
    paths = {each.path: None for each in case.state.changes if not each.is_submodule}
    listed = tuple(path for path in aside.listed_paths(case.lines) if path in paths)
    return listed or tuple(paths)


def untracked_in_way(case: Case) -> tuple[str, ...]:
    """Return the untracked files that the failure lists."""
    known = set(case.state.untracked)
    return tuple(path for path in aside.listed_paths(case.lines) if path in known)


def counterparts(case: Case) -> Counterparts | Finding:
    """Return what a refused push or pull is about, as far as the configuration tells."""
    push, pull = case.call("push"), case.call("pull")
    if pull is not None:
        return publish.pulled(case.state, pull)
    if push is None and case.calls:
        return absent("the command neither pushes nor pulls")
    return publish.pushed(case.state, push, case.lines)


def left_branch(case: Case) -> tuple[str, ...]:
    """Return the branch that a detached HEAD came from, if it is still there."""
    move = reflog.last_head_move(reflog.read(case.state.here.git_dir / "logs" / "HEAD"))
    name = move.source.removeprefix(HEADS) if move is not None else ""
    is_there = bool(name) and case.state.git.ask("show-ref", "--verify", "--quiet", f"{HEADS}{name}")
    return (name,) if is_there else ()


def unknown_remote(case: Case) -> tuple[str, ...]:
    """Return the name that a command gives for a remote and that none has."""
    call = case.call("push", "pull", "fetch")
    named = call.operands[0] if call is not None and call.operands else _tracked(case, "remote")
    if call is None or not named or named in {*case.state.remotes, "."} or not re.fullmatch(r"[\w.-]+", named):
        return ()
    return () if os.path.lexists(call.cwd / named) else (named,)


def upstream(case: Case) -> tuple[str, str] | None:
    """Return the remote and the branch there that the branch follows by its configuration."""
    remote, merge = _tracked(case, "remote"), _tracked(case, "merge")
    return (remote, merge.removeprefix(HEADS)) if remote in case.state.remotes and merge.startswith(HEADS) else None


def similar_revisions(case: Case) -> tuple[str, ...]:
    """Return the branches and tags with names much like the missing one."""
    missing = revisions.missing_revision(case.state, case.call())
    if isinstance(missing, Finding):
        return ()
    refs = case.state.git("for-each-ref", "--format=%(refname)", "refs/heads", "refs/tags", "refs/remotes").lines()
    names = dict.fromkeys(ref.split("/", 2)[2] for ref in refs)
    by_case = [name for name in names if name.casefold() == missing.casefold()]
    return tuple(by_case or difflib.get_close_matches(missing, [*names][:_MOST_COMPARED], n=3, cutoff=0.75))


def ignored(case: Case) -> tuple[str, ...]:
    """Return the paths that a command adds and that are ignored."""
    call = case.call("add")
    if call is None or case.state.here.root is None:
        return ()
    known = {*case.state.untracked, *(entry.path for entry in case.state.index)}
    found_paths = []
    for operand in call.operands:
        where = os.path.normpath(call.cwd / operand)
        path = os.path.relpath(where, case.state.root)
        if os.path.lexists(where) and not path.startswith("..") and not _is_known(path, known):
            found_paths.append(where)
    return tuple(found_paths)


def patches(case: Case) -> tuple[str, ...]:
    """Return the patch files that a command applies."""
    call = case.call("apply", "am")
    paths = [os.path.normpath(call.cwd / operand) for operand in call.operands] if call is not None else []
    return tuple(path for path in paths if os.path.isfile(path))  # noqa: PTH113  it answers for any name


def unrelated(case: Case) -> tuple[str, ...]:
    """Return the revision that a merge names and that has no commit in common with HEAD."""
    call, git = case.call("merge"), case.state.git
    names = [word for word in call.operands if not word.startswith("-")] if call is not None else []
    if (
        len(names) != 1
        or not names[0].isprintable()
        or not git.ask("rev-parse", "-q", "--verify", f"{names[0]}^{{commit}}")
    ):
        return ()
    return () if git.ask("merge-base", "HEAD", names[0]) else (names[0],)


def _tracked(case: Case, part: str) -> str:
    return case.state.setting(f"branch.{branch(case)}.{part}") or ""


def branch(case: Case) -> str:
    """Return the short name of the branch that HEAD is on; ``""`` where it is on none."""
    return (case.state.head.branch or "").removeprefix(HEADS)


def _is_known(path: str, known: set[str]) -> bool:
    return path == "." or path in known or any(one.startswith(f"{path}/") for one in known)
