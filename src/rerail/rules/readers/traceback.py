"""Reads Python tracebacks and the stacks of Node, Java and .NET inside any log: the error decides, its frames and source do not.

Python prints the root of a chain first, and a line that begins with the error's own name ends each part. Frames, quoted source
and marker lines are masked.
"""

from __future__ import annotations

from rerail.light_typing import TYPE_CHECKING
from rerail.rules.readers.lazy import lazy
from rerail.rules.readers.model import Draft, Scene, Weight

if TYPE_CHECKING:
    from collections.abc import Sequence

MARKS = (
    "traceback (most recent call last)",
    "\n    at ",
    "\n\tat ",
    "exception in thread",
    "unhandled exception",
    "exception group",
)

_START = lazy(r"^(?P<indent>[\s|+]*(?:E\s+)?)Traceback \(most recent call last\):|^[\s|+]*Exception Group Traceback")
_FRAME = lazy(r"^[\s|+\-]*+(?:E\s+)?(?:File \"|File '|\[Previous line repeated|\.\.\.<\d+ lines?>\.\.\.)")
_TELLING = lazy(r"\bos\.getcwd\(\)|\bPath\.cwd\(\)|\bos\.environ\[|\bos\.chdir\(")
"""Source whose error means more than its type: ``KeyError`` of an environment variable, a working directory that is gone."""
_IN_ENVIRON = lazy(r"\s*File \"(?:<frozen os>|.{1,200}[\\/]os\.py)\", line \d+, in __getitem__$")
"""The frame in which a missing environment variable is looked up, where no source tells: ``python -c``, a frozen program."""
_CAUSE = lazy(r"^[\s|]*The above exception was the direct cause")
_CONTEXT = lazy(r"^[\s|]*During handling of the above exception")
ERROR_NAME = lazy(
    r"^[\s|]*+(?:E\s+)?(?:Uncaught |Unhandled |Unhandled exception\. |Exception in thread \"[^\"]{1,80}\" |Caused by: )?"
    r"((?:[A-Za-z_]\w*+[.$/])*+[A-Za-z_]\w*+)(?: \[[\w.\-]{1,60}\])?(?::|$|\s*\()"
)
"""``openai.RateLimitError: ...``, ``MemoryError``, ``Error [ERR_X]: ...``, ``Exception in thread "main" a.b.SomeError: ...``."""
_TYPE_SUFFIX = lazy(
    r"(?:Error|Exception|Timeout|Expired|Interrupt|Exit|Failure|Fault|Cancelled|NotFound|Refused|Reset|Denied|Group|Warning)$|"
    r"(?:^|\.)_?(?:exceptions?|errors?|errorfactory)\.(?:\w+\.)?[A-Z]\w*$"
)
"""What the name of an exception ends in, or the module that it comes from."""
_STACK = lazy(r"^\s+at (?:async )?(?:new )?[\w<>$.\[\]/:@ \-]*[\w>)\]]|^\s+\.\.\. \d+ more")
_THROWN_AT = lazy(r"^(?:file:///|/|node:|[A-Za-z]:\\)\S+:\d+$")
_INSPECTION_END = lazy(r"^\s*\},?\s*$")


def names_a_type(line: str) -> str | None:
    """Return the exception type that a line begins with, if it is one by its name; None otherwise."""
    found = ERROR_NAME.match(line)
    if found is None:
        return None
    name = found[1]
    return name if _TYPE_SUFFIX.search(name) else None


def read(drafts: Sequence[Draft], scene: Scene) -> None:
    """Mark the errors of all tracebacks and stacks, and mask their frames."""
    del scene
    for draft in drafts:
        if "traceback" in draft.low:
            _read_python(draft)
        if " at " in draft.low or "\tat " in draft.low:
            _read_stacks(draft)


def _read_python(draft: Draft) -> None:
    """Walk the parts of each chain.

    What was raised *from* an error makes that error one deeper; what was raised while it was handled may be another matter.
    """
    chain: list[int] = []
    index = 0
    while index < len(draft):
        if not _START.match(draft.lines[index]):
            index += 1
            continue
        end = _read_part(draft, index)
        if end is None:
            break
        chain.append(end)
        index = end + 1
        link = next(
            (place for place in range(index, min(index + 3, len(draft))) if draft.lines[place].strip(" |")), None
        )
        if link is not None and _CAUSE.match(draft.lines[link]):
            draft.mask(link)
            continue
        for depth, place in enumerate(reversed(chain)):
            draft.depths[place] = max(draft.depths[place], depth)
        chain = []
        if link is not None and _CONTEXT.match(draft.lines[link]):
            draft.mask(link)


def _read_part(draft: Draft, start: int) -> int | None:
    """Mask one traceback's frames and return the line of its error; None when the text ends before it."""
    indent = len(draft.lines[start]) - len(draft.lines[start].lstrip(" |+E"))
    draft.mask(start)
    source, started = start, False
    for index in range(start + 1, len(draft)):
        line = draft.lines[index]
        if not line.strip(" |+") or len(line) - len(line.lstrip(" |+E")) > indent or _FRAME.match(line):
            draft.mask(index)
            started = started or "in _execute_child" in line
            if not _FRAME.match(line) and line.strip(" |+^~"):
                source = index
            continue
        draft.mark(Weight.ERROR, index)
        if _TELLING.search(draft.lines[source]):
            draft.weights[source] = Weight.ERROR
        elif _IN_ENVIRON.match(draft.lines[index - 1]):
            draft.weights[index - 1] = Weight.ERROR
            draft.shown_as(index - 1, "os.environ[name]")
        if found := ERROR_NAME.match(line):
            draft.fact("exception", found[1], index)
            if found[1] in ("KeyError", "AssertionError"):
                draft.shown_as(index, found[1])  # what was looked up or compared is data
        if started:
            draft.fact("code", "child-not-started", index)
        return index
    return None


def _read_stacks(draft: Draft) -> None:
    """Mask ``at`` frames; the line before the first of a run names the error, unless another reader knows better."""
    for index, line in enumerate(draft.lines):
        if not _STACK.match(line):
            continue
        draft.mask(index)
        above = index - 1
        if above >= 0 and not _STACK.match(draft.lines[above]):
            named = _name_above(draft, above)
            if named is not None:
                draft.mark(Weight.ERROR, named)
                if found := ERROR_NAME.match(draft.lines[named].removeprefix("npm error ")):
                    draft.fact("exception", found[1], named)
                _mask_thrown_source(draft, named)


def _name_above(draft: Draft, above: int) -> int | None:
    """Return the line that names the error of a stack: at most a few lines up, for messages may have several."""
    for place in range(above, max(-1, above - 12), -1):
        line = draft.lines[place]
        if not line.strip():
            return None
        if names_a_type(line.removeprefix("npm error ")):
            return place
    return None


def _mask_thrown_source(draft: Draft, named: int) -> None:
    """Mask what Node quotes above an uncaught error: the file, the source line and its caret."""
    place = named - 1
    while place >= 0 and named - place <= 6:
        line = draft.lines[place]
        if _THROWN_AT.match(line):
            draft.mask(*range(place, named))
            return
        place -= 1
