"""Reads linters, formatters and type checkers: their lines of findings and their counts decide; quoted source does not.

A finding is known by its shape (a place, a code, a rule's name), never by its words, because those are about the code.
Source: the tools' own reporters; observed.
"""

from __future__ import annotations

from rerail.light_typing import TYPE_CHECKING
from rerail.regex import compiled
from rerail.rules.readers import LINTERS
from rerail.rules.readers.model import Weight

if TYPE_CHECKING:
    from collections.abc import Sequence

    from rerail.rules.readers.model import Draft, Scene

_ASIDE = ("fatal: not a git repository", "Stopping at filesystem boundary")
_UNFORMATTED = ("[warn] Code style issues", "Code style issues")
LINT = "check:lint"
_PLACE = r"(?:[\w./\\@~+\-]{1,300}|<stdin>):\d+(?::\d+)?:?"
_FINDING = compiled(
    rf"""(?x)^(?:
      (?:
        {_PLACE}\ +(?:[CEFWRISNDBUPAHTQGYX]{{1,4}}\d{{2,4}}|invalid-syntax)\b:?\ .+     # flake8, ruff, pylint, hadolint
      | (?:[A-Z]{{1,4}}\d{{3,4}}|invalid-syntax)(?:\ \[\*\])?:?\ [A-Z`"'].*             # ruff's full format
      | {_PLACE}\ (?:error\ |warning\ )?MD\d{{3}}/\S.*                                  # markdownlint
      | {_PLACE}\ [CEFWRA]:\ (?:\[\w+\]\ )?[A-Z]\w+/.*                                  # RuboCop, Haml-lint
      | {_PLACE}\ .+\ \([a-z][\w\-]*(?:/[\w\-]+)*(?::[a-z][\w\-]+)?\)                      # golangci-lint, ktlint, Vale
      | {_PLACE}\ .+\ \[(?:[a-z]+(?:[\-/][a-z]+)+|[A-Z]\w+)\]\.?                           # yamllint, SwiftLint, actionlint
      | \[(?:ERROR|WARN)\]\ \S+\.java:\d+.*\[\w+\]
      | {_PLACE}\ (?:lint|format|check|assist|suppressions|parse)(?:/\S+)?\ .*[━─].*        # Biome
      | In\ (?!\S+\.php\ )\S+\ line\ \d+:                                                             # ShellCheck
      | \s+\d+:\d+\ +(?:error|✖|\u00d7)\ +\S.*                                               # ESLint, stylelint, yamllint
      | ❌?\s*\S+\.\w+:\d+:\d+:?\ (?:error|warning):?\ .*\(.*\)
      )
    )$"""
)
_TYPED = compiled(r"\.pyi?:\d+: (?:error|note): |\berror TS\d|\.java:\d+: error: ")
"""What type checkers and compilers print in the same shape: their own rules know it."""
_REPORT = compiled(r"\"(?:ruleId|filePath|errorCount|fatalErrorCount)\": ?|\"\$schema\": ?\".{0,200}sarif")
_FOUND = compiled(r"\"errorCount\": ?[1-9]|\"ruleId\": ?\"")
"""Reports as JSON, all of it about the code."""
_QUOTE_START = compiled(r"^\s*(?:-->|╭|┌|╭─\[) ?\S+")
_QUOTED = compiled(r"^\s*(?:-->|[-+|│╭╰·=]|\d+ ?[|│]|help: |info: |\u2139|\d+ \d* ?│|\|$)|^\s*$")
_SIGNS = tuple(
    (text, compiled(f"(?m){sign}"))
    for text, sign in (
        # A text that is found fast, and the shape around it that only a linter prints; in lower case.
        ("found ", r"^found \d+ errors?\."),
        (" problem", r"\bproblems? \("),
        (" --> ", r"^(?:[a-z]{1,4}\d{3,4}|invalid-syntax) .*\n +--> "),
        ("offense", "offenses? detected"),
        (" issue", r"\bissues?[:.]$"),
        (":1: ", r":\d+:\d+: [a-z]{1,3}\d{3} "),
        (" line ", r"^in \S+ line \d+:$"),
        (" md0", r"md\d{3}/"),
        ('"ruleid"', '"ruleid"'),
        ("sarif", "sarif"),
        ("code style issues", "code style issues"),
    )
)


def read(drafts: Sequence[Draft], scene: Scene) -> None:
    """Mark findings in every stream that looks like a linter's."""
    named = not scene.tools.isdisjoint(LINTERS)
    is_commit = "git" in scene.tools
    for draft in drafts:
        if named or any(text in draft.low and sign.search(draft.low) for text, sign in _SIGNS):
            _read(draft, is_commit=is_commit)


def _read(draft: Draft, *, is_commit: bool) -> None:
    """Mark findings; within a commit they are why its hook refused, and the hook's refusal is what failed."""
    quoting = False
    stated = 0
    for index, line in enumerate(draft.bare):
        if draft.weights[index] is not None:
            continue
        if _REPORT.search(line):
            draft.mark(Weight.DECIDING, index)
            draft.shown_as(index, "a report")
            if _FOUND.search(line) and not is_commit:
                draft.fact("code", LINT, index)
                stated += 1
        elif line.startswith(_UNFORMATTED):
            draft.mark(Weight.DECIDING, index)
        elif _FINDING.match(line) and not _TYPED.search(line):
            quoting = False
            draft.mark(Weight.ERROR if is_commit else Weight.DECIDING, index)
            draft.shown_as(index, "a finding")
            if stated < 3 and not is_commit:
                draft.fact("code", LINT, index)
                stated += 1
        elif _QUOTE_START.match(line):
            quoting = True
            draft.mask(index)
        elif quoting and _QUOTED.match(line):
            draft.mask(index)
        else:
            quoting = False
    if stated:
        # A linter asks git for what changed, and does its work all the same where git knows nothing.
        draft.mask(*(index for index, line in enumerate(draft.bare) if line.startswith(_ASIDE)))
