"""What can be said of a line without knowing the tool: noise is masked, and what looks like an error counts more.

It runs last and only on lines that no reader marked. It is careful rather than clever: what is masked here can never be found.
"""

from __future__ import annotations

from bisect import bisect_right
from typing import TYPE_CHECKING

from rerail.rules.readers.lazy import lazy
from rerail.rules.readers.model import Draft, Scene, Weight

if TYPE_CHECKING:
    import re
    from collections.abc import Iterable, Sequence

FEW = 40
"""Lines of a stream that are read as one message: in so little text every line belongs to the failure."""
TAIL = 60
"""Lines before the end of a longer stream in which its errors count fully: a run that went on past an error outlived it."""

_LOOKED_AT = 400
"""Characters of a line that tell what kind of line it is."""

_PREFIX_STARTS = frozenset("0123456789#[⎿│┃ \trs")
_LOG_PREFIX = lazy(
    r"(?:\d{4}-\d\d-\d\d[T ]\d\d:\d\d:\d\d(?:[.,]\d{1,9})?(?:Z|[+\-]\d\d:?\d\d)?\s+"  # a time stamp
    r"|\[\d{4}-\d\d-\d\d[T ][^\]]{5,30}\]\s*|\[\d\d/\d\d/\d\d \d\d:\d\d:\d\d\]\s+|\d\d:\d\d:\d\d(?:[.,]\d{1,6})?\s+"
    r"|#\d+ (?:\d+\.\d+ )?|\d{1,5}\.\d{1,3} (?=\S)"  # a step of a docker build
    r"|##\[(?:error|warning|command|group|debug)\]"  # a log command of GitHub
    r"|\s*[⎿│┃]\s+"  # an agent's terminal interface
    r"|remote: (?=\S)"
    r"|\[?std(?:err|out)\]?[:|] ?"
    r"|\[(?:error|ERROR|fatal|FATAL|stderr|ERR)\]:?\s+)+"
)

_NOISE = lazy(
    r"""(?x)
      \s*(?:[\^~|│╵·\-─=+*_.>]\s?)+$                        # rules, carets, progress dots
    | \s*+(?:>\s*+)?\d+\s*[|│](?:\s|$) | \s*[|│╵]\s               # quoted source with its line number
    | \s*+\d+\s++[-+~]\s                                     # what is suggested in its place
    | \s+at\s\S                                             # a stack frame
    | \s*File\s".{1,300}",\sline\s\d+(?:,\sin\s|$)         # a Python frame
    | \+(?!\+?\s*(?:Error|error))                           # an added line, or a traced command
    | (?:@@\s|diff\s--git\s|index\s[0-9a-f]{6,}\.\.|---\s\S|\+\+\+\s\S|similarity\sindex\s|rename\s(?:from|to)\s)
    | (?:not\s)?ok\s\d+\b                                   # TAP
    | [\w./\\\-]{1,200}\.py::\S | \w{1,80}Test::test\w       # the name of a test
    | \s*[✓✔√✅☑◦]\s | \s*[✕✗✘❌]\s.{0,200}\s\(\d+\s?m?s\)$
    | ---\s(?:PASS|FAIL|SKIP): | ===\s(?:RUN|PAUSE|CONT)\s
    | test\s\S+\s\.\.\.\s
    | (?:PASS|SKIP)\s
    | (?:Collecting|Downloading|Installing|Using\scached|Requirement\salready\ssatisfied|Looking\sin\s(?:indexes|links)|Fetching|
        Receiving\sobjects|Resolving\sdeltas|Compiling|Preparing\smetadata)\b(?!.{0,300}(?:fail|rror|refused|denied|timed\sout))
    | (?:\[\w{1,12}\]\s)?\$\s | >\s | \[tool\]\s            # an echoed command
    | [0-9a-f]{7,12}\s(?!.{0,40}\berror:)                   # the title of a commit
    | (?:[\w.\-]+/)*[\w.\-]+\.\w{1,8}[:\-]\d+[:\-](?=[^\s\d]|\s{2,}|-\s)(?!in\s|fatal|error|Error)       # a hit of grep -n
    | \W{0,3}(?:INFO|DEBUG|TRACE|VERBOSE|NOTICE|info|debug|trace|verbose|notice)\b[\]:\s|)]
    | npm\s(?:verb|verbose|silly|http|info|notice|timing|sill)\b
    | hint:
    """
)
"""Lines that begin like this say nothing about a failure."""
_QUIET_WORDS = ("info", "debug", "trace", "%]")
_QUIET = lazy(
    r"^.{0,60}\s(?:INFO|DEBUG|TRACE)\s|\blevel=(?:info|debug|trace)\b|[\"']level[\"']:\s?[\"'](?:info|debug|trace)|\s\[\s*\d+%\]$"
)

_WENT_ON_WORDS = (
    "retry", "retried", "trying again", "reconnect", "fatal", "falling back", "fallback", "ignor", "recovered", "transient",
    "attempt", "warn", "mock", "simulated", "another",
)  # fmt: skip
_WENT_ON = lazy(
    r"(?i)\bretrying\b|\bwill (?:be )?retr(?:y|ied)\b|->\s?retry|(?<!please )\bretry (?:in|after) \d+(?:\.\d+)?\s?m?s\b.{0,20}$|"
    r"\btrying again\b|\breconnecting\b|\bnon-?fatal\b|\bfalling back\b|\bfallback to\b|\bignor(?:ed|ing)\b|\brecovered\b|"
    r"\btransient:|"
    r"\battempt #?\d+ ?(?:/|of) ?\d+|\battempt \d+ failed\b|\bgiving it another\b|^\W{0,3}warn(?:ing)?\b[\]:\s]|"
    r"^.{0,60}\swarn(?:ing)?\s|^npm warn\b|\blevel=warn|: warning:|\(mock(?:ed)?\)|\bsimulated\b"
)
_ERROR_WORDS = (
    "fatal", "error", "err!", "panic", "traceback", "caused by", "exception", "fail", "unable to", "cannot", "could not", "can't",
    "couldn't", "denied", "refused", "e: ",
)  # fmt: skip
_ERROR = lazy(
    r"(?i)(?<![\w/.\-])(?:fatal|error|err!|panic|traceback|caused by|exception|fail|failed|failure|unable to|cannot|"
    r"could not|can't|couldn't|denied|refused)(?![\w/\-]|\.\w)|[a-z](?-i:Error|Exception)\b|^E: "
)
_ERROR_AT = 120
"""Characters of a line in which its error word stands; further on it is somebody's prose."""
_NO_ERRORS = lazy(r"(?i)\b(?:0|no) (?:errors?|failures?|failed|warnings?)\b")
_CARETS = lazy(r"^[\s|.]*[\^~][\s\^~]*$")
_DIAGNOSTIC = lazy(r"\b(?:error|fatal|warning|Error|Exception)\b[^\"'`]{0,40}: ")
_FENCE = lazy(r"^\s*(?:```|~~~)")


def read(drafts: Sequence[Draft], scene: Scene) -> None:
    """Give every line that is not marked yet its weight."""
    del scene
    only_stdout = all(draft.name == "stdout" or not draft.low.strip() for draft in drafts)
    for draft in drafts:
        _mask_fences(draft)
        _mask_hunks(draft)
        _mask_pointed_at(draft)
        own_words = draft.name in ("message", "body")
        few = len(draft) <= FEW
        _mask_noise(draft, one_message=own_words and len(draft) == 1)
        _mark(draft, Weight.WENT_ON, _WENT_ON_WORDS, _WENT_ON)
        if own_words:
            _mark_rest(draft, Weight.DECIDING)
        elif few and (draft.name != "stdout" or only_stdout):
            # In a short text every line belongs to the failure; stdout is where it is told only if nothing else tells it.
            _mark_rest(draft, Weight.ERROR)
        else:
            _mark_errors(draft)
            _mark_rest(draft, Weight.PLAIN)
        if not few and not own_words:
            _discount_what_was_outlived(draft)
    _discount_ordinary_output(drafts)


def without_log_prefix(line: str) -> str:
    """Return a line without what a logger, a builder or a terminal put before it; what is left is what the tool said."""
    if line[:1] in _PREFIX_STARTS and (prefix := _LOG_PREFIX.match(line)):
        return line[prefix.end() :]
    return line


def _mask_noise(draft: Draft, *, one_message: bool) -> None:
    """Mask lines that say nothing; a message of one line always says something, however it looks."""
    for index, line in enumerate(draft.lines):
        if draft.weights[index] is not None:
            continue
        content = without_log_prefix(line[:_LOOKED_AT])
        if not content or content.isspace() or (not one_message and _NOISE.match(content)):
            draft.weights[index] = Weight.MASKED
    if not one_message:
        _mark(draft, Weight.MASKED, _QUIET_WORDS, _QUIET)


def _mark(draft: Draft, weight: Weight, words: Iterable[str], pattern: re.Pattern[str]) -> None:
    """Mark the lines that *pattern* matches; *words* are what it cannot match without, in lower case."""
    for index in _lines_with(draft, words):
        if draft.weights[index] is None and pattern.search(without_log_prefix(_looked_at(draft.lines[index]))):
            draft.weights[index] = weight


def _looked_at(line: str) -> str:
    """Return the part of a line that tells its kind; where it is cut, its end is no end of a line."""
    return line if len(line) <= _LOOKED_AT else line[:_LOOKED_AT] + "…"


def _mark_errors(draft: Draft) -> None:
    for index in _lines_with(draft, _ERROR_WORDS):
        if draft.weights[index] is None:
            line = draft.lines[index][:_LOOKED_AT]
            found = _ERROR.search(line)
            if found and found.start() <= _ERROR_AT and not _NO_ERRORS.search(line):
                draft.weights[index] = Weight.ERROR
                draft.guessed.append(index)


def _mark_rest(draft: Draft, weight: Weight) -> None:
    draft.weights[:] = [weight if each is None else each for each in draft.weights]


def _lines_with(draft: Draft, words: Iterable[str]) -> list[int]:
    """Return the lines that have one of the words. Finding words in a whole text is far cheaper than asking every line."""
    starts = draft.starts
    found: set[int] = set()
    for word in words:
        place = draft.low.find(word)
        while place != -1:
            index = bisect_right(starts, place) - 1
            found.add(index)
            if index + 1 == len(starts):
                break
            place = draft.low.find(word, starts[index + 1])
    return sorted(found)


def _mask_fences(draft: Draft) -> None:
    """Mask fenced code: what is quoted there is no failure of this run."""
    if "```" not in draft.low and "~~~" not in draft.low:
        return
    fences = [index for index in _lines_with(draft, ("```", "~~~")) if _FENCE.match(draft.lines[index])]
    for start, end in zip(fences[::2], fences[1::2], strict=False):
        draft.mask(*range(start, end + 1))


def _mask_hunks(draft: Draft) -> None:
    """Mask the removed and unchanged lines of a diff; without a hunk's head they are ordinary lines."""
    if "@@ " not in draft.low:
        return
    inside = False
    for index, line in enumerate(draft.lines):
        if line.startswith("@@ "):
            inside = True
        elif inside and line[:1] not in ("+", "-", " ", "\\"):
            inside = False
        if inside:
            draft.mask(index)


def _mask_pointed_at(draft: Draft) -> None:
    """Mask the source above a line of carets: compilers and interpreters quote there what they object to."""
    for index in _lines_with(draft, ("^", "~~")):
        if index and _CARETS.match(draft.lines[index]) and not _DIAGNOSTIC.search(draft.lines[index - 1][:_LOOKED_AT]):
            draft.mask(index - 1)


def _discount_what_was_outlived(draft: Draft) -> None:
    """Of a long stream, let only errors near its end count as errors, if there are any."""
    visible = [index for index, weight in enumerate(draft.weights) if weight]
    tail = set(visible[-TAIL:])
    if not any(draft.weights[index] is Weight.ERROR for index in tail):
        return
    for index in visible:
        if draft.weights[index] is Weight.ERROR and index not in tail and not draft.depths[index]:
            draft.weights[index] = Weight.PLAIN


def _discount_ordinary_output(drafts: Sequence[Draft]) -> None:
    """Where stderr tells of an error, let what only looks like one in a long stdout count as output."""
    if not any(
        Weight.ERROR in draft.weights or Weight.DECIDING in draft.weights for draft in drafts if draft.name != "stdout"
    ):
        return
    for draft in drafts:
        if draft.name == "stdout" and len(draft) > FEW:
            for index in draft.guessed:
                draft.weights[index] = Weight.PLAIN
