"""Evidence of exceptions that were just seen: a loop meets the same failure again and again.

Only an exception that is all in its class and arguments is remembered: one without a chain, attributes or a text of its own
making. The memory is bounded, stays in the process, and is told apart by equality, so what is remembered is what would be made.
"""

from __future__ import annotations

from functools import lru_cache
from typing import TYPE_CHECKING

from rerail.evidence.exceptions import from_exception
from rerail.evidence.foreign import is_a

if TYPE_CHECKING:
    from rerail.evidence.model import Evidence

_REMEMBERED = 256
_LONGEST_CHARS = 1_000
_PLAIN_VALUES = frozenset({str, int, float, bool, type(None)})
_TELLING = frozenset(
    # What is read here, and a class may answer for itself; then what evidence is read from.
    {"__cause__", "__context__", "__dict__", "__getattribute__", "args", "errno", "filename", "filename2"}
    | {"__slots__", "status_code"}
)
_PLAIN_TEXTS = frozenset({BaseException.__str__, OSError.__str__, KeyError.__str__})

_recent: dict[tuple[object, ...], Evidence] = {}


def evidence_of(error: BaseException) -> Evidence:
    """Return the evidence that *error* is, as `from_exception` does."""
    identity = _identity(error)
    if identity is None:
        return from_exception(error)
    known = _recent.get(identity)
    if known is None:
        if len(_recent) >= _REMEMBERED:
            _recent.clear()
        known = _recent[identity] = from_exception(error)
    return known


def _identity(error: BaseException) -> tuple[object, ...] | None:
    """Return what all of an exception's evidence follows from; None where it may follow from more."""
    cls = type(error)
    plain = _is_plain(cls)  # type: ignore[arg-type]  # a class hashes; mypy reads the hash of its instances
    if not plain or error.__context__ is not None or error.__cause__ is not None or error.__dict__:
        return None
    values = error.args
    if is_a(error, OSError):
        values = (*values, error.errno, error.filename, error.filename2)
    for value in values:
        if type(value) not in _PLAIN_VALUES or (type(value) is str and len(value) > _LONGEST_CHARS):
            return None
    # 1 == True == 1.0, and their texts differ.
    return (cls, values, tuple(map(type, values)))


@lru_cache(maxsize=_REMEMBERED)
def _is_plain(cls: type[BaseException]) -> bool:
    """Whether a class adds nothing to its arguments: no text of its own, no slots, no attribute that evidence is read from."""
    own = [base for base in cls.__mro__ if base.__module__ != "builtins"]
    return cls.__str__ in _PLAIN_TEXTS and not any(vars(base).keys() & _TELLING for base in own)
