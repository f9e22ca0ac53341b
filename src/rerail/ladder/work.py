"""A phase as the work under recovery: its command, what its report says, and whether a pass may be believed.

A report is read beside what the tool printed, and goes before it. An exit status of 0 is believed unless the report names tests,
or errors by the tool's own word, that failed. A pass contradicts a failure that judged the same input before: one of the two is
chance, so it is named ``verification/flaky`` and a person looks, instead of counting as a success.
"""

from __future__ import annotations

import os
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING, Any

import attrs

from rerail.evidence import notes
from rerail.evidence.clip import clip_stream
from rerail.evidence.model import Evidence, Source, StreamName
from rerail.ladder.model import REPORT
from rerail.reports import Before, Report, find, read_report
from rerail.reports.model import ReportError
from rerail.reports.read import is_machine_format, without_banner
from rerail.runner.command import CommandWork, evidence_of_finished
from rerail.taxonomy import FailureClass

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from rerail.decisions.effects import FailureRecord, Tried
    from rerail.ladder.model import Runs
    from rerail.process import Finished

STDOUT = "-"
"""Where a report is that the command writes to its stdout."""

FLAKY = "flaky"
"""The reason of a pass that contradicts an earlier failure."""

_JUDGES_INPUT = frozenset({FailureClass.VERIFICATION, FailureClass.TOOL_SCHEMA, FailureClass.UNCLASSIFIED})
"""Classes of failures that speak about the input, or are unexplained. The others name a cause outside that can have gone: a
provider that is back, a package that is installed."""

_LAST_TOOL_CODE = 125
"""Beyond it a shell tells of commands that could not be run and of signals: a report is then cut off, whatever it says."""


@attrs.frozen
class Judged:
    """What an attempt of a phase was judged by."""

    report: Report | None = None
    notes: tuple[str, ...] = ()
    """What was ignored, and why; for people."""
    flaky: tuple[str, ...] = ()
    """The checks that failed and passed on the same input."""


class PhaseWork(CommandWork):
    """A phase that is a command.

    Args:
        phase: Which.
        root: The project's root.
        past: Returns the unit's last named failure since it last succeeded; None where there is none.
        **more: As for `CommandWork`.
    """

    def __init__(self, phase: Runs, root: Path, past: Callable[[], FailureRecord | None], **more: Any) -> None:
        super().__init__(argv=phase.command, cwd=str(root / phase.cwd), timeout_s=phase.timeout_s, **more)
        self.judged = Judged()
        """Of the last attempt."""
        self._phase, self._root, self._past = phase, root, past
        self._scratch: Path | None = None
        self._before: Before | None = None
        self._input_before = ""

    def attempt(self) -> Tried:
        """Run the command once, and read what it reports."""
        try:
            return self._attempt()
        except OSError as error:
            return self.raised(error)  # there is no room for a report, or no place: a failure like any other

    def _attempt(self) -> Tried:
        with tempfile.TemporaryDirectory(prefix="rerail-", ignore_cleanup_errors=True) as scratch:
            self._scratch = Path(scratch, "report")
            pattern = self._report_pattern()
            self._before = Before.look(self._root, pattern) if pattern else None
            self._input_before = self.input_id() if self._failed_before() is not None else ""
            self.judged = Judged()
            return super().attempt()

    def _started_as(self) -> tuple[str, ...]:
        return tuple(word.replace(REPORT, str(self._scratch)) for word in self._phase.command)

    def _report_pattern(self) -> str:
        """Return where a report will be: as the settings or the toolchain say, or the command's own words."""
        phase = self._phase
        stated = phase.report or (REPORT if any(REPORT in word for word in phase.command) else "")
        if stated == REPORT:
            return str(self._scratch)
        return "" if stated == STDOUT else stated or _junit_path(phase)

    def _judged(self, finished: Finished) -> Tried:
        report, ignored = self._report(finished)
        if report is not None:
            report = report.below((str(self._root), os.path.realpath(self._root)))
        self.judged = Judged(report, ignored)
        if finished.exit_code == 0:
            if report is not None and report.contradicts_success:
                return self._rejected(finished, report)
            if contradicted := self._contradicted(report):
                self.judged = attrs.evolve(self.judged, flaky=contradicted)
                head = "flaky: passed with no change of input since it failed"
                return self._failed(self._noted(_with_report(evidence_of_finished(finished), (head, *contradicted))))
            return super()._judged(finished)
        is_whole = finished.exit_code is not None and finished.exit_code <= _LAST_TOOL_CODE and not finished.timed_out
        if is_whole and report is not None and report.failed:
            return self._rejected(finished, report)
        return self._failed(self._noted(evidence_of_finished(finished)))

    def _rejected(self, finished: Finished, report: Report) -> Tried:
        evidence = evidence_of_finished(finished)
        if self._before is None:  # stdout was the report: the same would be read twice
            evidence = evidence._replace(streams=tuple(s for s in evidence.streams if s.name != StreamName.STDOUT))
        return self._failed(self._noted(_with_report(evidence, tuple(report.lines(self._phase.name)))))

    def _noted(self, evidence: Evidence) -> Evidence:
        """Bind the evidence to the input that it judges."""
        return evidence._replace(notes=(*evidence.notes, f"{notes.INPUT}: {self.input_id()}"))

    def _report(self, finished: Finished) -> tuple[Report | None, tuple[str, ...]]:
        """Return what this attempt reported, and what was ignored."""
        name = self._phase.report_format
        if self._before is not None:
            if self._before.pattern == str(self._scratch) and not Path(self._before.pattern).exists():
                return None, ("the command wrote no report",) if finished.exit_code == 0 else ()
            found = find(self._before, name)
            return found.report, found.notes
        is_asked = self._phase.report == STDOUT
        stdout = finished.stdout
        content = without_banner(stdout.head + stdout.tail)
        if not is_asked and not is_machine_format(content):
            return None, ()
        if stdout.dropped_bytes:
            return None, ("stdout is too long to be read as a report",)
        if not content.strip() and finished.exit_code == 0:
            return None, ()  # a tool that found nothing and says nothing
        try:
            return read_report(content, name), ()
        except ReportError as error:
            return None, (f"stdout {error}",) if is_asked else ()

    def _failed_before(self) -> FailureRecord | None:
        """Return the failure that a pass would contradict, if its input were the same."""
        record = self.history[-1] if self.history else self._past()
        if record is None or record.classification.class_ not in _JUDGES_INPUT:
            return None
        # Whoever let it run again after a flaky pass has looked at it.
        return None if record.classification.reason == FLAKY else record

    def _contradicted(self, report: Report | None) -> tuple[str, ...]:
        """Return the checks that failed on this very input before, or in this run before the tool ran them again."""
        if report is not None and report.flaky and not self._has_approved_flakiness():
            return tuple(check.text for check in report.flaky)
        record = self._failed_before()
        if record is None or f"{notes.INPUT}: {self._input_before}" not in record.evidence.notes:
            return ()
        return tuple(_failed_checks(record)) or (record.classification.summary or "it failed",)

    def _has_approved_flakiness(self) -> bool:
        record = self.history[-1] if self.history else self._past()
        return record is not None and record.classification.reason == FLAKY


def _junit_path(phase: Runs) -> str:
    """Return where the command's own words say that a JUnit report goes, relative to the project's root."""
    words = phase.command
    for at, word in enumerate(words):
        option, _, path = word.partition("=")
        if option in ("--junit-xml", "--junitxml", "--log-junit", "--output-junit", "--junitfile"):
            path = path or (words[at + 1] if at + 1 < len(words) else "")
            inside = Path(phase.cwd, path)
            return "" if not path or inside.is_absolute() or ".." in inside.parts else str(inside)
    return ""


def _with_report(evidence: Evidence, lines: tuple[str, ...]) -> Evidence:
    report = clip_stream(StreamName.REPORT, "\n".join(lines))
    return evidence._replace(source=Source.PROCESS, streams=(report, *evidence.streams))


def _failed_checks(record: FailureRecord) -> Iterator[str]:
    """Yield the checks that a failure names: its report's, else the lines that decided."""
    report = record.evidence.stream(StreamName.REPORT)
    if report is not None:
        yield from (text for number, text in report.lines() if number > 1)
    else:
        yield from (cited.text for cited in record.classification.evidence)
