"""What the report of a test run shows: whether tests judged the product, or only passed on an error that came from elsewhere.

Readers of test runners find what each failing test ended with; `conclude` says what that means. A judgement
(an assertion, a language's own error) names the failure ``tests:failed``, whatever words were compared, and none of those words
can be seen by a rule. An error from outside (a refused connection, a missing module) is shown, and names only
``tests:raised``: the rule that knows that error wins.
"""

from __future__ import annotations

from rerail.light_typing import TYPE_CHECKING
from rerail.regex import compiled
from rerail.rules.readers.model import BARE_CHARS, Weight

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from rerail.rules.readers.model import Draft

FAILED, RAISED, ASSERTED, COUNTED = "tests:failed", "tests:raised", "tests:asserted", "tests:counted"
ENDED, NAMED = "tests:ended", "tests:named"
"""What is cited beside what decided: how the first failing test ended, in full, and which it was."""

_JUDGED = compiled(
    r"""(?x)
      (?:assert|AssertionError|Assertion\ failed)\b
    | (?:[\w.$\\]+[.$\\])?(?:AssertionFailedError|ComparisonFailure|ExpectationFailedException|ExpectationNotMetError
        |MultipleFailuresError|JestAssertionError|PHPUnit\\Framework\\\w+)\b
    | Failed:\ (?:DID\ NOT\ (?:RAISE|WARN)|Timeout)
    | (?:[Ee]rror:\ )?(?:expect\(|Test\ timed\ out\ in|Timeout\ of\ \d+ms\ exceeded|Test\ timeout\ of)
    | (?:Error:\ )?[Ee]xpected\ (?!to\ be\ able|status|response|HTTP|\d{3}\b)
    | thrown:\ "Exceeded\ timeout
    | (?:[\w.]+\.)?(?:KeyError|AttributeError|NameError|UnboundLocalError|IndexError|ZeroDivisionError
        |NotImplementedError|RecursionError|StopIteration|UnicodeDecodeError|UnicodeEncodeError|LookupError|FileNotFoundError|FileExistsError|IsADirectoryError
        |NotADirectoryError|(?:Pending)?DeprecationWarning|UserWarning|ResourceWarning|FutureWarning|SyntaxWarning
        |PytestUnraisableExceptionWarning|PytestUnhandledThreadExceptionWarning|ReferenceError|RangeError)\b
    | (?:java\.lang\.)?(?:NullPointerException|ClassCastException|(?:Array|String)?IndexOutOfBoundsException|ArithmeticException
        |NumberFormatException|UnsupportedOperationException)\b
    | (?:NoMethodError|ZeroDivisionError|FrozenError|KeyError)\b
    | (?:TypeError|ValueError)(?!.{0,200}(?:fetch\ failed|[Nn]etwork|connect|API|api_key))
    | Snapshot\b | Failed\ asserting\b | Assert\.\w+\(\)\ Failure
    | fixture\ '[^']{1,80}'\ not\ found
    """
)
"""How a text begins with which a test ended by judging, or by an error of the language itself."""


def is_judgement(text: str) -> bool:
    """Tell whether what a test ended with is a judgement about the product."""
    return _JUDGED.match(text.strip()) is not None


def conclude(draft: Draft, ends: Iterable[tuple[int, str]], last: Sequence[int] = ()) -> None:
    """Mark what decides, hide what was compared, and state what the run means.

    Args:
        draft: The stream of the report; whatever else is part of the report must be masked already, or be left to others.
        ends: What each failing test ended with: its line and its text without the test's name.
        last: Lines of the runner's own last word (its counts); they decide too. The first of them stands for a run of which
            nothing else is known.
    """
    judged: list[int] = []
    raised: list[int] = []
    for index, text in ends:
        text = text.strip()
        match = _JUDGED.match(text)
        draft.mark(Weight.DECIDING, index)
        name = match[0].rpartition(".")[2] if match else ""
        shown = text + draft.lines[index][BARE_CHARS:] if text else "failed"
        draft.shown_as(index, ("judged" if " " in name else name) if match else shown)
        (judged if match else raised).append(index)
    draft.mark(Weight.DECIDING, *last)
    if judged:
        for index in judged[:3]:
            draft.fact("code", FAILED, index)
    elif raised or last:
        draft.fact("code", RAISED, (*raised, *last)[0])
        for index in last if raised else ():
            draft.fact("code", COUNTED, index)
            draft.shown_as(index, "tests did not pass")  # counts alone must not outweigh what the tests ended with
