"""What rerail asks a person, as command line and JSON show it; and who commits, by the operator's own word alone."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import pytest

if TYPE_CHECKING:
    from pathlib import Path

    from tests.cli.conftest import Done, Rerail
    from tests.repositories import Repo

WHO = '[[identity]]\nroot = "{root}"\nname = "Shop Build"\nemail = "build@shop.example"\n'


@pytest.fixture
def nobody(repo: Repo, environ: dict[str, str]) -> Repo:
    """A repository in which nobody is known to commit, with something staged."""
    repo.git("config", "user.useConfigOnly", "true")
    repo.write("new.txt", "new\n")
    repo.git("add", "new.txt")
    return repo


def failed(repo: Repo, environ: dict[str, str]) -> bytes:
    """Return the evidence of a commit that nobody is known to make."""
    done = repo.run("git", "commit", "-m", "new", env=environ)
    assert done.returncode == 128
    said = {"command": ["git", "commit", "-m", "new"], "exit_code": 128, "stderr": done.stderr.decode()}
    return json.dumps({**said, "cwd": str(repo.path)}).encode()


def said_by_operator(tmp_path: Path, text: str) -> Path:
    file = tmp_path / "config" / "rerail" / "git.toml"
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text(text)
    return file


def heal(rerail: Rerail, repo: Repo, failure: bytes, *options: str, **more: Any) -> Done:
    return rerail("heal", *options, "--failure", "-", stdin=failure, cwd=repo.path, **more)


def test_a_pause_shows_the_commands_in_message_hints_and_data(
    nobody: Repo, environ: dict[str, str], rerail: Rerail
) -> None:
    failure = failed(nobody, environ)
    commands = [f"git -C {nobody.path} config user.name NAME", f"git -C {nobody.path} config user.email ADDRESS"]
    done = heal(rerail, nobody, failure, "--json")
    assert done.code == 75
    data = done.envelope["data"]
    assert (data["outcome"], data["recipe"], data["steps"], data["backup"]) == ("paused", "identity-unset", [], None)
    assert data["ways"][0] == {"to": "say it for this repository", "commands": commands}
    assert data["question"] in done.envelope["message"]
    assert " && ".join(commands) in done.envelope["hints"][0]["text"]
    shown = heal(rerail, nobody, failure)
    assert shown.code == 75
    assert " && ".join(commands) in shown.text


def test_a_plan_names_the_guide_and_what_it_would_ask(nobody: Repo, environ: dict[str, str], rerail: Rerail) -> None:
    failure = failed(nobody, environ)
    done = heal(rerail, nobody, failure, "--plan", "--json")
    assert done.code == 0
    data = done.envelope["data"]
    assert (data["recipe"], data["steps"], data["begins"]) == ("identity-unset", [], False)
    assert [each["name"] for each in data["conditions"]] == ["name-unset", "email-unset"]
    assert [way["to"] for way in data["ways"]] == ["say it for this repository", "say it for all of yours"]
    shown = heal(rerail, nobody, failure, "--plan")
    assert "Say who commits" in shown.text
    assert "config user.email ADDRESS" in shown.text


def test_a_run_that_only_a_person_can_settle_is_not_charged_and_says_what_to_do(repo: Repo, rerail: Rerail) -> None:
    repo.git("config", "user.name", "Ada")
    repo.git("config", "user.email", "ada@example.invalid")
    done = rerail("run", "--json", "--", "git", "commit", "-m", "x", cwd=repo.path)
    assert done.code == 75
    envelope = done.envelope
    (failure,) = envelope["data"]["failures"]
    assert (failure["class"], failure["remaining"]) == ("git", failure["budget"])
    (healed,) = envelope["data"]["heals"]
    assert (healed["outcome"], healed["recipe"]) == ("paused", "nothing-staged")
    assert f"git -C {repo.path} add -- notes.txt" in healed["ways"][0]["commands"]
    assert "take-way" in {hint["id"] for hint in envelope["hints"]}


# --- who commits, by the operator's word --------------------------------------------------------------------------------


def test_the_operators_word_is_set_under_a_backup_and_taken_back(
    nobody: Repo, environ: dict[str, str], rerail: Rerail, tmp_path: Path
) -> None:
    said_by_operator(tmp_path, WHO.format(root=nobody.path / "src"))
    before = (nobody.path / ".git" / "config").read_bytes()
    done = heal(rerail, nobody, failed(nobody, environ), "--json")
    data = done.envelope["data"]
    assert (data["outcome"], data["recipe"]) == ("healed", "given-identity"), done.text
    assert nobody.run("git", "commit", "-q", "-m", "new", env=environ).returncode == 0
    assert nobody.git("log", "-1", "--format=%an <%ae>") == "Shop Build <build@shop.example>"
    nobody.git("update-ref", "refs/heads/main", "HEAD~1")
    undone = rerail("heal", "--undo", data["backup"], "--json", cwd=nobody.path)
    assert undone.code == 0, undone.text
    assert (nobody.path / ".git" / "config").read_bytes() == before


@pytest.mark.parametrize(
    "known",
    [
        ("git", "config", "user.name", "Ada"),
        ("git", "config", "user.email", "ada@example.invalid"),
        ("git", "config", "author.name", "Ada"),
        ("git", "config", "committer.email", "ada@example.invalid"),
        ("git", "config", "user.name", ""),
    ],
    ids=" ".join,
)
def test_nobody_is_named_where_anything_is_said_about_it(
    nobody: Repo, environ: dict[str, str], rerail: Rerail, tmp_path: Path, known: tuple[str, ...]
) -> None:
    said_by_operator(tmp_path, WHO.format(root=nobody.path))
    assert nobody.passes(*known)
    before = (nobody.path / ".git" / "config").read_bytes()
    done = heal(rerail, nobody, failed(nobody, environ), "--json")
    assert done.envelope["data"]["outcome"] == "paused"
    assert (nobody.path / ".git" / "config").read_bytes() == before


def test_nobody_is_named_where_a_variable_says_who(
    nobody: Repo, environ: dict[str, str], rerail: Rerail, tmp_path: Path
) -> None:
    said_by_operator(tmp_path, WHO.format(root=nobody.path))
    failure = failed(nobody, environ)
    done = heal(rerail, nobody, failure, "--json", env={"GIT_AUTHOR_NAME": "Ada"})
    assert done.envelope["data"]["outcome"] == "paused"


def test_a_projects_own_files_say_nothing_about_it(
    nobody: Repo, environ: dict[str, str], rerail: Rerail, tmp_path: Path
) -> None:
    """An agent can write them, and would give itself a person's name."""
    failure = failed(nobody, environ)
    nobody.write("rerail/git.toml", WHO.format(root=nobody.path))
    nobody.write(".rerail/git.toml", WHO.format(root=nobody.path))
    done = heal(rerail, nobody, failure, "--json")
    assert (done.envelope["data"]["outcome"], done.envelope["data"]["recipe"]) == ("paused", "identity-unset")
    done = heal(rerail, nobody, failure, "--json", env={"XDG_CONFIG_HOME": str(nobody.path)})
    assert done.envelope["data"]["outcome"] == "paused"
    assert "inside the project" in done.envelope["data"]["detail"]


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("[[identity]]\n", "must be the absolute path"),
        (WHO.format(root="relative"), "must be the absolute path"),
        (WHO.format(root="/w").replace("Shop Build", "a <b>"), "must be a name"),
        (WHO.format(root="/w").replace("Shop Build", "a\\nb"), "must be a name"),
        (WHO.format(root="/w").replace("Shop Build", " . "), "must be a name"),
        (WHO.format(root="/w").replace("build@shop.example", "nobody"), "must be an address"),
        (WHO.format(root="/w") + "extra = 1\n", "is no setting"),
        ("[identity]\n", "must be written as [[identity]]"),
        ("[other]\n", "is no setting"),
        ("=", ""),
    ],
)
def test_a_file_with_faults_names_nobody(
    nobody: Repo, environ: dict[str, str], rerail: Rerail, tmp_path: Path, text: str, said: str
) -> None:
    said_by_operator(tmp_path, text)
    done = heal(rerail, nobody, failed(nobody, environ), "--json")
    data = done.envelope["data"]
    assert (data["outcome"], data["recipe"]) == ("paused", None)
    assert said in data["detail"]


def test_an_entry_for_another_repository_names_nobody(
    nobody: Repo, environ: dict[str, str], rerail: Rerail, tmp_path: Path
) -> None:
    file = said_by_operator(tmp_path, WHO.format(root=tmp_path))
    assert heal(rerail, nobody, failed(nobody, environ), "--json").envelope["data"]["recipe"] == "identity-unset"
    file.write_text(WHO.format(root=nobody.path))
    file.chmod(0o622)
    done = heal(rerail, nobody, failed(nobody, environ), "--json")
    assert "others may write it" in done.envelope["data"]["detail"]


def test_where_no_recipe_is_for_a_failure_no_repository_is_missed(rerail: Rerail) -> None:
    message = rerail("run", "--json", "--", "no-such-program").envelope["message"]
    assert "no recipe knows this failure" in message
    assert "no-such-program: command not found" in message
