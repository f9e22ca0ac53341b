"""Damage healed by what else is here: refs by reflogs and remotes, objects by the work tree and the index."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from tests.repositories import Repo, evidence, lines, photograph, with_origin

from rerail.git.probe import probe
from rerail.git.state import HeadCondition

if TYPE_CHECKING:
    from pathlib import Path

    from rerail.evidence.model import Evidence


def healed(repo: Repo, failure: Evidence, named: str, recipe: str) -> None:
    report = repo.heal(failure, named)
    assert (report.outcome, report.recipe) == ("healed", recipe), report
    assert repo.passes(*failure.command)


def paused(repo: Repo, failure: Evidence, named: str) -> str:
    before = photograph(repo.path)
    report = repo.heal(failure, named)
    assert report.outcome == "paused", report
    assert photograph(repo.path) == before
    return report.detail


def loose(repo: Repo, oid: str) -> Path:
    file = repo.git_dir / "objects" / oid[:2] / oid[2:]
    file.chmod(0o644)
    return file


# --- refs ---------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("value", ["deadbeef" * 5, "a blob", "ref: refs/heads/main"])
def test_a_branch_that_was_set_to_no_commit_goes_back_to_where_its_reflog_ends(repo: Repo, value: str) -> None:
    tip = repo.commit("unpushed", **{"src/local.txt": "l\n"})
    said = repo.head("HEAD:.gitignore") if value == "a blob" else value
    (repo.git_dir / "refs/heads/main").write_text(f"{said}\n")
    repo.write("docs/guide.md", "edited\n")
    healed(repo, repo.fails("git", "commit", "-m", "x", "docs/guide.md"), "git/corrupt-objects", "broken-ref")
    assert repo.head("HEAD^") == tip


def test_a_branch_whose_tip_is_lost_is_not_set_back_to_an_older_commit(repo: Repo) -> None:
    tip = repo.commit("unpushed", **{"src/local.txt": "l\n"})
    loose(repo, tip).unlink()
    assert "cannot be read" in paused(repo, repo.fails("git", "log", "-1"), "git/corrupt-objects")


def test_a_branch_that_is_gone_with_its_reflog_stands_in_heads(repo: Repo) -> None:
    repo.git("checkout", "-q", "-b", "work")
    tip = repo.commit("unpushed", **{"src/local.txt": "l\n"})
    (repo.git_dir / "refs/heads/work").unlink()
    (repo.git_dir / "logs/refs/heads/work").unlink()
    healed(repo, repo.fails("git", "log", "-1"), "git/unknown-revision", "broken-ref")
    assert repo.head("work") == tip


@pytest.mark.parametrize(
    "command",
    [("checkout", "-q", "--orphan", "work"), ("update-ref", "-d", "refs/heads/main"), ("switch", "-q", "main")],
)
def test_a_branch_without_commits_on_purpose_is_unborn(repo: Repo, command: tuple[str, ...]) -> None:
    repo.git("checkout", "-q", "topic")
    repo.git("checkout", "-q", "main")
    repo.git(*command)
    expected = HeadCondition.BORN if command[0] == "switch" else HeadCondition.UNBORN
    assert probe(repo.path).head.condition is expected


@pytest.mark.parametrize("left", ["ref: refs/he", "ref: refs/heads/", "ref: refs/heads/ma"])
def test_a_head_that_a_crash_cut_short_is_completed(repo: Repo, left: str) -> None:
    repo.path.joinpath(".git/HEAD").write_text(left)
    assert probe(repo.path).head.condition is HeadCondition.GARBAGE
    report = repo.heal(repo.fails("git", "log", "-1"), "git/unknown-revision")
    assert (report.outcome, report.recipe) == ("healed", "broken-head"), report
    assert repo.git("symbolic-ref", "HEAD") == "refs/heads/main"


def test_a_tag_that_broke_is_what_the_remote_has(repo: Repo) -> None:
    with_origin(repo)
    repo.git("tag", "v9", "topic")
    repo.git("push", "-q", "origin", "v9")
    (repo.git_dir / "refs/tags/v9").write_bytes(b"\0" * 41)
    healed(repo, repo.fails("git", "log", "-1", "v9"), "git/unknown-revision", "broken-ref")
    assert repo.head("v9") == repo.head("topic")


def test_a_tag_that_broke_and_that_no_remote_has_is_a_persons(repo: Repo) -> None:
    with_origin(repo)
    repo.git("tag", "v9", "topic")
    (repo.git_dir / "refs/tags/v9").write_bytes(b"\0" * 41)
    paused(repo, repo.fails("git", "log", "-1", "v9"), "git/unknown-revision")


@pytest.mark.parametrize(
    "word", ["x" * 5000, "refs/heads/" + "y" * 300, "a\0b", "../../etc/passwd", "ü" * 200, "\ud800"]
)
def test_what_a_failure_says_is_no_file_name_of_any_length(repo: Repo, word: str) -> None:
    said = f"fatal: cannot lock ref '{word}'\nmerge: {word} - not something we can merge".encode(errors="surrogatepass")
    failure = evidence(("git", "merge", word), 128, b"", said, str(repo.path))
    elsewhere = evidence(("git", "-C", word, "push", word), 128, b"", said, str(repo.path))
    for named in ("git/ref-lock", "git/unknown-revision"):
        assert repo.heal(failure, named).outcome != "healed"
        assert repo.heal(elsewhere, named).outcome != "healed"


@pytest.mark.parametrize("damage", ["torn", "garbage", "zeros"])
def test_packed_refs_lose_their_bad_lines_and_no_branch(repo: Repo, damage: str) -> None:
    repo.git("pack-refs", "--all")
    branches = repo.git("for-each-ref", "refs/heads", "refs/stash")
    file = repo.git_dir / "packed-refs"
    data = file.read_bytes()
    cut = data[: data.index(b" refs/heads/") - 10]
    file.write_bytes({"torn": cut, "garbage": data + b"what is this\n", "zeros": b"\0" * len(data)}[damage])
    broken = file.read_bytes()
    report = repo.heal(repo.fails("git", "branch", "new"), "unclassified/no-evidence")
    assert (report.outcome, report.recipe) == ("healed", "damaged-packed-refs"), report
    assert repo.git("for-each-ref", "refs/heads", "refs/stash") == branches
    kept = repo.git("rev-parse", f"refs/rerail/backup/{report.backup}/state:git/packed-refs")
    assert kept == repo.git("hash-object", "--stdin", "--no-filters", stdin=broken)


# --- objects ------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("content", [None, b"", b"junk"])
def test_a_blob_is_stored_again_from_the_work_tree(repo: Repo, content: bytes | None) -> None:
    repo.write("new.txt", lines("new"))
    repo.git("add", "new.txt")
    file = loose(repo, repo.head(":new.txt"))
    file.unlink() if content is None else file.write_bytes(content)
    report = repo.heal(repo.fails("git", "cat-file", "-p", file.parent.name + file.name), "git/corrupt-objects")
    assert (report.outcome, report.recipe) == ("healed", "content-still-here"), report
    assert repo.passes("git", "commit", "-q", "-m", "new")


def test_a_blob_that_filters_made_is_made_by_them_again(repo: Repo) -> None:
    repo.commit("attributes", **{".gitattributes": "*.crlf text eol=crlf\n"})
    repo.write("new.crlf", b"one\r\ntwo\r\n")
    repo.git("add", "new.crlf")
    loose(repo, repo.head(":new.crlf")).unlink()
    healed(repo, repo.fails("git", "commit", "-m", "new"), "git/corrupt-objects", "content-still-here")
    assert repo.git("cat-file", "-p", "HEAD:new.crlf") == "one\ntwo"


def test_a_tree_is_made_again_of_the_index(repo: Repo) -> None:
    loose(repo, repo.head("HEAD:docs")).unlink()
    loose(repo, repo.head("HEAD^{tree}")).unlink()
    healed(repo, repo.fails("git", "ls-tree", "-r", "HEAD"), "git/corrupt-objects", "content-still-here")


def test_a_blob_whose_file_was_edited_since_is_a_persons(repo: Repo) -> None:
    oid = repo.head("HEAD:docs/guide.md")
    loose(repo, oid).unlink()
    repo.write("docs/guide.md", "edited since\n")
    assert "content" in paused(repo, repo.fails("git", "cat-file", "-p", oid), "git/corrupt-objects")


# --- the index ----------------------------------------------------------------------------------------------------------


def test_an_index_that_is_gone_is_built_again(repo: Repo) -> None:
    (repo.git_dir / "index").unlink()
    repo.write("docs/guide.md", "edited\n")
    healed(repo, repo.fails("git", "stash", "push", "docs/guide.md"), "git/unknown-revision", "unreadable-index")


def test_an_index_that_was_never_made_is_no_damage(repo: Repo, tmp_path: Path) -> None:
    repo.git("worktree", "add", "-q", "--no-checkout", str(tmp_path / "bare-tree"), "topic")
    assert probe(tmp_path / "bare-tree").index_fault == ""
