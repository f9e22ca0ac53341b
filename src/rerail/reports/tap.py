"""Reads the Test Anything Protocol, which node:test, bats, Perl and many others speak. Source: TAP 14; node:test: observed."""

from __future__ import annotations

import re

from rerail.reports.model import Check, Report, ReportError, report_of

_POINT = re.compile(r"( *)(not )?ok\b(?: +\d{1,9})?(?: *- *| +)?(.*)")
_DIRECTIVE = re.compile(r"#\s*(?:skip|todo)\b", re.IGNORECASE)
_DETAIL = re.compile(r" *(error|message|location|file|line): *[|>]?-? *(.*)")
_LOCATION = re.compile(r"(.+?):(\d{1,8})(?::\d{1,8})?")


def read_tap(text: str) -> Report:
    """Return what a report says.

    Raises:
        ReportError: It is no TAP.
    """
    failed: list[tuple[str, dict[str, str]]] = []
    below: dict[int, bool] = {}  # how deep the points since the last outer one stood, and whether one of them failed
    total = skipped = 0
    details: dict[str, str] = {}
    for line in text.splitlines():
        found = _POINT.fullmatch(line)
        if found is None:
            if said := _DETAIL.fullmatch(line):
                details.setdefault(said[1], said[2].strip().strip("'\""))
            continue
        details = {}
        depth, is_failed = len(found[1]), bool(found[2])
        inner = [was_failed for at, was_failed in below.items() if at > depth]
        below = {at: was_failed for at, was_failed in below.items() if at <= depth}
        below[depth] = below.get(depth, False) or is_failed
        total += not inner  # the point of a test with subtests only sums them up
        if _DIRECTIVE.search(found[3]):
            skipped += 1
        elif is_failed and not any(inner):
            failed.append((found[3].strip(), details))
    if not below:
        raise ReportError("is no TAP: it has no test point")
    return report_of("tap", (_check(name, said) for name, said in failed), total=total, skipped=skipped)


def _check(name: str, details: dict[str, str]) -> Check:
    at = _LOCATION.fullmatch(details.get("location", ""))
    file, line = (at[1], at[2]) if at else (details.get("file", ""), details.get("line"))
    return Check(name, details.get("error") or details.get("message"), file, line, is_error=True)
