"""What the operator allows agents, and what does not count as the operator's word."""

from __future__ import annotations

import subprocess
from typing import TYPE_CHECKING

import pytest

from rerail.errors import SettingsError
from rerail.mcp.policy import Allowed, allowed_in

if TYPE_CHECKING:
    from pathlib import Path

    from tests.mcp.conftest import Place


def written(place: Place, text: str) -> Path:
    file = place.config / "rerail" / "mcp.toml"
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text(text)
    return file


def test_nothing_is_allowed_where_nobody_says_so(place: Place, environ: dict[str, str]) -> None:
    assert allowed_in(place.project, environ) == Allowed(file=place.config / "rerail" / "mcp.toml")


@pytest.mark.parametrize(
    ("listed", "command", "may"),
    [
        ("pytest -q", ["pytest", "-q"], True),
        ("pytest -q", ["pytest"], False),
        ("pytest -q", ["pytest", "-q", "--pdb"], False),
        ("pytest -q", ["pytest -q"], False),
        ("pytest ...", ["pytest"], True),
        ("pytest ...", ["pytest", "-x", "tests"], True),
        ("pytest ...", ["pytester"], False),
        ("make build ...", ["make", "test"], False),
        ("sh -c 'make all'", ["sh", "-c", "make all"], True),
        ("sh -c 'make all'", ["sh", "-c", "make all; rm -rf ."], False),
        ("pytest", ["/tmp/evil/pytest"], False),
    ],
)
def test_a_command_is_allowed_word_for_word(
    place: Place, environ: dict[str, str], listed: str, command: list[str], may: bool
) -> None:
    place.allow(commands=[listed])
    assert allowed_in(place.project, environ).may_run(command) is may


def test_another_project_s_entry_allows_nothing_here(place: Place, environ: dict[str, str], tmp_path: Path) -> None:
    (tmp_path / "other").mkdir()
    written(place, f'[[project]]\nroot = "{tmp_path}/other"\ncommands = ["ls"]\nanswers = ["x"]\n')
    allowed = allowed_in(place.project, environ)
    assert not allowed.may_run(["ls"])
    assert not allowed.may_answer("x")
    assert allowed_in(tmp_path / "other", environ).may_answer("x")


def test_an_entry_holds_in_all_worktrees_of_its_repository(
    place: Place, environ: dict[str, str], tmp_path: Path
) -> None:
    def git(*words: str) -> None:
        subprocess.run(["git", "-C", place.project, *words], check=True, capture_output=True, env=environ)

    git("init", "-q")
    git("-c", "user.name=a", "-c", "user.email=a@example.com", "commit", "-q", "--allow-empty", "-m", "first")
    git("worktree", "add", "-q", str(tmp_path / "linked"))
    place.allow(commands=["ls"])
    assert allowed_in(tmp_path / "linked", environ).may_run(["ls"])


def test_a_file_inside_the_project_is_refused(place: Place, environ: dict[str, str]) -> None:
    place.allow(commands=["ls"])
    inside = {**environ, "XDG_CONFIG_HOME": str(place.project)}
    (place.project / "rerail").mkdir()
    (place.project / "rerail" / "mcp.toml").write_text((place.config / "rerail" / "mcp.toml").read_text())
    with pytest.raises(SettingsError, match="inside the project"):
        allowed_in(place.project, inside)


def test_a_link_to_a_file_inside_the_project_is_refused(place: Place, environ: dict[str, str]) -> None:
    (place.project / "mine.toml").write_text(f'[[project]]\nroot = "{place.project}"\ncommands = ["ls"]\n')
    (place.config / "rerail").mkdir(parents=True)
    (place.config / "rerail" / "mcp.toml").symlink_to(place.project / "mine.toml")
    with pytest.raises(SettingsError, match="inside the project"):
        allowed_in(place.project, environ)


def test_a_file_that_others_may_write_is_refused(place: Place, environ: dict[str, str]) -> None:
    written(place, "").chmod(0o622)
    with pytest.raises(SettingsError, match="others may write it"):
        allowed_in(place.project, environ)


@pytest.mark.parametrize(
    ("text", "line", "said"),
    [
        ('[[project]]\nroot = "shop"\n', 2, "absolute path"),
        ("[[project]]\ncommands = []\n", 1, "absolute path"),
        ('[[project]]\nroot = "/x"\ncommands = "ls"\n', 3, "list of texts"),
        ('[[project]]\nroot = "/x"\ncommands = ["ls", 7]\n', 3, "must be a text"),
        ('[[project]]\nroot = "/x"\ncommands = ["..."]\n', 3, "not alone"),
        ('[[project]]\nroot = "/x"\ncommands = ["a ... b"]\n', 3, "last"),
        ('[[project]]\nroot = "/x"\ncommands = ["a \'b"]\n', 3, "must be a command"),
        ('[[project]]\nroot = "/x"\nanswer = []\n', 3, "no setting"),
        ('commands = ["ls"]\n', 1, "no setting"),
        ('[project]\nroot = "/x"\n', 1, "[[project]]"),
        ("[[project]\n", 1, "TOML"),
    ],
)
def test_faults_are_told_with_their_line(
    place: Place, environ: dict[str, str], text: str, line: int, said: str
) -> None:
    written(place, text)
    with pytest.raises(SettingsError) as caught:
        allowed_in(place.project, environ)
    assert said in str(caught.value)
    assert caught.value.faults[0].line == line
