"""One look at a repository: everything a heal has to know, and nothing changed by looking.

A state that git itself refuses to read (a broken HEAD, a config that does not parse) is a finding here, not an error: such a
repository looks like "not a git repository" to whoever only reads messages. What is found is a value of `rerail.git.state`; locks
and their owners are for `rerail.git.repairs.locks`.
"""

from __future__ import annotations

import atexit
import functools
import hashlib
import os
import re
import shutil
import tempfile
from pathlib import Path

import attrs

from rerail.git import packed, reflog
from rerail.git.command import Git
from rerail.git.operation import find
from rerail.git.place import NoPlace, Place, locate
from rerail.git.state import Change, Head, HeadCondition, IndexEntry, RepoState, Trouble
from rerail.git.worktrees import read_head, registered
from rerail.plain_file import read_plain
from rerail.taxonomy import FailureClass


def probe(cwd: Path) -> RepoState:
    """Look at the repository that a directory belongs to.

    Raises:
        GitError: git could not be run at all.
    """
    place = locate(cwd)
    if isinstance(place, NoPlace):
        trouble = Trouble(FailureClass.WORKTREE, place.reason, place.detail)
        return RepoState(cwd, None, trouble, Git(cwd))
    state = RepoState(place.cwd, place, None, Git(place.root or place.git_dir))
    refs = packed.read(place.common_dir)
    if refs.bad and not _is_head_garbage(place):
        fault = f"{packed.NAME} has {refs.bad} line{'s' * (refs.bad != 1)} that git cannot read"
        git = Git(state.git.cwd, _without_bad_lines(place, refs.good))
        return _looked_into(attrs.evolve(state, git=git, packed_fault=fault), place)
    if _is_head_garbage(place):
        return _behind_broken_head(state, place)
    refused = refusal(place)
    if refused is not None:
        return attrs.evolve(state, trouble=refused)
    return _looked_into(state, place)


def _is_head_garbage(place: Place) -> bool:
    head = read_head(place.git_dir)
    is_said = re.fullmatch(r"ref: refs/[^\0-\x20\x7f~^:?*\[\\]+(?<!/)|[0-9a-f]{40}|[0-9a-f]{64}", head)
    return is_said is None or _is_cut(place, head)


def _is_cut(place: Place, head: str) -> bool:
    """Whether a crash cut HEAD within a branch's name: git ends the line, and what is left names no branch but begins one's."""
    if not head.startswith("ref: ") or (place.git_dir / "HEAD").read_bytes().endswith(b"\n"):
        return False
    branch = head.removeprefix("ref: ")
    if (place.common_dir / branch).is_file() or (place.common_dir / "logs" / branch).is_file():
        return False
    if f" {branch}\n".encode() in packed.read(place.common_dir).good:
        return False
    logs = place.common_dir / "logs"
    return any(str(log.relative_to(logs)).startswith(branch) for log in (logs / "refs" / "heads").rglob("*"))


def _behind_broken_head(state: RepoState, place: Place) -> RepoState:
    """Let git see the repository through a HEAD of rerail's own, for it takes it for no repository at all otherwise."""
    env = {
        "GIT_DIR": str(_stand_in(place.common_dir)),
        "GIT_INDEX_FILE": str(place.git_dir / "index"),
    }
    if place.root is not None:
        env["GIT_WORK_TREE"] = str(place.root)
    return attrs.evolve(
        state,
        git=Git(state.git.cwd, tuple(env.items())),
        head=Head(HeadCondition.GARBAGE),
        operation=find(place.git_dir),
        worktrees=registered(place.common_dir),
    )


@functools.cache
def _stand_in(common_dir: Path) -> Path:
    """Return a private git directory with a HEAD that can be read, outside of the repository, gone when this process ends."""
    directory = Path(tempfile.mkdtemp(prefix="rerail-head-"))
    atexit.register(shutil.rmtree, directory, ignore_errors=True)
    (directory / "HEAD").write_text("ref: refs/heads/rerail-stand-in\n", encoding="ascii")
    # A file, as in a linked worktree: git's ref store does not look at GIT_COMMON_DIR.
    (directory / "commondir").write_bytes(os.fsencode(common_dir) + b"\n")
    return directory


@functools.cache
def _without_bad_lines(place: Place, good: bytes) -> tuple[tuple[str, str], ...]:
    """Return the environment in which git sees a repository with those of its packed refs that can be read.

    Everything but that file, and HEAD, is the repository's own: what git writes, it writes there.
    """
    base = Path(tempfile.mkdtemp(prefix="rerail-refs-"))
    atexit.register(shutil.rmtree, base, ignore_errors=True)
    common = _linked_dir(place.common_dir, base / "common", but=packed.NAME)
    (common / packed.NAME).write_bytes(good)
    git_dir = common
    if place.is_linked:
        git_dir = _linked_dir(place.git_dir, base / "private", but="commondir")
        (git_dir / "commondir").write_bytes(os.fsencode(common) + b"\n")
    env = {"GIT_DIR": str(git_dir), "GIT_INDEX_FILE": str(place.git_dir / "index")}
    if place.root is not None:
        env["GIT_WORK_TREE"] = str(place.root)
    return tuple(env.items())


def _linked_dir(real: Path, directory: Path, *, but: str) -> Path:
    directory.mkdir()
    for entry in real.iterdir():
        if entry.name == "HEAD":
            shutil.copyfile(entry, directory / "HEAD")  # git takes a link there for a reference in itself
        elif entry.name != but:
            (directory / entry.name).symlink_to(entry)
    return directory


def refusal(place: Place) -> Trouble | None:
    """Return why git refuses to work in a place, or None.

    Raises:
        GitError: git could not be run at all.
    """
    top = ("--show-toplevel",) if place.root is not None else ()
    asked = Git(place.root or place.git_dir)(
        *("rev-parse", "--path-format=absolute", "--git-dir", "--git-common-dir", *top), check=False
    )
    if asked.ok:
        theirs = [os.path.realpath(line) for line in asked.lines()]
        ours = [str(path) for path in (place.git_dir, place.common_dir, place.root) if path is not None]
        if theirs == ours:
            return None
        return Trouble(FailureClass.WORKTREE, "invalid-root", f"git works in {theirs[-1]}, not in {ours[-1]}")
    said = next((line for line in asked.error_text.splitlines() if line.strip()), "git refused without a word")
    for pattern, class_, reason in _REFUSALS:
        if re.search(pattern, asked.error_text):
            return Trouble(class_, reason, said)
    return Trouble(FailureClass.WORKTREE, "invalid-root", said)


_REFUSALS = (
    ("dubious ownership", FailureClass.WORKTREE, "foreign-session"),
    ("bad config|bad numeric config|invalid config", FailureClass.ENVIRONMENT, "missing-config"),
    ("repo(sitory)? (version|extension)|object format", FailureClass.ENVIRONMENT, "wrong-version"),
    ("Permission denied", FailureClass.DETERMINISTIC_POLICY, "os-permission"),
)


def _looked_into(state: RepoState, place: Place) -> RepoState:
    git = state.git
    listing = git("ls-files", "--stage", "-z", check=False)
    index_fault = _index_damage(place.git_dir / "index") if listing.ok else _first_line(listing.error_text)
    head = _head(git, place)
    if head.condition is HeadCondition.BORN and not index_fault and _lacks_index(git, place):
        index_fault = "it is gone, while the files that it listed are there"
    state = attrs.evolve(
        state,
        head=head,
        operation=find(place.git_dir),
        index_fault=index_fault,
        index=() if index_fault else tuple(map(index_entry, listing.records())),
        config=_config(git),
        worktrees=registered(place.common_dir),
        is_shallow=(place.common_dir / "shallow").exists(),
    )
    if place.root is None or index_fault:
        return state
    return _compared(state)


def _head(git: Git, place: Place) -> Head:
    # From the file: git does not even say where a HEAD points whose branch is broken. Only another ref format hides it from us.
    branch = read_head(place.git_dir).removeprefix("ref: ") if read_head(place.git_dir).startswith("ref: ") else None
    if branch == "refs/heads/.invalid":
        branch = git.line("symbolic-ref", "-q", "HEAD", check=False) or None
    oid = git.line("rev-parse", "-q", "--verify", "HEAD^{commit}", check=False) or None
    if oid:
        return Head(HeadCondition.BORN, branch, oid)
    if branch is None or git.line("rev-parse", "-q", "--verify", "HEAD", check=False):
        return Head(HeadCondition.COMMIT_MISSING, branch)
    is_broken = (place.common_dir / branch).is_file() or (place.common_dir / "logs" / branch).is_file()
    is_broken = is_broken or _was_born(place, branch)
    return Head(HeadCondition.REF_BROKEN if is_broken else HeadCondition.UNBORN, branch)


def _was_born(place: Place, branch: str) -> bool:
    """Whether HEAD's reflog ends on a branch with commits: one that is deleted leaves zeros there, an orphan no entry."""
    entries = reflog.read(place.git_dir / "logs" / "HEAD")
    move = reflog.last_head_move(entries)
    is_there = move is not None and branch.removeprefix("refs/heads/") == move.target.removeprefix("refs/heads/")
    return is_there and bool(entries[-1].new.strip("0"))


def _first_line(text: str) -> str:
    return next((line for line in text.splitlines() if line.strip()), "it gave no reason")


def _index_damage(path: Path) -> str:
    """Return what is wrong with an index that git reads without looking at its checksum, ``""`` when nothing is."""
    try:
        data = read_plain(path, None)
    except OSError:
        return ""
    for algorithm in (
        hashlib.sha1,
        hashlib.sha256,
    ):  # which one is the repository's, is in its config: either will do here
        size = algorithm().digest_size
        if not data[-size:].strip(b"\0") or algorithm(data[:-size]).digest() == data[-size:]:
            return ""  # zeros: index.skipHash
    return "its checksum is wrong: it was cut or changed after git wrote it"


def _lacks_index(git: Git, place: Place) -> bool:
    """Whether the index is gone from a work tree that has files of HEAD; before the first checkout it was never there."""
    if place.root is None or os.path.lexists(place.git_dir / "index"):
        return False
    listing = git("ls-tree", "-r", "-z", "HEAD", check=False).records()
    return any(os.path.lexists(place.root / record.partition("\t")[2]) for record in listing)


def index_entry(record: str) -> IndexEntry:
    """Return the entry that one record of ``ls-files --stage -z`` describes."""
    facts, _, path = record.partition("\t")
    mode, oid, stage = facts.split(" ")
    return IndexEntry(path, mode, oid, int(stage))


def _config(git: Git) -> dict[str, tuple[str, ...]]:
    settings: dict[str, tuple[str, ...]] = {}
    for record in git("config", "--list", "-z").records():
        key, _, value = record.partition("\n")
        settings[key] = (*settings.get(key, ()), value)
    return settings


def _compared(state: RepoState) -> RepoState:
    listing = state.git(
        *("status", "--porcelain=v2", "-z"),
        *("--untracked-files=all", "--ignore-submodules=none", "--no-renames"),
        check=False,
    )
    if not listing.ok:
        return attrs.evolve(state, status_fault=listing.error_text.strip() or "git status failed")
    changes, untracked = [], []
    for record in listing.records():
        if record.startswith("1 "):
            _, xy, sub, head_mode, _, _, head_oid, index_oid, path = record.split(" ", 8)
            changes.append(Change(path, xy[0], xy[1], head_mode, head_oid, index_oid, sub != "N..."))
        elif record.startswith("? "):
            untracked.append(record[2:])
    return attrs.evolve(state, changes=tuple(changes), untracked=tuple(untracked))
