"""The project and ledger of the directory that a verb was called in."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

from rerail.errors import UsageError

if TYPE_CHECKING:
    from contextlib import AbstractContextManager
    from pathlib import Path

    from rerail.app import Project
    from rerail.ledger.store import Ledger


def working_directory() -> Path:
    """Return where we are.

    Raises:
        UsageError: The directory no longer exists.
    """
    from pathlib import Path

    return Path(directory_name())


def directory_name() -> str:
    """Return what `working_directory` does, as text: pathlib costs a hook 5 ms."""
    try:
        return os.getcwd()  # noqa: PTH109
    except FileNotFoundError:
        raise UsageError(
            "the working directory no longer exists", hint="change to a directory that exists, then run it again"
        ) from None


def project_here() -> Project:
    """Return the project that we are in."""
    from rerail.app import open_project

    return open_project(working_directory())


def ledger_here() -> AbstractContextManager[Ledger]:
    """Open the project's ledger for one verb; it is closed at the end of the ``with``."""
    from contextlib import closing

    return closing(project_here().open_ledger())
