"""The built-in heals on real repositories: each state that git leaves behind, healed without a loss or left for a person."""

from __future__ import annotations

import json
import os
import shutil
from typing import TYPE_CHECKING

import pytest
from tests.repositories import Repo, colleague_commits, evidence, lines, lived_in, new_repo, photograph, with_origin

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from rerail.evidence.model import Evidence
    from rerail.git.report import HealReport

TRIM = """#!/bin/sh
bad=0
for f in $(git diff --cached --name-only --diff-filter=ACM); do
  sed 's/[ \t]*$//' "$f" > "$f.trim"
  cmp -s "$f" "$f.trim" || { cat "$f.trim" > "$f"; echo "Fixing $f"; bad=1; }
  rm "$f.trim"
done
[ $bad = 0 ] || { echo '- files were modified by this hook'; exit 1; }
"""


def hook(repo: Repo, body: str, name: str = "pre-commit") -> None:
    path = repo.git_dir / "hooks" / name
    path.parent.mkdir(exist_ok=True)
    path.write_text(body)
    path.chmod(0o755)


def untouched(repo: Repo, failure: Evidence, named: str) -> HealReport:
    """Heal, and hold that a pause or a wait has changed no byte."""
    before = photograph(repo.path)
    report = repo.heal(failure, named)
    assert report.outcome != "healed", report
    assert photograph(repo.path) == before
    return report


def healed(repo: Repo, failure: Evidence, named: str, recipe: str) -> HealReport:
    """Heal, and hold that the command passes afterwards."""
    report = repo.heal(failure, named)
    assert (report.outcome, report.recipe) == ("healed", recipe), report
    assert report.steps
    assert report.backup is not None
    assert repo.passes(*failure.command)
    return report


# --- hooks that reformat ------------------------------------------------------------------------------------------------


def test_exactly_what_was_staged_is_staged_again_as_the_hook_formatted_it(repo: Repo) -> None:
    hook(repo, TRIM)
    repo.write("src/fresh.py", "a = 1  \nb = 2\t\n")
    repo.git("add", "src/fresh.py")
    staged = repo.head(":src/fresh.py")
    repo.write("docs/guide.md", "an unrelated edit  \n")
    failure = repo.fails("git", "commit", "-m", "fresh")
    report = healed(repo, failure, "git/hook-reformatted", "hook-reformatted")
    assert repo.git("show", "--format=", "--name-only", "HEAD") == "src/fresh.py"
    assert repo.git("show", "HEAD:src/fresh.py") == "a = 1\nb = 2"
    assert repo.read("docs/guide.md") == "an unrelated edit  \n"
    assert repo.head(f"refs/rerail/backup/{report.backup}/state:stage-0/src/fresh.py") == staged


def test_a_style_change_is_staged_when_the_hook_says_that_it_made_it(repo: Repo) -> None:
    hook(repo, '#!/bin/sh\ngrep -q "\'" f.py || exit 0\nsed -i "s/\'/\\"/g" f.py\necho reformatted f.py\nexit 1\n')
    repo.write("f.py", "x = 'a'\n")
    repo.git("add", "f.py")
    healed(repo, repo.fails("git", "commit", "-m", "f"), "verification/format", "hook-reformatted")
    assert repo.git("show", "HEAD:f.py") == 'x = "a"'


def _partly_staged(repo: Repo) -> None:
    hook(repo, TRIM)
    repo.write("f.py", "a = 1  \nb = 2\n")
    repo.git("add", "f.py")
    repo.write("f.py", "a = 1  \nb = 2\nnot_meant_for_this_commit = 3\n")


def _beyond_formatting(repo: Repo) -> None:
    hook(repo, "#!/bin/sh\necho 'files were modified by this hook: f.py'\necho injected >> f.py\nexit 1\n")
    repo.write("f.py", "a = 1\n")
    repo.git("add", "f.py")


def _dedented(repo: Repo) -> None:
    hook(repo, "#!/bin/sh\necho no\nexit 1\n")
    repo.write("f.py", "if a:\n    b()\n    c()\n")
    repo.git("add", "f.py")
    repo.write("f.py", "if a:\n    b()\nc()\n")


def _removed(repo: Repo) -> None:
    hook(repo, "#!/bin/sh\nrm -f f.py\necho 'files were modified by this hook'\nexit 1\n")
    repo.write("f.py", "a = 1\n")
    repo.git("add", "f.py")


def _refused(repo: Repo) -> None:
    hook(repo, "#!/bin/sh\necho 'possible secret'\nexit 1\n")
    repo.write("f.py", "a = 1\n")
    repo.git("add", "f.py")


@pytest.mark.parametrize("prepare", [_partly_staged, _beyond_formatting, _dedented, _removed, _refused])
def test_a_hook_that_did_more_than_format_is_a_persons(repo: Repo, prepare: Callable[[Repo], None]) -> None:
    prepare(repo)
    report = untouched(repo, repo.fails("git", "commit", "-m", "f"), "git/hook-failed")
    assert report.outcome == "paused"
    assert report.question


# --- remotes that have moved on -----------------------------------------------------------------------------------------


@pytest.fixture
def origin(repo: Repo) -> Repo:
    return with_origin(repo)


def test_a_refused_push_passes_after_the_remotes_commits_are_below_ours(repo: Repo, origin: Repo) -> None:
    theirs = colleague_commits(repo, "src/theirs.txt", "theirs\n")
    repo.git("commit", "-q", "--allow-empty", "-m", "started empty, and stays")
    repo.commit("ours", src__ours_dot_txt="ours\n")
    repo.write("docs/guide.md", "a draft\n")
    repo.write("src/util.py", "staged\n")
    repo.git("add", "src/util.py")
    healed(repo, repo.fails("git", "push", "origin", "main"), "git/non-fast-forward", "push-behind")
    assert (
        repo.git("log", "--format=%s", "-4", "main")
        == "ours\nstarted empty, and stays\nchange src/theirs.txt\nbetter docs"
    )
    assert repo.git("merge-base", "main", theirs) == theirs
    assert origin.head("main") == repo.head("main")
    assert repo.git("status", "--porcelain") == " M docs/guide.md\nM  src/util.py\n?? notes.txt"


def test_authors_dates_and_messages_of_replayed_commits_stay(repo: Repo, origin: Repo) -> None:
    colleague_commits(repo, "src/theirs.txt", "theirs\n")
    env = {"GIT_AUTHOR_NAME": "Zoë", "GIT_AUTHOR_EMAIL": "z@example.invalid", "GIT_AUTHOR_DATE": "1700000000 +0130"}
    repo.write("x.txt", "x\n")
    repo.git("add", "x.txt")
    repo.git("-c", "i18n.commitEncoding=ISO-8859-1", "commit", "-q", "-m", "sübject\n\nbody  \n\n# kept", env=env)
    facts = "%an|%ae|%ad|%B|%e"
    before = repo.git("log", "-1", "--date=raw", f"--format={facts}")
    healed(repo, repo.fails("git", "push", "origin", "main"), "git/non-fast-forward", "push-behind")
    assert repo.git("log", "-1", "--date=raw", f"--format={facts}") == before


def test_a_diverged_pull_has_nothing_left_to_join(repo: Repo, origin: Repo) -> None:
    colleague_commits(repo, "src/theirs.txt", "theirs\n")
    repo.commit("ours", src__ours_dot_txt="ours\n")
    healed(repo, repo.fails("git", "pull"), "git/diverged", "pull-diverged")
    assert repo.git("log", "--format=%s", "-2", "main") == "ours\nchange src/theirs.txt"


def test_merges_and_shared_commits_are_joined_by_a_merge_instead_of_rewritten(repo: Repo, origin: Repo) -> None:
    colleague_commits(repo, "src/theirs.txt", "theirs\n")
    repo.git("merge", "-q", "--no-ff", "-m", "merged topic", "topic")
    ours = repo.head()
    healed(repo, repo.fails("git", "push", "origin", "main"), "git/non-fast-forward", "push-behind")
    assert repo.git("rev-parse", "HEAD^1") == ours
    assert len(repo.git("rev-list", "--parents", "-1", "HEAD").split()) == 3


def test_a_branch_that_is_not_checked_out_is_integrated_without_touching_the_work_tree(
    repo: Repo, origin: Repo
) -> None:
    theirs = colleague_commits(repo, "src/theirs.txt", "theirs\n")
    repo.commit("ours", src__ours_dot_txt="ours\n")
    repo.git("checkout", "-q", "topic")
    before = photograph(repo.path / "src")
    healed(repo, repo.fails("git", "push", "origin", "main"), "git/non-fast-forward", "push-behind")
    assert photograph(repo.path / "src") == before
    assert repo.git("merge-base", "main", theirs) == theirs


def _conflict(repo: Repo) -> None:
    colleague_commits(repo, "src/app.py", lines("theirs"))
    repo.commit("ours", src__app_dot_py=lines("ours"))


def _dirt_in_the_way(repo: Repo) -> None:
    colleague_commits(repo, "src/app.py", lines("app") + "theirs\n")
    repo.commit("ours", src__ours_dot_txt="ours\n")
    repo.write("src/app.py", lines("app") + "not committed\n")


def _untracked_in_the_way(repo: Repo) -> None:
    colleague_commits(repo, "build-notes.txt", "theirs\n")
    repo.commit("ours", src__ours_dot_txt="ours\n")
    repo.write("build-notes.txt", "mine, and not tracked\n")


def _ignored_in_the_way(repo: Repo) -> None:
    colleague_commits(repo, "forced.txt", "theirs\n")
    repo.commit("ours", src__ours_dot_txt="ours\n")
    (repo.git_dir / "info").mkdir(exist_ok=True)
    (repo.git_dir / "info" / "exclude").write_text("forced.txt\n")
    repo.write("forced.txt", "ignored, and git would overwrite it\n")


def _amended_after_publishing(repo: Repo) -> None:
    repo.commit("published", src__ours_dot_txt="ours\n")
    repo.git("push", "-q")
    repo.git("commit", "-q", "--amend", "-m", "reworded")


def _rewritten_at_the_remote(repo: Repo) -> None:
    origin = Repo(repo.path.parent / "repo-origin.git")
    origin.git("update-ref", "refs/heads/main", "main~1")
    colleague_commits(repo, "src/theirs.txt", "theirs\n")
    repo.commit("ours", src__ours_dot_txt="ours\n")


def _signed(repo: Repo) -> None:
    colleague_commits(repo, "src/theirs.txt", "theirs\n")
    repo.commit("ours", src__ours_dot_txt="ours\n")
    repo.git("config", "commit.gpgSign", "true")


def _in_a_merge(repo: Repo) -> None:
    colleague_commits(repo, "src/theirs.txt", "theirs\n")
    repo.commit("ours", src__ours_dot_txt="ours\n")
    repo.git("checkout", "-q", "topic")
    repo.commit("conflicting", src__ours_dot_txt="other\n")
    repo.git("checkout", "-q", "main")
    repo.git("merge", "topic", check=False)


@pytest.mark.parametrize(
    "prepare",
    [
        _conflict,
        _dirt_in_the_way,
        _untracked_in_the_way,
        _ignored_in_the_way,
        _amended_after_publishing,
        _rewritten_at_the_remote,
        _signed,
        _in_a_merge,
    ],
)
def test_a_push_that_a_person_has_to_decide_leaves_every_byte(
    repo: Repo, origin: Repo, prepare: Callable[[Repo], None]
) -> None:
    prepare(repo)
    there = photograph(origin.path, objects=True)
    report = untouched(repo, repo.fails("git", "push", "origin", "main"), "git/non-fast-forward")
    assert report.outcome == "paused"
    assert photograph(origin.path, objects=True) == there
    assert repo.git("for-each-ref", "refs/rerail") == "", "not even what was fetched for the look stays named"


def test_a_remote_that_cannot_be_reached_is_waited_for(repo: Repo, origin: Repo) -> None:
    colleague_commits(repo, "src/theirs.txt", "theirs\n")
    repo.commit("ours", src__ours_dot_txt="ours\n")
    failure = repo.fails("git", "push", "origin", "main")
    repo.git("remote", "set-url", "origin", "http://127.0.0.1:9/nobody-listens.git")
    report = untouched(repo, failure, "git/non-fast-forward")
    assert (report.outcome, report.class_) == ("retry", "provider")


def test_a_new_branch_is_published_under_its_own_name(repo: Repo, origin: Repo) -> None:
    repo.git("checkout", "-q", "-b", "agent/new")
    repo.commit("new", src__new_dot_txt="new\n")
    healed(repo, repo.fails("git", "push"), "git/no-upstream", "push-unpublished")
    assert origin.head("agent/new") == repo.head()


def test_a_name_that_somebody_else_has_at_the_remote_is_not_taken(repo: Repo, origin: Repo) -> None:
    origin.git("branch", "agent/new", "main")
    colleague_commits(repo, "src/theirs.txt", "theirs\n", branch="agent/new")
    repo.git("checkout", "-q", "-b", "agent/new")
    repo.commit("new", src__new_dot_txt="new\n")
    assert untouched(repo, repo.fails("git", "push"), "git/no-upstream").outcome == "paused"


def test_a_pull_without_tracking_follows_the_branch_of_its_name(repo: Repo, origin: Repo) -> None:
    repo.git("branch", "--unset-upstream")
    theirs = colleague_commits(repo, "src/theirs.txt", "theirs\n")
    healed(repo, repo.fails("git", "pull"), "git/no-upstream", "pull-untracked-branch")
    assert repo.head() == theirs


def test_without_a_remote_nobody_guesses_an_address(repo: Repo) -> None:
    report = untouched(repo, repo.fails("git", "push", "origin", "main"), "provider/network")
    assert (report.outcome, report.class_) == ("paused", "git")


# --- HEAD ---------------------------------------------------------------------------------------------------------------


def test_a_detached_head_goes_back_to_the_branch_that_it_came_from(repo: Repo, origin: Repo) -> None:
    repo.git("checkout", "-q", "--detach")
    repo.write("docs/guide.md", "a draft\n")
    healed(repo, repo.fails("git", "push"), "git/detached-head", "detached-head")
    assert repo.git("symbolic-ref", "HEAD") == "refs/heads/main"
    assert repo.read("docs/guide.md") == "a draft\n"


def test_commits_made_on_a_detached_head_move_their_branch_forward(repo: Repo, origin: Repo) -> None:
    repo.git("checkout", "-q", "--detach")
    tip = repo.commit("detached work", src__d_dot_txt="d\n")
    healed(repo, repo.fails("git", "push"), "git/detached-head", "detached-head")
    assert repo.head("main") == tip == origin.head("main")


def test_a_detached_head_that_left_its_branch_behind_is_a_persons(repo: Repo, origin: Repo) -> None:
    repo.git("checkout", "-q", "--detach", "HEAD~1")
    repo.commit("detached work", src__d_dot_txt="d\n")
    assert untouched(repo, repo.fails("git", "push"), "git/detached-head").outcome == "paused"


def test_a_branch_that_another_worktree_has_is_not_attached(repo: Repo, origin: Repo, tmp_path: Path) -> None:
    repo.git("checkout", "-q", "--detach")
    repo.git("worktree", "add", "-q", str(tmp_path / "other"), "main")
    assert untouched(repo, repo.fails("git", "push"), "git/detached-head").outcome == "paused"


# --- operations left behind ---------------------------------------------------------------------------------------------


def diverge(repo: Repo, path: str = "src/app.py") -> str:
    """Topic and main change the same line; return topic's commit."""
    repo.git("checkout", "-q", "topic")
    repo.write(path, lines("theirs"))
    repo.git("commit", "-q", "-a", "-m", "theirs")
    theirs = repo.head()
    repo.git("checkout", "-q", "main")
    repo.write(path, lines("ours"))
    repo.git("commit", "-q", "-a", "-m", "ours")
    return theirs


def resolve(repo: Repo, path: str = "src/app.py") -> None:
    repo.write(path, "resolved by hand\n")
    repo.git("add", path)


def test_a_resolved_merge_is_concluded_with_its_message_and_its_hooks(repo: Repo, origin: Repo) -> None:
    theirs = diverge(repo)
    repo.git("merge", "topic", check=False)
    resolve(repo)
    repo.write("docs/guide.md", "a draft\n")
    hook(repo, "#!/bin/sh\ntouch hook-ran.log\n")
    healed(repo, repo.fails("git", "pull"), "git/operation-in-progress", "resolved-operation")
    assert repo.git("rev-parse", "HEAD^2") == theirs
    assert repo.git("log", "-1", "--format=%B") == "Merge branch 'topic'"
    assert (repo.path / "hook-ran.log").exists()
    assert repo.git("status", "--porcelain", "--untracked-files=no") == " M docs/guide.md"


def test_a_merge_that_its_hook_refuses_is_as_it_was(repo: Repo, origin: Repo) -> None:
    diverge(repo)
    repo.git("merge", "topic", check=False)
    resolve(repo)
    hook(repo, "#!/bin/sh\necho no >> docs/guide.md\nexit 1\n")
    failure = repo.fails("git", "pull")
    report = untouched(repo, failure, "git/operation-in-progress")
    assert report.outcome == "paused"
    assert "put back" in report.detail


def test_a_resolved_rebase_goes_on_to_its_end(repo: Repo) -> None:
    diverge(repo)
    repo.git("checkout", "-q", "topic")
    repo.commit("second", src__second_dot_txt="second\n")
    repo.git("rebase", "main", check=False)
    resolve(repo)
    healed(repo, repo.fails("git", "rebase", "main"), "git/operation-in-progress", "resolved-operation")
    assert repo.git("symbolic-ref", "HEAD") == "refs/heads/topic"
    assert repo.git("log", "--format=%s", "-2") == "second\ntheirs"
    assert repo.read("src/app.py") == "resolved by hand\n"


@pytest.mark.parametrize("verb", ["cherry-pick", "revert"])
def test_a_resolved_sequence_is_continued(repo: Repo, verb: str) -> None:
    first = repo.commit("one", src__app_dot_py=lines("one"))
    repo.commit("two", src__app_dot_py=lines("two"))
    second = repo.commit("three", src__three_dot_txt="three\n")
    if verb == "cherry-pick":
        repo.git("checkout", "-q", "topic")
        repo.commit("other", src__app_dot_py=lines("other"))
    repo.git(verb, *(["--no-edit"] if verb == "revert" else []), first, second, check=False)
    resolve(repo)
    failure = repo.fails("git", "switch", "main" if verb == "cherry-pick" else "topic")
    healed(repo, failure, "git/operation-in-progress", "resolved-operation")


def test_a_resolved_mailed_patch_is_continued(repo: Repo, tmp_path: Path) -> None:
    diverge(repo)
    patch = repo.git("format-patch", "-1", "--stdout", "topic")
    (tmp_path / "mail.patch").write_text(patch + "\n")
    repo.git("am", str(tmp_path / "mail.patch"), check=False)
    resolve(repo)
    failure = repo.fails("git", "rebase", "topic~2")
    report = repo.heal(failure, "git/operation-in-progress")
    assert report.recipe == "resolved-operation"
    assert repo.git("log", "-1", "--format=%s") == "theirs"


def _unmerged(repo: Repo) -> None:
    diverge(repo)
    repo.git("merge", "topic", check=False)


def _resolved_and_not_added(repo: Repo) -> None:
    _unmerged(repo)
    repo.write("src/app.py", "resolved by hand\n")


def _markers_staged(repo: Repo) -> None:
    _unmerged(repo)
    repo.git("add", "src/app.py")


def _edit_stop(repo: Repo) -> None:
    repo.git("checkout", "-q", "topic")
    repo.git("rebase", "-i", "HEAD~1", env={"GIT_SEQUENCE_EDITOR": "sed -i s/^pick/edit/"})
    repo.write("src/topic.txt", "fresh edits\n")


def _next_step_conflicts(repo: Repo) -> None:
    diverge(repo)
    repo.git("checkout", "-q", "topic")
    repo.commit("again", src__app_dot_py=lines("again"))
    repo.git("rebase", "main", check=False)
    resolve(repo)


def _resolved_to_nothing(repo: Repo) -> None:
    diverge(repo)
    repo.git("cherry-pick", "topic", check=False)
    repo.git("checkout", "--ours", "src/app.py")
    repo.git("add", "src/app.py")


@pytest.mark.parametrize(
    "prepare",
    [_unmerged, _resolved_and_not_added, _markers_staged, _edit_stop, _next_step_conflicts, _resolved_to_nothing],
)
def test_an_operation_that_waits_for_its_author_is_left_as_it_is(
    repo: Repo, origin: Repo, prepare: Callable[[Repo], None]
) -> None:
    repo.git("branch", "side", "topic")
    prepare(repo)
    report = untouched(repo, repo.fails("git", "switch", "side"), "git/operation-in-progress")
    assert report.outcome == "paused"


@pytest.mark.parametrize("argv", [["git", "commit", "-m", "x"], ["git", "merge", "--continue"]])
def test_a_command_that_concludes_the_operation_itself_is_not_overtaken(repo: Repo, argv: list[str]) -> None:
    diverge(repo)
    repo.git("merge", "topic", check=False)
    resolve(repo)
    failure = evidence(argv, 1, b"", b"fatal: something", str(repo.path))
    assert untouched(repo, failure, "git/operation-in-progress").outcome == "paused"


def test_what_a_crashed_rebase_left_is_set_aside_and_its_autostash_becomes_a_stash_entry(repo: Repo) -> None:
    repo.write("docs/guide.md", "stashed by the rebase that died\n")
    stashed = repo.git("stash", "create")
    repo.git("checkout", "-q", "--", "docs/guide.md")
    state = repo.git_dir / "rebase-merge"
    state.mkdir()
    (state / "autostash").write_text(stashed + "\n")
    (state / "done").touch()
    healed(repo, repo.fails("git", "rebase", "topic"), "git/operation-in-progress", "crashed-operation")
    assert repo.head("stash@{0}") == stashed


def test_a_bisection_that_has_its_answer_is_ended(repo: Repo) -> None:
    for number in range(4):
        repo.commit(f"c{number}", **{f"c{number}_dot_txt": "x\n"})
    repo.git("bisect", "start", "HEAD", "HEAD~4")
    while "# first bad" not in (repo.git_dir / "BISECT_LOG").read_text():
        repo.git("bisect", "good")
    failure = evidence(("git", "rebase", "topic"), 1, b"", b"error: you are bisecting", str(repo.path))
    report = repo.heal(failure, "git/operation-in-progress")
    assert (report.outcome, report.recipe) == ("healed", "finished-bisect")
    assert repo.git("symbolic-ref", "HEAD") == "refs/heads/main"
    assert "# first bad" in repo.git("show", f"refs/rerail/backup/{report.backup}/state:git/BISECT_LOG")


def test_a_rebase_whose_stop_was_committed_by_hand_goes_on(repo: Repo) -> None:
    with_origin(repo)
    colleague_commits(repo, "src/app.py", "theirs\n")
    repo.commit("local", **{"src/app.py": "ours\n"})
    repo.commit("second", **{"src/second.py": "s\n"})
    repo.git("fetch", "-q")
    repo.git("rebase", "origin/main", check=False)
    repo.write("src/app.py", "both\n")
    repo.git("add", "src/app.py")
    repo.git("commit", "-q", "-m", "resolved by hand")
    healed(repo, repo.fails("git", "rebase", "origin/main"), "git/operation-in-progress", "resolved-operation")
    assert repo.git("log", "--format=%s", "-2") == "second\nresolved by hand"


# --- generated lockfiles ------------------------------------------------------------------------------------------------


def packages(**versions: str) -> str:
    table = {name: {"version": version} for name, version in versions.items()}
    return json.dumps({"lockfileVersion": 3, "packages": table}, indent=2) + "\n"


def lockfile_conflict(repo: Repo) -> None:
    repo.commit("lock", package__lock="", **{"package-lock.json": packages(a="1", b="1", c="1")})
    repo.git("branch", "-f", "bump", "main")
    repo.commit("ours", **{"package-lock.json": packages(a="2", b="1", c="1")})
    repo.git("checkout", "-q", "bump")
    repo.commit("theirs", **{"package-lock.json": packages(a="3", b="1", c="1", d="1")})
    repo.git("checkout", "-q", "main")
    repo.git("merge", "bump", check=False)


def test_a_conflict_in_nothing_but_a_lockfile_is_settled_entry_by_entry(repo: Repo) -> None:
    lockfile_conflict(repo)
    half_merged = repo.read("package-lock.json")
    report = healed(repo, repo.fails("git", "commit", "-m", "merge"), "git/unmerged", "lockfile-conflict")
    assert repo.git("show", "HEAD:package-lock.json") + "\n" == packages(a="2", b="1", c="1", d="1")
    saved = repo.git("show", f"refs/rerail/backup/{report.backup}/state:work/package-lock.json")
    assert saved + "\n" == half_merged


def test_a_settled_merge_is_concluded_when_the_command_is_another_one(repo: Repo) -> None:
    with_origin(repo)
    lockfile_conflict(repo)
    healed(repo, repo.fails("git", "pull"), "git/unmerged", "lockfile-conflict")
    assert len(repo.git("rev-list", "--parents", "-1", "HEAD").split()) == 3


def test_a_lockfile_that_its_tool_has_made_whole_again_is_taken_as_it_is(repo: Repo) -> None:
    lockfile_conflict(repo)
    repo.write("package-lock.json", packages(a="9"))
    healed(repo, repo.fails("git", "commit", "-m", "merge"), "git/unmerged", "lockfile-conflict")
    assert repo.git("show", "HEAD:package-lock.json") + "\n" == packages(a="9")


def test_a_manifest_that_conflicts_too_is_a_persons(repo: Repo) -> None:
    lockfile_conflict(repo)
    repo.git("merge", "--abort")
    repo.commit("ours", package_dot_json='{"a": 1}\n')
    repo.git("checkout", "-q", "bump")
    repo.commit("theirs", package_dot_json='{"a": 2}\n')
    repo.git("checkout", "-q", "main")
    repo.git("merge", "bump", check=False)
    assert untouched(repo, repo.fails("git", "commit", "-m", "merge"), "git/unmerged").outcome == "paused"


# --- local work in the way ----------------------------------------------------------------------------------------------


def test_changes_in_the_way_of_a_checkout_are_kept_staged_and_unstaged(repo: Repo) -> None:
    diverge(repo)
    repo.write("src/app.py", "staged\n")
    repo.git("add", "src/app.py")
    repo.write("src/app.py", "and changed again\n")
    repo.write("docs/guide.md", "a draft that is in nobody's way\n")
    report = healed(repo, repo.fails("git", "checkout", "topic"), "git/dirty-tree", "changes-in-the-way")
    backup = f"refs/rerail/backup/{report.backup}/state"
    assert repo.git("show", f"{backup}:stage-0/src/app.py") == "staged"
    assert repo.git("show", f"{backup}:work/src/app.py") == "and changed again"
    assert repo.read("docs/guide.md") == "a draft that is in nobody's way\n"


def test_a_rebase_that_wants_a_clean_tree_gets_one(repo: Repo) -> None:
    diverge(repo)
    repo.git("checkout", "-q", "-b", "work", "main~1")
    repo.write("docs/guide.md", "a draft\n")
    report = healed(repo, repo.fails("git", "rebase", "main"), "git/dirty-tree", "changes-in-the-way")
    assert repo.git("show", f"refs/rerail/backup/{report.backup}/state:work/docs/guide.md") == "a draft"


@pytest.mark.parametrize("name", ["src/topic.txt", "söme dir/ä file.txt", "-dash.txt", "with\ttab.txt", "quote'.txt"])
def test_an_untracked_file_in_the_way_is_kept_whatever_its_name(repo: Repo, name: str) -> None:
    repo.git("checkout", "-q", "topic")
    repo.write(name, "tracked there\n")
    repo.git("add", "--", name)
    repo.git("commit", "-q", "-m", "add")
    repo.git("checkout", "-q", "main")
    repo.write(name, "mine, and not tracked\n")
    report = healed(repo, repo.fails("git", "merge", "topic"), "git/untracked-in-way", "untracked-in-the-way")
    assert repo.read(name) == "tracked there\n"
    assert repo.git("show", f"refs/rerail/backup/{report.backup}/state:work/{name}") == "mine, and not tracked"


@pytest.mark.parametrize(
    ("argv", "why"),
    [
        (["git", "checkout", "--", "src/app.py"], "the command itself throws changes away"),
        (["git", "stash", "pop"], "two sets of changes would have to become one"),
        (["git", "rm", "src/app.py"], "the change would be lost with the file"),
    ],
)
def test_changes_are_not_moved_aside_for_every_command(repo: Repo, argv: list[str], why: str) -> None:
    repo.write("src/app.py", "changed\n")
    stderr = b"error: Your local changes to the following files would be overwritten:\n\tsrc/app.py\n"
    failure = evidence(argv, 1, b"", stderr, str(repo.path))
    assert untouched(repo, failure, "git/dirty-tree").outcome == "paused", why


# --- what was never fetched ---------------------------------------------------------------------------------------------


def test_a_branch_that_only_the_remote_has_is_fetched(repo: Repo, origin: Repo) -> None:
    origin.git("branch", "review-9", "main")
    theirs = colleague_commits(repo, "src/review.txt", "review\n", branch="review-9")
    healed(repo, repo.fails("git", "checkout", "review-9"), "git/unknown-revision", "unfetched-revision")
    assert (repo.head(), repo.git("symbolic-ref", "--short", "HEAD")) == (theirs, "review-9")


def test_a_single_branch_clone_learns_of_another_branch(repo: Repo, origin: Repo, tmp_path: Path) -> None:
    repo.git("push", "-q", "origin", "topic")
    repo.git("clone", "-q", "--single-branch", str(origin.path), str(tmp_path / "clone"))
    clone = Repo(tmp_path / "clone")
    healed(clone, clone.fails("git", "checkout", "topic"), "git/unknown-revision", "unfetched-revision")


def test_a_tag_and_a_commit_are_fetched_by_name(repo: Repo, origin: Repo, tmp_path: Path) -> None:
    theirs = colleague_commits(repo, "src/theirs.txt", "theirs\n")
    origin.git("tag", "v2.0", theirs)
    healed(repo, repo.fails("git", "checkout", "-q", "v2.0"), "git/unknown-revision", "unfetched-revision")
    assert repo.head() == theirs


def test_a_name_that_nobody_has_is_a_persons(repo: Repo, origin: Repo) -> None:
    report = untouched(repo, repo.fails("git", "checkout", "no-such-branch"), "git/unknown-revision")
    assert report.outcome == "paused"


def test_a_shallow_clone_is_deepened_until_the_histories_meet(repo: Repo, origin: Repo, tmp_path: Path) -> None:
    repo.commit("more", src__more_dot_txt="more\n")
    repo.git("push", "-q", "origin", "main", "topic")
    repo.git("clone", "-q", "--depth=1", "--no-single-branch", f"file://{origin.path}", str(tmp_path / "clone"))
    clone = Repo(tmp_path / "clone")
    healed(clone, clone.fails("git", "merge", "origin/topic"), "git/shallow", "shallow-history")


def test_histories_that_have_nothing_in_common_are_not_joined(repo: Repo, origin: Repo, tmp_path: Path) -> None:
    repo.git("checkout", "-q", "--orphan", "island")
    repo.git("commit", "-q", "-m", "island")
    repo.git("push", "-q", "origin", "island", "main")
    repo.git("clone", "-q", "--depth=1", "--no-single-branch", f"file://{origin.path}", str(tmp_path / "clone"))
    clone = Repo(tmp_path / "clone")
    assert untouched(clone, clone.fails("git", "merge", "origin/island"), "git/shallow").outcome == "paused"


def test_a_submodule_that_was_never_checked_out_is_checked_out(repo: Repo, tmp_path: Path) -> None:
    library = new_repo(tmp_path / "library")
    library.commit("lib", lib_dot_c="int main;\n")
    library.git("tag", "lib-1")
    repo.git("submodule", "--quiet", "add", str(library.path), "vendor/lib")
    repo.git("commit", "-q", "-m", "submodule")
    repo.git("submodule", "--quiet", "deinit", "-f", "vendor/lib")
    shutil.rmtree(repo.git_dir / "modules")
    failure = repo.fails("git", "-C", "vendor/lib", "checkout", "-q", "lib-1")
    healed(repo, failure, "git/unknown-revision", "empty-submodule")
    assert repo.read("vendor/lib/lib.c") == "int main;\n"


def test_a_submodule_whose_address_the_policy_forbids_is_not_fetched(repo: Repo, tmp_path: Path) -> None:
    library = new_repo(tmp_path / "library")
    library.commit("lib", lib_dot_c="int main;\n")
    repo.git("submodule", "--quiet", "add", str(library.path), "vendor/lib")
    repo.git("commit", "-q", "-m", "submodule")
    repo.git("submodule", "--quiet", "deinit", "-f", "vendor/lib")
    shutil.rmtree(repo.git_dir / "modules")
    repo.git("config", "--global", "protocol.file.allow", "user")
    failure = repo.fails("git", "-C", "vendor/lib", "checkout", "-q", "lib-1")
    report = untouched(repo, failure, "git/unknown-revision")
    assert (report.outcome, report.class_) == ("paused", "deterministic-policy")


def test_a_path_outside_of_the_sparse_checkout_is_let_in(repo: Repo) -> None:
    repo.git("sparse-checkout", "set", "--cone", "src")
    repo.write("docs/extra.md", "extra\n")
    healed(repo, repo.fails("git", "add", "docs/extra.md"), "git/rejected", "outside-sparse-checkout")
    assert repo.read("docs/extra.md") == "extra\n"
    assert repo.read("docs/guide.md") == lines("guide")


def test_a_tracking_ref_of_a_dropped_branch_makes_room(repo: Repo, origin: Repo) -> None:
    origin.git("branch", "x", "main")
    repo.git("fetch", "-q")
    gone = repo.head("origin/x")
    origin.git("branch", "-D", "x")
    origin.git("branch", "x/y", "main")
    report = healed(repo, repo.fails("git", "fetch"), "git/ref-lock", "stale-tracking-ref")
    assert gone in repo.git("rev-list", "--parents", "-1", f"refs/rerail/backup/{report.backup}/state")


# --- damage -------------------------------------------------------------------------------------------------------------


def test_a_broken_head_is_restored_from_its_reflog(repo: Repo) -> None:
    repo.git("checkout", "-q", "topic")
    tip = repo.commit("unpushed", src__u_dot_txt="u\n")
    repo.write("next.txt", "next\n")
    repo.git("add", "next.txt")
    for garbage in (b"", b"\0" * 41, b"ref: \n", b"nonsense\n"):
        (repo.git_dir / "HEAD").write_bytes(garbage)
        failure = evidence(("git", "status"), 128, b"", b"fatal: not a git repository", str(repo.path))
        report = repo.heal(failure, "worktree/not-a-repository")
        assert (report.outcome, report.class_, report.recipe) == ("healed", "git", "broken-head")
        assert repo.git("symbolic-ref", "HEAD") == "refs/heads/topic"
        assert repo.head() == tip
        assert repo.git("diff", "--cached", "--name-only") == "next.txt"


@pytest.mark.parametrize("content", [b"", b"\0" * 41, b"garbage\n", None])
def test_a_broken_branch_is_restored_from_its_reflog(repo: Repo, content: bytes | None) -> None:
    tip = repo.commit("unpushed", src__u_dot_txt="u\n")
    repo.write("next.txt", "next\n")
    repo.git("add", "next.txt")
    ref = repo.git_dir / "refs" / "heads" / "main"
    ref.unlink() if content is None else ref.write_bytes(content)
    failure = repo.fails("git", "log", "-1")
    healed(repo, failure, "git/broken-ref", "broken-ref")
    assert repo.head() == tip
    assert repo.git("diff", "--cached", "--name-only") == "next.txt"


def test_a_torn_reflog_does_not_take_a_branch_back(repo: Repo) -> None:
    """HEAD's reflog moves with its branch: where a crash tore one, the other may be an entry ahead."""
    tip = repo.commit("last", src__u_dot_txt="u\n")
    log = repo.git_dir / "logs" / "refs" / "heads" / "main"
    log.write_bytes(log.read_bytes().rstrip(b"\n").rpartition(b"\n")[0] + b"\n0000\0\0\0")
    (repo.git_dir / "refs" / "heads" / "main").write_bytes(b"")
    healed(repo, repo.fails("git", "log", "-1"), "git/broken-ref", "broken-ref")
    assert repo.head() == tip


def test_a_broken_branch_without_a_reflog_is_a_persons(repo: Repo) -> None:
    (repo.git_dir / "refs" / "heads" / "topic").write_bytes(b"")
    (repo.git_dir / "logs" / "refs" / "heads" / "topic").unlink()
    assert untouched(repo, repo.fails("git", "log", "-1", "topic"), "git/broken-ref").outcome == "paused"


def test_a_broken_branch_without_a_reflog_that_head_is_on_stands_in_heads(repo: Repo) -> None:
    tip = repo.head()
    (repo.git_dir / "refs" / "heads" / "main").write_bytes(b"")
    (repo.git_dir / "logs" / "refs" / "heads" / "main").unlink()
    healed(repo, repo.fails("git", "log", "-1"), "git/broken-ref", "broken-ref")
    assert repo.head() == tip


@pytest.mark.parametrize("damage", [lambda data: b"junk" * 100, lambda data: data[: len(data) // 2], lambda data: b""])
def test_an_unreadable_index_is_built_again_and_the_old_one_kept(repo: Repo, damage: Callable[[bytes], bytes]) -> None:
    repo.write("only-staged.txt", "staged, and then changed\n")
    repo.git("add", "only-staged.txt")
    blob = repo.head(":only-staged.txt")
    repo.write("only-staged.txt", "changed\n")
    index = repo.git_dir / "index"
    damaged = damage(index.read_bytes())
    index.write_bytes(damaged)
    report = healed(repo, repo.fails("git", "add", "src/app.py"), "git/corrupt-index", "unreadable-index")
    assert repo.git("diff", "--cached", "--name-only") == ""
    saved = repo.run("git", "cat-file", "blob", f"refs/rerail/backup/{report.backup}/state:git/index").stdout
    assert saved == damaged
    repo.git("reflog", "expire", "--expire=now", "--all")
    repo.git("gc", "-q", "--prune=now")
    assert repo.git("cat-file", "-p", blob) == "staged, and then changed"


def test_an_edit_right_after_the_index_was_built_again_is_seen(repo: Repo) -> None:
    """An index younger than its build would make git take a file of the same size and time for unchanged."""
    (repo.git_dir / "index").write_bytes(b"junk" * 100)
    file = repo.path / "src" / "app.py"
    size = file.stat()
    repo.heal(repo.fails("git", "add", "-u"), "git/corrupt-index")
    file.write_bytes(bytes(reversed(file.read_bytes())))
    os.utime(file, ns=(size.st_atime_ns, size.st_mtime_ns))
    assert repo.git("status", "--porcelain", "src") == " M src/app.py"


def test_a_damaged_commit_graph_is_done_without(repo: Repo) -> None:
    repo.git("commit-graph", "write", "--reachable")
    graph = repo.git_dir / "objects" / "info" / "commit-graph"
    graph.chmod(0o644)
    graph.write_bytes(b"junk" * 100)
    healed(repo, repo.fails("git", "fsck"), "git/corrupt-objects", "damaged-derived-file")


@pytest.mark.parametrize("content", [None, b"", b"junk"])
def test_an_object_that_the_remote_has_is_fetched_again(repo: Repo, origin: Repo, content: bytes | None) -> None:
    repo.git("push", "-q", "origin", "topic")
    blob = repo.head("topic:src/topic.txt")
    file = repo.git_dir / "objects" / blob[:2] / blob[2:]
    file.chmod(0o644)
    file.unlink() if content is None else file.write_bytes(content)
    healed(repo, repo.fails("git", "cherry-pick", "topic"), "git/corrupt-objects", "missing-objects")


def test_an_object_that_nobody_has_is_a_persons(repo: Repo, origin: Repo) -> None:
    blob = repo.head("topic:src/topic.txt")
    (repo.git_dir / "objects" / blob[:2] / blob[2:]).unlink()
    assert untouched(repo, repo.fails("git", "cherry-pick", "topic"), "git/corrupt-objects").outcome == "paused"


# --- what is not for a heal ---------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("named", "outcome"),
    [
        ("provider/server-error", "retry"),
        ("deterministic-policy/protected-branch", "paused"),
        ("git/identity-missing", "paused"),
        ("git/nothing-to-commit", "paused"),
        ("runtime/disk-full", "stopped"),
        ("worktree/branch-elsewhere", "stopped"),
        ("worktree/locked", "stopped"),
        ("unclassified/no-evidence", "paused"),
        ("tool-schema/usage-error", "paused"),
        ("environment/missing-executable", "paused"),
        ("made-up/class", "paused"),
    ],
)
def test_a_failure_that_no_recipe_is_for_ends_as_its_class_says(repo: Repo, named: str, outcome: str) -> None:
    failure = evidence(("git", "something"), 1, b"", b"fatal: no", str(repo.path))
    before = photograph(repo.path, objects=True)
    report = repo.heal(failure, named)
    assert (report.outcome, f"{report.class_}/{report.reason}") == (outcome, named)
    assert photograph(repo.path, objects=True) == before


def test_nothing_is_written_where_the_worktree_is_unsafe(tmp_path: Path) -> None:
    main = lived_in(tmp_path / "main")
    main.git("worktree", "add", "-q", str(tmp_path / "linked"), "topic")
    main.path.rename(tmp_path / "moved")
    linked = Repo(tmp_path / "linked")
    failure = linked.fails("git", "status")
    before = photograph(tmp_path, objects=True)
    report = linked.heal(failure, "worktree/not-a-repository")
    assert (report.outcome, report.reason) == ("stopped", "broken-link")
    assert photograph(tmp_path, objects=True) == before


def test_a_nested_repository_that_broke_is_not_taken_for_the_outer_one(repo: Repo) -> None:
    (repo.path / "inner" / ".git").mkdir(parents=True)
    failure = repo.fails("git", "-C", "inner", "checkout", "nope")
    report = untouched(repo, failure, "git/unknown-revision")
    assert (report.outcome, report.class_) == ("stopped", "worktree")
