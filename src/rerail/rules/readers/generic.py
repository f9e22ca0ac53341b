"""What can be said of a line without knowing the tool: noise is masked, and what looks like an error counts more.

It runs last and only on lines that no reader marked. It is careful rather than clever: what is masked here can never be found.
"""

from __future__ import annotations

from rerail.light_typing import TYPE_CHECKING
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

_NOISE = lazy(
    r"""(?x)
      \s*(?:[\^~|│╵·\-─=+*_.>]\s?)+$                        # rules, carets, progress dots
    | \s*+(?:>\s*+)?\d+\s*[|│](?:\s|$) | \s*[|│╵]\s(?!WARN)        # quoted source with its line number
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
    "retrying", "will retr", "be retr", "> retry", ">retry", "retry in ", "retry after ", "trying again", "reconnecting",
    "nonfatal", "non-fatal", "falling back", "fallback to", "ignored", "ignoring", "recovered", "transient:", "attempt ",
    "giving it another", "warn", "(mock", "simulated",
)  # fmt: skip
_WENT_ON = lazy(
    r"(?i)(?<!before )\bretrying\b|\bwill (?:be )?retr(?:y|ied)\b|->\s?retry|"
    r"(?<!please )\bretry (?:in|after) \d+(?:\.\d+)?\s?m?s\b.{0,20}$|"
    r"(?<!before )\btrying again\b|\breconnecting\b|\bnon-?fatal\b|\bfalling back\b|\bfallback to\b|"
    r"\bignor(?:ed|ing)\b|\brecovered\b|"
    r"\btransient:|"
    r"\battempt #?\d+ ?(?:/|of) ?\d+|\battempt \d+ failed\b|\bgiving it another\b|^\W{0,3}warn(?:ing)?\b[\]:\s]|"
    r"^.{0,60}\swarn(?:ing)?\s|^npm warn\b|\blevel=warn|: warning:|\(mock(?:ed)?\)|\bsimulated\b"
)
_ERROR_WORDS = (
    "fatal", "error", "err!", "panic", "traceback", "caused by", "exception", "fail", "unable to", "cannot", "could not", "can't",
    "couldn't", "denied", "refused", "e: ", "curl: (",
)  # fmt: skip
_ERROR = lazy(
    r"(?i)(?<![\w/.\-])(?:fatal|error|err!|panic|traceback|caused by|exception|fail|failed|failure|unable to|cannot|"
    r"could not|can't|couldn't|denied|refused)(?![\w/\-]|\.\w)|[a-z](?-i:Error|Exception)\b|^E: |^curl: \(\d"
)
_ERROR_AT = 120
"""Characters of a line in which its error word stands; further on it is somebody's prose."""
_NO_ERRORS = lazy(r"(?i)\b(?:0|no) (?:errors?|failures?|failed|warnings?)\b")
_CARETS = lazy(r"^[\s|.]*[\^~][\s\^~]*$")
_DIAGNOSTIC = lazy(r"\b(?:error|fatal|warning|Error|Exception)\b[^\"'`]{0,40}: ")
_COMPARED = lazy(
    r"(?i)\s{0,12}[-+]?\s?(?:(?P<wanted>want(?:ed)?|expected)|got|received|actual|obtained|but was)\s?[:=]\s"
)
_FENCE = lazy(r"^\s*(?:```|~~~)")


def read(drafts: Sequence[Draft], scene: Scene) -> None:
    """Give every line that is not marked yet its weight."""
    del scene
    only_stdout = all(draft.name == "stdout" or not draft.low.strip() for draft in drafts)
    for draft in drafts:
        _mask_fences(draft)
        _mask_hunks(draft)
        _mask_pointed_at(draft)
        _mask_compared(draft)
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


def says_nothing(line: str) -> bool:
    """Tell whether a line without its log prefix says nothing about a failure, by how it begins."""
    return _NOISE.match(line) is not None


def _mask_noise(draft: Draft, *, one_message: bool) -> None:
    """Mask lines that say nothing; a message of one line always says something, however it looks."""
    for index, line in enumerate(draft.bare):
        if draft.weights[index] is not None:
            continue
        content = line[:_LOOKED_AT]
        if not content or content.isspace() or (not one_message and _NOISE.match(content)):
            draft.weights[index] = Weight.MASKED
    if not one_message:
        _mark(draft, Weight.MASKED, _QUIET_WORDS, _QUIET)


def _mark(draft: Draft, weight: Weight, words: Iterable[str], pattern: re.Pattern[str]) -> None:
    """Mark the lines that *pattern* matches; *words* are what it cannot match without, in lower case."""
    for index in draft.lines_with(words):
        if draft.weights[index] is None and pattern.search(_looked_at(draft.bare[index])):
            draft.weights[index] = weight


def _looked_at(line: str) -> str:
    """Return the part of a line that tells its kind; where it is cut, its end is no end of a line."""
    return line if len(line) <= _LOOKED_AT else line[:_LOOKED_AT] + "…"


def _mark_errors(draft: Draft) -> None:
    for index in draft.lines_with(_ERROR_WORDS):
        if draft.weights[index] is None:
            line = draft.lines[index][:_LOOKED_AT]
            found = _ERROR.search(line)
            if found and found.start() <= _ERROR_AT and not _NO_ERRORS.search(line):
                draft.weights[index] = Weight.ERROR
                draft.guessed.append(index)


def _mark_rest(draft: Draft, weight: Weight) -> None:
    draft.weights[:] = [weight if each is None else each for each in draft.weights]


def _mask_fences(draft: Draft) -> None:
    """Mask fenced code: what is quoted there is no failure of this run."""
    if "```" not in draft.low and "~~~" not in draft.low:
        return
    fences = [index for index in draft.lines_with(("```", "~~~")) if _FENCE.match(draft.lines[index])]
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
    for index in draft.lines_with(("^", "~~")):
        if index and _CARETS.match(draft.lines[index]) and not _DIAGNOSTIC.search(draft.lines[index - 1][:_LOOKED_AT]):
            draft.mask(index - 1)


def _mask_compared(draft: Draft) -> None:
    """Mask what some test compared: a line of what it wanted, and one of what it got."""
    if "wan" not in draft.low and "expected" not in draft.low:
        return
    sides = [(index, side) for index, line in enumerate(draft.bare) if (side := _COMPARED.match(line))]
    if any(side["wanted"] for _, side in sides) and any(not side["wanted"] for _, side in sides):
        draft.mask(*(index for index, _ in sides))


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
