"""What a phase comes to before it runs: values only."""

from __future__ import annotations

import shlex
from types import MappingProxyType
from typing import TYPE_CHECKING

import attrs

from rerail.decisions.model import Effects
from rerail.evidence.redact import redact_command

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

REPORT = "{report}"
"""The word, or the part of one, of a command that is the path of a file where its report goes; a fresh one for each attempt."""

_UNQUOTED = "@report@"


def _read_only(given: Mapping[str, str]) -> Mapping[str, str]:
    return MappingProxyType(dict(given))


@attrs.frozen
class Facts:
    """What is at a project's root, as far as it says how the project is verified."""

    names: frozenset[str] = frozenset()
    """What there is, as paths relative to the root: its entries, and a few deeper ones that are asked for by name."""
    texts: Mapping[str, str] = attrs.field(factory=dict, converter=_read_only)
    """What the known files say, by the same paths."""
    faults: tuple[str, ...] = ()
    """Known files that could not be read, and why; for people."""
    is_in_repository: bool = False
    """Whether there is a git repository whose changes can be looked at."""


@attrs.frozen
class Stated:
    """A command that a file of the project states for a phase."""

    phase: str
    command: tuple[str, ...]
    source: str
    """The file and what in it: ``package.json scripts.test``."""
    report: str = ""
    """Where its report will be, as `rerail.settings.PhaseSettings.report`."""


@attrs.frozen
class Runs:
    """A phase that is a command."""

    name: str
    command: tuple[str, ...]
    source: str
    report: str = ""
    report_format: str = ""
    effects: Effects = Effects.IDEMPOTENT
    """To check twice is as to check once, unless the settings say otherwise."""
    timeout_s: float | None = None
    cwd: str = ""
    also: tuple[str, ...] = ()
    """What else is stated for the phase and not run, with where."""


@attrs.frozen
class Looks:
    """The phase that rerail does itself: it looks at what changed."""

    name: str
    source: str = "rerail: the work tree against its base"


@attrs.frozen
class LeftOut:
    """A phase that is not run, on purpose."""

    name: str
    source: str
    because: str


@attrs.frozen
class Unresolved:
    """A phase that no file of the project states: how it is verified is for the operator to say."""

    name: str
    question: str
    is_wanted: bool = False
    """It was asked for by name, or the settings require it."""

    source = ""


def shown(command: Sequence[str]) -> str:
    """Return a command as people read and write it: as a shell takes it, but for `REPORT`, which is no word of a shell's."""
    joined = shlex.join(word.replace(REPORT, _UNQUOTED) for word in redact_command(tuple(command)))
    return joined.replace(_UNQUOTED, REPORT)


Phase = Runs | Looks | LeftOut | Unresolved
