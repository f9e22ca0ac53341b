"""The errors that rerail raises, as one tree.

Every error has a *slug* (kebab-case, never reused) and, where one exists, a *hint* that is an instruction. The message says
where, what was expected and what came. A user's mistake exits with 2; anything that is not in this tree is a bug of rerail and
exits with 1.

    RerailError
    ├── UsageError            the caller's mistake: exit 2
    │   ├── EvidenceError     the failure handed in cannot be read
    │   ├── UnknownNameError  a class, rule, unit, event or pause that does not exist
    │   └── FileFaultsError   a file with faults, told together
    │       ├── CorpusError
    │       ├── RecipeError
    │       └── SettingsError
    ├── LedgerError           the state store cannot be read or written
    └── GitError              git itself could not be run or asked

The errors that end a unit (handed back, paused, stopped) carry an outcome and live beside it, in ``rerail.runner.outcome``.
"""

from __future__ import annotations

from rerail.light_typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence
    from typing import ClassVar


class RerailError(Exception):
    """Whatever rerail raises on purpose.

    Args:
        message: Where it happened, what was expected, what came.
        hint: What to do next, as an instruction.
    """

    slug: ClassVar[str] = "rerail-error"

    def __init__(self, message: str, *, hint: str | None = None) -> None:
        super().__init__(message)
        self.message = message
        self.hint = hint
        if hint is not None:
            self.add_note(hint)  # a traceback shows it too


class UsageError(RerailError):
    """The caller asked for something that cannot be done as it was asked."""

    slug = "usage"


class EvidenceError(UsageError):
    """The failure that was handed in is not evidence JSON."""

    slug = "evidence-invalid"


class UnknownNameError(UsageError):
    """A name that nothing carries.

    Args:
        kind: What kind of thing was named, for people: ``"class"``, ``"rule"``, ``"pause"``.
        name: The name that was given.
        known: The names that exist; near ones are offered.
    """

    slug = "unknown-name"

    def __init__(self, kind: str, name: str, known: Iterable[str] = ()) -> None:
        # difflib costs 5 ms to import, and most processes never miss a name.
        from difflib import get_close_matches

        self.kind, self.name = kind, name
        self.near = tuple(get_close_matches(name, list(known), n=3, cutoff=0.5))
        hint = f"did you mean {' or '.join(self.near)}?" if self.near else None
        super().__init__(f"there is no {kind} named {name!r}", hint=hint)


class FileFault(NamedTuple):
    """One fault of one file."""

    where: str
    """The file, as the caller named it."""
    line: int | None
    """Counted from 1; None when the fault is the file itself."""
    key: str
    """The dotted path of the key at fault, or ``""``."""
    message: str
    """What was expected and what came."""

    def __str__(self) -> str:
        place = self.where if self.line is None else f"{self.where}:{self.line}"
        return f"{place}: {self.key}: {self.message}" if self.key else f"{place}: {self.message}"


class FileFaultsError(UsageError):
    """A file that people write has faults; all of them are told together."""

    slug = "file-invalid"

    def __init__(self, faults: Sequence[FileFault], *, hint: str | None = None) -> None:
        self.faults = tuple(faults)
        super().__init__("\n".join(map(str, self.faults)), hint=hint)


class CorpusError(FileFaultsError):
    """A labelled corpus cannot be used."""

    slug = "corpus-invalid"


class RecipeError(FileFaultsError):
    """A recipe file cannot be used."""

    slug = "recipe-invalid"


class SettingsError(FileFaultsError):
    """``rerail.toml`` or ``[tool.rerail]`` cannot be used."""

    slug = "settings-invalid"


class LedgerError(RerailError):
    """The state store cannot be read or written; what it held counts as spent."""

    slug = "ledger-unusable"


class GitError(RerailError):
    """git could not be run, or did not answer as git does."""

    slug = "git-unusable"
