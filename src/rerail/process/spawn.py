"""Starting a command, and what a shell would say when it cannot be started.

    RerailError
    └── SpawnError                  the system could not start another process
        ├── CommandNotFound         a shell's 127
        ├── CommandNotExecutable    a shell's 126
        └── WorkingDirectoryGone

A command that cannot be started is a failure to be classified like any other: `finished_from_spawn_error` tells it as
a shell would have.
"""

from __future__ import annotations

import errno
import os
import shutil
import subprocess
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, ClassVar

from rerail.errors import RerailError
from rerail.process import platform
from rerail.process.capture import Capture
from rerail.process.result import Finished

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

SHEBANG_BYTES = 256  # Linux reads no more of the first line


class SpawnError(RerailError):
    """A command could not be started.

    Args:
        what: The command or directory that it failed on.
        why: What the system, or a shell, says about it.
        argv: The command.
        cwd: Where it should have run.
        hint: What to do next.
    """

    slug = "spawn-failed"
    exit_code: ClassVar[int] = 126
    """What a shell would have exited with."""

    def __init__(self, what: str, why: str, *, argv: tuple[str, ...], cwd: str, hint: str | None = None) -> None:
        super().__init__(f"{_shown(what)}: {why}", hint=hint)
        self.argv = argv
        self.cwd = cwd


class CommandNotFound(SpawnError):  # noqa: N818  as shells say it
    """There is no such program, or the interpreter that it names is missing."""

    slug = "command-not-found"
    exit_code = 127


class CommandNotExecutable(SpawnError):  # noqa: N818  as shells say it
    """There is such a file, but the system will not run it, or not with these arguments."""

    slug = "command-not-executable"


class WorkingDirectoryGone(SpawnError):  # noqa: N818  as the taxonomy says it
    """The directory to run in does not exist, is no directory, or cannot be entered."""

    slug = "working-directory-gone"

    def __init__(self, path: str, why: str, *, argv: tuple[str, ...], cwd: str) -> None:
        what = f"cannot enter the working directory {path}".rstrip()
        super().__init__(what, why, argv=argv, cwd=cwd, hint="name a directory that exists, or make it anew")


def working_directory(cwd: str | os.PathLike[str] | None, argv: tuple[str, ...]) -> str:
    """Return *cwd*, or ours, as an absolute path.

    Raises:
        WorkingDirectoryGone: It cannot be worked in.
    """
    try:
        path = os.path.abspath(cwd if cwd is not None else os.getcwd())  # noqa: PTH100, PTH109  keeps symlinks as given
    except OSError as error:
        raise WorkingDirectoryGone("", os.strerror(error.errno or 0), argv=argv, cwd="") from error
    if not Path(path).is_dir():
        raise WorkingDirectoryGone(
            path, os.strerror(errno.ENOTDIR if Path(path).exists() else errno.ENOENT), argv=argv, cwd=path
        )
    if not os.access(path, os.X_OK):
        raise WorkingDirectoryGone(path, os.strerror(errno.EACCES), argv=argv, cwd=path)
    return path


def start(
    argv: tuple[str, ...], *, cwd: str, env: Mapping[str, str] | None, stdout: int, stderr: int
) -> subprocess.Popen[bytes]:
    """Start *argv* with our stdin, in our process group and session.

    Raises:
        SpawnError: It could not be started; the kind says why.
    """
    with named_failures(argv, cwd, env):
        return subprocess.Popen(  # noqa: S603  an argument list; no shell reads it
            argv, cwd=cwd, env=env, stdout=stdout, stderr=stderr, creationflags=platform.CREATION_FLAGS
        )


@contextmanager
def named_failures(argv: tuple[str, ...], cwd: str, env: Mapping[str, str] | None) -> Iterator[None]:
    """Raise the `SpawnError` that names what the system refused."""
    try:
        yield
    except ValueError as error:  # a NUL byte, or a variable's name with "="
        raise CommandNotExecutable(argv[0], str(error), argv=argv, cwd=cwd) from error
    except OSError as error:
        working_directory(cwd, argv)  # it may have gone since it was checked
        raise _named(error, argv, cwd, env) from error


def finished_from_spawn_error(error: SpawnError, *, duration_s: float = 0.0) -> Finished:
    """Return what a shell would have left: exit code 127 or 126, and the reason on stderr."""
    stderr = Capture()
    stderr.feed(f"rerail: {error.message}\n".encode(errors="surrogateescape"))
    return Finished(
        argv=error.argv,
        cwd=error.cwd,
        exit_code=error.exit_code,
        signal=None,
        stdout=Capture().captured(),
        stderr=stderr.captured(),
        duration_s=duration_s,
    )


def _named(error: OSError, argv: tuple[str, ...], cwd: str, env: Mapping[str, str] | None) -> SpawnError:
    path = _located(argv[0], cwd, env)
    why, hint = os.strerror(error.errno or 0), None
    kind: type[SpawnError] = CommandNotExecutable
    match error.errno:
        case errno.ENOENT | errno.ENOTDIR if path is not None and path.exists():
            # The file is there; what is missing is the interpreter or loader that it names.
            kind, why = CommandNotFound, _missing_interpreter(path)
        case errno.ENOENT | errno.ENOTDIR:
            kind = CommandNotFound
            why = "command not found" if path is None else why
            hint = "give the command and its arguments as separate words" if " " in argv[0] else None
        case errno.EACCES if path is not None and path.is_dir():
            why = os.strerror(errno.EISDIR)
        case errno.EACCES:
            hint = "give it the right to be executed (chmod +x), or start it with its interpreter"
        case errno.ENOEXEC:
            hint = "start it with its interpreter, or give it a #! line"
        case errno.EAGAIN | errno.ENOMEM | errno.EMFILE | errno.ENFILE:
            kind = SpawnError  # nothing is wrong with the command
    return kind(argv[0], why, argv=argv, cwd=cwd, hint=hint)


def _located(name: str, cwd: str, env: Mapping[str, str] | None) -> Path | None:
    """Return the file that *name* means; None when it is not a path and nothing on PATH has it."""
    if os.path.dirname(name):  # noqa: PTH120  "./x" is a path, and Path forgets the "./"
        return Path(cwd, name)
    found = shutil.which(name, path=None if env is None else env.get("PATH", os.defpath))
    return None if found is None else Path(found)


def _missing_interpreter(path: Path) -> str:
    try:
        with path.open("rb") as file:
            first_line = file.readline(SHEBANG_BYTES)
    except OSError:
        first_line = b""
    missing = os.strerror(errno.ENOENT)
    if not first_line.startswith(b"#!"):
        return f"cannot execute, its loader is missing: {missing}"
    interpreter = os.fsdecode(first_line[2:].strip().partition(b" ")[0])
    return f"{_shown(interpreter)}: bad interpreter: {missing}"


def _shown(name: str) -> str:
    """Return *name*, escaped where it could forge a line or a colour."""
    return name if name and name.isprintable() else ascii(name)
