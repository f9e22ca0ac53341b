"""Who is at work in a repository: live git processes, and processes that have a file open.

A lock's owner need not have the lock file open (``git commit`` closes it while a hook runs), so both kinds count. A git that
cannot be looked into counts as one that works here. This process and its children count like any other: a harness that uses
rerail as a library runs its agents beside it.

git is not the only program that takes git's locks. One that runs a git library counts while it works in the repository, when it
is old enough to have made the lock; so does whoever a lock names by its pid. Shells and editors do not: one always sits there.
"""

from __future__ import annotations

import os
import re
import time
from pathlib import Path
from typing import TYPE_CHECKING

import attrs

from rerail.git.command import PROBE_MARK
from rerail.git.place import Place, locate
from rerail.plain_file import open_plain

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    import psutil

    from rerail.git.case import Pace

# These never take a lock: a pager on ``git log`` or an editor's file monitor may live for days.
_LOCKLESS_VERBS = frozenset(
    {
        *(
            "blame",
            "cat-file",
            "check-attr",
            "check-ignore",
            "credential-cache--daemon",
            "for-each-ref",
            "fsmonitor--daemon",
        ),
        *("grep", "log", "ls-files", "ls-remote", "ls-tree", "merge-base", "rev-list", "rev-parse", "shortlog", "show"),
        *("show-ref", "upload-pack", "version", "whatchanged"),
    }
)


# What runs JGit, dulwich, pygit2, rugged, LibGit2Sharp, or is a git of its own.
_LIBRARY_PROGRAMS = re.compile(r"(?:python|pypy|java|ruby|dotnet|jgit|gix|ein|jj|got|gitui)(?:[\d.]*|w)(?:\.exe)?")
_PID_TEXT = re.compile(rb"\s*(\d{1,10})(?:\s+[\w.-]{1,255})?\s*")
_POLL_S = 0.25
_CLOCK_SLACK_S = 0.05
"""Start times are counted in ticks of 10 ms."""


@attrs.frozen
class Worker:
    """A process that may own something in a repository."""

    pid: int
    what: str
    """What it does, for people: its command line, clipped."""


def git_workers(place: Place, *, all_worktrees: bool) -> tuple[Worker, ...]:
    """Return the live git processes that work in a worktree and may hold its locks.

    Args:
        place: The worktree.
        all_worktrees: Count those of the repository's other worktrees too: what is shared may be theirs.
    """
    return tuple(_git_workers(place, all_worktrees=all_worktrees))


def outlasting_git(place: Place, pace: Pace) -> Worker | None:
    """Return a git process that works in a worktree and still does after some patience, None where there is none."""
    waited_s = 0.0
    while workers := git_workers(place, all_worktrees=False):
        if waited_s >= pace.patience_s:
            return workers[0]
        pace.sleep(_POLL_S)
        waited_s += _POLL_S
    return None


def library_users(place: Place, path: Path, *, all_worktrees: bool) -> tuple[Worker, ...]:
    """Return the live processes other than git that may have made a file of a repository: by a git library, or named in it.

    This process and those that started it are left out: they wait for what is asked here.

    Args:
        place: The worktree.
        path: A lock.
        all_worktrees: Count those that work in the repository's other worktrees too.
    """
    try:
        made_s = path.lstat().st_ctime
    except OSError:
        return ()
    return tuple(_library_users(place, _named_pid(path), made_s, all_worktrees=all_worktrees))


def openers(path: Path) -> tuple[Worker, ...]:
    """Return the processes that have a file open.

    A process of another user than the file's owner did not create it, and is left out. One that hides its files from us (agents
    that keep keys do) counts only when it works in the file's directory: hardly any system is without such a process.
    """
    try:
        wanted = path.lstat()
    except OSError:
        return ()
    return tuple(_openers(path, wanted))


def _git_workers(place: Place, *, all_worktrees: bool) -> Iterator[Worker]:
    import psutil

    for process in psutil.process_iter():
        try:
            if not _is_git(process) or process.status() == psutil.STATUS_ZOMBIE:
                if not _borrows_index(process, place):
                    continue
            elif not _may_lock(process) or not _works_in(process, place, all_worktrees=all_worktrees):
                continue
        except (psutil.NoSuchProcess, psutil.AccessDenied):
            continue  # ended, or not even its name can be read: every system shows the name of a git to its user
        yield _worker(process)


def _library_users(place: Place, named: int | None, made_s: float, *, all_worktrees: bool) -> Iterator[Worker]:
    import psutil

    own = {os.getpid(), *(parent.pid for parent in psutil.Process().parents())}
    made_s += _CLOCK_SLACK_S - _boot_error_s()
    for process in psutil.process_iter():
        try:
            if process.pid in own or process.status() == psutil.STATUS_ZOMBIE:
                continue
            if process.create_time() > made_s:
                continue  # younger than the file
            is_meant = process.pid == named or (
                _LIBRARY_PROGRAMS.fullmatch(process.name()) and _sits_in(process, place, all_worktrees=all_worktrees)
            )
        except (psutil.NoSuchProcess, psutil.AccessDenied, OSError):
            continue
        if is_meant:
            yield _worker(process)


def _boot_error_s() -> float:
    """Return how much too early processes seem to have started: Linux tells the time of its boot in whole seconds."""
    import psutil

    clock = getattr(time, "CLOCK_BOOTTIME", None)
    return 0.0 if clock is None else time.time() - time.clock_gettime(clock) - psutil.boot_time()


def _sits_in(process: psutil.Process, place: Place, *, all_worktrees: bool) -> bool:
    theirs = locate(Path(process.cwd()))
    if not isinstance(theirs, Place):
        return False
    return theirs.common_dir == place.common_dir if all_worktrees else theirs.git_dir == place.git_dir


def _named_pid(path: Path) -> int | None:
    """Return the pid that a lock consists of, as some programs write them."""
    try:
        with open_plain(path) as file:
            match = _PID_TEXT.fullmatch(file.read(300))
    except OSError:
        return None
    return int(match[1]) if match else None


def _is_git(process: psutil.Process) -> bool:
    name = process.name().removesuffix(".exe")
    return name == "git" or name.startswith("git-")


def _may_lock(process: psutil.Process) -> bool:
    import psutil

    try:
        if PROBE_MARK in process.environ():
            return False
    except psutil.AccessDenied:
        pass
    return _verb(_command_line(process)) not in _LOCKLESS_VERBS


def _verb(argv: list[str]) -> str:
    """Return the subcommand of a git command line, ``""`` when it is hidden behind options."""
    if not argv:
        return ""
    program = Path(argv[0]).name.removesuffix(".exe")
    if program.startswith("git-"):
        return program.removeprefix("git-")
    rest = iter(argv[1:])
    for word in rest:
        if word in {"-C", "-c", "--git-dir", "--work-tree", "--namespace", "--exec-path"}:
            next(rest, None)
        elif not word.startswith("-"):
            return word
    return ""


def _works_in(process: psutil.Process, place: Place, *, all_worktrees: bool) -> bool:
    import psutil

    try:
        theirs = locate(Path(process.cwd()))
        named = _named_dirs(process)
    except psutil.AccessDenied:
        return True
    wanted = {place.common_dir} if all_worktrees else {place.git_dir}
    if isinstance(theirs, Place) and (theirs.common_dir if all_worktrees else theirs.git_dir) in wanted:
        return True
    roots = {place.git_dir, place.common_dir, *({place.root} if place.root else ())}
    return any(path == root or root in path.parents for path in named for root in roots)


def _named_dirs(process: psutil.Process) -> set[Path]:
    """Return the directories that a git process was told to work in."""
    environ: Mapping[str, str] = process.environ()
    cwd = Path(process.cwd())
    names = [environ[name] for name in ("GIT_DIR", "GIT_WORK_TREE", "GIT_INDEX_FILE") if environ.get(name)]
    for word in _command_line(process):
        key, sep, value = word.partition("=")
        if sep and key in {"--git-dir", "--work-tree"}:
            names.append(value)
        elif word.startswith("/"):
            names.append(word)
    return {Path(os.path.realpath(cwd / name)) for name in names}


def _borrows_index(process: psutil.Process, place: Place) -> bool:
    """Whether a process was started by a hook of this repository with an index or its lock handed to it.

    Its git may be dead while it still writes: the lock is not free as long as it lives.
    """
    import psutil

    try:
        if process.status() == psutil.STATUS_ZOMBIE:
            return False
        environ = process.environ()
        index = environ.get("GIT_INDEX_FILE")
        if not index or PROBE_MARK in environ:
            return False
        return place.git_dir in Path(os.path.realpath(Path(process.cwd()) / index)).parents
    except (psutil.AccessDenied, OSError):
        return False


def _openers(path: Path, wanted: os.stat_result) -> Iterator[Worker]:
    import psutil

    for process in psutil.process_iter():
        try:
            if os.name == "posix" and wanted.st_uid not in (process.uids().real, process.uids().effective):
                continue
            if process.status() == psutil.STATUS_ZOMBIE:
                continue
            if _has_open(process, path, wanted):
                yield _worker(process)
        except psutil.NoSuchProcess:
            continue
        except psutil.AccessDenied:
            if _is_near(process, path):
                yield _worker(process)


def _is_near(process: psutil.Process, path: Path) -> bool:
    """Whether a process that hides its files works in a directory that a file is below."""
    import psutil

    try:
        cwd = Path(process.cwd())
    except (psutil.AccessDenied, psutil.NoSuchProcess, OSError):
        return False
    return cwd != Path(cwd.anchor) and cwd in path.parents


def _has_open(process: psutil.Process, path: Path, wanted: os.stat_result) -> bool:
    """Compare by inode where the system shows it: a path means little in another mount namespace."""
    for file in process.open_files():
        if file.path == str(path):
            return True
        try:
            there = Path(f"/proc/{process.pid}/fd/{file.fd}").stat()
        except OSError:
            continue
        if (there.st_dev, there.st_ino) == (wanted.st_dev, wanted.st_ino):
            return True
    return False


def _command_line(process: psutil.Process) -> list[str]:
    import psutil

    try:
        return process.cmdline()
    except psutil.AccessDenied:
        return []


def _worker(process: psutil.Process) -> Worker:
    import psutil

    try:
        what = " ".join(_command_line(process)) or process.name()
    except psutil.NoSuchProcess:
        what = "a process that has just ended"
    return Worker(process.pid, "".join(c if c.isprintable() else "?" for c in what)[:120])
