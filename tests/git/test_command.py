"""The one way to run git: cleaned environment, no terminal, a time limit, and a refusal before anything starts."""

from __future__ import annotations

import os
import time
from typing import TYPE_CHECKING

import psutil
import pytest
from tests.kill_cases import CASES
from tests.repositories import QUICK, built_in_recipes

from rerail.errors import GitError
from rerail.git.case import HealRequest
from rerail.git.command import PROBE_MARK, Git, GitFailedError, environment, nul_ended, run_git, run_program
from rerail.git.gate import ForbiddenGitError
from rerail.git.heal import heal, plan
from rerail.git.safety import check_worktree

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from tests.repositories import Repo

REMOVED = [
    *("GIT_DIR", "GIT_WORK_TREE", "GIT_INDEX_FILE", "GIT_OBJECT_DIRECTORY", "GIT_ALTERNATE_OBJECT_DIRECTORIES"),
    *("GIT_COMMON_DIR", "GIT_PREFIX", "GIT_CONFIG", "GIT_CONFIG_PARAMETERS", "GIT_GRAFT_FILE", "GIT_SHALLOW_FILE"),
    *("GIT_REPLACE_REF_BASE", "GIT_NAMESPACE", "GIT_TRACE", "GIT_QUARANTINE_PATH", "GIT_AUTHOR_DATE", PROBE_MARK),
]
KEPT = [
    *("GIT_CONFIG_GLOBAL", "GIT_CONFIG_COUNT", "GIT_CONFIG_KEY_0", "GIT_CEILING_DIRECTORIES", "GIT_SSH_COMMAND"),
    *("GIT_AUTHOR_NAME", "GIT_ALLOW_PROTOCOL", "GIT_SSL_CAINFO", "HOME", "SSH_AUTH_SOCK", "GNUPGHOME"),
]


def test_what_says_where_is_removed_and_what_says_how_is_kept(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in (*REMOVED, *KEPT):
        monkeypatch.setenv(name, "x")
    cleaned = environment()
    assert [name for name in REMOVED if name in cleaned] == []
    assert [name for name in KEPT if name not in cleaned] == []
    assert cleaned["LC_ALL"] == "C"
    assert (cleaned["GIT_TERMINAL_PROMPT"], cleaned["GIT_OPTIONAL_LOCKS"]) == ("0", "0")


def test_every_variable_that_git_calls_local_is_removed_save_the_operators_settings(
    repo: Repo, monkeypatch: pytest.MonkeyPatch
) -> None:
    local = repo.git("rev-parse", "--local-env-vars").splitlines()
    for name in local:
        monkeypatch.setenv(name, "x")
    assert set(local) & environment().keys() == {"GIT_CONFIG_COUNT"}


def test_a_failure_says_what_ran_and_what_git_said(repo: Repo) -> None:
    with pytest.raises(GitFailedError, match=r"git rev-parse --verify nope: exit 128: fatal: ") as failed:
        run_git(repo.path, "rev-parse", "--verify", "nope")
    assert failed.value.result.code == 128
    assert run_git(repo.path, "rev-parse", "--verify", "nope", check=False).ok is False


def test_a_command_outside_of_the_list_never_starts(repo: Repo) -> None:
    with pytest.raises(ForbiddenGitError):
        run_git(repo.path, "reset", "--hard")


def test_bytes_go_in_and_come_out_as_they_are(repo: Repo) -> None:
    git = Git(repo.path)
    data = bytes(range(256))
    oid = git("hash-object", "-w", "--no-filters", "--stdin", stdin=data).text
    assert git("cat-file", "blob", oid).out == data
    assert nul_ended([os.fsdecode(b"\xff"), "a"]) == b"\xff\0a\0"


def test_what_runs_too_long_is_ended_with_its_children(tmp_path: Path) -> None:
    pid_file = tmp_path / "pid"
    script = tmp_path / "slow"
    script.write_text(f"#!/bin/sh\nsleep 300 &\necho $! > {pid_file}\nwait\n")
    script.chmod(0o755)
    began = time.monotonic()
    with pytest.raises(GitError, match="no end within"):
        run_program([str(script)], tmp_path, timeout_s=0.5)
    assert time.monotonic() - began < 60
    child = int(pid_file.read_text())
    assert not psutil.pid_exists(child) or psutil.Process(child).status() == psutil.STATUS_ZOMBIE


def test_a_program_that_is_not_there_is_an_error_with_a_reason(tmp_path: Path) -> None:
    with pytest.raises(GitError, match="could not be started"):
        run_program(["no-such-program"], tmp_path, timeout_s=1)


@pytest.mark.parametrize(("prepare", "named"), CASES, ids=[case[0].__name__ for case in CASES])
def test_no_check_plan_or_heal_runs_the_monitor_that_a_repository_names(
    repo: Repo, tmp_path: Path, prepare: Callable[[Repo], list[str]], named: str
) -> None:
    mark, monitor = tmp_path / "it ran", tmp_path / "monitor"
    monitor.write_text(f"#!/bin/sh\ntouch '{mark}'\n")
    monitor.chmod(0o755)
    class_, _, reason = named.partition("/")
    failure = repo.fails(*prepare(repo))
    with (repo.path / ".git" / "config").open("a") as config:
        config.write(f'[core]\n\tfsmonitor = "{monitor}"\n')
    request = HealRequest(repo.path, class_, reason, failure)
    check_worktree(repo.path)
    plan(request, built_in_recipes())
    heal(request, built_in_recipes(), pace=QUICK)
    assert not mark.exists()
