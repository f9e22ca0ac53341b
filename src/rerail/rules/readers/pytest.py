"""Reads pytest: the summary and the ``E`` lines decide; progress, test names, sources, captured output and diffs do not.

Source: pytest's `_pytest/terminal.py` and `_pytest/_code/code.py`; observed with pytest 7 to 9 and with xdist, timeout and cov.
"""

from __future__ import annotations

from rerail.light_typing import TYPE_CHECKING
from rerail.regex import compiled
from rerail.rules.readers.judged import ASSERTED, ENDED, conclude, is_judgement
from rerail.rules.readers.model import Weight
from rerail.rules.readers.traceback import names_a_type

if TYPE_CHECKING:
    from collections.abc import Sequence

    from rerail.rules.readers.model import Draft, Scene

_End = tuple[int, str]
"""A line, and what it says without the name of the test."""

_SECTION = compiled(r"^={3,} (?P<title>\S.*?) ={3,}$")
_OPENING = frozenset(
    {"test session starts", "FAILURES", "ERRORS", "PASSES", "short test summary info", "warnings summary"}
)
_TOLD = frozenset({"FAILURES", "ERRORS", "XFAILURES"})
_BLOCK = compiled(r"^_{3,} .+ _{3,}$")
_CAPTURED = compiled(r"^-{3,} (?:Captured|live) .+ -{3,}$")
_FAULT = compiled(r"^E(?: {1,40}(?P<text>\S.*)?)?$")
_SUMMARY = compiled(r"^(?:FAILED|ERROR|SUBFAIL\w{0,12}(?:\(.{0,80}\))?) (?P<test>\S+)(?: - (?P<text>.*))?$")
_ASSERTION = compiled(r"^(?:>|    ) {0,40}(?:assert\b|self\.assert\w+\()")
_PARAMETERS = compiled(r"\[.{0,400}?\](?= - |$)")
_COUNTS = compiled(r"^(?:=+ )?(?:[\w, ]{3,120}|no tests ran) in [\d.]+s?(?: \([\d:]+\))?(?: =+)?$")
_FAILING = compiled(r"\b(?:failed|errors?)\b")
_COUNTED = compiled(r"\b\d+ (?:passed|failed|errors?|skipped|deselected|xfailed|xpassed|warnings?)\b|no tests ran")
_PROGRESS = compiled(
    r"^(?:[.FEsxXpP]{1,200}(?:\s+\[\s*\d+%\])?|\S+\.py [.FEsxXpP]*\s*(?:\[\s*\d+%\])?|\[gw\d+\] .*"
    r"|\S+::\S.*|collecting .*|collected .*"
    r"|platform .* -- Python .*|rootdir: .*|plugins: .*|configfile: .*|testpaths: .*|cachedir: .*"
    r"|hypothesis profile .*|asyncio: .*"
    r"|\d+ workers? \[\d+ items?\].*|created: \d+/\d+ workers?|bringing up nodes\.\.\."
    r"|scheduling tests via .*|timeout\w*: .*)$"
)
_LOUD = compiled(
    r"^(?:worker '\w+' crashed while running|\[gw\d+\] node down: |Fatal Python error: |INTERNALERROR>"
    r"|ERROR: |Killed|Segmentation fault)"
)
_COVERAGE = compiled(r"^(?:ERROR: Coverage failure|FAIL Required test coverage)")
_INTERNAL = "INTERNALERROR>"
_SIGNS = ("= failures =", "= errors =", "test session starts", "short test summary", ".py::")


def read(drafts: Sequence[Draft], scene: Scene) -> None:
    """Read every stream that holds a report of pytest."""
    is_pytest = not scene.tools.isdisjoint({"pytest", "py.test"})
    for draft in drafts:
        if is_pytest or any(sign in draft.low for sign in _SIGNS):
            _Report(draft).read()


class _Report:
    """One report while it is read, line by line."""

    def __init__(self, draft: Draft) -> None:
        self.draft = draft
        self.section = ""
        self.captured = False
        self.counted: list[int] = []
        self.unknown: list[int] = []
        self.ends: list[_End] = []
        self.told: list[_End] = []
        self.group: list[_End] = []
        self.groups: list[list[_End]] = []

    def read(self) -> None:
        for index, line in enumerate(self.draft.bare):
            if self.draft.weights[index] is not Weight.MASKED:  # what a builder repeats is no part of the report
                self._line(index, line)
        self._end_block()
        if self.counted:
            self.draft.mask(
                *self.unknown
            )  # the run came to its end, so what its tests printed is no failure of the run
        self._conclude()

    def _line(self, index: int, line: str) -> None:
        draft = self.draft
        header = _SECTION.match(line)
        if _COUNTS.match(line) and _COUNTED.search(line):
            self._end_block()
            self.counted.append(index)
            self.section = ""
        elif header and (header["title"] in _OPENING or self.section):
            self._end_block()
            self.section = header["title"]
            draft.mask(index)
        elif _COVERAGE.match(line):
            draft.mark(Weight.DECIDING, index)
        elif self._is_summary(index, line):
            pass
        elif _LOUD.match(line) and not self.captured:
            draft.mark(Weight.ERROR if line.startswith(("ERROR: ", "INTERNAL")) else Weight.DECIDING, index)
            if line.startswith(_INTERNAL):
                draft.shown_as(index, line.removeprefix(_INTERNAL).strip() or _INTERNAL)
        elif self.section in _TOLD or line.startswith("E  "):
            self._told(index, line)
        elif self.section == "test session starts" and not _PROGRESS.match(line):
            self.unknown.append(index)
        elif self.section or _PROGRESS.match(line):
            draft.mask(index)

    def _is_summary(self, index: int, line: str) -> bool:
        if not line.startswith(("FAILED ", "ERROR ", "SUBFAIL")):
            return False
        found = _SUMMARY.match(_PARAMETERS.sub("", line) if "]" in line else line)
        if not found or not (".py" in found["test"] or self.section == "short test summary info"):
            return False
        self.told.append((index, found["text"] or ""))
        return True

    def _told(self, index: int, line: str) -> None:
        """Read a line of the part that tells of failing tests one by one."""
        if _BLOCK.match(line):
            self._end_block()
        elif _CAPTURED.match(line):
            self.captured = True
        fault = None if self.captured else _FAULT.match(line)
        if fault:
            self.group.append((index, fault["text"] or ""))
            return
        self._end_group()
        self.draft.mask(index)

    def _end_group(self) -> None:
        if self.group:
            self.groups.append(self.group)
            self.group = []

    def _end_block(self) -> None:
        """A test ended with the last error of its chain; where that came from elsewhere, those before it may be its cause."""
        self._end_group()
        groups, self.groups, self.captured = self.groups, [], False
        if not groups:
            return
        last = _head(groups[-1])
        if is_judgement(last[1]):
            self.ends.append(last)
            self._show_end(last[0])
            self._show_assertion(groups[-1][0][0] - 1)
        else:
            self.ends += [_head(group) for group in groups]
            for group in groups:
                self.draft.mark(Weight.DECIDING, *(index for index, text in group if text))
        self.draft.mask(*(index for group in groups for index, _ in group if index != last[0]))

    def _show_end(self, index: int) -> None:
        """Let what the test ended with be cited in full: the summary cuts it short."""
        self.draft.mark(Weight.DECIDING, index)
        self.draft.shown_as(index, "judged")
        self.draft.fact("code", ENDED, index)

    def _show_assertion(self, index: int) -> None:
        """Let the assertion itself be cited: the line of source above what pytest made of it."""
        if index >= 0 and _ASSERTION.match(self.draft.bare[index]):
            self.draft.mark(Weight.DECIDING, index)
            self.draft.shown_as(index, "assert")
            self.draft.fact("code", ASSERTED, index)

    def _conclude(self) -> None:
        failing = [index for index in self.counted if _FAILING.search(self.draft.bare[index])]
        for index, text in self.told:
            if (not text and self.ends) or (text.endswith("...") and not is_judgement(text)):
                self.draft.mask(index)  # the E lines say it whole
            else:
                self.ends.append((index, text))
        told = frozenset(self.told)
        if any(end in told and is_judgement(end[1]) for end in self.ends):
            # The summary names the test beside what it ended with: that line is what somebody who must mend it needs first.
            shown = [end for end in self.ends if end in told or not is_judgement(end[1])]
            places = frozenset(index for index, _ in shown)
            self.draft.mask(*(index for index, _ in self.ends if index not in places))
            self.ends = shown
        if self.ends or failing:
            conclude(self.draft, self.ends, failing)
        self.draft.mark(Weight.PLAIN, *self.counted)


def _head(group: list[_End]) -> _End:
    """Return the line of an error that names it: its first, unless a place in the source comes first."""
    first = group[0]
    if names_a_type(first[1]) or is_judgement(first[1]):
        return first
    return next((end for end in reversed(group) if names_a_type(end[1])), first)
