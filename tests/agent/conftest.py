"""The agent works with real commands in a project of its own."""

from __future__ import annotations

from tests.cli.conftest import environ, git_isolation, project, rerail

__all__ = ["environ", "git_isolation", "project", "rerail"]
