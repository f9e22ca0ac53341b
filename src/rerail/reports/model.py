"""What a report says: which checks failed, and how many there were. Values only."""

from __future__ import annotations

from typing import TYPE_CHECKING

import attrs

from rerail.evidence.ansi import strip
from rerail.evidence.redact import redact

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

MOST_CHECKS = 2_000
"""Failed checks that are kept of one report; the rest are counted."""
_TEXT_CHARS = 500


class ReportError(Exception):
    """A report that cannot be read as what it should be. What the tool printed speaks for it then."""


def _text(value: object) -> str:
    """Return the first line that says anything, at a length that a person reads, without escape codes and secrets."""
    if value is None:
        return ""
    lines = (line.strip() for line in strip(str(value)[: 20 * _TEXT_CHARS]).splitlines())
    first = next(filter(None, lines), "")
    # Redacted before it is cut to length, for half a secret is not known as one; and not at full length, which takes its time.
    return redact(first[: 2 * _TEXT_CHARS])[:_TEXT_CHARS]


def _number(value: object) -> int | None:
    """Return a line or column; reports write them as numbers or as text, and 0 or less for unknown."""
    if isinstance(value, str):
        value = int(value) if value.isascii() and value.isdecimal() and len(value) < 10 else None
    return value if isinstance(value, int) and not isinstance(value, bool) and 0 < value < 10**9 else None


@attrs.frozen
class Check:
    """One check that failed: a test, or a finding at a place."""

    name: str = attrs.field(converter=_text)
    """The test's name, or the code of the rule that objects."""
    message: str = attrs.field(converter=_text)
    file: str = attrs.field(default="", converter=_text)
    line: int | None = attrs.field(default=None, converter=_number)
    """Counted from 1."""
    column: int | None = attrs.field(default=None, converter=_number)
    is_error: bool | None = None
    """Whether the tool calls it one; None where it has no such word."""

    @property
    def text(self) -> str:
        """The check in a line: ``tests/test_x.py:12 test_y: assert 1 == 2``."""
        numbers = [str(each) for each in (self.line, self.column) if each is not None]
        place = ":".join([self.file, *numbers]) if self.file else ""
        # What follows the first ": " is the message, for whoever reads the line again.
        head = " ".join(filter(None, (place, self.name))).replace(": ", " - ") or "a check"
        return f"{head}: {self.message or 'failed'}"


@attrs.frozen
class Report:
    """One report, or several of one run put together."""

    format: str
    failed: tuple[Check, ...] = ()
    total: int | None = None
    """How many checks there were; None where only findings are reported."""
    skipped: int = 0
    flaky: tuple[Check, ...] = ()
    """Checks of which the tool itself says that they failed first, and passed when they were run again."""
    warnings: int = 0
    """Findings that the tool itself does not call errors."""
    dropped: int = 0
    """Failed checks beyond `MOST_CHECKS`."""

    @property
    def count(self) -> int:
        """How many checks failed."""
        return len(self.failed) + self.dropped

    @property
    def contradicts_success(self) -> bool:
        """Whether it names failures that an exit status of 0 does not explain: tests, or what the tool itself calls errors."""
        return any(check.is_error for check in self.failed)

    def below(self, roots: Iterable[str]) -> Report:
        """Return the same report with its files named from a project's root, as far as they lie there.

        Args:
            roots: The root, by each of its names.
        """
        prefixes = tuple(f"{root.rstrip('/')}/" for root in roots)

        def named(check: Check) -> Check:
            found = next((prefix for prefix in prefixes if check.file.startswith(prefix)), "")
            return attrs.evolve(check, file=check.file[len(found) :]) if found else check

        return attrs.evolve(self, failed=tuple(map(named, self.failed)), flaky=tuple(map(named, self.flaky)))

    def lines(self, kind: str) -> Iterator[str]:
        """Yield the report as evidence has it; see `rerail.rules.readers.reports`."""
        of_all = "" if self.total is None else f" of {self.total}"
        yield f"{kind}: {self.count}{of_all} failed"
        yield from (check.text for check in self.failed)


def report_of(
    name: str,
    checks: Iterable[Check],
    *,
    total: int | None = None,
    skipped: int = 0,
    flaky: Iterable[Check] = (),
) -> Report:
    """Return a report of what a tool found; what it does not call an error fails nothing, and is counted."""
    failed: list[Check] = []
    dropped = warnings = 0
    for check in checks:
        if check.is_error is False:
            warnings += 1
        elif len(failed) < MOST_CHECKS:
            failed.append(check)
        else:
            dropped += 1
    return Report(name, tuple(failed), total, skipped, tuple(flaky)[:MOST_CHECKS], warnings, dropped)


def joined(reports: Iterable[Report]) -> Report | None:
    """Return the reports of one run as one; None where there is none."""
    found = list(reports)
    if not found:
        return None
    checks = [check for each in found for check in each.failed]
    totals = [each.total for each in found if each.total is not None]
    return Report(
        ", ".join(dict.fromkeys(each.format for each in found)),
        tuple(checks[:MOST_CHECKS]),
        sum(totals) if totals else None,
        sum(each.skipped for each in found),
        tuple(check for each in found for check in each.flaky)[:MOST_CHECKS],
        sum(each.warnings for each in found),
        sum(each.dropped for each in found) + len(checks[MOST_CHECKS:]),
    )
