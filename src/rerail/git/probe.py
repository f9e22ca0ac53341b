"""One look at a repository: everything a heal has to know, and nothing changed by looking.

A state that git itself refuses to read (a broken HEAD, a config that does not parse) is a finding here, not an error: such a
repository looks like "not a git repository" to whoever only reads messages. Locks and their owners are for
`rerail.git.repairs.locks`.
"""

from __future__ import annotations

import atexit
import functools
import hashlib
import os
import re
import shutil
import tempfile
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING

import attrs

from rerail.git.command import Git
from rerail.git.operation import Operation, find
from rerail.git.place import NoPlace, Place, locate
from rerail.git.worktrees import Worktree, read_head, registered
from rerail.taxonomy.classes import FailureClass

if TYPE_CHECKING:
    from collections.abc import Mapping


@attrs.frozen
class Trouble:
    """Why a repository cannot be worked with as it is, named as a failure."""

    class_: str
    reason: str
    detail: str


class HeadCondition(StrEnum):
    """What HEAD leads to."""

    BORN = "born"
    UNBORN = "unborn"
    REF_BROKEN = "ref-broken"
    """Its branch's ref is empty, garbage, or gone while its reflog is still there."""
    COMMIT_MISSING = "commit-missing"
    GARBAGE = "garbage"
    """HEAD itself says nothing that git understands."""


@attrs.frozen
class Head:
    """Where HEAD is."""

    condition: HeadCondition
    branch: str | None = None
    """The full ref name; None when HEAD is detached or garbage."""
    oid: str | None = None
    """The commit; None unless it is readable."""

    @property
    def is_detached(self) -> bool:
        """Whether HEAD names a commit instead of a branch."""
        return self.branch is None and self.condition is not HeadCondition.GARBAGE


@attrs.frozen
class Change:
    """A tracked path that differs between HEAD, index and work tree."""

    path: str
    staged: str
    """How the index differs from HEAD: ``M A D T``, or ``.``."""
    unstaged: str
    """How the work tree differs from the index: ``M A D T``, or ``.``."""
    head_mode: str
    head_oid: str
    index_oid: str
    is_submodule: bool


@attrs.frozen
class IndexEntry:
    """One entry of the index."""

    path: str
    mode: str
    oid: str
    stage: int


@attrs.frozen
class RepoState:
    """A repository as it was at one moment. All paths of files are relative to the root of the work tree."""

    cwd: Path
    place: Place | None
    trouble: Trouble | None
    """Set: nothing below was looked at, save what finding it out took."""
    git: Git
    head: Head = Head(HeadCondition.UNBORN)
    operation: Operation | None = None
    index_fault: str = ""
    """Why git cannot read the index; ``""`` when it can."""
    index: tuple[IndexEntry, ...] = ()
    changes: tuple[Change, ...] = ()
    """Without unmerged paths and untracked files."""
    untracked: tuple[str, ...] = ()
    status_fault: str = ""
    """Why git cannot compare the work tree; ``""`` when it can. Set: *changes* and *untracked* say nothing."""
    config: Mapping[str, tuple[str, ...]] = attrs.Factory(dict)
    """All settings in force; keys as git prints them, values in order."""
    worktrees: tuple[Worktree, ...] = ()
    is_shallow: bool = False

    @property
    def unmerged(self) -> tuple[str, ...]:
        """Paths with conflict stages, each once."""
        return tuple(dict.fromkeys(entry.path for entry in self.index if entry.stage))

    @property
    def submodules(self) -> tuple[str, ...]:
        """Paths of the index that are submodules."""
        return tuple(entry.path for entry in self.index if entry.mode == "160000")

    @property
    def is_sparse(self) -> bool:
        """Whether only a part of the tree is checked out."""
        return self.setting("core.sparsecheckout") == "true"

    @property
    def remotes(self) -> tuple[str, ...]:
        """The names of the configured remotes."""
        return tuple(key[len("remote.") : -len(".url")] for key in self.config if _REMOTE_URL.fullmatch(key))

    def setting(self, key: str) -> str | None:
        """Return a setting's value in force, or None."""
        values = self.config.get(key)
        return values[-1] if values else None

    @property
    def here(self) -> Place:
        """The place, for code that runs only where there is one."""
        if self.place is None:
            raise ValueError(f"{self.cwd} is in no repository")
        return self.place

    @property
    def root(self) -> Path:
        """The top of the work tree, for code that runs only where there is one."""
        if self.here.root is None:
            raise ValueError(f"{self.cwd} is in no work tree")
        return self.here.root

    def elsewhere(self, branch: str) -> Worktree | None:
        """Return the other worktree that has a branch checked out."""
        own = self.here.git_dir
        return next((tree for tree in self.worktrees if tree.branch == branch and tree.git_dir != own), None)


_REMOTE_URL = re.compile(r"remote\..+\.url", re.DOTALL)


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
    if _is_head_garbage(place):
        return _behind_broken_head(state, place)
    refused = refusal(place)
    if refused is not None:
        return attrs.evolve(state, trouble=refused)
    return _looked_into(state, place)


def _is_head_garbage(place: Place) -> bool:
    head = read_head(place.git_dir)
    return not re.fullmatch(r"ref: refs/[^\0-\x20\x7f~^:?*\[\\]+|[0-9a-f]{40}|[0-9a-f]{64}", head)


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
    state = attrs.evolve(
        state,
        head=_head(git, place),
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
    return Head(HeadCondition.REF_BROKEN if is_broken else HeadCondition.UNBORN, branch)


def _first_line(text: str) -> str:
    return next((line for line in text.splitlines() if line.strip()), "it gave no reason")


def _index_damage(path: Path) -> str:
    """Return what is wrong with an index that git reads without looking at its checksum, ``""`` when nothing is."""
    try:
        data = path.read_bytes()
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
        *("-c", "core.fsmonitor=false", "status", "--porcelain=v2", "-z"),
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
