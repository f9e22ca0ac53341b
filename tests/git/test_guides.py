"""Guides on real repositories: what cannot be healed is asked with the exact commands, nothing is changed, and they are right."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

import pytest
from tests.repositories import (
    Repo,
    built_in_recipes,
    colleague_commits,
    evidence,
    lines,
    lived_in,
    new_repo,
    photograph,
    with_origin,
)

from rerail.git.case import HealRequest
from rerail.git.facts import FACTS
from rerail.git.heal import plan
from rerail.recipes import asks
from rerail.recipes.asks import Fact
from rerail.taxonomy import BUILT_IN, Action

if TYPE_CHECKING:
    from pathlib import Path

    from rerail.evidence.model import Evidence
    from rerail.git.report import HealReport

RECIPES = built_in_recipes()
GUIDES = {recipe.slug: recipe for recipe in RECIPES if recipe.is_guide}


def asked(repo: Repo, failure: Evidence, named: str, guide: str) -> HealReport:
    """Heal what no recipe can; hold that the guide asks, that a plan says the same, and that not an object is written."""
    before = photograph(repo.path, objects=True)
    class_, _, reason = named.partition("/")
    planned = plan(HealRequest(repo.path, class_, reason, failure), RECIPES)
    report = repo.heal(failure, named)
    assert (report.outcome, report.recipe, report.steps) == ("paused", guide, ()), report
    assert report.question
    assert report.backup is None
    assert (planned.recipe, planned.steps, planned.not_begun) == (guide, (), report)
    assert photograph(repo.path, objects=True) == before
    return report


def run(repo: Repo, report: HealReport, to: str, **words: str) -> None:
    """Go a way as a person would: copy the commands, and fill in the words in capitals."""
    way = next(way for way in report.ways if way.to == to)
    for command in way.commands:
        for name, value in words.items():
            command = command.replace(name, value)
        assert repo.passes("bash", "-c", command)


# --- the table ----------------------------------------------------------------------------------------------------------


def test_every_reason_that_is_healed_has_a_heal_or_a_guide() -> None:
    known = {reason for recipe in RECIPES for reason in recipe.reasons if recipe.class_ == "git"}
    healed = {spec.name for spec in BUILT_IN.reasons("git") if BUILT_IN.action("git", spec.name) is Action.HEAL}
    assert healed <= known


def test_every_reason_of_class_git_has_a_guide_for_what_cannot_be_healed() -> None:
    known = {reason for guide in GUIDES.values() for reason in guide.reasons if guide.class_ == "git"}
    assert {spec.name for spec in BUILT_IN.reasons("git")} <= known


def test_every_fact_has_a_meaning_and_is_used() -> None:
    assert FACTS.keys() == set(Fact)
    used = {fact for guide in GUIDES.values() for fact in asks.facts(asks.template(guide.question))}
    words = [word for guide in GUIDES.values() for way in guide.ways for command in way.commands for word in command]
    used |= {fact for word in words for fact in asks.facts(word)}
    assert used == set(Fact)


# --- who commits --------------------------------------------------------------------------------------------------------


@pytest.fixture
def nobody(repo: Repo, monkeypatch: pytest.MonkeyPatch) -> Repo:
    monkeypatch.setenv("GIT_CONFIG_GLOBAL", os.devnull)
    repo.git("config", "user.useConfigOnly", "true")
    repo.write("new.txt", "new\n")
    repo.git("add", "new.txt")
    return repo


def test_a_missing_identity_is_asked_for_with_the_commands_that_set_it(nobody: Repo) -> None:
    failure = nobody.fails("git", "commit", "-m", "new")
    report = asked(nobody, failure, "git/identity-missing", "identity-unset")
    assert report.ways[0].commands == (
        f"git -C {nobody.path} config user.name NAME",
        f"git -C {nobody.path} config user.email ADDRESS",
    )
    run(nobody, report, "say it for this repository", NAME="'Ada L'", ADDRESS="ada@example.invalid")
    assert nobody.passes(*failure.command)


@pytest.mark.parametrize(("known", "missing"), [("name", "email"), ("email", "name")])
def test_only_what_is_missing_is_asked_for(nobody: Repo, known: str, missing: str) -> None:
    nobody.git("config", f"user.{known}", "ada@example.invalid")
    failure = nobody.fails("git", "commit", "-m", "new")
    report = asked(nobody, failure, "git/identity-missing", f"{missing}-unset")
    assert [way.commands for way in report.ways] == [
        (f"git -C {nobody.path} config user.{missing} {'NAME' if missing == 'name' else 'ADDRESS'}",)
    ]


# --- conflicts and operations -------------------------------------------------------------------------------------------


def both_changed(repo: Repo, path: str = "src/app.py") -> None:
    repo.git("checkout", "-q", "topic")
    repo.write(path, lines("theirs"))
    repo.git("add", "--", path)
    repo.git("commit", "-q", "-m", "theirs")
    repo.git("checkout", "-q", "main")
    repo.write(path, lines("ours"))
    repo.git("add", "--", path)
    repo.git("commit", "-q", "-m", "ours")


@pytest.mark.parametrize(
    ("command", "operation"),
    [(("merge", "topic"), "merge"), (("rebase", "topic"), "rebase"), (("cherry-pick", "topic"), "cherry-pick")],
)
def test_a_conflict_is_asked_about_with_its_files_and_both_ends(
    repo: Repo, command: tuple[str, ...], operation: str
) -> None:
    both_changed(repo)
    failure = repo.fails("git", *command)
    report = asked(repo, failure, "git/conflict", "conflict-in-operation")
    assert "src/app.py" in (report.question or "")
    at = f"git -C {repo.path}"
    assert [way.commands for way in report.ways] == [
        (f"{at} diff -- src/app.py",),
        (f"{at} add -- src/app.py", f"{at} {operation} --continue"),
        (f"{at} {operation} --abort",),
    ]
    repo.write("src/app.py", lines("both"))
    run(repo, report, "conclude it once every conflict is resolved")
    assert repo.git("status", "--porcelain", "--untracked-files=no") == ""
    assert repo.git("show", "HEAD:src/app.py") == lines("both").rstrip()


def test_a_conflict_is_given_up_by_the_command_that_says_so(repo: Repo) -> None:
    both_changed(repo)
    tip = repo.head()
    report = asked(repo, repo.fails("git", "merge", "topic"), "git/conflict", "conflict-in-operation")
    run(repo, report, "give it up, and with it what has been resolved")
    assert (repo.head(), repo.git("status", "--porcelain", "--untracked-files=no")) == (tip, "")


def test_a_stash_that_conflicts_is_asked_about_without_an_operation(repo: Repo) -> None:
    repo.write("src/util.py", lines("util") + "in the way\n")
    repo.git("commit", "-q", "-a", "-m", "changed")
    report = asked(repo, repo.fails("git", "stash", "pop"), "git/conflict", "conflict-alone")
    assert [way.commands[0] for way in report.ways] == [
        f"git -C {repo.path} diff -- src/util.py",
        f"git -C {repo.path} add -- src/util.py",
    ]


def test_a_step_that_changes_nothing_is_left_out_or_kept(repo: Repo) -> None:
    repo.write("src/app.py", lines("same"))
    repo.git("commit", "-q", "-a", "-m", "same")
    same = repo.head()
    repo.git("revert", "--no-edit", same)
    repo.git("revert", "--no-edit", "HEAD")
    failure = repo.fails("git", "cherry-pick", same)
    report = asked(repo, failure, "git/nothing-to-commit", "empty-step")
    run(repo, report, "leave it out")
    assert not (repo.git_dir / "CHERRY_PICK_HEAD").exists()


def test_an_operation_with_changes_that_are_not_staged_is_the_persons(repo: Repo) -> None:
    both_changed(repo)
    repo.fails("git", "rebase", "topic")
    repo.write("src/app.py", lines("both"))
    repo.git("add", "src/app.py")
    repo.write("docs/guide.md", "more\n")
    failure = repo.fails("git", "switch", "topic")
    report = asked(repo, failure, "git/operation-in-progress", "operation-unfinished")
    assert [way.to for way in report.ways] == [
        "see where it stands",
        "stage what belongs to it",
        "conclude it",
        "give it up, and with it what has been resolved",
    ]


def test_a_bisection_without_an_answer_is_the_persons(repo: Repo) -> None:
    repo.git("bisect", "start")
    failure = evidence(("git", "rebase", "topic"), 1, b"", b"fatal: no", str(repo.path))
    report = asked(repo, failure, "git/operation-in-progress", "bisection-unfinished")
    run(repo, report, "end it, and go back to where it began")


def test_a_push_that_conflicts_is_asked_about_with_both_ways_to_join(repo: Repo) -> None:
    with_origin(repo)
    colleague_commits(repo, "src/app.py", lines("theirs"))
    repo.commit("ours", src__app_dot_py=lines("ours"))
    failure = repo.fails("git", "push", "origin", "main")
    before = photograph(repo.path)
    report = repo.heal(failure, "git/non-fast-forward")
    assert photograph(repo.path) == before
    assert (report.outcome, report.recipe) == ("paused", "conflict-ahead")
    assert [way.commands for way in report.ways] == [
        (f"git -C {repo.path} pull --rebase origin main",),
        (f"git -C {repo.path} pull --no-rebase origin main",),
    ]


@pytest.mark.parametrize("command", [("rebase", "--continue"), ("merge", "--abort"), ("cherry-pick", "--skip")])
def test_the_end_of_an_operation_that_is_over_is_told(repo: Repo, command: tuple[str, ...]) -> None:
    asked(repo, repo.fails("git", *command), "git/rejected", "operation-over")


def test_histories_with_nothing_in_common_are_joined_only_by_a_person(repo: Repo) -> None:
    repo.git("checkout", "-q", "--orphan", "other")
    repo.git("commit", "-q", "-m", "another beginning")
    repo.git("checkout", "-q", "main")
    failure = repo.fails("git", "merge", "other")
    report = asked(repo, failure, "git/diverged", "histories-unrelated")
    assert [way.commands for way in report.ways] == [(f"git -C {repo.path} merge --allow-unrelated-histories other",)]


def test_a_patch_that_does_not_fit_is_named(repo: Repo) -> None:
    repo.write("a b.patch", "--- a/src/app.py\n+++ b/src/app.py\n@@ -1 +1 @@\n-nothing of the kind\n+x\n")
    failure = repo.fails("git", "apply", "a b.patch")
    report = asked(repo, failure, "git/conflict", "patch-does-not-apply")
    assert report.ways[0].commands == (f"git -C {repo.path} apply --stat '{repo.path}/a b.patch'",)


# --- commits ------------------------------------------------------------------------------------------------------------


def test_a_commit_with_nothing_staged_names_what_could_be(repo: Repo) -> None:
    repo.write("src/app.py", "changed\n")
    failure = repo.fails("git", "commit", "-m", "x")
    report = asked(repo, failure, "git/nothing-to-commit", "nothing-staged")
    assert [way.commands for way in report.ways] == [
        (f"git -C {repo.path} add -- src/app.py",),
        (f"git -C {repo.path} add -- notes.txt",),
    ]
    run(repo, report, "stage the changed files")
    assert repo.passes(*failure.command)


def test_a_commit_of_nothing_is_told_so(repo: Repo) -> None:
    (repo.path / "notes.txt").unlink()
    report = asked(repo, repo.fails("git", "commit", "-m", "x"), "git/nothing-to-commit", "nothing-changed")
    assert all("allow-empty" not in command for way in report.ways for command in way.commands)


def test_a_commit_without_a_message_is_asked_for_it(repo: Repo) -> None:
    repo.write("src/app.py", "changed\n")
    repo.git("add", "src/app.py")
    failure = repo.fails("git", "commit", "-m", "")
    report = asked(repo, failure, "git/rejected", "message-empty")
    run(repo, report, "commit what is staged", MESSAGE="'what it is for'")
    assert repo.git("log", "-1", "--format=%s") == "what it is for"


def test_a_hook_that_refuses_is_named_and_never_gone_around(repo: Repo) -> None:
    hook = repo.git_dir / "hooks" / "pre-commit"
    hook.parent.mkdir(exist_ok=True)
    hook.write_text("#!/bin/sh\necho 'possible secret'\nexit 1\n")
    hook.chmod(0o755)
    repo.write("f.py", "a = 1\n")
    repo.git("add", "f.py")
    report = asked(repo, repo.fails("git", "commit", "-m", "f"), "git/hook-failed", "hook-refuses")
    assert str(hook) in (report.question or "")
    repo.write("f.py", "a = 1\nleft_out = 2\n")
    report = asked(repo, repo.fails("git", "commit", "-m", "f"), "git/hook-failed", "staged-in-part")
    assert all("no-verify" not in command for way in report.ways for command in way.commands)


def test_an_ignored_path_is_told_with_the_command_that_names_the_rule(repo: Repo) -> None:
    failure = repo.fails("git", "add", "build/cache.bin")
    report = asked(repo, failure, "git/rejected", "paths-ignored")
    done = repo.run("bash", "-c", report.ways[0].commands[0])
    assert b".gitignore:2:build/" in done.stdout


# --- filters ------------------------------------------------------------------------------------------------------------


def test_git_lfs_that_is_not_installed_is_asked_for(
    repo: Repo, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    repo.write("a b.bin", "whole\n")
    repo.git("add", "a b.bin")
    repo.write(".gitattributes", "*.bin filter=lfs diff=lfs merge=lfs -text\n")
    only_git(tmp_path, monkeypatch)
    failure = evidence(
        ("git", "checkout", "topic"), 128, b"", b"git-lfs filter-process: git-lfs: not found", str(repo.path)
    )
    report = asked(repo, failure, "git/filter-missing", "lfs-missing")
    assert report.ways[0].commands == (f"git -C {repo.path} lfs install --local", f"git -C {repo.path} lfs pull")
    assert "a b.bin" in report.detail


def only_git(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Leave nothing but git and what it needs to be found."""
    import shutil

    folder = tmp_path / "bin"
    folder.mkdir()
    for program in ("git", "sh", "bash", "env"):
        (folder / program).symlink_to(shutil.which(program) or program)
    monkeypatch.setenv("PATH", str(folder))


def test_git_lfs_that_nobody_set_up_here_is_set_up_by_the_person(
    repo: Repo, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    repo.write("x.bin", "whole\n")
    repo.git("add", "x.bin")
    repo.write(".gitattributes", "*.bin filter=lfs\n")
    only_git(tmp_path, monkeypatch)
    program = tmp_path / "bin" / "git-lfs"
    program.write_text("#!/bin/sh\n")
    program.chmod(0o755)
    failure = evidence(("git", "checkout", "topic"), 128, b"", b"git-lfs: not set up", str(repo.path))
    asked(repo, failure, "git/filter-missing", "lfs-not-set-up")


@pytest.mark.parametrize("named", ["git/filter-missing", "git/rejected"])
def test_a_filter_whose_program_is_missing_is_named_with_its_files(repo: Repo, named: str) -> None:
    repo.write(".gitattributes", "*.sec filter=vault\n")
    repo.git("config", "filter.vault.clean", "no-such-vault seal %f")
    repo.git("config", "filter.vault.required", "true")
    repo.write("k.sec", "one\n")
    repo.git(
        "update-index", "--add", "--cacheinfo", f"100644,{repo.git('hash-object', '-w', '--no-filters', 'k.sec')},k.sec"
    )
    repo.write("k.sec", "another\n")
    report = asked(repo, repo.fails("git", "add", "k.sec"), named, "filter-program-missing")
    assert (
        report.question
        == "Install no-such-vault, which filter vault runs for k.sec; then run the failed command again."
    )


def test_a_filter_that_runs_and_refuses_is_the_operators(repo: Repo) -> None:
    repo.write(".gitattributes", "*.sec filter=vault\n")
    repo.git("config", "filter.vault.clean", "false")
    repo.git("config", "filter.vault.required", "true")
    repo.write("k.sec", "one\n")
    report = asked(repo, repo.fails("git", "add", "k.sec"), "git/rejected", "filter-fails")
    assert "filter vault" in (report.question or "")


# --- remotes and branches -----------------------------------------------------------------------------------------------


def test_a_repository_without_a_remote_is_asked_for_one(repo: Repo) -> None:
    report = asked(repo, repo.fails("git", "push"), "git/no-upstream", "no-remote")
    origin = repo.path.parent / "made.git"
    repo.git("init", "-q", "--bare", str(origin))
    run(repo, report, "add one, and publish the branch there", ADDRESS=str(origin))
    assert Repo(origin).head("main") == repo.head()


def test_a_remote_that_is_not_configured_is_asked_for(repo: Repo) -> None:
    with_origin(repo)
    failure = repo.fails("git", "push", "upstream", "main")
    report = asked(repo, failure, "git/no-upstream", "remote-unknown")
    assert f"git -C {repo.path} remote add upstream ADDRESS" in report.ways[1].commands


def test_an_upstream_that_is_gone_is_asked_about(repo: Repo) -> None:
    origin = with_origin(repo)
    repo.git("push", "-q", "-u", "origin", "topic")
    origin.git("branch", "-D", "topic")
    repo.git("checkout", "-q", "topic")
    repo.git("fetch", "-q", "--prune")
    failure = repo.fails("git", "pull")
    before = photograph(repo.path)
    report = repo.heal(failure, "git/no-upstream")
    assert photograph(repo.path) == before
    assert (report.outcome, report.recipe) == ("paused", "upstream-gone")
    run(repo, report, "publish the branch again")
    assert origin.head("topic") == repo.head()


def test_a_push_to_an_upstream_of_another_name_is_asked_about(repo: Repo) -> None:
    with_origin(repo)
    repo.git("checkout", "-q", "-b", "feature", "--track", "origin/main")
    failure = repo.fails("git", "push")
    report = asked(repo, failure, "git/no-upstream", "upstream-has-another-name")
    assert [way.commands for way in report.ways] == [
        (f"git -C {repo.path} push origin HEAD:main",),
        (f"git -C {repo.path} push --set-upstream origin feature",),
    ]


def test_with_several_remotes_the_person_names_one(repo: Repo) -> None:
    repo.git("remote", "add", "one", "/nowhere/one")
    repo.git("remote", "add", "two", "/nowhere/two")
    report = asked(repo, repo.fails("git", "push"), "git/no-upstream", "several-remotes")
    assert report.question == "Say which of one, two is meant for main."


def test_a_revision_that_nobody_has_is_answered_by_the_nearest_names(repo: Repo) -> None:
    report = asked(repo, repo.fails("git", "checkout", "Topic"), "git/unknown-revision", "similar-revision")
    assert report.question == "Name a revision that exists instead of Topic; there is topic."
    asked(repo, repo.fails("git", "checkout", "zzz"), "git/unknown-revision", "revision-nowhere")


def test_a_head_that_no_branch_can_take_back_is_kept_by_a_name(repo: Repo) -> None:
    with_origin(repo)
    repo.git("checkout", "-q", "HEAD~1")
    repo.commit("on no branch", new_dot_txt="new\n")
    failure = repo.fails("git", "push")
    report = asked(repo, failure, "git/detached-head", "head-off-its-branch")
    run(repo, report, "keep them on a new branch", NAME="kept")
    assert repo.git("branch", "--show-current") == "kept"


# --- submodules ---------------------------------------------------------------------------------------------------------


@pytest.fixture
def outer(repo: Repo, tmp_path: Path) -> Repo:
    library = lived_in(tmp_path / "library")
    repo.git("submodule", "--quiet", "add", str(library.path), "lib/a b")
    repo.git("commit", "-q", "-m", "library")
    return repo


def test_a_dirty_submodule_is_never_touched_and_what_is_at_risk_is_told(outer: Repo) -> None:
    inner = Repo(outer.path / "lib" / "a b")
    kept = inner.commit("only here", only_dot_txt="only\n")
    inner.write("src/app.py", "changed\n")
    inner.write("fresh.txt", "fresh\n")
    failure = outer.fails("git", "commit", "-m", "x")
    report = asked(outer, failure, "git/nothing-to-commit", "dirty-submodule")
    assert report.detail.endswith(
        f"submodule lib/a b has 1 changed file, 1 untracked file, 1 commit that no remote has (newest {kept[:10]})"
    )
    assert report.ways[0].commands == (
        f"git -C '{inner.path}' status --short --branch",
        f"git -C '{inner.path}' log --oneline HEAD --not --remotes",
    )
    for way in report.ways:
        for command in way.commands:
            assert outer.passes("bash", "-c", command.replace("MESSAGE", "x"))


def test_unpushed_commits_of_a_submodule_are_told(outer: Repo) -> None:
    with_origin(outer)
    inner = Repo(outer.path / "lib" / "a b")
    inner.commit("only here", only_dot_txt="only\n")
    outer.git("commit", "-q", "-a", "-m", "takes it")
    failure = outer.fails("git", "push", "--recurse-submodules=check", "origin", "main")
    report = asked(outer, failure, "git/submodule", "unpushed-submodule")
    run(outer, report, "push them to a branch", NAME="offered")
    assert outer.passes(*failure.command)


def test_a_submodule_commit_that_nobody_pushed_is_asked_for(outer: Repo) -> None:
    missing = "1" * 40
    outer.git("update-index", "--cacheinfo", f"160000,{missing},lib/a b")
    failure = evidence(("git", "submodule", "update"), 128, b"", b"fatal: did not contain", str(outer.path))
    report = asked(outer, failure, "git/submodule", "unfetched-submodule-commit")
    assert "'lib/a b'" in (report.question or "")


def test_a_submodule_that_is_not_checked_out_is_named(outer: Repo) -> None:
    outer.git("submodule", "--quiet", "deinit", "-f", "lib/a b")
    failure = evidence(("make", "-C", "lib/a b"), 2, b"", b"fatal: no submodule", str(outer.path))
    report = asked(outer, failure, "git/submodule", "absent-submodule")
    run(outer, report, "check it out")
    assert (outer.path / "lib" / "a b" / "src" / "app.py").is_file()


# --- what only looks like a change --------------------------------------------------------------------------------------


def recorded_with_crlf(repo: Repo) -> None:
    repo.write("w.txt", b"one\r\ntwo\r\n")
    repo.git("add", "w.txt")
    repo.git("commit", "-q", "-m", "crlf")
    repo.git("checkout", "-q", "-b", "other")
    repo.commit("other", w_dot_txt="other\n")
    repo.git("checkout", "-q", "main")
    repo.write(".gitattributes", "*.txt text\n")
    os.utime(repo.path / "w.txt", (1, 1))


def test_a_line_ending_phantom_is_recorded_anew_by_the_person(repo: Repo) -> None:
    recorded_with_crlf(repo)
    failure = repo.fails("git", "checkout", "other")
    report = asked(repo, failure, "git/dirty-tree", "line-endings-recorded")
    run(repo, report, "record them so")
    assert repo.passes(*failure.command)


def test_a_real_change_under_other_line_endings_is_no_phantom(repo: Repo) -> None:
    recorded_with_crlf(repo)
    repo.write("w.txt", b"one\r\nchanged\r\n")
    report = repo.heal(repo.fails("git", "checkout", "other"), "git/dirty-tree")
    assert (report.outcome, report.recipe) == ("paused", "changes-kept")
    run(repo, report, "commit them", MESSAGE="x")
    assert repo.passes("git", "checkout", "other")


def test_a_file_whose_endings_could_not_be_given_back_is_asked_about(repo: Repo) -> None:
    repo.git("config", "core.autocrlf", "input")
    repo.git("config", "core.safecrlf", "true")
    repo.write("new.txt", b"one\r\ntwo\r\n")
    failure = repo.fails("git", "add", "new.txt")
    report = asked(repo, failure, "git/rejected", "line-endings-guarded")
    run(repo, report, "let git convert them this once")
    assert repo.git("cat-file", "blob", ":new.txt") == "one\ntwo"


def test_a_file_of_git_lfs_that_is_recorded_whole_is_told(repo: Repo) -> None:
    repo.write("x.bin", "whole\n")
    repo.git("add", "x.bin")
    repo.git("commit", "-q", "-m", "whole")
    repo.git("config", "filter.lfs.clean", "sh -c 'echo version https://git-lfs.github.com/spec/v1; cat'")
    repo.write(".gitattributes", "*.bin filter=lfs\n")
    os.utime(repo.path / "x.bin", (1, 1))
    listing = b"error: Your local changes would be overwritten by checkout:\n\tx.bin\nAborting"
    failure = evidence(("git", "checkout", "topic"), 1, b"", listing, str(repo.path))
    report = asked(repo, failure, "git/dirty-tree", "pointers-recorded-whole")
    assert report.ways[0].commands[0] == f"git -C {repo.path} add --renormalize -- x.bin"


def test_files_of_which_only_the_facts_are_stale_are_looked_at_again(repo: Repo) -> None:
    os.utime(repo.path / "src" / "app.py", (1, 1))
    failure = repo.fails("git", "diff-index", "--quiet", "HEAD")
    report = repo.heal(failure, "git/dirty-tree")
    assert (report.outcome, report.recipe) == ("healed", "stale-stat")
    assert repo.passes(*failure.command)


def test_plumbing_that_finds_stale_facts_passes_after_the_heal(repo: Repo) -> None:
    os.utime(repo.path / "src" / "app.py", (1, 1))
    repo.git("branch", "wide", "topic")
    repo.git("checkout", "-q", "wide")
    repo.commit("wide", src__app_dot_py="wide\n")
    repo.git("checkout", "-q", "main")
    os.utime(repo.path / "src" / "app.py", (1, 1))
    repo.write("docs/guide.md", "a real change elsewhere\n")
    failure = repo.fails("git", "read-tree", "-m", "-u", "main", "wide")
    report = repo.heal(failure, "git/dirty-tree")
    assert (report.outcome, report.recipe) == ("healed", "stale-stat")
    assert repo.passes(*failure.command)
    assert repo.read("docs/guide.md") == "a real change elsewhere\n"


def test_real_changes_are_never_taken_for_stale_facts(repo: Repo) -> None:
    repo.write("src/app.py", "real\n")
    failure = repo.fails("git", "diff-index", "--quiet", "HEAD")
    asked(repo, failure, "git/dirty-tree", "changes-kept")


def test_a_path_in_another_case_is_named_as_it_is_tracked(repo: Repo) -> None:
    report = asked(repo, repo.fails("git", "add", "SRC/App.py"), "git/unknown-revision", "path-in-other-case")
    assert report.question == "Name it as it is tracked: src/app.py."


def test_a_setting_that_is_wrong_about_case_is_put_right(repo: Repo) -> None:
    repo.git("config", "core.ignorecase", "true")
    repo.write("SRC.md", "x\n")
    repo.git("add", "SRC.md")
    repo.write("src.md", "y\n")
    failure = evidence(("git", "checkout", "topic"), 1, b"", b"error: untracked:\n\tsrc.md\n", str(repo.path))
    report = asked(repo, failure, "git/untracked-in-way", "case-setting-wrong")
    run(repo, report, "set it")
    assert repo.git("config", "core.ignorecase") == "false"


def test_a_rename_of_case_alone_goes_by_a_third_name(repo: Repo) -> None:
    """Two links to one file are what a file system that ignores case makes of both names."""
    repo.git("add", "notes.txt")
    repo.git("commit", "-q", "-m", "notes")
    os.link(repo.path / "notes.txt", repo.path / "Notes.txt")
    report = asked(repo, repo.fails("git", "mv", "notes.txt", "Notes.txt"), "git/rejected", "case-only-rename")
    (repo.path / "Notes.txt").unlink()
    run(repo, report, "rename it")
    assert repo.git("ls-files", "Notes.txt") == "Notes.txt"


# --- where nothing else is to be said -----------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("named", "guide"),
    [
        ("git/broken-ref", "ref-untold"),
        ("git/corrupt-objects", "objects-nowhere"),
        ("git/shallow", "history-unfetched"),
        ("git/corrupt-index", "index-unknown"),
    ],
)
def test_damage_that_nothing_here_can_mend_is_asked_about(repo: Repo, named: str, guide: str) -> None:
    failure = evidence(("git", "log"), 128, b"", b"fatal: it is broken", str(repo.path))
    asked(repo, failure, named, guide)


def test_a_repository_without_a_work_tree_has_guides_too(tmp_path: Path) -> None:
    bare = Repo(tmp_path / "bare.git")
    new_repo(tmp_path / "one").git("init", "-q", "--bare", str(bare.path))
    for guide in GUIDES.values():
        for reason in guide.reasons if guide.class_ == "git" else ():
            for command in (("git", "push"), ("git", "commit"), ("git", "mv", "a", "A"), ("git", "merge", "x")):
                failure = evidence(command, 1, b"", b"fatal: no\n\tx\n", str(bare.path))
                assert bare.heal(failure, f"git/{reason}").outcome == "paused"


# --- worktrees that stop ------------------------------------------------------------------------------------------------


@pytest.fixture
def linked(repo: Repo) -> Repo:
    repo.git("worktree", "add", "-q", "../linked", "topic")
    return Repo(repo.path.parent / "linked")


def stopped(repo: Repo, failure: Evidence, named: str, guide: str) -> HealReport:
    """Hold that a stop stays one, and touches nothing, while the guide says what a person can do."""
    before = photograph(repo.path.parent, objects=True)
    class_, _, reason = named.partition("/")
    planned = plan(HealRequest(repo.path, class_, reason, failure), RECIPES)
    report = repo.heal(failure, named)
    assert (report.outcome, report.recipe, report.steps) == ("stopped", guide, ()), report
    assert (planned.recipe, planned.not_begun) == (guide, report)
    assert photograph(repo.path.parent, objects=True) == before
    return report


def test_a_branch_that_another_worktree_has_is_worked_on_there(repo: Repo, linked: Repo) -> None:
    failure = repo.fails("git", "switch", "topic")
    report = stopped(repo, failure, "worktree/branch-elsewhere", "branch-elsewhere")
    assert report.ways[0].commands == (f"git -C {linked.path} status --short --branch",)


def test_a_worktree_whose_link_is_broken_is_linked_again_by_a_person(repo: Repo, linked: Repo) -> None:
    pointer = (linked.path / ".git").read_text()
    (linked.path / ".git").write_text(pointer.replace("worktrees/linked", "worktrees/gone"))
    failure = evidence(("git", "status"), 128, b"", b"fatal: not a git repository: (null)", str(linked.path))
    report = stopped(linked, failure, "worktree/broken-link", "link-broken")
    run(repo, report, "link what is where it was")
    assert linked.git("branch", "--show-current") == "topic"


def test_a_moved_worktree_is_linked_again_by_a_person(repo: Repo, linked: Repo) -> None:
    moved = Repo(linked.path.rename(repo.path.parent / "moved here"))
    failure = evidence(("git", "status"), 128, b"", b"fatal: it was moved", str(moved.path))
    report = stopped(moved, failure, "worktree/prunable", "link-broken")
    assert report.ways[2].commands == (f"git -C {repo.path} worktree repair '{moved.path}'",)
    run(repo, report, "link what has been moved here")
    assert str(moved.path) in repo.git("worktree", "list")


def test_a_locked_worktree_is_unlocked_by_a_person_alone(repo: Repo, linked: Repo) -> None:
    repo.git("worktree", "lock", str(linked.path))
    failure = repo.fails("git", "worktree", "remove", "../linked")
    report = stopped(repo, failure, "worktree/locked", "worktree-locked")
    run(repo, report, "unlock it")
    assert repo.passes(*failure.command)


def test_a_path_that_is_taken_is_told_with_what_is_registered(repo: Repo, linked: Repo) -> None:
    failure = repo.fails("git", "worktree", "add", "../linked", "-b", "new")
    stopped(repo, failure, "worktree/path-taken", "path-taken")


def test_a_main_checkout_that_was_moved_is_looked_at_from_outside(repo: Repo, linked: Repo) -> None:
    failure = evidence(("make",), 1, b"", b"moved", str(linked.path))
    report = stopped(linked, failure, "worktree/main-checkout-moved", "main-checkout-moved")
    assert report.ways[0].commands == (f"git -C {repo.path} reflog -10",)


@pytest.mark.parametrize(
    "reason", ["cwd-gone", "broken-link", "missing-git-dir", "prunable", "foreign-session", "locked"]
)
def test_where_there_is_no_repository_nothing_is_made_up(tmp_path: Path, reason: str) -> None:
    failure = evidence(("git", "status"), 128, b"", b"fatal: no", str(tmp_path))
    report = Repo(tmp_path).heal(failure, f"worktree/{reason}")
    assert (report.outcome, report.ways) == ("stopped", ())
