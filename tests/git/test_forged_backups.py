"""Backups and notes that somebody else wrote: who can write to a repository can make them, and a mirror brings others' along."""

from __future__ import annotations

import json
import time
from typing import TYPE_CHECKING, Any

import pytest

from rerail.errors import GitError
from rerail.git.backup import Base, Kind, outcome_ref, state_ref
from rerail.git.backups import expire, list_backups, load
from rerail.git.journal import open_backups, open_heal
from rerail.git.outcome import blobs_now
from rerail.git.probe import probe
from rerail.git.recovery import finish_cut_heal
from rerail.git.restore import roll_back
from rerail.git.snapshot import Reach, snapshot
from rerail.git.undo import UndoRefusedError, undo
from rerail.settings import BackupSettings
from rerail.verbs.heal import backups

if TYPE_CHECKING:
    from pathlib import Path

    from tests.repositories import Repo

OLD_ID = "20200101T000000Z-abcdef"


def forge(repo: Repo, *, changed: dict[str, Any] | None = None, file: dict[str, Any] | None = None) -> str:
    """Store a backup that is whole but for what is given, as one of a heal that was cut short, and return its id."""
    content = repo.git("hash-object", "-w", "--stdin", stdin=b"forged\n")
    made = snapshot(probe(repo.path))
    table = json.loads(repo.git("show", f"{made.ref}:manifest.json"))
    repo.git("update-ref", "-d", made.ref)
    row = {"base": "work", "path": "forged", "kind": "file", "oid": content, "mode": 0o644, "mtime_ns": 0}
    table["files"].append({**row, **(file or {})})
    table |= {"id": OLD_ID, **(changed or {})}
    blob = repo.git("hash-object", "-w", "--stdin", stdin=json.dumps(table).encode())
    tree = repo.git("mktree", stdin=f"100644 blob {blob}\tmanifest.json\n".encode())
    repo.git("update-ref", state_ref(OLD_ID), repo.git("commit-tree", tree, "-m", "a backup"))
    note(repo, {"backup": OLD_ID, "recipe": "stale-lock", "moves": [], "refs": []})
    return OLD_ID


def note(repo: Repo, said: object) -> None:
    own = repo.git_dir / "rerail"
    own.mkdir(exist_ok=True)
    (own / "open-heal.json").write_text(said if isinstance(said, str) else json.dumps(said))


def test_a_backup_that_is_as_rerail_writes_it_is_taken_back(repo: Repo) -> None:
    forge(repo)
    assert "was taken back first" in finish_cut_heal(probe(repo.path))
    assert repo.read("forged") == "forged\n"


@pytest.mark.parametrize("kind", list(Kind))
def test_a_path_that_leads_out_of_the_repository_is_neither_read_nor_written(
    repo: Repo, tmp_path: Path, kind: Kind
) -> None:
    victims = [folder / "victim" for folder in (tmp_path, repo.path.parent, repo.path)]
    for victim in victims:
        victim.write_text("the operator's\n")
    oid = {} if kind is not Kind.ABSENT else {"oid": ""}
    for base in Base:
        for path in ("../../victim", "a/../../../victim", f"{tmp_path}/victim", "", ".", "nul\0byte"):
            forge(repo, file={"base": base, "path": path, "kind": kind, **oid})
            state = probe(repo.path)
            assert finish_cut_heal(state) == "", (base, path)
            assert {victim.read_text() for victim in victims} == {"the operator's\n"}, (base, path)
            assert list_backups(state.git) == ()


@pytest.mark.parametrize("kind", [Kind.FILE, Kind.LINK, Kind.ABSENT])
def test_what_lies_behind_a_link_is_neither_saved_nor_written_nor_moved(repo: Repo, tmp_path: Path, kind: Kind) -> None:
    outside = tmp_path / "outside"
    outside.mkdir()
    (outside / "secret").write_text("the operator's\n")
    (repo.path / "way").symlink_to(outside)
    secret = repo.git("hash-object", "--no-filters", str(outside / "secret"))
    forge(repo, file={"path": "way/secret", "kind": kind, **({"oid": ""} if kind is Kind.ABSENT else {})})
    finish_cut_heal(probe(repo.path))
    assert (outside / "secret").read_text() == "the operator's\n"
    assert "missing" in repo.git("cat-file", "--batch-check", stdin=f"{secret}\n".encode()), "it is no object now"


def test_a_folder_that_a_link_has_replaced_is_saved_as_git_sees_it(repo: Repo, tmp_path: Path) -> None:
    """git takes what lies behind a link for gone; a backup that follows it would hold, and put back, somebody else's file."""
    (repo.path / "docs" / "guide.md").unlink()
    (repo.path / "docs").rename(tmp_path / "docs")
    (tmp_path / "docs" / "guide.md").write_text("somebody else's\n")
    (repo.path / "docs").symlink_to(tmp_path / "docs")
    state = probe(repo.path)
    backup = snapshot(state, Reach(everything=True))
    kinds = {file.path: file.kind for file in backup.saved(Base.WORK)}
    assert (kinds["docs"], kinds["docs/guide.md"]) == (Kind.LINK, Kind.ABSENT)
    assert dict(blobs_now(state.git, state.here, backup.files))["work/docs/guide.md"] == ""
    roll_back(state.git, state.here, backup, ())
    assert (repo.path / "docs").is_symlink()
    assert (tmp_path / "docs" / "guide.md").read_text() == "somebody else's\n"


@pytest.mark.parametrize(
    "changed",
    [
        {"id": "20200101T000000Z-123456"},
        {"made_at": "yesterday"},
        {"made_at": float("nan")},
        {"made_at": 10**400},
        {"worktree": "../../elsewhere"},
        {"worktree": "/elsewhere"},
        {"files": []},
        {"files": 7},
        {"files": ["index", "HEAD"]},
        {"refs": [["one"]]},
        {"tracked": None},
        {"version": 2},
    ],
    ids=str,
)
def test_a_manifest_that_no_heal_has_written_is_a_backup_that_cannot_be_read(
    repo: Repo, changed: dict[str, Any]
) -> None:
    backup_id, git = forge(repo, changed=changed), probe(repo.path).git
    assert list_backups(git) == ()
    with pytest.raises(GitError, match="cannot be read"):
        load(git, backup_id)
    assert backups(repo.path).data["unreadable"] == [backup_id]
    assert finish_cut_heal(probe(repo.path)) == ""


@pytest.mark.parametrize(
    "row", [{"mode": 0o100000}, {"mode": "0644"}, {"mtime_ns": 2**70}, {"oid": "--batch"}, {"path": ["x"]}, {"new": 1}]
)
def test_a_saved_file_that_no_heal_has_saved_makes_the_backup_unreadable(repo: Repo, row: dict[str, Any]) -> None:
    forge(repo, file=row)
    assert list_backups(probe(repo.path).git) == ()


@pytest.mark.parametrize(
    "said",
    [
        "[" * 100_000,
        "[]",
        '"text"',
        {"backup": OLD_ID},
        {"backup": OLD_ID, "recipe": "x", "moves": [], "refs": ["../../../etc/passwd"]},
        {"backup": OLD_ID, "recipe": "x", "moves": [], "refs": [["refs/heads/main"]]},
        {"backup": OLD_ID, "recipe": "x", "moves": [{"ref": "--stdin", "old": "0" * 40, "new": "0" * 40}], "refs": []},
        {"backup": OLD_ID, "recipe": "x", "moves": [{"ref": "refs/heads/main", "old": "-d", "new": 3}], "refs": []},
        {"backup": OLD_ID, "recipe": "x", "moves": 3, "refs": []},
    ],
    ids=lambda said: str(said)[:60],
)
def test_a_note_that_no_heal_has_left_is_none(repo: Repo, said: object) -> None:
    forge(repo)
    note(repo, said)
    state = probe(repo.path)
    assert open_heal(state.here) is None
    assert finish_cut_heal(state) == ""
    assert open_backups(state.here.common_dir) in (None, frozenset({OLD_ID}))


@pytest.mark.parametrize("said", [b"", b"[]", b"[" * 100_000, b'{"recipe": 1}', b'{"moves": [{"ref": 1}]}', b"\xff"])
def test_an_outcome_that_no_heal_has_written_is_told_as_unreadable(repo: Repo, said: bytes) -> None:
    backup_id = forge(repo)
    note(repo, {})
    repo.git("update-ref", outcome_ref(backup_id), repo.git("hash-object", "-w", "--stdin", stdin=said))
    with pytest.raises(UndoRefusedError, match="cannot be read"):
        undo(backup_id, repo.path)
    rows: Any = backups(repo.path).data["backups"]
    assert [row["undo"] for row in rows] == [None]


def test_expiry_removes_nothing_that_lies_behind_a_link(repo: Repo, tmp_path: Path) -> None:
    outside = tmp_path / "outside"
    (outside / OLD_ID).mkdir(parents=True)
    (outside / OLD_ID / "work.txt").write_text("the operator's\n")
    forge(repo, changed={"made_at": 1.0})
    (repo.git_dir / "rerail" / "open-heal.json").unlink()
    (repo.git_dir / "rerail" / "aside").symlink_to(outside)
    state = probe(repo.path)
    snapshot(state)
    gone = expire(state.git, state.here, BackupSettings(age_s=86_400, count=1), now_s=time.time())
    assert gone.ids == (OLD_ID,)
    assert (outside / OLD_ID / "work.txt").read_text() == "the operator's\n"
