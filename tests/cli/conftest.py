"""A rerail command in a process of its own, with a state directory of its own."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any, NamedTuple

import pytest
from tests.envelopes import typed
from tests.repositories import Repo, isolated, lived_in

if TYPE_CHECKING:
    from pathlib import Path


class Done(NamedTuple):
    """How a command ended."""

    code: int
    out: bytes
    err: bytes

    @property
    def envelope(self) -> dict[str, Any]:
        """The envelope on stdout."""
        value: dict[str, Any] = json.loads(self.out)
        return typed(value)

    @property
    def text(self) -> str:
        """Both streams, for messages."""
        return (self.out + self.err).decode("utf-8", "replace")


Rerail = Callable[..., Done]
Start = Callable[..., "subprocess.Popen[bytes]"]


@pytest.fixture
def environ(tmp_path: Path, tmp_path_factory: pytest.TempPathFactory) -> dict[str, str]:
    """The environment of the commands: nothing of the user's own. Compiled recipes are shared, for making them takes seconds."""
    home = tmp_path / "home"
    home.mkdir()
    return {
        "PATH": os.environ["PATH"],
        "HOME": str(home),
        "XDG_STATE_HOME": str(tmp_path / "state"),
        "XDG_CONFIG_HOME": str(tmp_path / "config"),
        "XDG_CACHE_HOME": str(tmp_path_factory.getbasetemp() / "cache"),
        "GIT_CONFIG_GLOBAL": os.devnull,
        "GIT_CONFIG_NOSYSTEM": "1",
    }


@pytest.fixture
def git_isolation(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The git that a test itself runs knows nothing of the user's own either."""
    for name, value in isolated(tmp_path / "git-home").items():
        monkeypatch.setenv(name, value)


@pytest.fixture
def repo(tmp_path: Path, git_isolation: None) -> Repo:
    """A repository with history, branches, a stash, untracked and ignored files."""
    return lived_in(tmp_path / "repo")


@pytest.fixture
def project(tmp_path: Path) -> Path:
    """A directory to work in, outside of any repository."""
    path = tmp_path / "project"
    path.mkdir()
    return path


@pytest.fixture
def start(project: Path, environ: Mapping[str, str]) -> Start:
    """Starts a rerail command, for tests that have to do with it while it runs; takes the streams, all else is set."""

    def begin(*words: str, **streams: Any) -> subprocess.Popen[bytes]:
        return subprocess.Popen([sys.executable, "-m", "rerail", *words], cwd=project, env=environ, **streams)

    return begin


@pytest.fixture
def rerail(project: Path, environ: Mapping[str, str]) -> Rerail:
    """Runs a rerail command and returns how it ended."""

    def run(*words: str, stdin: bytes = b"", cwd: Path = project, timeout_s: float = 120, **more: Any) -> Done:
        env = {**environ, **more.pop("env", {})}
        done = subprocess.run(
            [sys.executable, "-m", "rerail", *words],
            cwd=cwd,
            env={key: value for key, value in env.items() if value is not None},
            input=stdin,
            capture_output=True,
            timeout=timeout_s,
            **more,
        )
        return Done(done.returncode, done.stdout, done.stderr)

    return run
