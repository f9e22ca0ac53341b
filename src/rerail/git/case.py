"""One failure in one repository, and what has been found out about it so far.

Conditions and steps share it, so that what a condition computed - an integration, the locks - is the very thing that a step
acts on.
"""

from __future__ import annotations

import os
import time
from typing import TYPE_CHECKING, TypeVar

import attrs

from rerail.git.backups import aside_dir
from rerail.git.invocation import Invocation, invocations
from rerail.git.place import NoPlace, Place, locate

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from rerail.evidence.model import Evidence
    from rerail.git.backup import Backup
    from rerail.git.journal import Journal
    from rerail.git.state import RepoState

_T = TypeVar("_T")


@attrs.frozen
class Identity:
    """Who commits, as the operator says."""

    name: str
    email: str


@attrs.frozen
class HealRequest:
    """A failure to heal."""

    cwd: Path
    """Where the failed command ran."""
    class_: str
    """What the rules call the failure."""
    reason: str
    evidence: Evidence | None = None
    identity: Identity | None = None
    """Who may commit in this repository where git does not know, by the operator's own word."""


@attrs.frozen
class Pace:
    """How long a heal waits and watches, in seconds."""

    patience_s: float = 1.5
    """For a lock's owner to let go by itself."""
    watch_s: float = 0.4
    """For how long a lock must stay the same."""
    lease_s: float = 20.0
    """For another heal in the same repository."""
    sleep: Callable[[float], None] = time.sleep


def unheard(_moment: str) -> None:
    """Hear nothing: nobody watches this heal."""


def working_dir(request: HealRequest) -> Path:
    """Return the directory that a failure is about: where its last git command ran, if that is in the same project."""
    command = request.evidence.command if request.evidence is not None else ()
    calls = invocations(command, request.cwd)
    home = locate(request.cwd)
    if not calls or isinstance(home, NoPlace) or not os.path.isdir(calls[-1].cwd):  # noqa: PTH112  it answers for any name
        return request.cwd
    there = locate(calls[-1].cwd)
    if isinstance(there, Place) and there.common_dir == home.common_dir:
        return calls[-1].cwd
    # A submodule or a nested repository, also one whose .git is broken: git itself would walk on to the outer one.
    is_within = home.root is not None and calls[-1].cwd.resolve().is_relative_to(home.root)
    return calls[-1].cwd if is_within else request.cwd


class Case:
    """What a heal knows.

    Args:
        request: The failure.
        state: The repository.
        pace: How long to wait and watch.
        online: Whether remotes may be asked and objects written; a plan may not.
        mark: Called with the name of each moment.
    """

    def __init__(
        self,
        request: HealRequest,
        state: RepoState,
        *,
        pace: Pace,
        online: bool = True,
        mark: Callable[[str], None] = unheard,
    ) -> None:
        self.request, self.pace, self.online = request, pace, online
        self.state = state if online else attrs.evolve(state, is_online=False)
        self.lines = _lines(request.evidence)
        command = request.evidence.command if request.evidence is not None else ()
        self.calls = invocations(command, request.cwd)
        self.backup: Backup | None = None
        self.journal: Journal | None = None
        self.mark = mark
        self._known: dict[Callable[[Case], object], object] = {}

    def call(self, *verbs: str) -> Invocation | None:
        """Return the last git command of these verbs; without verbs, the last one."""
        found = [call for call in self.calls if not verbs or call.verb in verbs]
        return found[-1] if found else None

    def once(self, find_out: Callable[[Case], _T]) -> _T:
        """Return what *find_out* says, asked at most once in this case."""
        if find_out not in self._known:
            self._known[find_out] = find_out(self)
        known: _T = self._known[find_out]  # type: ignore[assignment]  # stored under the function that made it
        return known

    @property
    def top(self) -> Path:
        """Where to look at the repository again: its root, for the command's directory may have become another repository."""
        return self.state.here.root or self.state.here.git_dir

    @property
    def aside(self) -> Path:
        """Where files go that have to give way."""
        if self.backup is None:
            raise ValueError("nothing may be moved before there is a backup")
        return aside_dir(self.state.here, self.backup.id)


def _lines(evidence: Evidence | None) -> tuple[str, ...]:
    if evidence is None:
        return ()
    return tuple(text for stream in evidence.streams for _, text in stream.lines())
