"""Reads linters, formatters and type checkers: their lines of findings and their counts decide; quoted source does not.

A finding is known by its shape (a place, a code, a rule's name), never by its words, because those are about the code.
Source: the tools' own reporters; observed.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from rerail.rules.readers.model import Weight

if TYPE_CHECKING:
    from collections.abc import Sequence

    from rerail.rules.readers.model import Draft, Scene

LINT = "check:lint"
_PLACE = r"(?:[\w./\\@~+\-]{1,300}|<stdin>):\d+(?::\d+)?:?"
_FINDING = re.compile(
    rf"""(?x)^(?:
      (?P<code>
        {_PLACE}\ +(?:[CEFWRISNDBUPAHTQGYX]{{1,4}}\d{{2,4}}|invalid-syntax)\b:?\ .+     # flake8, ruff --output-format concise, pylint, hadolint
      | (?:[A-Z]{{1,4}}\d{{3,4}}|invalid-syntax)(?:\ \[\*\])?:?\ [A-Z`"'].*             # ruff's full format
      | {_PLACE}\ (?:error\ |warning\ )?MD\d{{3}}/\S.*                                  # markdownlint
      | {_PLACE}\ [CEFWRA]:\ (?:\[\w+\]\ )?[A-Z]\w+/.*                                  # RuboCop, Haml-lint
      | {_PLACE}\ .+\ \([a-z][\w\-]*(?:/[\w\-]+)*(?::[a-z][\w\-]+)?\)                      # golangci-lint, ktlint, yamllint parsable, Vale
      | {_PLACE}\ .+\ \[(?:[a-z]+(?:[\-/][a-z]+)+|[A-Z]\w+)\]\.?                           # yamllint, Checkstyle, SwiftLint, actionlint
      | \[(?:ERROR|WARN)\]\ \S+\.java:\d+.*\[\w+\]
      | {_PLACE}\ (?:lint|format|check|assist|suppressions|parse)(?:/\S+)?\ .*[━─].*        # Biome
      | In\ \S+\ line\ \d+:                                                             # ShellCheck
      | \s+\d+:\d+\ +(?:error|✖|×)\ +\S.*                                               # ESLint, stylelint, yamllint
      | ❌?\s*\S+\.\w+:\d+:\d+:?\ (?:error|warning):?\ .*\(.*\)
      )
    )$"""
)
_QUOTE_START = re.compile(r"^\s*(?:-->|╭|┌|╭─\[) ?\S+")
_QUOTED = re.compile(r"^\s*(?:-->|[-+|│╭╰·=]|\d+ ?[|│]|help: |info: |ℹ|\d+ \d* ?│|\|$)|^\s*$")
_TOOLS = frozenset({
    "ruff", "flake8", "pylint", "eslint", "biome", "markdownlint", "markdownlint-cli2", "golangci-lint", "rubocop", "standardrb", "yamllint",
    "actionlint", "ktlint", "detekt", "swiftlint", "stylelint", "hadolint", "shellcheck", "oxlint", "xo", "standard", "vale", "revive", "staticcheck",
    "pycodestyle", "pydocstyle", "pyflakes", "checkstyle", "credo", "tflint", "ansible-lint", "sqlfluff", "lint", "lint-staged", "pre-commit", "lefthook",
    "bandit", "vulture", "curlylint", "djlint", "cpplint", "haml-lint", "erb_lint", "slim-lint", "spectral", "commitlint", "textlint",
})  # fmt: skip
_SIGNS = re.compile(
    r"(?m)^found \d+ errors?\.|\bproblems? \(|^(?:[a-z]{1,4}\d{3,4}|invalid-syntax) .*\n +--> |offenses? detected|\bissues?[:.]$|:\d+:\d+: [a-z]{1,3}\d{3} "
    r"|^in \S+ line \d+:$|md\d{3}/"
)


def read(drafts: Sequence[Draft], scene: Scene) -> None:
    """Mark findings in every stream that looks like a linter's."""
    named = not scene.tools.isdisjoint(_TOOLS)
    for draft in drafts:
        if named or _SIGNS.search(draft.low):
            _read(draft)


def _read(draft: Draft) -> None:
    quoting = False
    stated = 0
    for index, line in enumerate(draft.bare):
        if draft.weights[index] is not None:
            continue
        if len(line) < 1_000 and _FINDING.match(line):
            quoting = False
            draft.mark(Weight.DECIDING, index)
            draft.shown_as(index, "a finding: " + line if "TS" in line else "a finding")
            if stated < 3:
                draft.fact("code", LINT, index)
                stated += 1
        elif _QUOTE_START.match(line):
            quoting = True
            draft.mask(index)
        elif quoting and _QUOTED.match(line):
            draft.mask(index)
        else:
            quoting = False
