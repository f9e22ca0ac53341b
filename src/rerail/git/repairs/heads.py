"""HEAD and branches that lead nowhere, and HEADs off their branch: what they should be, by evidence, and putting it so."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

import attrs

from rerail.git import reflog
from rerail.git.files import write_locked
from rerail.git.finding import Finding, fails
from rerail.git.state import HeadCondition
from rerail.git.worktrees import read_head

if TYPE_CHECKING:
    from collections.abc import Iterable
    from pathlib import Path

    from rerail.git.command import Git
    from rerail.git.place import Place
    from rerail.git.state import RepoState

_REF_NAME = re.compile(r"refs/[A-Za-z0-9][^\s'\"~^:?*\[\\\x00-\x1f\x7f]*")
_OID = re.compile(r"[0-9a-f]{40}(?:[0-9a-f]{24})?")


@attrs.frozen
class Attachment:
    """The branch that a detached HEAD can go back to."""

    branch: str
    old: str
    """Where the branch is."""
    new: str
    """Where HEAD is; the same commit, or one that the branch can be fast-forwarded to."""


@attrs.frozen
class LostRef:
    """A ref whose value is gone, and the value that its reflog names."""

    ref: str
    oid: str


def attachment(state: RepoState) -> Attachment | Finding:
    """Return the branch that a detached HEAD came from, if attaching it again loses and moves nothing."""
    head = state.head.oid
    if not state.head.is_detached or head is None:
        return fails("HEAD is not detached at a commit")
    move = reflog.last_head_move(reflog.read(state.here.git_dir / "logs" / "HEAD"))
    branch = _full_branch(state.git, move.source) if move else None
    if branch is None:
        at_head = state.git("for-each-ref", "--format=%(refname)", f"--points-at={head}", "refs/heads").lines()
        if len(at_head) != 1:
            return fails("which branch HEAD came from is not recorded, and not one alone is at its commit")
        branch = at_head[0]
    old = state.git.line("rev-parse", "--verify", branch)
    if state.elsewhere(branch) is not None:
        return fails(f"{branch} is checked out in another worktree")
    if old == head:
        return Attachment(branch, old, head)
    # Only commits that were made on the branch's own tip are the branch's: HEAD may have been put on another line of history.
    if move is None or move.landed != old or not state.git.ask("merge-base", "--is-ancestor", old, head):
        return fails(f"HEAD has left {branch}: whether its commits belong there is not recorded")
    return Attachment(branch, old, head)


def lost_refs(state: RepoState, lines: Iterable[str]) -> tuple[LostRef, ...] | Finding:
    """Return the broken refs and the values that their reflogs name: HEAD's own branch, and those that the failure names."""
    names = [match for line in lines for match in _REF_NAME.findall(line)]
    if state.head.condition is HeadCondition.REF_BROKEN and state.head.branch:
        names.insert(0, state.head.branch)
    broken = [name for name in dict.fromkeys(name.rstrip(".,:;)") for name in names) if _is_broken(state.here, name)]
    if not broken:
        return fails("no ref is broken")
    found = []
    for name in broken:
        tip = _logged_tip(state, name)
        if isinstance(tip, Finding):
            return tip
        found.append(LostRef(name, tip))
    return tuple(found)


def lost_head(state: RepoState) -> str | Finding:
    """Return what a broken HEAD held, as its reflog tells: ``ref: refs/heads/...``, or a commit."""
    if state.head.condition is not HeadCondition.GARBAGE:
        return fails("HEAD can be read")
    if state.operation is not None:
        return fails(f"a {state.operation.kind} was in progress when HEAD broke")
    entries = reflog.read(state.here.git_dir / "logs" / "HEAD")
    if not entries:
        return fails("HEAD has no reflog")
    tip, move = entries[-1].new, reflog.last_head_move(entries)
    tips = dict(_branch_tips(state.git))
    branch = f"refs/heads/{move.target.removeprefix('refs/heads/')}" if move else None
    if branch in tips:
        return (
            f"ref: {branch}" if tips[branch] == tip else fails(f"HEAD's reflog ends at {tip[:10]}, {branch} does not")
        )
    if move is None:
        at_tip = [name for name, oid in tips.items() if oid == tip]
        return f"ref: {at_tip[0]}" if len(at_tip) == 1 else fails("HEAD's reflog does not tell which branch it was on")
    if not _is_whole(state.git, tip):
        return fails(f"the commit {tip[:10]} that HEAD's reflog ends at is not whole")
    return tip


def put_head(state: RepoState, content: str) -> None:
    """Write HEAD, by git's lock protocol: git itself refuses while it is broken."""
    write_locked(state.here.git_dir / "HEAD", f"{content}\n".encode())


def put_ref(state: RepoState, lost: LostRef) -> None:
    """Write a broken ref's file, by git's lock protocol: ``git update-ref`` refuses to replace it."""
    write_locked(state.here.common_dir / lost.ref, f"{lost.oid}\n".encode())


def _full_branch(git: Git, name: str) -> str | None:
    ref = f"refs/heads/{name.removeprefix('refs/heads/')}"
    return ref if name and git.ask("show-ref", "--verify", "--quiet", ref) else None


def _is_broken(place: Place, ref: str) -> bool:
    """Whether a ref's file says nothing, or its file is gone while its reflog, which git removes with it, is still there."""
    if ".." in ref or ref.endswith((".lock", "/")):
        return False
    file = place.common_dir / ref
    if file.is_file():
        text = file.read_bytes()[:4096].decode(errors="replace").strip()
        return not (_OID.fullmatch(text) or text.startswith("ref: refs/"))
    is_packed = f" {ref}\n".encode() in _bytes(place.common_dir / "packed-refs")
    return not file.exists() and not is_packed and (place.common_dir / "logs" / ref).is_file()


def _logged_tip(state: RepoState, ref: str) -> str | Finding:
    entries = reflog.read(state.here.common_dir / "logs" / ref)
    if not entries:
        return fails(f"{ref} has no reflog that could name its value")
    tip = entries[-1].new
    if read_head(state.here.git_dir) == f"ref: {ref}":
        # HEAD's reflog moves with its branch: after a torn write one of the two may be an entry ahead.
        head_entries = reflog.read(state.here.git_dir / "logs" / "HEAD")
        if head_entries and head_entries[-1].new != tip:
            ahead = head_entries[-1].new
            if not state.git.ask("merge-base", "--is-ancestor", tip, ahead):
                return fails(f"the reflogs of HEAD and {ref} do not agree")
            tip = ahead
    if not tip.strip("0") or not _is_whole(state.git, tip):
        return fails(f"the commit {tip[:10]} that the reflog of {ref} ends at is not whole")
    return tip


def _is_whole(git: Git, oid: str) -> bool:
    """Whether a commit is there with all that it needs, as far as other refs do not vouch for it."""
    # Not by ``--not --all``: git gives up at the broken ref.
    vouched = git("for-each-ref", "--format=^%(objectname)", "refs/heads", "refs/remotes", "refs/tags").out
    return git("rev-list", "--objects", "--quiet", "--stdin", stdin=oid.encode() + b"\n" + vouched, check=False).ok


def _branch_tips(git: Git) -> list[tuple[str, str]]:
    listing = git("for-each-ref", "--format=%(refname) %(objectname)", "refs/heads")
    return [(ref, oid) for ref, oid in (line.rsplit(" ", 1) for line in listing.lines())]


def _bytes(path: Path) -> bytes:
    try:
        return path.read_bytes()
    except OSError:
        return b""
