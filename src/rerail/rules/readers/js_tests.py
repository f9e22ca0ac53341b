"""Reads the reports of JavaScript test runners: Jest, Vitest, Mocha, AVA, node:test, Jasmine, Playwright, Cypress, Bun, Deno.

A failing test has a head with its name, then what it ended with, then a diff, quoted source and a stack. Only what it ended with
can decide, and what was compared stays hidden. Source: the runners' own reporters; observed.
"""

from __future__ import annotations

from rerail.light_typing import TYPE_CHECKING
from rerail.regex import compiled
from rerail.rules.readers.judged import conclude

if TYPE_CHECKING:
    from collections.abc import Sequence

    from rerail.rules.readers.model import Draft, Scene

_HEAD = compiled(
    r"^(?:(?:Headless)?(?:Chrome|Firefox|Safari|Edge|jsdom)\b.* FAILED$|\s*+● (?!Console)\S.*"
    r"|\s*+FAIL {1,2}\S.*|\s{0,8}\d{1,4}\) \S.*|\s*+✘ \[fail\]: .*|\s*+✖ \S.*"
    r"|\s*+\u00d7 \S.*|\s*+not ok \d+.*|\(fail\) .*|\s*+\u276f \S+\.\w+ {1,2}(?:> \S|\(\d+ tests?).*"
    r"|\S.* => \./\S+:\d+:\d+|\S.* \.\.\. .*(?:ok|FAILED|ignored) \(\d+m?s\))$"
)
_LAST = compiled(
    r"^\s*+(?:TOTAL: [1-9]\d{0,6} FAILED.*|.*Executed \d+ of \d+ \([1-9]\d{0,6} FAILED\).*"
    r"|Test Suites:.*\bfailed\b.*|Tests:.*\bfailed\b.*|(?:Test Files|Tests) {1,2}\d+ failed.*"
    r"|[1-9]\d{0,6} failing|[1-9]\d{0,6} failed"
    r"|(?:\u2139|#) fail [1-9]\d{0,6}|[1-9]\d{0,6} tests? failed|\d+ specs?, [1-9]\d{0,6} failures?.*"
    r"|[1-9]\d{0,6} fail|FAILED \| .*|✖ [1-9]\d{0,6} .*failed.*"
    r"|\u203a [1-9]\d{0,6} snapshots? failed\..*|.*[1-9]\d{0,6} tests? failed\b.*|Snapshots?: .*failed.*)$"
)
_END = compiled(
    r"^\s*+(?:(?:\w+ )?(?:[A-Z]\w*)?(?:Error|Exception|Failure)\b(?: \[\w+\])?(?::.*|$)|Error: .*"
    r"|expect\(.*|thrown: .*|Expected .{0,200} to .*"
    r"|Cannot find (?:module|package) .*|Your test suite must .*|Test timed out .*|Timeout of .*"
    r"|Jest encountered an unexpected token.*"
    r"|A jest worker process .*|.{0,40}terminated by another process.*|Failed to resolve import .*"
    r"|\u2192 \S.*|browserType\.launch: .*|Caused by: .*|\[cause\]: .*|Cause:)$"
)
_CONSOLE = compiled(r"^\s{0,4}(?:console\.(?:log|error|warn|info|debug)\b.*|(?:stdout|stderr) \| .*)$")
_STACK = compiled(r"^\s+at \S|^\s*\u276f \S")


def read(drafts: Sequence[Draft], scene: Scene) -> None:
    """Read the streams of a run that says that tests failed; what its tests printed to the console is hidden in all of them."""
    del scene
    lasts = [[index for index in draft.lines_with(("fail",)) if _LAST.match(draft.bare[index])] for draft in drafts]
    if not any(lasts):
        return
    for draft, last in zip(drafts, lasts, strict=True):
        _mask_console(draft)
        _read(draft, frozenset(last))


def _mask_console(draft: Draft) -> None:
    inside, stacked = False, False
    for index, line in enumerate(draft.bare):
        if _CONSOLE.match(line):
            inside, stacked = True, False
        elif inside and (
            _HEAD.match(line) or _LAST.match(line) or (stacked and not _STACK.match(line) and line.strip())
        ):
            inside = False
        if inside:
            stacked = stacked or bool(_STACK.match(line))
            draft.mask(index)


def _read(draft: Draft, last: frozenset[int]) -> None:
    ends: list[tuple[int, str]] = []
    inside = found = False
    for index, line in enumerate(draft.bare):
        if draft.weights[index] is not None:
            continue
        if index in last:
            inside = False
        elif _HEAD.match(line):
            inside, found = True, False
            draft.mask(index)
        elif (_END.match(line) or line.startswith("error: ")) and (
            not found or line.lstrip().startswith(("Caused", "[cause]"))
        ):
            inside = found = True
            ends.append((index, line.strip().removeprefix("\u2192 ")))
        elif inside:
            draft.mask(index)
    if ends or last:
        conclude(draft, ends, sorted(last))
