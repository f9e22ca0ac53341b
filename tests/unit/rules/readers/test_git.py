"""What git quotes from people decides nothing: titles, names and the data of log, diff and grep."""

from __future__ import annotations

import pytest
from tests.failures import failure

from rerail.rules.readers import view
from rerail.rules.readers.model import Weight


def visible(**fields: object) -> list[str]:
    """What patterns see of a failed run, line by line."""
    return [line.text for line in view(failure(exit_code=1, **fields)).lines]  # type: ignore[arg-type]


@pytest.mark.parametrize(
    "line",
    [
        "Applying: handle 429 too many requests",
        "HEAD is now at 1a2b3c4 fix: JavaScript heap out of memory",
        "[main 1a2b3c4] fatal: not a git repository, said in words",
        "dropping 1a2b3c4d connection refused -- patch contents already upstream",
        " * [new branch]      fix/rate-limit -> origin/fix/rate-limit",
        "   1a2b3c4..5d6e7f8  fix/no-space-left -> origin/fix/no-space-left",
        "Switched to branch 'worktree-lease-lost'",
        "warning: skipped previously applied commit 1a2b3c4",
    ],
)
def test_lines_that_only_name_commits_and_branches_are_masked(line: str) -> None:
    assert line.strip() not in "\n".join(visible(command="git rebase main", stderr=f"{line}\nerror: commit failed\n"))


@pytest.mark.parametrize(
    ("line", "seen"),
    [
        ("error: could not apply 1a2b3c4... not a git repository: say so", "error: could not apply 1a2b3c4..."),
        ("Could not apply 1a2b3c4... # No space left on device", "Could not apply 1a2b3c4..."),
        ("error: could not revert 1a2b3c4... Killed", "error: could not revert 1a2b3c4..."),
        ("Patch failed at 0001 retry on 503", "Patch failed at 0001"),
    ],
)
def test_of_a_commit_that_does_not_apply_everything_but_its_title_is_seen(line: str, seen: str) -> None:
    lines = view(failure(exit_code=1, command="git rebase main", stderr=line + "\n")).lines
    assert [each.text for each in lines] == [seen]
    assert lines[0].raw == line


@pytest.mark.parametrize("command", ["git log -p", "git -C /w show HEAD", "cd /w && git diff main", "git grep -n 503"])
def test_what_a_command_shows_from_the_repository_is_masked(command: str) -> None:
    shown = "Out of memory: Killed process 1\nfatal: bad object HEAD\n"
    assert visible(command=command, stdout=shown) == ["fatal: bad object HEAD"]


def test_data_of_git_is_not_masked_where_another_program_may_have_printed_it() -> None:
    assert "Killed" in visible(command="git log -1 && make", stdout="Killed\n")


def test_a_diff_outside_any_repository_is_told_by_its_warning() -> None:
    lines = view(
        failure(
            exit_code=129, command="git diff", stderr="warning: Not a git repository. Use --no-index\nusage: git diff\n"
        )
    ).lines
    assert lines[0].weight is Weight.DECIDING


@pytest.mark.parametrize(
    ("log", "is_git"),
    [
        ("##[group]Run git restore --source nope a\nfatal: could not resolve nope", True),
        ("● Bash(git restore --source nope a)\n  ⎿  Error: Exit code 128\n     fatal: could not resolve nope", True),
        ("##[group]Run git fetch\n##[group]Run ./build.sh\nfatal: could not resolve nope", False),
        ("fatal: could not resolve nope", False),
    ],
)
def test_a_log_that_shows_git_as_the_last_command_is_read_as_gits(log: str, is_git: bool) -> None:
    assert ("git" in view(failure(exit_code=1, command="", stdout=log)).tools) is is_git
