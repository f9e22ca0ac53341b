"""A project's recipes that run commands: nothing runs before the operator trusts the exact content, and then it heals."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from tests.repositories import Repo, lines, new_repo

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    Rerail = Callable[..., Any]

RECIPE = """
[[heal]]
slug = "ours-install"
class = "environment"
reasons = ["missing-module"]
sees = "a module that is not installed"
why = "the installer brings exactly what the lockfile says"
source = "observed"
steps = [{ run = ["install-modules", "--frozen"], timeout_s = 20 }]
undo = "modules/ is ignored by git; delete it"
question = "Install the modules, or say why one is missing."
"""
OURS = ".rerail/recipes/ours.toml"
UNIT = """\
[ -f modules/leftpad ] && exit 0
echo "ModuleNotFoundError: No module named 'leftpad'" >&2
exit 1
"""


@pytest.fixture
def bin_dir(tmp_path: Path, environ: dict[str, str]) -> Path:
    """A directory of programs on the search path, outside of the project."""
    path = tmp_path / "bin"
    path.mkdir()
    environ["PATH"] = f"{path}{os.pathsep}{environ['PATH']}"
    return path


@pytest.fixture
def repo(tmp_path: Path, git_isolation: None) -> Repo:
    repo = new_repo(tmp_path / "repo")
    repo.write(".gitignore", "modules/\n")
    repo.write("unit.sh", UNIT)
    repo.write(OURS, RECIPE)
    repo.git("add", "-A")
    repo.git("commit", "-q", "-m", "a project")
    return repo


def program(bin_dir: Path, name: str, body: str) -> Path:
    path = bin_dir / name
    path.write_text(f"#!/bin/sh\n{body}\n")
    path.chmod(0o755)
    return path


def run(repo: Repo, rerail: Rerail, **more: Any) -> Any:
    return rerail("run", "--unit", "u", "--json", "--", "sh", "unit.sh", cwd=repo.path, **more)


def answer(repo: Repo, rerail: Rerail, done: Any) -> None:
    assert rerail("answer", done.envelope["data"]["pause"], "retry", cwd=repo.path).code == 0


INSTALLER = 'mkdir -p modules && echo "$@" > modules/leftpad && echo ran >> "$0.log"'


def test_an_environment_is_healed_by_a_trusted_recipe_and_the_rerun_decides(
    repo: Repo, rerail: Rerail, bin_dir: Path
) -> None:
    installer = program(bin_dir, "install-modules", INSTALLER)
    untrusted = run(repo, rerail)
    assert (untrusted.code, untrusted.envelope["error"]) == (75, "recipe-untrusted"), untrusted.text
    assert f"rerail recipes trust {OURS}" in untrusted.envelope["hints"][0]["text"]
    assert untrusted.envelope["data"]["heals"][0]["outcome"] == "paused"
    assert not (repo.path / "modules").exists()
    assert rerail("ledger", "show", "--json", cwd=repo.path).envelope["data"]["balances"] == [], "nothing was charged"

    trusted = rerail("recipes", "trust", "ours.toml", "--json", cwd=repo.path)
    assert trusted.code == 0, trusted.text
    (command,) = trusted.envelope["data"]["commands"]
    assert command["run"] == ["install-modules", "--frozen"]
    assert command["program"] == str(installer)
    assert repo.git("status", "--porcelain") == "", "nothing of it is in the repository"
    answer(repo, rerail, untrusted)

    healed = run(repo, rerail)
    data = healed.envelope["data"]
    assert (healed.code, data["outcome"]) == (0, "succeeded"), healed.text
    assert (data["failures"][0]["decision"], data["failures"][0]["remaining"]) == ("heal", 0)
    (heal,) = data["heals"]
    assert (heal["recipe"], heal["steps"]) == ("ours-install", ["ran install-modules --frozen"])
    assert heal["undo"] in healed.envelope["hints"][0]["text"]
    assert b"rerail: healed by ours-install: ran install-modules --frozen; undo: rerail heal --undo " in healed.err
    assert (repo.path / "modules" / "leftpad").read_text() == "--frozen\n", "an argument list, and no shell"


def test_a_heal_is_no_success(repo: Repo, rerail: Rerail, bin_dir: Path) -> None:
    installer = program(bin_dir, "install-modules", 'echo ran >> "$0.log"')
    rerail("recipes", "trust", OURS, cwd=repo.path)
    done = run(repo, rerail)
    assert (done.code, done.envelope["data"]["outcome"]) == (75, "paused"), done.text
    assert done.envelope["data"]["why"] == "budget-spent"
    assert [each["outcome"] for each in done.envelope["data"]["heals"]] == ["healed"]
    assert installer.with_suffix(".log").read_text() == "ran\n", "one recovery, and no second one"


def test_a_file_that_is_swapped_after_the_trust_is_refused(repo: Repo, rerail: Rerail, bin_dir: Path) -> None:
    program(bin_dir, "install-modules", INSTALLER)
    other = program(bin_dir, "something-else", 'echo ran >> "$0.log"')
    rerail("recipes", "trust", OURS, cwd=repo.path)
    repo.write(OURS, RECIPE.replace("install-modules", "something-else"))
    done = run(repo, rerail)
    assert done.envelope["error"] == "recipe-untrusted", done.text
    assert not other.with_suffix(".log").exists()
    assert not (repo.path / "modules").exists()


def test_a_file_that_is_swapped_while_the_unit_runs_is_refused(repo: Repo, rerail: Rerail, bin_dir: Path) -> None:
    program(bin_dir, "install-modules", INSTALLER)
    other = program(bin_dir, "something-else", 'echo ran >> "$0.log"')
    rerail("recipes", "trust", OURS, cwd=repo.path)
    repo.write("unit.sh", f"sed -i s/install-modules/something-else/ {OURS}\n{UNIT}")
    done = run(repo, rerail)
    assert done.envelope["error"] == "recipe-untrusted", done.text
    assert not other.with_suffix(".log").exists()


def test_a_cache_that_somebody_forged_runs_nothing(
    repo: Repo, rerail: Rerail, bin_dir: Path, environ: Mapping[str, str]
) -> None:
    """The compiled recipes hold no command at all: only the file that was hashed does."""
    program(bin_dir, "install-modules", INSTALLER)
    rerail("recipes", "trust", OURS, cwd=repo.path)
    rerail("rules", "list", cwd=repo.path)
    kept = [path for path in _files(environ["XDG_CACHE_HOME"]) if b"install-modules" in path.read_bytes()]
    assert kept == []


def _words(text: str) -> str:
    """What was shown, whatever the width."""
    return " ".join(text.split())


def _files(folder: str) -> list[Path]:
    return [path for path in Path(folder).rglob("*") if path.is_file()]


@pytest.mark.parametrize(
    "given",
    [
        {"RERAIL_TRUST": "1"},
        {"RERAIL_TRUST": "all"},
        {"RERAIL_LEDGER": "ledger.sqlite3"},
        {"XDG_STATE_HOME": "{repo}/state"},
        {"XDG_STATE_HOME": "{repo}/.git/state"},
        {"XDG_STATE_HOME": "state"},
    ],
)
def test_no_variable_makes_a_file_trusted(repo: Repo, rerail: Rerail, bin_dir: Path, given: dict[str, str]) -> None:
    program(bin_dir, "install-modules", INSTALLER)
    env = {name: value.replace("{repo}", str(repo.path)) for name, value in given.items()}
    if "XDG_STATE_HOME" in env and Path(env["XDG_STATE_HOME"]).is_absolute():
        refused = rerail("recipes", "trust", OURS, "--json", cwd=repo.path, env=env)
        assert refused.code == 2, refused.text
        assert "inside of the project" in refused.envelope["message"]
    done = run(repo, rerail, env=env)
    assert done.code == 75, done.text
    assert not (repo.path / "modules").exists()


@pytest.mark.parametrize("setting", ["trust = true", '[recipes]\ntrust = ["ours.toml"]', "[backups]\ntrust = true"])
def test_no_setting_makes_a_file_trusted(repo: Repo, rerail: Rerail, bin_dir: Path, setting: str) -> None:
    program(bin_dir, "install-modules", INSTALLER)
    repo.write("rerail.toml", setting + "\n")
    done = run(repo, rerail)
    assert (done.code, done.envelope["error"]) == (2, "settings-invalid")
    assert not (repo.path / "modules").exists()


def test_trust_is_given_shown_and_taken_back(repo: Repo, rerail: Rerail, bin_dir: Path) -> None:
    program(bin_dir, "install-modules", INSTALLER)

    def row() -> dict[str, Any]:
        listed = rerail("recipes", "list", "--json", cwd=repo.path).envelope["data"]["recipes"]
        found: dict[str, Any] = next(each for each in listed if each["file"] == OURS)
        return found

    assert row()["trusted"] is False
    shown = _words(rerail("recipes", cwd=repo.path).text)
    assert "runs install-modules --frozen (heal ours-install, at most 20 s) NOT trusted: nobody has trusted" in shown
    rerail("recipes", "trust", str(repo.path / OURS), cwd=repo.path / ".rerail")
    assert row()["trusted"] is True
    worktree = repo.path.parent / "linked"
    repo.git("worktree", "add", "-q", str(worktree))
    assert rerail("recipes", "trust", "ours.toml", "--revoke", cwd=worktree).code == 0, "a project has its worktrees"
    assert row()["trusted"] is False
    again = rerail("recipes", "trust", "ours.toml", "--revoke", "--json", cwd=repo.path)
    assert (again.code, again.envelope["error"]) == (2, "unknown-name")


def test_trust_in_a_file_that_is_gone_can_be_taken_back(repo: Repo, rerail: Rerail) -> None:
    rerail("recipes", "trust", OURS, cwd=repo.path)
    (repo.path / OURS).unlink()
    assert rerail("recipes", "trust", OURS, "--revoke", cwd=repo.path).code == 0
    repo.write(OURS, RECIPE)
    listed = rerail("recipes", "list", "--json", cwd=repo.path).envelope["data"]["recipes"]
    assert next(each for each in listed if each["file"] == OURS)["trusted"] is False


@pytest.mark.parametrize(
    ("file", "content", "slug"),
    [
        ("missing.toml", None, "unknown-name"),
        ("heal-git.toml", None, "unknown-name"),
        ("elsewhere.toml", RECIPE, "usage"),
        (".rerail/recipes/faulty.toml", "[[heal]]\nslug = 1\n", "recipe-invalid"),
    ],
)
def test_what_cannot_be_trusted_says_why(repo: Repo, rerail: Rerail, file: str, content: str | None, slug: str) -> None:
    if content is not None:
        repo.write(file, content)
    done = rerail("recipes", "trust", file, "--json", cwd=repo.path)
    assert (done.code, done.envelope["error"]) == (2, slug), done.text
    assert done.envelope["message"]


def test_a_recipe_without_commands_needs_no_trust(repo: Repo, rerail: Rerail) -> None:
    repo.write(".rerail/recipes/plain.toml", 'description = "nothing"\n')
    done = rerail("recipes", "trust", "plain", "--json", cwd=repo.path)
    assert done.code == 0
    assert "needs no trust" in done.envelope["message"]


def test_recipes_are_tested_without_running_anything(repo: Repo, rerail: Rerail, bin_dir: Path) -> None:
    installer = program(bin_dir, "install-modules", 'echo ran >> "$0.log"')
    repo.write("draft.toml", RECIPE.replace("ours-install", "draft-install").replace("install-modules", "not-here"))
    whole = rerail("recipes", "test", "--json", cwd=repo.path)
    assert (whole.code, whole.envelope["verb"]) == (0, "recipes test"), whole.text
    assert [each["file"] for each in whole.envelope["data"]["recipes"]] == [OURS]
    draft = rerail("recipes", "test", "draft.toml", "--json", cwd=repo.path)
    assert draft.code == 0, draft.text
    (row,) = draft.envelope["data"]["recipes"]
    assert row["commands"][0]["program"] is None
    assert "the program is not here" in _words(rerail("recipes", "test", "draft.toml", cwd=repo.path).text)
    assert not installer.with_suffix(".log").exists()
    repo.write("draft.toml", RECIPE)
    assert rerail("recipes", "test", "draft.toml", "--json", cwd=repo.path).envelope["error"] == "recipe-invalid"
    assert rerail("recipes", "test", "absent.toml", "--json", cwd=repo.path).envelope["error"] == "usage"


def test_what_init_shows_is_a_heal_that_can_be_read(repo: Repo, rerail: Rerail) -> None:
    (repo.path / OURS).unlink()
    rerail("init", cwd=repo.path)
    shown = (repo.path / OURS).read_text()
    repo.write(OURS, "\n".join(line.removeprefix("#").strip() for line in shown.splitlines() if _is_toml(line)))
    done = rerail("recipes", "test", "--json", cwd=repo.path)
    assert done.code == 0, done.text
    assert done.envelope["data"]["recipes"][0]["heals"] == ["ours-stale-packages"]


def _is_toml(line: str) -> bool:
    return line.startswith(("# [[", "# [")) or (" = " in line and not line.endswith("."))


# --- heals that run commands ----------------------------------------------------------------------------------------------


REGENERATE = """
[[heal]]
slug = "ours-lockfile"
class = "git"
reasons = ["unmerged", "conflict"]
sees = "a conflict in Cargo.lock alone"
why = "cargo makes the lockfile from the manifest"
source = "cargo: generate-lockfile"
needs = ["only-lockfiles-conflict"]
steps = ["resolve-lockfiles", { run = ["regenerate", "Cargo.lock"] }, "resolve-lockfiles", "conclude-if-resolved"]
ensures = ["nothing-unmerged"]
undo = "The conflict is put back."
question = "Make the lockfile anew."
"""


def conflicting_lockfile(repo: Repo) -> dict[str, Any]:
    repo.write(OURS, REGENERATE)
    repo.write("Cargo.lock", lines("base"))
    repo.git("add", "-A")
    repo.git("commit", "-q", "-m", "base")
    repo.git("checkout", "-q", "-b", "theirs")
    repo.commit("theirs", Cargo_dot_lock=lines("theirs"))
    repo.git("checkout", "-q", "main")
    repo.commit("ours", Cargo_dot_lock=lines("ours"))
    repo.git("merge", "theirs", check=False)
    failed = repo.run("git", "commit", "-m", "merged")
    return {"command": ["git", "commit", "-m", "merged"], "exit_code": 128, "stderr": failed.stderr.decode()}


def heal(repo: Repo, rerail: Rerail, failure: dict[str, Any]) -> Any:
    return rerail("heal", "--failure", "-", "--json", stdin=json.dumps(failure).encode(), cwd=repo.path)


def test_a_lockfile_is_made_anew_by_the_projects_own_command(repo: Repo, rerail: Rerail, bin_dir: Path) -> None:
    program(bin_dir, "regenerate", 'grep -q "<<<<" "$1" && exit 9; echo made anew > "$1"')
    failure = conflicting_lockfile(repo)
    conflicted = repo.read("Cargo.lock")
    rerail("recipes", "trust", "ours", cwd=repo.path)
    done = heal(repo, rerail, failure)
    data = done.envelope["data"]
    assert (data["outcome"], data["recipe"]) == ("healed", "ours-lockfile"), done.text
    assert repo.git("show", ":Cargo.lock") == "made anew"
    assert repo.git("ls-files", "--unmerged") == ""
    assert rerail("heal", "--undo", data["backup"], cwd=repo.path).code == 0
    assert repo.read("Cargo.lock") == conflicted
    assert repo.git("ls-files", "--unmerged").count("Cargo.lock") == 3


def test_without_trust_rerails_own_heal_settles_it(repo: Repo, rerail: Rerail, bin_dir: Path) -> None:
    regenerate = program(bin_dir, "regenerate", 'echo ran >> "$0.log"')
    done = heal(repo, rerail, conflicting_lockfile(repo))
    assert (done.envelope["data"]["outcome"], done.envelope["data"]["recipe"]) == ("healed", "lockfile-conflict")
    assert not regenerate.with_suffix(".log").exists()


@pytest.mark.parametrize(
    ("body", "said"),
    [
        ("echo half > Cargo.lock; echo junk > left-over.txt; echo 'no network' >&2; exit 7", "exit 7: no network"),
        ("echo half > Cargo.lock; echo junk > left-over.txt; sleep 60", "no end within 1 s"),
        ("echo half > Cargo.lock; echo junk > unit.sh", "unit.sh has changed"),
    ],
)
def test_a_command_that_fails_is_taken_back_and_pauses(
    repo: Repo, rerail: Rerail, bin_dir: Path, body: str, said: str
) -> None:
    program(bin_dir, "regenerate", body)
    repo.write("unit.sh", "a draft\n")
    failure = conflicting_lockfile(repo)
    repo.write(OURS, REGENERATE.replace('"Cargo.lock"]', '"Cargo.lock"], timeout_s = 1'))
    repo.write("unit.sh", "a draft of something else\n")
    rerail("recipes", "trust", "ours", cwd=repo.path)
    before = {path.name: path.read_bytes() for path in repo.path.iterdir() if path.is_file()}
    stages = repo.git("ls-files", "--stage")
    done = heal(repo, rerail, failure)
    assert (done.code, done.envelope["data"]["outcome"]) == (75, "paused"), done.text
    assert said in done.envelope["data"]["detail"]
    assert {path.name: path.read_bytes() for path in repo.path.iterdir() if path.is_file()} == before
    assert repo.git("ls-files", "--stage") == stages


def test_a_plan_shows_what_would_run_and_what_it_lacks(repo: Repo, rerail: Rerail, bin_dir: Path) -> None:
    installer = program(bin_dir, "install-modules", 'echo ran >> "$0.log"')
    failure = {"command": "python app.py", "exit_code": 1, "stderr": "ModuleNotFoundError: No module named 'leftpad'\n"}
    words = ("heal", "--plan", "--failure", "-", "--json")
    untrusted = rerail(*words, stdin=json.dumps(failure).encode(), cwd=repo.path).envelope
    assert (untrusted["data"]["recipe"], untrusted["data"]["begins"]) == ("ours-install", False)
    assert untrusted["data"]["steps"] == ["run install-modules --frozen"]
    rerail("recipes", "trust", OURS, cwd=repo.path)
    trusted = rerail(*words, stdin=json.dumps(failure).encode(), cwd=repo.path).envelope
    assert (trusted["data"]["recipe"], trusted["data"]["begins"]) == ("ours-install", True)
    assert not installer.with_suffix(".log").exists()
