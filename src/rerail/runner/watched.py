"""Looks after an attempt whether it left the main checkout alone: a unit in a linked worktree that moved it has failed.

Whatever the attempt itself came to: what it did to the place where others work comes first, and nothing goes on from there.
"""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

from rerail.decisions.effects import Interrupted
from rerail.paths import root_above

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable

    from rerail.decisions.effects import Tried
    from rerail.git.main_checkout import MainCheckout
    from rerail.runner.work import CallableWork, RunnableWork, Work


class MainCheckoutMovedError(Exception):
    """A unit that ran in a linked worktree moved the main checkout's HEAD or branch: what its attempt is named by."""


class Watch:
    """Looks before and after each attempt of one run.

    Args:
        work: What is attempted.
        is_in_use: Whether somebody else works in the main checkout, by its root: then a move is theirs.
    """

    def __init__(self, work: Work, *, is_in_use: Callable[[str], bool]) -> None:
        self._work, self._is_in_use = work, is_in_use
        self._before: MainCheckout | None = None
        self.looks = _may_be_linked(work.cwd)
        """Whether there is a main checkout beside the place where the unit works."""

    def begin(self) -> None:
        """Look before an attempt."""
        self._before = _look(self._work.cwd) if self.looks else None

    def judged(self, tried: Tried) -> Tried:
        """Look after the attempt; return what it came to, or that it moved the main checkout."""
        if self._before is None or isinstance(tried, Interrupted):
            return tried
        from rerail.git.main_checkout import moved

        said = moved(self._before)
        if not said or self._is_in_use(str(self._before.root)):
            return tried
        return self._work.raised(MainCheckoutMovedError(said))


def watched(work: RunnableWork, *, is_in_use: Callable[[str], bool]) -> Callable[[], Tried]:
    """Return the work's attempt, which fails when the main checkout was moved meanwhile."""
    if not _may_be_linked(work.cwd):
        return work.attempt
    watch = Watch(work, is_in_use=is_in_use)

    def attempt() -> Tried:
        watch.begin()
        return watch.judged(work.attempt())

    return attempt


def watched_async(work: CallableWork, *, is_in_use: Callable[[str], bool]) -> Callable[[], Awaitable[Tried]]:
    """Do what `watched` does for an attempt that is awaited."""
    if not _may_be_linked(work.cwd):
        return work.attempt_async
    watch = Watch(work, is_in_use=is_in_use)

    async def attempt() -> Tried:
        watch.begin()
        return watch.judged(await work.attempt_async())

    return attempt


def _may_be_linked(cwd: str) -> bool:
    """Whether it is worth a look: a linked worktree's .git is a file. All other directories are told here, in microseconds."""
    return bool(cwd) and os.path.isfile(os.path.join(root_above(os.path.realpath(cwd)), ".git"))  # noqa: PTH113, PTH118


def _look(cwd: str) -> MainCheckout | None:
    from pathlib import Path

    from rerail.git.main_checkout import look

    return look(Path(cwd))
