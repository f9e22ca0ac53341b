"""The project and ledger of the directory that a verb was called in."""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING

from rerail import paths
from rerail.errors import UsageError

if TYPE_CHECKING:
    from contextlib import AbstractContextManager

    from rerail.app import Project
    from rerail.ledger.store import Ledger


def working_directory() -> Path:
    """Return where we are.

    Raises:
        UsageError: The directory no longer exists.
    """
    return Path(paths.working_directory())


def directory_named(name: str) -> Path:
    """Return a directory that was named from where we are, also where that is gone, for verbs that answer for such a place.

    Raises:
        UsageError: Where we are is gone, and nothing says what it was called.
    """
    if Path(name).is_absolute():
        return Path(name)
    try:
        return working_directory() / name
    except UsageError:
        called = paths.gone_directory(os.environ)
        if called is None:
            raise
        return Path(called, name)


def project_here() -> Project:
    """Return the project that we are in."""
    from rerail.app import open_project

    return open_project(working_directory())


def ledger_here() -> AbstractContextManager[Ledger]:
    """Open the project's ledger for one verb; it is closed at the end of the ``with``."""
    from contextlib import closing

    return closing(project_here().open_ledger())
