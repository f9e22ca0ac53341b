"""The reports of a run are those that it wrote."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

import pytest

from rerail.reports import Before, find

if TYPE_CHECKING:
    from pathlib import Path

FAILED = '<testsuite><testcase classname="a" name="t"><failure message="m"/></testcase></testsuite>'
PASSED = '<testsuite><testcase classname="a" name="t"/></testsuite>'


def write(path: Path, text: str) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text)


def test_what_an_earlier_run_left_is_ignored_and_said(tmp_path: Path) -> None:
    write(tmp_path / "r.xml", FAILED)
    found = find(Before.look(tmp_path, "r.xml"))
    assert found.report is None
    assert found.notes == ("r.xml: 1 left by an earlier run, ignored; this run wrote none",)


def test_a_report_that_is_missing_is_said(tmp_path: Path) -> None:
    assert find(Before.look(tmp_path, "out/*.xml")).notes == ("out/*.xml: this run wrote no report",)


def test_a_report_that_is_written_again_is_read_whatever_its_time(tmp_path: Path) -> None:
    write(tmp_path / "r.xml", PASSED)
    os.utime(tmp_path / "r.xml", ns=(10**18, 10**18))
    before = Before.look(tmp_path, "r.xml")
    (tmp_path / "new").write_text(FAILED)
    os.utime(tmp_path / "new", ns=(10**18, 10**18))
    (tmp_path / "new").rename(tmp_path / "r.xml")
    report = find(before).report
    assert report is not None
    assert report.count == 1


def test_the_fresh_ones_of_many_are_put_together(tmp_path: Path) -> None:
    write(tmp_path / "a/build/test-results/test/TEST-old.xml", FAILED)
    before = Before.look(tmp_path, "**/build/test-results/**/*.xml")
    for name in ("a/build/test-results/test/TEST-1.xml", "b/c/build/test-results/TEST-2.xml", "b/other/TEST-3.xml"):
        write(tmp_path / name, FAILED)
    report = find(before).report
    assert report is not None
    assert (report.count, report.total) == (2, 2)


def test_one_that_cannot_be_read_is_said_and_the_others_count(tmp_path: Path) -> None:
    before = Before.look(tmp_path, "*.xml")
    write(tmp_path / "a.xml", "<torn")
    write(tmp_path / "b.xml", FAILED)
    found = find(before)
    assert found.report is not None
    assert found.report.count == 1
    assert [note.partition(" is not")[0] for note in found.notes] == ["a.xml"]


def test_a_pipe_a_device_and_a_link_out_of_the_project_are_no_reports(tmp_path: Path) -> None:
    root = tmp_path / "p"
    root.mkdir()
    before = Before.look(root, "*.xml")
    os.mkfifo(root / "pipe.xml")
    (root / "dev.xml").symlink_to("/dev/zero")
    write(tmp_path / "outside.xml", FAILED)
    (root / "link.xml").symlink_to(tmp_path / "outside.xml")
    assert find(before).report is None


def test_a_huge_file_is_refused(tmp_path: Path) -> None:
    before = Before.look(tmp_path, "r.xml")
    with (tmp_path / "r.xml").open("wb") as file:
        file.truncate(64 * 1024 * 1024)
    found = find(before)
    assert found.report is None
    assert "too large" in found.notes[0].lower()


@pytest.mark.parametrize(
    ("pattern", "path", "fits"),
    [
        ("r.xml", "r.xml", True),
        ("out/*.xml", "out/a.xml", True),
        ("out/*.xml", "out/deep/a.xml", False),
        ("**/*.xml", "a.xml", True),
        ("**/*.xml", "a/b/c.xml", True),
        ("**/t/*.xml", "a/t/b.xml", True),
        ("**/t/*.xml", "a/t/b/c.xml", False),
        ("a/**/b/**/*.xml", "a/x/b/y/z.xml", True),
        ("*/r.xml", "a/r.xml", True),
        ("*/r.xml", "r.xml", False),
        ("**/*.xml", "node_modules/a.xml", False),
    ],
)
def test_a_pattern_names_files(pattern: str, path: str, fits: bool, tmp_path: Path) -> None:
    before = Before.look(tmp_path, pattern)
    write(tmp_path / path, FAILED)
    assert (find(before).report is not None) is fits
