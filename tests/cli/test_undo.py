"""``rerail heal --undo`` and ``--backups``: a heal is taken back whole, or it is said what stands in its way."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import pytest

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from tests.repositories import Repo

    Rerail = Callable[..., Any]


def healed(repo: Repo, rerail: Rerail) -> dict[str, Any]:
    """Heal a merge that an untracked file is in the way of; return the envelope."""
    repo.write("src/topic.txt", "mine\n")
    failed = repo.run("git", "merge", "topic")
    failure = {
        "command": ["git", "merge", "topic"],
        "exit_code": failed.returncode,
        "stderr": failed.stderr.decode(),
        "cwd": str(repo.path),
    }
    done = rerail("heal", "--failure", "-", "--json", stdin=json.dumps(failure).encode(), cwd=repo.path)
    envelope: dict[str, Any] = done.envelope
    assert envelope["data"]["outcome"] == "healed", done.text
    return envelope


def test_the_envelope_of_a_heal_has_the_command_that_takes_it_back(repo: Repo, rerail: Rerail) -> None:
    envelope = healed(repo, rerail)
    undo = envelope["data"]["undo"]
    assert undo == f"rerail heal --undo {envelope['data']['backup']}"
    assert undo in envelope["hints"][0]["text"]
    done = rerail(*undo.split()[1:], "--json", cwd=repo.path)
    assert done.code == 0, done.text
    data = done.envelope["data"]
    assert (data["outcome"], data["undid"]) == ("undone", envelope["data"]["backup"])
    assert "work/src/topic.txt" in data["paths"]
    assert repo.read("src/topic.txt") == "mine\n"
    again = rerail(*data["undo"].split()[1:], cwd=repo.path)
    assert again.code == 0, again.text
    assert not (repo.path / "src" / "topic.txt").exists()


def test_it_is_called_from_elsewhere_with_the_repository_named(repo: Repo, rerail: Rerail) -> None:
    backup = healed(repo, rerail)["data"]["backup"]
    assert rerail("heal", "--undo", backup, "--repo", str(repo.path / "src")).code == 0
    assert repo.read("src/topic.txt") == "mine\n"


def test_newer_work_pauses_it_with_what_and_why(repo: Repo, rerail: Rerail) -> None:
    backup = healed(repo, rerail)["data"]["backup"]
    repo.git("merge", "-q", "topic")
    done = rerail("heal", "--undo", backup, "--json", cwd=repo.path)
    assert done.code == 75
    assert done.envelope["error"] == "undo-refused"
    assert done.envelope["data"]["outcome"] == "paused"
    assert "HEAD" in done.envelope["data"]["found"]
    assert {each["where"] for each in done.envelope["diagnostics"]} == set(done.envelope["data"]["found"])
    assert done.envelope["hints"][0]["category"] == "next-step"
    text = rerail("heal", "--undo", backup, cwd=repo.path)
    assert b"work has gone on since untracked-in-the-way" in text.err


def test_the_backups_are_listed_with_what_takes_each_back(repo: Repo, rerail: Rerail) -> None:
    assert rerail("heal", "--backups", "--json", cwd=repo.path).envelope["data"]["backups"] == []
    backup = healed(repo, rerail)["data"]["backup"]
    rerail("heal", "--undo", backup, cwd=repo.path)
    listed = rerail("heal", "--backups", "--json", cwd=repo.path).envelope["data"]
    assert [each["recipe"] for each in listed["backups"]] == ["untracked-in-the-way", f"undo {backup}"]
    assert all(each["undo"] == f"rerail heal --undo {each['id']}" for each in listed["backups"])
    assert (listed["age_s"], listed["count"]) == (30 * 86_400, 20)
    text = rerail("heal", "--backups", cwd=repo.path).text
    assert f"rerail heal --undo {backup}" in text
    assert "30 days" in text


@pytest.mark.parametrize(
    ("words", "slug"),
    [
        (("--undo", "20260101T000000Z-000000"), "unknown-name"),
        (("--undo", "../../heads/main"), "unknown-name"),
        (("--undo", "x", "--plan"), "usage"),
        (("--undo", "x", "--backups"), "usage"),
        (("--backups", "--failure", "-"), "usage"),
    ],
)
def test_a_call_that_cannot_be_meant_says_what_can(
    repo: Repo, rerail: Rerail, words: tuple[str, ...], slug: str
) -> None:
    done = rerail("heal", *words, "--json", cwd=repo.path)
    assert (done.code, done.envelope["error"]) == (2, slug)
    assert done.envelope["message"]
    assert done.envelope["hints"]


@pytest.mark.parametrize("words", [("--undo", "20260101T000000Z-000000"), ("--backups",)])
def test_outside_of_a_repository_it_says_so(rerail: Rerail, words: tuple[str, ...]) -> None:
    done = rerail("heal", *words, "--json")
    assert (done.code, done.envelope["error"]) == (2, "usage")
    assert "--repo" in done.envelope["message"]


def test_old_backups_expire_by_the_settings_and_never_silently(repo: Repo, rerail: Rerail) -> None:
    (repo.path / "rerail.toml").write_text("[backups]\nage_s = 86400\ncount = 1\n")
    first = healed(repo, rerail)["data"]["backup"]
    _age(repo, first, days=3)
    listed = rerail("heal", "--backups", "--json", cwd=repo.path).envelope["data"]["backups"]
    assert [each["expires"] for each in listed] == [None], "the newest stays whatever its age"
    second = healed(repo, rerail)
    assert second["data"]["expired"] == [first]
    assert first in second["hints"][-1]["text"]
    assert repo.git("for-each-ref", f"refs/rerail/backup/{first}") == ""
    doctor = rerail("doctor", "--json", cwd=repo.path).envelope["data"]["findings"]
    (line,) = [each["detail"] for each in doctor if each["name"] == "backups"]
    assert line.startswith("1, the oldest of ")
    assert "1 days" in line


def test_the_settings_cannot_make_backups_expire_within_a_day(repo: Repo, rerail: Rerail) -> None:
    (repo.path / "rerail.toml").write_text("[backups]\nage_s = 1\ncount = 0\n")
    done = rerail("heal", "--backups", "--json", cwd=repo.path)
    assert (done.code, done.envelope["error"]) == (2, "settings-invalid")
    assert {each["key"] for each in done.envelope["diagnostics"]} == {"backups.age_s", "backups.count"}


def _age(repo: Repo, backup: str, *, days: float) -> None:
    """Write a backup's manifest anew, as if it had been made so many days earlier."""
    ref = f"refs/rerail/backup/{backup}/state"
    manifest = json.loads(repo.git("show", f"{ref}:manifest.json"))
    manifest["made_at"] -= days * 86_400
    blob = repo.git("hash-object", "-w", "--stdin", stdin=json.dumps(manifest).encode())
    env = {"GIT_INDEX_FILE": str(repo.path.parent / "aged-index")}
    repo.git("read-tree", ref, env=env)
    repo.git("update-index", "--cacheinfo", f"100644,{blob},manifest.json", env=env)
    commit = repo.git("commit-tree", repo.git("write-tree", env=env), "-p", ref, "-m", "aged")
    repo.git("update-ref", ref, commit)


@pytest.mark.parametrize("words", [("--undo", "x"), ("--backups",), ("--plan",)])
def test_a_directory_that_does_not_exist_is_told(rerail: Rerail, tmp_path: Path, words: tuple[str, ...]) -> None:
    done = rerail("heal", *words, "--repo", str(tmp_path / "absent"), "--json")
    assert done.envelope["error"] != "internal", done.text
    assert done.code in {0, 2}
