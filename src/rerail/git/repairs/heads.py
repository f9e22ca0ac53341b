"""HEAD and branches that lead nowhere, and HEADs off their branch: what they should be, by evidence, and putting it so."""

from __future__ import annotations

import os
import re
from typing import TYPE_CHECKING

import attrs

from rerail.git import reflog
from rerail.git.files import write_locked
from rerail.git.finding import Finding, absent, fails
from rerail.git.place import own_dir
from rerail.git.repairs.transport import heads as heads_at
from rerail.git.repairs.transport import only_remote
from rerail.git.state import HeadCondition
from rerail.git.worktrees import read_head
from rerail.plain_file import read_plain

if TYPE_CHECKING:
    from collections.abc import Iterable
    from pathlib import Path

    from rerail.git.command import Git
    from rerail.git.place import Place
    from rerail.git.state import RepoState

_REF_NAME = re.compile(r"refs/[A-Za-z0-9][^\s'\"~^:?*\[\\\x00-\x1f\x7f]*")
_OID = re.compile(r"[0-9a-f]{40}(?:[0-9a-f]{24})?")
_MAX_NAME_BYTES = 250
_MAX_SYMREFS = 5
"""As many as git follows."""


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
    """A ref whose value is gone, and the value that its reflog names, or a remote."""

    ref: str
    oid: str
    told_by: str
    """Who names the value, for people."""


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
    """Return the broken refs and their values: HEAD's own branch, and those that the failure names.

    Args:
        state: The repository.
        lines: What names refs, by their full names.

    Raises:
        RemoteUnaskedError: Only a remote could tell the value of a tag or of a remote-tracking ref, and it may not be asked.
    """
    names = [match for line in lines for match in _REF_NAME.findall(line)]
    if state.head.condition in {HeadCondition.REF_BROKEN, HeadCondition.COMMIT_MISSING} and state.head.branch:
        names.insert(0, state.head.branch)
    broken = [name for name in dict.fromkeys(name.rstrip(".,:;)") for name in names) if _is_broken(state, name)]
    if not broken:
        return absent("no ref is broken")
    found = []
    for name in broken:
        lost = _logged(state, name)
        if isinstance(lost, Finding):
            lost = _published(state, name) or lost
        if isinstance(lost, Finding):
            return lost
        found.append(lost)
    return tuple(found)


def unpacked_refs(state: RepoState) -> tuple[LostRef, ...] | Finding:
    """Return the refs that damaged packed refs no longer name, as far as reflogs do: git removes a reflog with its ref."""
    if not state.packed_fault:
        return absent("the packed refs can be read")
    folder = state.here.common_dir / "logs"
    names = sorted(path.relative_to(folder).as_posix() for path in (folder / "refs").rglob("*") if path.is_file())
    known = set(state.git("for-each-ref", "--format=%(refname)").lines())
    lost = [_logged(state, name) for name in names if name not in known]
    found = tuple(one for one in lost if not isinstance(one, Finding))
    head = state.head.branch
    if head and head not in known and all(one.ref != head for one in found):
        return fails(f"{head}, which HEAD is on, is in no reflog")
    return found


def lost_head(state: RepoState) -> str | Finding:
    """Return what a broken HEAD held, as its reflog tells: ``ref: refs/heads/...``, or a commit."""
    if state.head.condition is not HeadCondition.GARBAGE:
        return absent("HEAD can be read")
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
    write_locked(state.here.git_dir / "HEAD", f"{content}\n".encode(), scratch=own_dir(state.here))


def put_ref(state: RepoState, lost: LostRef) -> None:
    """Write a broken ref's file, by git's lock protocol: ``git update-ref`` refuses to replace it."""
    write_locked(state.here.common_dir / lost.ref, f"{lost.oid}\n".encode(), scratch=own_dir(state.here))


def _full_branch(git: Git, name: str) -> str | None:
    ref = f"refs/heads/{name.removeprefix('refs/heads/')}"
    return ref if name and git.ask("show-ref", "--verify", "--quiet", ref) else None


def _is_broken(state: RepoState, ref: str) -> bool:
    """Whether a ref says nothing, or names what is no commit here and what git never set it to.

    A file that is gone while its reflog, which git removes with it, is still there, says nothing too.
    """
    # What a failure says may be anything, of any length; a file name may not.
    try:
        name = os.fsencode(ref)
    except UnicodeEncodeError:
        return False
    if ".." in ref or ref.endswith((".lock", "/")) or len(name) > _MAX_NAME_BYTES:
        return False
    place = state.here
    file = place.common_dir / ref
    if file.is_file():
        text = _ref_text(file)
        return _goes_in_circles(place, text) if text.startswith("ref: refs/") else _is_foreign_value(state, ref, text)
    is_packed = b" " + name + b"\n" in _bytes(place.common_dir / "packed-refs")
    is_logged = (place.common_dir / "logs" / ref).is_file()
    is_heads_own = ref == state.head.branch and state.head.condition is HeadCondition.REF_BROKEN
    return not file.exists() and not is_packed and (is_logged or is_heads_own)


def _is_foreign_value(state: RepoState, ref: str, text: str) -> bool:
    if not _OID.fullmatch(text):
        return True
    entries = reflog.read(state.here.common_dir / "logs" / ref)
    if not entries or entries[-1].new == text:
        return False
    return not state.git.ask("rev-parse", "-q", "--verify", f"{text}^{{commit}}")


def _goes_in_circles(place: Place, text: str) -> bool:
    for _ in range(_MAX_SYMREFS):
        file = place.common_dir / text.removeprefix("ref: ")
        if ".." in text or not file.is_file():
            return False
        text = _ref_text(file)
        if not text.startswith("ref: refs/"):
            return False
    return True


def _ref_text(file: Path) -> str:
    return _bytes(file)[:4096].decode(errors="replace").strip()


def _published(state: RepoState, ref: str) -> LostRef | None:
    """Return the value that a remote has for a tag or for one of its branches, when all of it is here."""
    remote, there = only_remote(state), ref
    if ref.startswith("refs/remotes/"):
        remote = next((name for name in state.remotes if ref.startswith(f"refs/remotes/{name}/")), None)
        there = f"refs/heads/{ref.removeprefix(f'refs/remotes/{remote}/')}"
    elif not ref.startswith("refs/tags/"):
        return None
    values = heads_at(state, remote, there) if remote else {}
    oid = "" if isinstance(values, Finding) else values.get(there, "")
    return LostRef(ref, oid, f"where {remote} has it") if oid and _is_whole(state.git, oid) else None


def _logged(state: RepoState, ref: str) -> LostRef | Finding:
    tip = _logged_tip(state, ref)
    return tip if isinstance(tip, Finding) else LostRef(ref, tip, "where its reflog ends")


def _logged_tip(state: RepoState, ref: str) -> str | Finding:
    entries = reflog.read(state.here.common_dir / "logs" / ref)
    if not entries and ref == state.head.branch:
        entries = _head_entries_on(state, ref)
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


def _head_entries_on(state: RepoState, branch: str) -> tuple[reflog.LogEntry, ...]:
    """Return HEAD's reflog if it ends on a branch: then it tells where that was."""
    entries = reflog.read(state.here.git_dir / "logs" / "HEAD")
    move = reflog.last_head_move(entries)
    is_on = move is not None and move.target.removeprefix("refs/heads/") == branch.removeprefix("refs/heads/")
    return entries if is_on else ()


def _is_whole(git: Git, oid: str) -> bool:
    """Whether a commit is there with all that it needs, as far as other refs do not vouch for it."""
    if not git.ask("cat-file", "-e", oid):
        return False
    # Not by ``--not --all``: git gives up at the broken ref; and of those listed, one may name what is not here.
    vouched = git("for-each-ref", "--format=^%(objectname)", "refs/heads", "refs/remotes", "refs/tags").out
    args = ("rev-list", "--objects", "--quiet", "--ignore-missing", "--stdin")
    return git(*args, stdin=oid.encode() + b"\n" + vouched, check=False).ok


def _branch_tips(git: Git) -> list[tuple[str, str]]:
    listing = git("for-each-ref", "--format=%(refname) %(objectname)", "refs/heads")
    return [(ref, oid) for ref, oid in (line.rsplit(" ", 1) for line in listing.lines())]


def _bytes(path: Path) -> bytes:
    try:
        return read_plain(path, None)
    except OSError:
        return b""
