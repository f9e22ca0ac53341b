"""Reads reports in XML: JUnit, which nearly every test runner can write, and Checkstyle, which many linters can.

expat reads them, as events: no tree is built. A document type or an entity is refused, for no report needs one, and they are
how a small file becomes gigabytes or another file. Source: the JUnit XML of pytest, Surefire, Gradle, Jest, Vitest, CTest,
PHPUnit and gotestsum: observed; Maven Surefire: rerunFailingTestsCount; Checkstyle: XMLLogger.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING
from xml.parsers import expat

from rerail.reports.model import Check, ReportError, report_of

if TYPE_CHECKING:
    from collections.abc import Mapping

    from rerail.reports.model import Report

_MOST_DEPTH = 100
_MOST_TEXT = 20_000
_PLACE = re.compile(r"(?<![\w./\\@~+-])((?:[A-Za-z]:)?[\w./\\@~+-]{1,300}\.[A-Za-z]\w{0,9}):(\d{1,8})\b")
_NAMES_A_TYPE = re.compile(r"[\w.$:\\]{1,200}(?:Error|Exception|Failure|Failed)")
_NO_MESSAGE = re.compile(
    r"collection failure|failed on (?:setup|teardown) with|test (?:setup|teardown) failure", re.IGNORECASE
)
_ENDED = {"failure", "error"}
_RERUN = {"flakyFailure", "flakyError", "rerunFailure", "rerunError", "rerun"}


def read_xml(data: bytes) -> Report:
    """Return what a report says.

    Raises:
        ReportError: It is no XML, is none of the two, or has what a report has no use for.
    """
    reader = _Reader()
    parser = expat.ParserCreate()
    parser.buffer_text = True
    parser.StartElementHandler, parser.EndElementHandler = reader.start, reader.end
    parser.CharacterDataHandler = reader.text
    parser.StartDoctypeDeclHandler = parser.EntityDeclHandler = _refuse
    parser.ExternalEntityRefHandler = _refuse
    try:
        parser.Parse(data, True)
    except expat.ExpatError as error:
        raise ReportError(f"is not XML: {error}") from None
    return reader.report()


def _refuse(*_: object) -> int:
    raise ReportError("has a document type or an entity, which no report needs")


class _Reader:
    """Takes the events of one document."""

    def __init__(self) -> None:
        self._depth = 0
        self._root = ""
        self._checks: list[Check] = []
        self._flaky: list[Check] = []
        self._total = self._skipped = 0
        self._case: Mapping[str, str] = {}
        self._suite_file = self._file = ""
        self._ends: list[tuple[str, Mapping[str, str], str]] = []
        self._text: list[str] | None = None
        self._text_chars = 0

    def start(self, name: str, attributes: dict[str, str]) -> None:
        self._depth += 1
        if self._depth > _MOST_DEPTH:
            raise ReportError("is nested too deeply")
        self._root = self._root or name
        match name:
            case "testsuite":
                self._suite_file = attributes.get("file") or attributes.get("filepath") or ""
            case "testcase":
                self._case, self._ends = attributes, []
                self._total += 1
            case "skipped":
                self._skipped += 1
            case "file":
                self._file = attributes.get("name", "")
            case "error" if self._root == "checkstyle":
                self._checks.append(_finding(self._file, attributes))
            case _ if name in _ENDED or name in _RERUN:
                self._ends.append((name, attributes, ""))
                self._text, self._text_chars = [], 0

    def text(self, data: str) -> None:
        if self._text is not None and self._text_chars < _MOST_TEXT:
            self._text.append(data[: _MOST_TEXT - self._text_chars])
            self._text_chars += len(data)

    def end(self, name: str) -> None:
        self._depth -= 1
        if self._text is not None and self._ends and name == self._ends[-1][0]:
            kind, attributes, _ = self._ends.pop()
            self._ends.append((kind, attributes, "".join(self._text)))
            self._text = None
        if name == "testcase":
            self._finish_case()

    def _finish_case(self) -> None:
        failed = [end for end in self._ends if end[0] in _ENDED]
        again = [end for end in self._ends if end[0] in _RERUN]
        if failed:
            self._checks.append(self._check(*failed[0][1:]))
        elif again:
            self._flaky.append(self._check(*again[0][1:]))

    def _check(self, attributes: Mapping[str, str], text: str) -> Check:
        case = self._case
        class_name = case.get("classname") or case.get("class") or ""
        file, line = case.get("file") or "", case.get("line")
        place = _place(text, class_name)
        if place is not None and (not file or not line or place[0].endswith(file)):
            file, line = place
        return Check(
            name=_named(case.get("name", ""), class_name, file or self._suite_file),
            message=_message(attributes, text),
            file=file or self._suite_file,
            line=line,
            is_error=True,
        )

    def report(self) -> Report:
        if self._root == "checkstyle":
            return report_of("checkstyle", self._checks)
        if self._root not in ("testsuites", "testsuite"):
            raise ReportError(f"is no report that is known: its root is {self._root:.40}")
        return report_of("junit", self._checks, total=self._total, skipped=self._skipped, flaky=self._flaky)


def _finding(file: str, attributes: Mapping[str, str]) -> Check:
    return Check(
        name=attributes.get("source", "").rpartition(".")[2],
        message=attributes.get("message"),
        file=file,
        line=attributes.get("line"),
        column=attributes.get("column"),
        is_error=attributes.get("severity", "error") == "error",
    )


def _named(name: str, class_name: str, file: str) -> str:
    """Return a test's name, with its class where the file does not say that already: ``ShopTest.pays``, ``test_y``."""
    if not class_name or class_name in name or file.endswith(class_name):
        return name
    module = re.sub(r"\.\w+$", "", file).replace("\\", "/").replace("/", ".")
    if module and (class_name == module or module.endswith(f".{class_name}") or class_name.endswith(f".{module}")):
        return name
    inner = class_name.removeprefix(f"{module}.") if module else class_name
    return f"{inner.rpartition('.')[2] if inner == class_name else inner}.{name}"


def _message(attributes: Mapping[str, str], text: str) -> str:
    """Return what a test ended with, under the name of the error's type where the message alone does not say it."""
    message = attributes.get("message", "").strip()
    if not message or _NO_MESSAGE.match(message):
        raised = [line[1:].strip() for line in text.splitlines() if line.startswith("E  ")]
        message = raised[-1] if raised else message or text.strip()
    kind = attributes.get("type", "").strip()
    if kind and _NAMES_A_TYPE.fullmatch(kind) and not message.startswith((kind, kind.rpartition(".")[2])):
        message = f"{kind}: {message}"
    return message


def _place(text: str, class_name: str) -> tuple[str, str] | None:
    """Return the place in a test's own file where it failed, else the innermost that is named."""
    found = [(match[1], match[2]) for match in _PLACE.finditer(text)]
    path = class_name.replace(".", "/")
    simple = path.rpartition("/")[2].partition("$")[0]
    for file, line in found:
        stem = file.rpartition(".")[0].replace("\\", "/").removeprefix("./")
        if class_name and (path == stem or path.startswith(f"{stem}/") or stem.rpartition("/")[2] == simple):
            return file, line
    return found[-1] if found else None
