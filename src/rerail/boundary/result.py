"""What a verb hands in: a result as a plain value. Whether it may leave is up to `rerail.boundary.serialize`, the only way out.

No field does another's work: ``message`` says what happened, on a failure with the remedy; ``data`` carries facts,
``diagnostics`` places, ``hints`` advice.

A hook answers with results that are ok, so the slugs and the hints, 3 ms, are imported where a failure is told.
"""

from __future__ import annotations

from types import MappingProxyType

from rerail.errors import FileFaultsError, UnknownNameError
from rerail.light_typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Mapping
    from typing import Any

    from rerail.boundary.hints import Hint
    from rerail.boundary.slugs import ErrorSlug
    from rerail.errors import RerailError


class Diagnostic(NamedTuple):
    """One thing that is wrong, and where."""

    message: str
    """What was expected and what came."""
    where: str = ""
    """A file as the caller named it, a stream, or a check."""
    line: int | None = None
    """Counted from 1."""
    key: str = ""
    """The dotted path of the key at fault."""
    evidence: str = ""
    """The line itself, redacted."""


class Result(NamedTuple):
    """The result of one verb."""

    ok: bool
    verb: str
    """As it is typed: ``rules test``."""
    message: str = ""
    data: Mapping[str, object] = MappingProxyType({})
    """JSON values by name; tuples, enumerations and mappings are welcome."""
    diagnostics: tuple[Diagnostic, ...] = ()
    hints: tuple[Hint, ...] = ()
    error: ErrorSlug | None = None

    def rows(self, name: str) -> list[dict[str, Any]]:
        """Return a list of facts, for whoever shows them."""
        found: Any = self.data[name]
        return list(found)


def with_recovery_hint(result: Result) -> Result:
    """Return a failed result with the generic hint, where it has no next step and its failure may use that one."""
    from rerail.boundary.hints import correct_and_run_again
    from rerail.boundary.slugs import Mode, recovery_of

    if result.ok or next_steps(result) or recovery_of(result.error).mode is Mode.TAILORED or not speaks(result):
        return result
    return result._replace(hints=(*result.hints, correct_and_run_again()))


def next_steps(result: Result) -> tuple[Hint, ...]:
    """Return the fired hints that are registered as next steps."""
    from rerail.boundary.hints import REGISTRY, Category

    return tuple(
        hint for hint in result.hints if hint.id in REGISTRY and REGISTRY[hint.id].category is Category.NEXT_STEP
    )


def speaks(result: Result) -> bool:
    """Whether a result says anything outside its data: a message, or a first diagnostic with one."""
    return bool(result.message.strip() or (result.diagnostics and result.diagnostics[0].message.strip()))


def failed(verb: str, error: RerailError, *fired: Hint, data: Mapping[str, object] = MappingProxyType({})) -> Result:
    """Return the result of a verb that an error of the tree ended.

    Args:
        verb: As it is typed.
        error: What was raised; its own hint is the remedy, and becomes part of the message.
        fired: The next step, where the error's slug needs one that only the caller can fill in (which pause, which unit).
        data: Facts.
    """
    slug = slug_of(error)
    faults = error.faults if isinstance(error, FileFaultsError) else ()
    result = Result(
        ok=False,
        verb=verb,
        message=f"{error.message}; {error.hint}" if error.hint else error.message,
        data=data,
        diagnostics=tuple(Diagnostic(fault.message, fault.where, fault.line, fault.key) for fault in faults),
        hints=fired or _own_step(slug, error),
        error=slug,
    )
    return with_recovery_hint(result)


def slug_of(error: RerailError) -> ErrorSlug:
    """Return an error's slug; one that a project derived has the slug of the nearest error above it that is rerail's."""
    from rerail.boundary.slugs import ErrorSlug

    known = set(ErrorSlug)
    slugs = (getattr(kind, "slug", "") for kind in type(error).__mro__)
    return next(ErrorSlug(slug) for slug in slugs if slug in known)


def _own_step(slug: ErrorSlug, error: RerailError) -> tuple[Hint, ...]:
    """Return the next step of a slug whose hint needs nothing but the error."""
    from rerail.boundary.hints import REGISTRY, list_names

    if isinstance(error, UnknownNameError):
        return (list_names(kind=error.kind),)
    return tuple(entry() for entry in REGISTRY.values() if slug in entry.family and not entry.fields)
