"""Which format a report has, and what it says."""

from __future__ import annotations

import re

from rerail.reports.json_reports import SHAPES, read_json
from rerail.reports.model import Report, ReportError
from rerail.reports.tap import read_tap
from rerail.reports.xml_reports import read_xml

_BANNER = re.compile(rb"(?:[ \t]*+\r?\n|(?:> |\$ |yarn run v)[^\n]*+\n)*+")

_XML = ("junit", "checkstyle")
FORMATS = (*_XML, *SHAPES, "tap")
"""Every format that is known."""


def read_report(data: bytes, name: str = "") -> Report:
    """Return what a report says.

    Args:
        data: The whole of it.
        name: A member of `FORMATS`; ``""`` finds out.

    Raises:
        ReportError: It cannot be read as that, or as any.
    """
    if not data.strip():
        raise ReportError("is empty")
    if name in _XML or (not name and data.lstrip(b"\xef\xbb\xbf \t\r\n").startswith(b"<")):
        return read_xml(data.lstrip())
    text = data.decode("utf-8-sig", "replace")
    if name == "tap" or (not name and _looks_like_tap(text)):
        return read_tap(text)
    return read_json(text, name)


def without_banner(data: bytes) -> bytes:
    """Return a tool's output without the lines in which a package manager says first which script it runs."""
    found = _BANNER.match(data)
    return data[found.end() :] if found else data


def is_machine_format(data: bytes) -> bool:
    """Tell, by its beginning, whether a tool's output may be a report: what people read begins with none of these."""
    start = data.lstrip(b"\xef\xbb\xbf \t\r\n")[:20]
    return start.startswith((b"<?xml", b"<test", b"<checkstyle", b"{", b"[", b"TAP version"))


def _looks_like_tap(text: str) -> bool:
    start = text.lstrip()
    return start.startswith(("TAP version", "ok ", "not ok ")) or (
        start.startswith("1..") and "\nok" in start[:200_000]
    )
