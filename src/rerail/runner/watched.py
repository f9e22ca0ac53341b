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


def watched(work: RunnableWork, *, is_in_use: Callable[[str], bool]) -> Callable[[], Tried]:
    """Return the work's attempt, which fails when the main checkout was moved meanwhile.

    Args:
        work: What is attempted.
        is_in_use: Whether somebody else works in the main checkout, by its root: then a move is theirs.
    """
    if not _may_be_linked(work.cwd):
        return work.attempt

    def attempt() -> Tried:
        before = _look(work.cwd)
        return _judged(work, work.attempt(), before, is_in_use)

    return attempt


def watched_async(work: CallableWork, *, is_in_use: Callable[[str], bool]) -> Callable[[], Awaitable[Tried]]:
    """Do what `watched` does for an attempt that is awaited."""
    if not _may_be_linked(work.cwd):
        return work.attempt_async

    async def attempt() -> Tried:
        before = _look(work.cwd)
        return _judged(work, await work.attempt_async(), before, is_in_use)

    return attempt


def _may_be_linked(cwd: str) -> bool:
    """Whether it is worth a look: a linked worktree's .git is a file. All other directories are told here, in microseconds."""
    return bool(cwd) and os.path.isfile(os.path.join(root_above(os.path.realpath(cwd)), ".git"))  # noqa: PTH113, PTH118


def _look(cwd: str) -> MainCheckout | None:
    from pathlib import Path

    from rerail.git.main_checkout import look

    return look(Path(cwd))


def _judged(work: Work, tried: Tried, before: MainCheckout | None, is_in_use: Callable[[str], bool]) -> Tried:
    if before is None or isinstance(tried, Interrupted):
        return tried
    from rerail.git.main_checkout import moved

    said = moved(before)
    if not said or is_in_use(str(before.root)):
        return tried
    return work.raised(MainCheckoutMovedError(said))
