"""The exceptions that hang on one exception: what it wraps, what it was raised from, what a group holds.

Followed are ``__cause__``, exceptions kept as attributes or arguments (urllib3's ``reason``, requests' ``args[0]``, tenacity's
``last_attempt``), ``__context__`` unless suppressed, and members of groups. Cycles end; a long chain loses its middle, for its
two ends tell most.
"""

from __future__ import annotations

from rerail.evidence.foreign import is_a, own_values, read
from rerail.evidence.model import Link
from rerail.light_typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Iterator

MAX_CHAIN = 20
MAX_MEMBERS = 50
_MAX_VISITED = 1000

# The slots themselves: a class may override attribute access.
_cause = BaseException.__dict__["__cause__"].__get__
_context = BaseException.__dict__["__context__"].__get__
_suppresses_context = BaseException.__dict__["__suppress_context__"].__get__
_arguments = BaseException.__dict__["args"].__get__

# Attributes that lead outwards or sideways: jsonschema's error above this one.
_NOT_INNER = ("parent",)
_MEMBERS = ("exceptions", "errors")


class Unfolded(NamedTuple):
    """The exceptions found."""

    chain: tuple[tuple[Link, BaseException], ...]
    """Outermost first; the members of a group after it. Groups within groups are passed through."""
    clipped: bool
    """There were more than are kept."""


def unfold(error: BaseException) -> Unfolded:
    """Return *error* and every exception that hangs on it."""
    if _is_alone(error):
        return Unfolded(((Link.RAISED, error),), clipped=False)
    found: list[tuple[Link, BaseException]] = []
    seen: set[int] = set()
    clipped = False
    members = 0
    starts = [(Link.RAISED, error)]
    while starts and len(seen) < _MAX_VISITED and members < MAX_MEMBERS:
        chain: list[tuple[Link, BaseException]] = []
        branches: list[tuple[Link, BaseException]] = []
        following: tuple[Link, BaseException] | None = starts.pop()
        while following is not None and id(following[1]) not in seen and len(seen) < _MAX_VISITED:
            link, one = following
            seen.add(id(one))
            group = _members(one)
            if not group or link is not Link.MEMBER:
                chain.append(following)
                members += link is Link.MEMBER
            inner = _inner(one)
            following = inner[0] if inner else None
            branches += (*inner[1:], *((Link.MEMBER, member) for member in group[:MAX_MEMBERS]))
            clipped = clipped or len(group) > MAX_MEMBERS
        clipped = clipped or len(chain) > MAX_CHAIN
        found += chain if len(chain) <= MAX_CHAIN else chain[: MAX_CHAIN // 2] + chain[-MAX_CHAIN // 2 :]
        starts += reversed(branches)
    return Unfolded(tuple(found), clipped or bool(starts) or len(seen) == _MAX_VISITED)


def _is_alone(error: BaseException) -> bool:
    """Return whether nothing hangs on *error*. PERF: so it is with most, and walking costs six times as much."""
    if _cause(error) is not None or own_values(error) or is_a(error, BaseExceptionGroup):
        return False
    if _context(error) is not None and not _suppresses_context(error):
        return False
    for argument in _arguments(error):  # noqa: SIM110  PERF: a generator costs more than the loop
        if is_a(argument, BaseException):
            return False
    return True


def _inner(error: BaseException) -> list[tuple[Link, BaseException]]:
    """Return the exceptions inside *error*, the most telling first."""
    inner: list[tuple[Link, BaseException]] = []
    cause = _cause(error)
    if cause is not None:
        inner.append((Link.CAUSE, cause))
    inner += ((Link.CAUSE, wrapped) for wrapped in _wrapped(error))
    if cause is None and not _suppresses_context(error):
        context = _context(error)
        if context is not None:
            inner.append((Link.CONTEXT, context))
    return inner


def _wrapped(error: BaseException) -> Iterator[BaseException]:
    for argument in _arguments(error):
        if is_a(argument, BaseException):
            yield argument
    own = own_values(error)
    for name, value in own.items():
        if is_a(value, BaseException) and name not in _NOT_INNER:
            yield value
    if "last_attempt" in own:  # tenacity: a finished future
        outcome = read(own["last_attempt"], "_exception")
        if is_a(outcome, BaseException):
            yield outcome


def _members(error: BaseException) -> list[BaseException]:
    if not is_a(error, BaseExceptionGroup) and not own_values(error):
        return []
    for name in _MEMBERS:
        values = read(error, name)
        if type(values) in (list, tuple):
            return [value for value in values if is_a(value, BaseException)]
    return []
