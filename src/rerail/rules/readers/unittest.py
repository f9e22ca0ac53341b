"""Reads the reports of unittest and what runs on it (Django, nose2, Trial), doctest, behave and Robot Framework.

Source: CPython's `unittest/runner.py` and `doctest.py`; behave's and Robot's formatters; observed.
"""

from __future__ import annotations

from rerail.light_typing import TYPE_CHECKING
from rerail.regex import compiled
from rerail.rules.readers.judged import conclude, is_judgement
from rerail.rules.readers.traceback import names_a_type

if TYPE_CHECKING:
    from collections.abc import Sequence

    from rerail.rules.readers.model import Draft, Scene

_RULE = compiled(r"^(?:={70}|-{70})$")
_HEAD = compiled(r"^(?:FAIL|ERROR|UNEXPECTED SUCCESS): \S")
_LAST = compiled(r"^(?:FAILED \(|FAILED$)")
_PROGRESS = compiled(
    r"^(?:[.FEsxu]{1,200}|\w+ \([\w.]+\)(?: \.\.\. .*)?|.{1,200} \.\.\. (?:ok|FAIL|ERROR|skipped .*|expected failure))$"
)
_DOCTEST = compiled(r"^(?:\*{70}|\*\*\*Test Failed\*\*\*)")


def read(drafts: Sequence[Draft], scene: Scene) -> None:
    """Read every stream that holds such a report."""
    del scene
    for draft in drafts:
        if "\nran " in draft.low and "failed" in draft.low:
            _read_unittest(draft)
        if "***test failed***" in draft.low:
            _read_doctest(draft)


def _read_unittest(draft: Draft) -> None:
    """Between two rules of dashes or equal signs stands one failing test: its traceback ends with what decided."""
    ends: list[tuple[int, str]] = []
    last: list[int] = []
    error: int | None = None
    inside = False
    for index, line in enumerate(draft.bare):
        if _RULE.match(line) or _HEAD.match(line):
            if error is not None:
                ends.append((error, draft.bare[error]))
            error, inside = None, inside or bool(_HEAD.match(line))
            draft.mask(index)
        elif line.startswith("Ran ") or _LAST.match(line):
            inside = False
            last += [index] if _LAST.match(line) else []
        elif inside:
            if (
                names_a_type(line)
                and not line.startswith(" ")
                and (error is None or not is_judgement(draft.bare[error]))
            ):
                draft.mask(*([] if error is None else [error]))
                error = index
            else:
                draft.mask(index)
        elif _PROGRESS.match(line):
            draft.mask(index)
    if last:
        conclude(draft, ends, last)


def _read_doctest(draft: Draft) -> None:
    last = [index for index, line in enumerate(draft.bare) if line.startswith("***Test Failed***")]
    first = next((index for index, line in enumerate(draft.bare) if _DOCTEST.match(line)), last[0] if last else 0)
    conclude(draft, [(index, "assert") for index in last[-1:]], [])
    draft.mask_rest(first, last[-1] if last else first)
