"""The results of verbs that were ended by an error or by a bug: the same whoever called.

Standard library only: a hook and `rerail classify` fail through here too.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from rerail._version import __version__
from rerail.boundary import hints
from rerail.boundary.result import Result, failed
from rerail.boundary.slugs import ErrorSlug
from rerail.errors import RecipeError, RerailError, UsageError

if TYPE_CHECKING:
    from rerail.boundary.hints import Hint

_REPORT_CHARS = 8000
_SAID_CHARS = 500


def of_error(verb: str, error: RerailError) -> Result:
    """Return the result of a verb that an error of the tree ended.

    Args:
        verb: As it is typed: ``why``.
        error: What was raised.
    """
    steps: tuple[Hint, ...] = ()
    if isinstance(error, RecipeError):
        steps = (hints.check_again(check="rules test"),)
    elif type(error) is UsageError:
        # Those below it have their correction elsewhere: in a file, in the evidence, in a name.
        steps = (hints.correct_call(call=f"rerail {verb}"),)
    return failed(verb, error, *steps)


def of_bug(verb: str, bug: Exception) -> Result:
    """Return the result of a verb that a bug of rerail ended: what it was in one line, and the report in the data."""
    import traceback

    from rerail.evidence.redact import redact

    report = redact("".join(traceback.format_exception(bug)))[-_REPORT_CHARS:]
    return Result(
        ok=False,
        verb=verb,
        message=f"rerail itself failed: {type(bug).__name__}: {redact(str(bug))[:_SAID_CHARS]}",
        data={"version": __version__, "report": report},
        hints=(hints.report_bug(),),
        error=ErrorSlug.INTERNAL,
    )
