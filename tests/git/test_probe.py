"""One look at a repository: right in every kind of worktree, and without leaving a trace."""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from tests.repositories import Repo, lines, lived_in, new_repo, photograph

from rerail.git.operation import OperationKind
from rerail.git.place import Kind, NoPlace, Place, locate
from rerail.git.probe import probe
from rerail.git.state import HeadCondition

if TYPE_CHECKING:
    from collections.abc import Callable


def conflict(repo: Repo) -> None:
    repo.git("checkout", "-q", "topic")
    repo.commit("theirs", src__app_dot_py=lines("theirs"))
    repo.git("checkout", "-q", "main")
    repo.commit("ours", src__app_dot_py=lines("ours"))


def test_what_git_would_rewrite_by_looking_stays_as_it_is(repo: Repo) -> None:
    """A plain ``git status`` refreshes the index that it looks at."""
    repo.write("src/app.py", repo.read("src/app.py"))
    before = photograph(repo.path, objects=True)
    stamp = (repo.git_dir / "index").stat().st_mtime_ns
    probe(repo.path)
    assert photograph(repo.path, objects=True) == before
    assert (repo.git_dir / "index").stat().st_mtime_ns == stamp


def test_changes_are_told_apart_by_where_they_are(repo: Repo) -> None:
    repo.write("src/app.py", "staged\n")
    repo.git("add", "src/app.py")
    repo.write("src/util.py", "edited\n")
    repo.write("new file ü.txt", "new\n")
    repo.git("add", "-N", "new file ü.txt")
    state = probe(repo.path)
    assert {change.path: change.staged + change.unstaged for change in state.changes} == {
        "src/app.py": "M.",
        "src/util.py": ".M",
        "new file ü.txt": ".A",
    }
    assert state.untracked == ("notes.txt",)
    assert (state.head.branch, state.head.oid) == ("refs/heads/main", repo.head())


def test_a_linked_worktree_a_submodule_and_a_bare_repository_are_found(repo: Repo, tmp_path: Path) -> None:
    repo.git("worktree", "add", "-q", str(tmp_path / "linked"), "topic")
    linked = probe(tmp_path / "linked" / "src")
    assert linked.here.is_linked
    assert (linked.here.root, linked.here.common_dir) == (tmp_path / "linked", repo.git_dir)
    assert linked.elsewhere("refs/heads/main") is not None
    library = new_repo(tmp_path / "library")
    library.commit("lib", lib_dot_c="x\n")
    repo.git("submodule", "--quiet", "add", str(library.path), "vendor/lib")
    sub = probe(repo.path / "vendor" / "lib")
    assert (sub.here.kind, sub.here.root) == (Kind.FILE, repo.path / "vendor" / "lib")
    assert probe(repo.path).submodules == ("vendor/lib",)
    repo.git("clone", "-q", "--bare", ".", str(tmp_path / "bare.git"))
    bare = probe(tmp_path / "bare.git")
    assert (bare.here.kind, bare.here.root, bare.trouble) == (Kind.BARE, None, None)


def _merge(repo: Repo) -> None:
    conflict(repo)
    repo.git("merge", "topic", check=False)


def _rebase(repo: Repo) -> None:
    conflict(repo)
    repo.git("rebase", "topic", check=False)


def _rebase_by_patches(repo: Repo) -> None:
    conflict(repo)
    repo.git("rebase", "--apply", "topic", check=False)


def _pick(repo: Repo) -> None:
    conflict(repo)
    repo.git("cherry-pick", "topic", check=False)


def _revert(repo: Repo) -> None:
    repo.commit("one", src__app_dot_py=lines("one"))
    repo.commit("two", src__app_dot_py=lines("two"))
    repo.git("revert", "--no-edit", "HEAD~1", check=False)


def _am(repo: Repo) -> None:
    conflict(repo)
    patch = repo.git("format-patch", "-1", "--stdout", "topic") + "\n"
    repo.git("am", stdin=patch.encode(), check=False)


def _bisect(repo: Repo) -> None:
    repo.git("bisect", "start", "HEAD", "HEAD~1")


@pytest.mark.parametrize(
    ("begin", "kind"),
    [
        (_merge, OperationKind.MERGE),
        (_rebase, OperationKind.REBASE),
        (_rebase_by_patches, OperationKind.REBASE),
        (_pick, OperationKind.CHERRY_PICK),
        (_revert, OperationKind.REVERT),
        (_am, OperationKind.AM),
        (_bisect, OperationKind.BISECT),
    ],
)
def test_an_operation_in_progress_is_named(repo: Repo, begin: Callable[[Repo], None], kind: OperationKind) -> None:
    assert probe(repo.path).operation is None
    begin(repo)
    operation = probe(repo.path).operation
    assert operation is not None
    assert (operation.kind, operation.is_whole) == (kind, True)


@pytest.mark.parametrize(
    ("content", "condition"),
    [
        ("ref: refs/heads/main", HeadCondition.BORN),
        ("ref: refs/heads/unborn", HeadCondition.UNBORN),
        ("", HeadCondition.GARBAGE),
        ("ref: ", HeadCondition.GARBAGE),
        ("main", HeadCondition.GARBAGE),
        ("f" * 40, HeadCondition.COMMIT_MISSING),
    ],
)
def test_head_is_told_by_what_it_leads_to(repo: Repo, content: str, condition: HeadCondition) -> None:
    (repo.git_dir / "HEAD").write_text(content)
    state = probe(repo.path)
    assert (state.trouble, state.head.condition) == (None, condition)


def test_an_empty_ref_is_broken_and_a_new_branch_is_not(repo: Repo) -> None:
    (repo.git_dir / "refs" / "heads" / "main").write_bytes(b"")
    assert probe(repo.path).head.condition is HeadCondition.REF_BROKEN
    assert probe(new_repo(repo.path.parent / "fresh").path).head.condition is HeadCondition.UNBORN


def test_behind_a_broken_head_git_still_sees_objects_and_refs(repo: Repo) -> None:
    tip = repo.head()
    (repo.git_dir / "HEAD").write_bytes(b"\0" * 41)
    state = probe(repo.path)
    assert state.git.line("rev-parse", "refs/heads/main") == tip
    assert "src/app.py" in state.git("ls-files", "-z").records()


@pytest.mark.parametrize("data", [b"", b"junk" * 100, None])
def test_an_index_that_was_cut_or_overwritten_is_found_out(repo: Repo, data: bytes | None) -> None:
    index = repo.git_dir / "index"
    index.write_bytes(index.read_bytes()[:-30] + b"\1" * 30 if data is None else data)
    state = probe(repo.path)
    assert state.index_fault
    assert state.index == ()


@pytest.mark.parametrize("algorithm", ["sha1", "sha256"])
def test_an_index_of_either_hash_is_sound(tmp_path: Path, algorithm: str) -> None:
    repo = Repo(tmp_path / algorithm)
    repo.path.mkdir()
    repo.git("init", "-q", f"--object-format={algorithm}")
    repo.commit("one", file_dot_txt="x\n")
    assert probe(repo.path).index_fault == ""


def test_a_config_that_does_not_parse_is_the_operators_and_no_crash(repo: Repo) -> None:
    with (repo.git_dir / "config").open("a") as file:
        file.write("[core\n")
    trouble = probe(repo.path).trouble
    assert trouble is not None
    assert (trouble.class_, trouble.reason) == ("environment", "missing-config")


@pytest.mark.parametrize("name", ["plain", "with space", "ünïcode", "quote'\"s", "new\nline", "-dash"])
def test_a_repository_is_found_whatever_its_path(tmp_path: Path, name: str) -> None:
    repo = lived_in(tmp_path / name)
    place = locate(repo.path / "src")
    assert isinstance(place, Place)
    assert place.root == repo.path
    state = probe(repo.path / "src")
    if "\n" not in name:
        assert (state.trouble, state.head.oid) == (None, repo.head())
    else:
        assert state.trouble is not None, "git's answer cannot be told apart by lines, so nothing is assumed"


def test_the_search_stops_at_a_ceiling_and_at_a_broken_git_dir(
    repo: Repo, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (repo.path / "inner" / ".git").mkdir(parents=True)
    inner = locate(repo.path / "inner")
    assert isinstance(inner, NoPlace)
    assert inner.reason == "missing-git-dir"
    monkeypatch.setenv("GIT_CEILING_DIRECTORIES", str(repo.path))
    below = locate(repo.path / "src")
    assert isinstance(below, NoPlace)
    assert below.reason == "not-a-repository"


def test_variables_that_point_elsewhere_are_not_followed(
    repo: Repo, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    other = lived_in(tmp_path / "other")
    other.commit("another", x_dot_txt="x\n")
    for name, value in {
        "GIT_DIR": str(other.git_dir),
        "GIT_WORK_TREE": str(other.path),
        "GIT_INDEX_FILE": str(other.git_dir / "index"),
        "GIT_OBJECT_DIRECTORY": str(other.git_dir / "objects"),
    }.items():
        monkeypatch.setenv(name, value)
    state = probe(repo.path)
    assert state.here.root == repo.path
    assert "x.txt" not in {entry.path for entry in state.index}


def test_configuration_by_environment_stays(repo: Repo, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("GIT_CONFIG_COUNT", "1")
    monkeypatch.setenv("GIT_CONFIG_KEY_0", "rerail.test")
    monkeypatch.setenv("GIT_CONFIG_VALUE_0", "kept")
    monkeypatch.setenv("GIT_CONFIG_PARAMETERS", "'rerail.leak'='from one command only'")
    state = probe(repo.path)
    assert state.setting("rerail.test") == "kept"
    assert state.setting("rerail.leak") is None


def test_a_message_in_another_language_changes_nothing(repo: Repo, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("LC_ALL", "de_DE.UTF-8")
    monkeypatch.setenv("LANGUAGE", "de")
    (repo.git_dir / "HEAD").write_bytes(b"")
    assert probe(repo.path).head.condition is HeadCondition.GARBAGE


def test_a_place_knows_no_more_than_files_say(tmp_path: Path) -> None:
    assert isinstance(locate(tmp_path / "gone"), NoPlace)
    (tmp_path / "loop").symlink_to(tmp_path / "loop")
    assert isinstance(locate(tmp_path / "loop"), NoPlace)
    assert isinstance(locate(Path(os.devnull)), NoPlace)
