"""Reads checkers of every kind by the shapes they share: a finding with its place in a file, and counts of what failed.

It comes after the readers that know a tool. What it states names only a family (`FINDING`, `COUNT`); the words of a finding are
about the code, so what it quotes is hidden. Source: the GNU coding standards, "Formatting Error Messages"; annotate-snippets,
ariadne, codespan, miette: their frames; observed in many tools.
"""

from __future__ import annotations

from rerail.light_typing import TYPE_CHECKING
from rerail.regex import compiled
from rerail.rules.readers.compilers import without_quotations
from rerail.rules.readers.model import Weight

if TYPE_CHECKING:
    import re
    from collections.abc import Sequence

    from rerail.rules.readers.model import Draft, Scene

FINDING, COUNT = "check:finding", "check:count"
ERROR, OBJECTION = "error at a place in the code", "objection at a place in the code"
"""As what a line is seen too that calls something at a place an error, or objects to it without a severity, in words about the
code. They are no facts but words, so that a rule of another class that knows the line's own words may win."""

A_SENTENCE = 2
"""Lines of a caller's message up to which it is what somebody says, and not what a program printed."""

_FILE = r"(?:[A-Za-z]:[\\/])?[\w./\\@~+\-]{0,300}[\w\-]\.[A-Za-z][\w+]{0,9}"
_MILD = r"warning|warn|info|information|note|hint|style|convention|refactor|suggestion|help"
_ERRORS = (
    r"(?:(?:fatal|parser?|syntax|type|validity|internal|lex(?:er|ical)|semantic|compil(?:e|er|ation)|runtime|static|link(?:er)?"
    r"|check|assembler|namespace|schema|template|config|name|scope|user|logic)\s)?error"
)
_SEVERITY = rf"{_ERRORS}|{_MILD}|fatal|critical|high|medium|low|blocker|major|minor|violation"
_FINDING = compiled(
    rf"""(?xi)^\s{{0,8}}(?:
      %?(?:(?:[a-z]{{2,12}}\s)?(?:error|warning)|\[error\]|\[warn(?:ing)?\])?:?\s{{0,3}}
      {_FILE} (?: [:(]\d+[:,.\-]\s?\d+(?:[\-:.]\d+){{0,2}}\)? | :\d+\s\(column\s\d+\):
        | (?::\s?|\()\d+\)?(?=\s?:?\s{{0,3}}(?:-\s)?(?:{_SEVERITY})\b)
        | :\d+:\scharacters\s\d+-\d+ | (?<!sh):\sline\s\d+: )
      \s?:?\s{{0,3}}(?:-\s{{1,3}})?(?:\[?(?P<severity>{_SEVERITY})\b)?\S{{0,40}}:?\s*\S
    | \d+:\d+\s{{1,8}}(?P<listed>error|warning|✖|\u00d7|info|hint|violation)\s{{1,8}}\S          # below the file's name
    | (?:error|(?P<mildly>{_MILD}))\s{{1,3}}[•·]\s\S.{{0,300}}\s[•·]\s\S+:\d+:\d+           # Dart
    | {_FILE}:\s\S.{{0,300}}\sat\sline\s\d+,\scolumn\s\d+
    )"""
)
_OBJECTS = (
    r"(?:syntax|parse|lexical|grammar|unexpected|expected|expecting|unknown|undefined|undeclared|unrecognized|unresolved|unbalanced"
    r"|unterminated|unbound|unused|illegal|invalid|bad|missing|duplicate|redefin\w+|mismatch\w*|conflicting|ambiguous|malformed"
    r"|wrong|incompatible|cannot|can.t|must|should|does\snot|is\snot|not\sallowed|no\ssuch|already\sdefined|fatal|error)"
)
"""Words in which a program objects to what it read."""
_OBJECTION = compiled(
    rf"(?i)^\s{{0,8}}(?:line\s\d+\s(?:column|col)\s\d+\s-\s(?:warning|error):"
    rf"|{_FILE}:\d+(?:[:.]\d+)?(?::\s?|\s)(?!.{{0,80}}\bin\s`).{{0,60}}?\b{_OBJECTS}\b)"
)
"""An objection at a place that names no severity; only the words tell that it is one."""
_CALLED_ERROR = compiled(r"(?i)\serror\s?:")
_ELSEWHERE = compiled(
    r"(?i)\b(?:no such file|not (?:be )?found|cannot (?:find|open|load|locate|allocate)|could not|unable to|failed to|no module"
    r"|killed|memory|space left|refused|time[d-]? ?out|reset by|unreachable|denied|unauthori[sz]ed|forbidden|quota|rate limit"
    r"|internal|signal|resolve|requires?|version|not installed|does not exist|doesn.t exist|no required module|too many open"
    r"|certificate)\b"
)
"""Words of a finding that may tell of something else than the code: whatever knows them names the failure."""
_OF_A_FILE = compiled(rf"^{_FILE}: (?:[a-z]{{2,16}} )?error: ")
_RULED = compiled(r"\s\[(?:[A-Z][a-z]+(?:[A-Z][a-z]*)+|[A-Z]{1,6}-?\d{1,5})\]$")
"""The name of the rule that was broken, as many linters end a finding; such a rule is about the code."""
_FRAME = compiled(rf"^\s{{0,8}}(?:-->\s|┌─+|╭─+\[?|,-+\[)\s?\[?(?:file://)?{_FILE}:\d+(?::\d+)?")

_UNITS = r"tests?|specs?|checks?|assertions?|examples?|scenarios?|suites?|cases?|snapshots?|expectations?|steps?|features?|files?"
_FAILED = r"(?:fail(?:ed|ures?|ing|s)?|unexpected|errored)"
_MILDLY = compiled(_MILD)
_COUNTED = compiled(
    rf"""(?xi)
      (?:^|(?<!port)[\s(\[|,/=])[1-9]\d{{0,6}}(?:\s(?:of|out\sof)\s\d+|/\d+)?\s(?:(?:unit|{_UNITS})\s){{0,2}}(?:have\s|has\s|did\s)?{_FAILED}\b(?!\s(?:to|attempts?|because|with|login|connect))
    | \b{_FAILED}\s{{0,2}}[:=]\s{{0,3}}[1-9]\d{{0,6}}\b
    | \[\s?{_FAILED}\s[1-9]\d{{0,6}}\b
    """
)
_BESIDE = compiled(
    rf"(?i)\b(?:pass(?:ed|es|ing)?|success(?:es|ful)?|succeeded|skip(?:ped)?|pending|ignored|total|ok|warn|results? as expected"
    rf"|errors?|(?:{_UNITS})(?!/)|test module|ran)\b"
)
_ALONE = compiled(
    rf"(?i)^\W{{0,6}}(?:[1-9]\d{{0,6}}(?: (?:of|out of) \d+|/\d+)? (?:(?:{_UNITS}) )?{_FAILED}[!.:]?"
    rf"(?: \(.{{0,40}}\)| in [\d.]+ ?m?s)?\W{{0,3}}$"
    rf"|{_FAILED}\s{{0,2}}[:=]\s{{0,3}}[1-9]\d{{0,6}}(?:/\d+)?\s{{0,6}}$)"
)
_MARKED = compiled(r"^\W{0,6}\[\s?(?:FAIL|FAILED|FAILURE)\s?\]\W{0,4}\S|^\W{0,4}FAIL(?:!|:|\s-)\s")


def read(drafts: Sequence[Draft], scene: Scene) -> None:
    """Mark findings and counts that no other reader took."""
    del scene
    for draft in drafts:
        if draft.name == "message" and len(draft) <= A_SENTENCE:
            continue
        told = any(word in draft.low for word in ("fail", "unexpected", "errored"))
        below = -1  # how far the finding is indented whose explanation may follow
        for index, line in enumerate(draft.bare):
            if draft.weights[index] is not None or not line:
                continue
            if found := _FINDING.match(line):
                _state_finding(draft, index, found)
                below = _indent(line)
                continue
            if _OBJECTION.match(line) and not _ELSEWHERE.search(line):
                draft.mark(Weight.ERROR, index)
                draft.message(ERROR if _CALLED_ERROR.search(line) else OBJECTION, index)
                if index not in draft.seen:
                    draft.shown_as(index, without_quotations(line))
                continue
            if 0 <= below < _indent(line):
                if index not in draft.seen:
                    draft.shown_as(index, without_quotations(line))
                continue
            below = -1
            if _FRAME.match(line):
                _state_framed(draft, index)
            elif told and (_counts(line) or _MARKED.match(line)):
                draft.mark(Weight.ERROR, index)
                draft.fact("code", COUNT, index)


def names_an_error(line: str) -> bool:
    """Tell whether a checker's line names a file and an error of it, in words about the file."""
    return _OF_A_FILE.match(line) is not None and _ELSEWHERE.search(line) is None


def _indent(line: str) -> int:
    return len(line) - len(line.lstrip())


def _counts(line: str) -> bool:
    return _COUNTED.search(line) is not None and (_BESIDE.search(line) is not None or _ALONE.match(line) is not None)


def _state_finding(draft: Draft, index: int, found: re.Match[str]) -> None:
    severity = (found["severity"] or found["listed"] or found["mildly"] or "error").lower()
    draft.mark(Weight.WENT_ON if _MILDLY.fullmatch(severity) else Weight.ERROR, index)
    draft.fact("code", FINDING, index)
    is_called_error = found["severity"] and severity.endswith(("error", "fatal"))
    if is_called_error and index not in draft.seen and not _ELSEWHERE.search(draft.bare[index]):
        draft.message(ERROR, index)
    if _RULED.search(draft.bare[index]):
        draft.shown_as(index, "a finding")
    elif index not in draft.seen:
        draft.shown_as(index, without_quotations(draft.bare[index]))


def _state_framed(draft: Draft, index: int) -> None:
    """The message of a frame is the line above it; the frame itself only says where."""
    above = index - 1
    while above >= 0 and not draft.bare[above].strip():
        above -= 1
    draft.mask(index)
    if above < 0 or draft.weights[above] is not None:
        return
    draft.mark(Weight.ERROR, above)
    draft.fact("code", FINDING, above)
    draft.shown_as(above, without_quotations(draft.bare[above]))
