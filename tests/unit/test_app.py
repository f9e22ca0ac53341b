"""A loop is told at once where it cannot work, and touches nothing before something fails."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from rerail import LedgerError, Loop, UsageError


def places(directory: Path) -> dict[str, Path]:
    file = directory / "file"
    file.write_text("")
    return {
        "below a file": file / "ledger.sqlite3",
        "below a device": Path("/dev/null/ledger.sqlite3"),
        "in the kernel's own": Path("/proc/rerail/ledger.sqlite3"),
        "a directory": directory,
        "something else's": file,
    }


PLACES = ["below a file", "below a device", "in the kernel's own", "a directory", "something else's"]


@pytest.mark.parametrize("place", PLACES)
def test_a_ledger_that_cannot_be_used_is_told_before_the_unit_runs(place: str, tmp_path: Path) -> None:
    ran: list[bool] = []
    with pytest.raises(LedgerError):
        Loop(ledger=places(tmp_path)[place]).run("unit", lambda: ran.append(True))
    assert ran == []


def test_the_operators_choice_of_a_ledger_is_held_to_the_same(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    monkeypatch.setenv("RERAIL_LEDGER", str(tmp_path / "file" / "ledger.sqlite3"))
    with pytest.raises(LedgerError):
        Loop()


@pytest.mark.skipif(os.geteuid() == 0, reason="root may write anywhere")
def test_a_directory_that_may_not_be_written_is_told(tmp_path: Path) -> None:
    tmp_path.chmod(0o500)
    with pytest.raises(LedgerError):
        Loop(ledger=tmp_path / "ledger.sqlite3")


def test_a_ledger_that_is_not_there_yet_costs_no_write(tmp_path: Path) -> None:
    before = tmp_path.stat().st_mtime_ns
    assert Loop(ledger=tmp_path / "state" / "ledger.sqlite3").run("unit", lambda: "value").unwrap() == "value"
    assert list(tmp_path.iterdir()) == []
    assert tmp_path.stat().st_mtime_ns == before


@pytest.mark.parametrize("name", ["missing", "file"])
def test_a_root_that_is_no_directory_is_told_at_once(name: str, tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    for root in (tmp_path / name, str(tmp_path / name)):
        with pytest.raises(UsageError, match=f"the root must be a directory that exists, got .*{name}"):
            Loop(root, ledger="memory")


def test_a_working_directory_that_is_gone_is_told_and_a_root_elsewhere_works(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    for name in ("gone", "root"):
        (tmp_path / name).mkdir()
    monkeypatch.chdir(tmp_path / "gone")
    (tmp_path / "gone").rmdir()
    with pytest.raises(UsageError, match="the working directory no longer exists"):
        Loop(ledger="memory")
    loop = Loop(root=tmp_path / "root", ledger="memory")
    assert loop.run_command("u", ["true"]).unwrap().cwd == str(tmp_path / "root")
