"""The one way to run git, and the one place of this package where a process starts.

Argument lists only, bytes in and out, a time limit on every call, no terminal to ask on. `rerail.git.gate` decides what may run.

The environment is cleaned by an allow-list. Variables that say *where the repository is* (what ``git rev-parse --local-env-vars``
lists: ``GIT_DIR``, ``GIT_WORK_TREE``, ``GIT_INDEX_FILE``, ``GIT_PREFIX`` and the like) are removed: inherited from a hook or an
alias they would point a heal at another repository. So is ``GIT_CONFIG_PARAMETERS``, which carries one command's ``-c``
options (``-c core.hooksPath=/dev/null``) into its children. Variables that say *how git is configured* stay, for they are the
operator's: configuration files, ceilings, transport, identity, protocol policy.
"""

from __future__ import annotations

import os
import subprocess
from contextlib import suppress
from typing import TYPE_CHECKING

import attrs

from rerail.errors import GitError
from rerail.git import gate
from rerail.git.gate import Effect

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence
    from pathlib import Path

READ_TIMEOUT_S = 60.0
WRITE_TIMEOUT_S = 120.0
NETWORK_TIMEOUT_S = 90.0
_TERM_GRACE_S = 3.0

PROBE_MARK = "RERAIL_GIT_READS"
"""Set for commands that only read, so that a heal in another process does not take them for someone at work."""

_KEPT = frozenset(
    {
        "GIT_ALLOW_PROTOCOL",
        "GIT_ASKPASS",
        "GIT_ATTR_NOSYSTEM",
        "GIT_AUTHOR_EMAIL",
        "GIT_AUTHOR_NAME",
        "GIT_CEILING_DIRECTORIES",
        "GIT_COMMITTER_EMAIL",
        "GIT_COMMITTER_NAME",
        "GIT_CONFIG_COUNT",
        "GIT_CONFIG_GLOBAL",
        "GIT_CONFIG_NOSYSTEM",
        "GIT_CONFIG_SYSTEM",
        "GIT_DEFAULT_HASH",
        "GIT_DISCOVERY_ACROSS_FILESYSTEM",
        "GIT_EXEC_PATH",
        "GIT_PROTOCOL_FROM_USER",
        "GIT_PROXY_COMMAND",
        "GIT_SSH",
        "GIT_SSH_COMMAND",
        "GIT_SSH_VARIANT",
        "GIT_TEMPLATE_DIR",
        "GIT_TEST_ASSUME_DIFFERENT_OWNER",
    }
)
_KEPT_PREFIXES = ("GIT_CONFIG_KEY_", "GIT_CONFIG_VALUE_", "GIT_HTTP_", "GIT_PROXY_SSL_", "GIT_SSL_")
_FIXED = {
    "LC_ALL": "C",
    "GIT_EDITOR": "true",  # a commit message is taken as it stands
    "GIT_MERGE_AUTOEDIT": "no",
    "GIT_OPTIONAL_LOCKS": "0",  # or ``git status`` rewrites the index
    "GIT_PAGER": "cat",
    "GIT_SEQUENCE_EDITOR": "true",
    "GIT_TERMINAL_PROMPT": "0",
    "SSH_ASKPASS_REQUIRE": "never",
}

_OPTIONS = ("-c", "core.fsmonitor=false")
"""Given to every call, and so to its looks into submodules: whoever can write to a repository can name any program as its file
system monitor, and git would run it at a mere look. What git says is the same without."""


@attrs.frozen
class GitResult:
    """A finished command."""

    argv: tuple[str, ...]
    code: int
    """The exit code; negative: ended by that signal."""
    out: bytes
    err: bytes

    @property
    def ok(self) -> bool:
        """Exit code 0."""
        return self.code == 0

    @property
    def text(self) -> str:
        """Standard output as text, without the last newline; file names keep their bytes by surrogates."""
        return os.fsdecode(self.out).removesuffix("\n")

    @property
    def error_text(self) -> str:
        """Standard error as text."""
        return self.err.decode(errors="replace")

    def lines(self) -> list[str]:
        """Return the lines of standard output."""
        return self.text.split("\n") if self.out else []

    def records(self) -> list[str]:
        """Return the NUL-ended records of standard output."""
        return [os.fsdecode(record) for record in self.out.split(b"\0") if record]


class GitFailedError(GitError):
    """A command that had to succeed did not.

    Args:
        result: How it ended.
    """

    slug = "git-failed"

    def __init__(self, result: GitResult) -> None:
        self.result = result
        said = next((line for line in result.error_text.splitlines() if line.strip()), "it said nothing")
        super().__init__(f"{' '.join(result.argv[:4])}: exit {result.code}: {said}")


def environment(overrides: Mapping[str, str] | None = None) -> dict[str, str]:
    """Return the environment for git: inherited, cleaned, with rerail's fixed settings and then *overrides*."""
    inherited = {
        name: value
        for name, value in os.environ.items()
        if not name.startswith("GIT_") or name in _KEPT or name.startswith(_KEPT_PREFIXES)
    }
    for name in ("LANGUAGE", PROBE_MARK):
        inherited.pop(name, None)
    return {**inherited, **_FIXED, **(overrides or {})}


def run_git(
    cwd: Path,
    *args: str,
    stdin: bytes | None = None,
    check: bool = True,
    env: Mapping[str, str] | None = None,
    timeout_s: float | None = None,
) -> GitResult:
    """Run git in a directory.

    Args:
        cwd: Where it runs.
        args: The arguments after ``git``.
        stdin: Its input; None: an empty one.
        check: Raise when it fails.
        env: Variables to set for this call.
        timeout_s: When to end it, in seconds; None: by what the command does.

    Raises:
        ForbiddenGitError: The command is not in the closed list.
        GitFailedError: It failed and *check* is set.
        GitError: It could not be started, or ran into its time limit.
    """
    overrides = dict(env or {})
    effect = gate.check(args, overrides)
    if effect is Effect.READS:
        overrides.setdefault(PROBE_MARK, "1")
    limit_s = timeout_s or (READ_TIMEOUT_S if effect is Effect.READS else WRITE_TIMEOUT_S)
    result = _run(("git", *args), cwd, environment(overrides), stdin, limit_s, options=_OPTIONS)
    if check and not result.ok:
        raise GitFailedError(result)
    return result


def run_program(argv: Sequence[str], cwd: Path, *, timeout_s: float, env: Mapping[str, str] | None = None) -> GitResult:
    """Run a project's own command: only a trusted recipe gets here.

    Raises:
        GitError: It could not be started, or ran into its time limit.
    """
    return _run(tuple(argv), cwd, environment(env), None, timeout_s)


def _run(
    argv: tuple[str, ...],
    cwd: Path,
    env: Mapping[str, str],
    stdin: bytes | None,
    timeout_s: float,
    *,
    options: tuple[str, ...] = (),
) -> GitResult:
    try:
        # A session of its own: ssh and credential helpers find no terminal to ask on, and a time limit ends the whole family.
        process = subprocess.Popen(  # noqa: S603  an argument list that passed the gate, or a trusted recipe's
            (argv[0], *options, *argv[1:]),
            cwd=cwd,
            env=dict(env),
            stdin=subprocess.DEVNULL if stdin is None else subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            start_new_session=True,
        )
    except OSError as error:
        raise GitError(f"{argv[0]} could not be started in {cwd}: {error.strerror}") from error
    except ValueError as error:
        # A name that somebody typed, or that a failure quotes: NUL, or half of a surrogate pair.
        raise GitError(f"{argv[0]} cannot be given one of its arguments: {error}") from None
    with process:
        try:
            out, err = process.communicate(stdin, timeout_s)
        except subprocess.TimeoutExpired:
            _end(process)
            raise GitError(f"{' '.join(argv[:3])}: no end within {timeout_s:g} s") from None
        except BaseException:
            _end(process)
            raise
    return GitResult(argv, process.returncode, out, err)


def _end(process: subprocess.Popen[bytes]) -> None:
    """End a process and its children: politely first, for git removes its own locks on SIGTERM."""
    import psutil

    try:
        started = psutil.Process(process.pid)
        family = [*started.children(recursive=True), started]
    except psutil.NoSuchProcess:
        return
    for member in family:
        _quietly(member.terminate)
    _, alive = psutil.wait_procs(family, timeout=_TERM_GRACE_S)
    for member in alive:
        _quietly(member.kill)
    process.communicate()


def _quietly(end: Callable[[], None]) -> None:
    import psutil

    with suppress(psutil.NoSuchProcess, psutil.AccessDenied):
        end()


@attrs.frozen
class Git:
    """git bound to one repository: what every module of this package is handed."""

    cwd: Path
    env: tuple[tuple[str, str], ...] = ()
    """Where the repository is, when git cannot find that by itself."""

    def __call__(
        self,
        *args: str,
        stdin: bytes | None = None,
        check: bool = True,
        env: Mapping[str, str] | None = None,
        timeout_s: float | None = None,
    ) -> GitResult:
        """Run git here; see `run_git`."""
        merged = {**dict(self.env), **(env or {})}
        return run_git(self.cwd, *args, stdin=stdin, check=check, env=merged, timeout_s=timeout_s)

    def line(self, *args: str, check: bool = True) -> str:
        """Return the output as one line, or ``""`` when the command failed and *check* is off."""
        result = self(*args, check=check)
        return result.text if result.ok else ""

    def ask(self, *args: str) -> bool:
        """Return whether a command that answers by its exit code said yes."""
        return self(*args, check=False).ok

    def at(self, cwd: Path) -> Git:
        """Return git bound to another directory of the same repository."""
        return attrs.evolve(self, cwd=cwd)


def nul_ended(names: Sequence[str]) -> bytes:
    """Return names as git reads them with ``-z``."""
    return b"".join(os.fsencode(name) + b"\0" for name in names)
