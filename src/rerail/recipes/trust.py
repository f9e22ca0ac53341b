"""Which recipe files the operator trusts to run commands: by their exact content, for one project, outside of it.

One small file for each trusted content, in a private directory of the user's own. Nothing in a project, and no variable or
setting, makes a file trusted; the directory itself counts only where nobody else can write it, and where it is not inside of the
project. Another content is another file: whoever changes one has made an untrusted one.

A program of the project that a command names is covered like the recipe itself. What a trusted program reads - a manifest, a
Makefile - is not: that is for the operator to weigh.
"""

from __future__ import annotations

import json
import os
import shutil
from hashlib import file_digest
from pathlib import Path
from typing import TYPE_CHECKING, Any

import attrs

from rerail.errors import UsageError
from rerail.plain_file import open_plain, read_plain
from rerail.recipes.heals import RunCommand

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from rerail.recipes.heals import HealRecipe

_INTERPRETERS = ("python", "node", "deno", "bun", "ruby", "perl", "php", "tsx", "ts-node")
_PRIVATE_DIR, _PRIVATE_FILE = 0o700, 0o600


@attrs.frozen
class Trusted:
    """One content that is trusted."""

    digest: str
    """SHA-256 of the recipe file."""
    file: str
    """What it was called then, for people."""
    at_s: float
    """When it was trusted: wall clock, seconds since the epoch."""
    programs: tuple[tuple[str, str], ...]
    """The project's own programs that its commands name, relative to its root, and the SHA-256 of each."""


class TrustStore:
    """The trust that the operator has given to recipes of one project.

    Args:
        directory: Where it is kept; None where the user has no place of their own, and then nothing is trusted.
        roots: The project's root and the repository's directories: a store inside of one of them is an agent's to write.
    """

    def __init__(self, directory: Path | None, roots: Iterable[Path]) -> None:
        self._directory = directory
        self._roots = tuple(Path(os.path.realpath(root)) for root in roots)

    @property
    def fault(self) -> str:
        """Why nothing can be trusted here, for people; ``""`` where it can."""
        if self._directory is None:
            return "there is no home directory to keep trust in"
        real = Path(os.path.realpath(self._directory))
        for root in self._roots:
            if real.is_relative_to(root):
                return f"{self._directory} is inside of the project, where agents write"
        for folder in (self._directory, self._directory.parent):
            if os.path.lexists(folder) and not _is_private(folder):
                return f"{folder} can be written by others, or is not yours"
        return ""

    def trust(self, digest: str, file: str, heals: Iterable[HealRecipe], root: Path, *, at_s: float) -> Trusted:
        """Trust a content.

        Args:
            digest: The SHA-256 of the recipe file's bytes, as they were read.
            file: What it is called.
            heals: The heals of those bytes.
            root: The project's root.
            at_s: Wall clock, seconds since the epoch.

        Raises:
            UsageError: Trust cannot be kept here.
        """
        if self.fault or self._directory is None:
            raise UsageError(
                f"nothing can be trusted here: {self.fault}", hint="set XDG_STATE_HOME to a place of your own"
            )
        programs = tuple((name, _digest_of(root / name) or "") for name in dict.fromkeys(own_programs(heals, root)))
        made = Trusted(digest, file, at_s, programs)
        try:
            for folder in (self._directory.parent, self._directory):
                folder.mkdir(mode=_PRIVATE_DIR, parents=True, exist_ok=True)
            scratch = self._directory / f".{digest}.{os.getpid()}"
            descriptor = os.open(scratch, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, _PRIVATE_FILE)
            with os.fdopen(descriptor, "w", encoding="utf-8") as out:
                json.dump(attrs.asdict(made), out)
            scratch.replace(self._directory / f"{digest}.json")
        except OSError as error:
            raise UsageError(f"trust cannot be kept in {self._directory}: {error.strerror or error}") from error
        return made

    def revoke(self, digest: str) -> bool:
        """Trust a content no longer; return whether it was trusted."""
        if self._directory is None:
            return False
        try:
            (self._directory / f"{digest}.json").unlink()
        except FileNotFoundError:
            return False
        except OSError as error:
            raise UsageError(f"trust in {self._directory} cannot be taken back: {error.strerror or error}") from error
        return True

    def entries(self) -> tuple[Trusted, ...]:
        """Return everything that is trusted, oldest first; what cannot be read is not."""
        if self.fault or self._directory is None or not self._directory.is_dir():
            return ()
        found = (self._read(path.stem) for path in self._directory.glob("*.json"))
        return tuple(sorted((each for each in found if each is not None), key=lambda each: each.at_s))

    def covers(self, recipe: HealRecipe, root: Path) -> str:
        """Return why a recipe's commands may not be run; ``""`` when the operator trusts exactly what would be.

        Args:
            recipe: As it was read; its *digest* is that of the very bytes.
            root: Where its commands would be run.
        """
        trusted = None if self.fault else self._read(recipe.digest)
        if trusted is None:
            return self.fault or f"nobody has trusted {recipe.file} as it is"
        known = dict(trusted.programs)
        # Those that were files then too: an interpreter also runs a directory, or what comes out of a pipe.
        for name in dict.fromkeys((*own_programs((recipe,), root), *known)):
            if known.get(name) != _digest_of(root / name):
                return f"{name} is not what it was when {recipe.file} was trusted"
        return next(_strays(recipe, root), "")

    def _read(self, digest: str) -> Trusted | None:
        if self._directory is None or not digest:
            return None
        path = self._directory / f"{digest}.json"
        try:
            if not _is_private(path):
                return None
            table: dict[str, Any] = json.loads(read_plain(path))
            programs = tuple((str(name), str(content)) for name, content in table["programs"])
            made = Trusted(str(table["digest"]), str(table["file"]), float(table["at_s"]), programs)
        except (OSError, ValueError, KeyError, TypeError, RecursionError):
            return None
        return made if made.digest == digest else None


def own_programs(heals: Iterable[HealRecipe], root: Path) -> Iterator[str]:
    """Yield the files of a project that commands run: a program with a path, or the script that an interpreter is given."""
    for heal in heals:
        for step in heal.steps:
            if not isinstance(step, RunCommand):
                continue
            program, *words = step.argv
            if "/" in program:
                yield from _within(root, program)
            elif program.startswith(_INTERPRETERS):
                yield from _within(root, *(word for word in words if not word.startswith("-")))


def found_program(program: str, root: Path) -> str | None:
    """Return where a command's program is, as its heal would find it; None where it is not there."""
    if "/" in program:
        return shutil.which(str(root / program))
    # It is run there, so what a search path has that is relative is looked for there.
    folders = os.environ.get("PATH", os.defpath).split(os.pathsep)
    return shutil.which(program, path=os.pathsep.join(str(root / folder) for folder in folders))


def _within(root: Path, *words: str) -> Iterator[str]:
    for word in words:
        name = os.path.normpath(word)
        if not Path(word).is_absolute() and not name.startswith("..") and (root / name).is_file():
            yield name


def _strays(recipe: HealRecipe, root: Path) -> Iterator[str]:
    """Yield programs that a search path would take out of the project: nobody has looked at those."""
    real_root = Path(os.path.realpath(root))
    for step in recipe.steps:
        if isinstance(step, RunCommand) and "/" not in step.argv[0]:
            place = found_program(step.argv[0], root)
            if place is not None and Path(os.path.realpath(Path(place).parent)).is_relative_to(real_root):
                yield f"{step.argv[0]} would be {place}, which is a file of the project"


def _digest_of(path: Path) -> str | None:
    try:
        with open_plain(path) as program:
            return file_digest(program, "sha256").hexdigest()
    except OSError:
        return None


def _is_private(path: Path) -> bool:
    """Whether nobody else could have written here, and it is no link to somewhere else."""
    facts = path.lstat()
    if path.is_symlink():
        return False
    return not hasattr(os, "getuid") or (facts.st_uid == os.getuid() and not facts.st_mode & 0o022)
