"""Evidence of exceptions that were just seen: a loop meets the same failure again and again.

Only an exception that is all in its class and arguments is remembered: one without a chain, attributes or a text of its own
making. The memory is bounded, stays in the process, and is told apart by equality, so what is remembered is what would be made.
"""

from __future__ import annotations

from functools import lru_cache

from rerail.evidence.exceptions import from_exception
from rerail.evidence.foreign import is_a
from rerail.light_typing import TYPE_CHECKING

if TYPE_CHECKING:
    from typing import TypeAlias

    from rerail.evidence.model import Evidence

    _Identity: TypeAlias = tuple[type[BaseException], tuple[object, ...], tuple[type, ...]]

_REMEMBERED = 256
_LONGEST_CHARS = 1_000
_PLAIN_KINDS = frozenset(map(id, (str, int, float, bool, type(None))))
"""By their identities: as what another class hashes and compares is its metaclass's to say."""
_TELLING = frozenset(
    # What is read here, and a class may answer for itself; then what evidence is read from.
    {"__cause__", "__context__", "__dict__", "__getattribute__", "args", "errno", "filename", "filename2"}
    | {"__slots__", "status_code"}
)
_PLAIN_TEXTS = frozenset({BaseException.__str__, OSError.__str__, KeyError.__str__})

_recent: dict[_Identity, Evidence] = {}


def evidence_of(error: BaseException) -> Evidence:
    """Return the evidence that *error* is, as `from_exception` does."""
    identity = _identity(error)
    if identity is None:
        return from_exception(error)
    known = _recent.get(identity)
    if known is None:
        known = from_exception(error)
        _, values, _ = identity
        if not any(type(value) is str and len(value) > _LONGEST_CHARS for value in values):
            if len(_recent) >= _REMEMBERED:
                _recent.clear()
            _recent[identity] = known
    return known


def _identity(error: BaseException) -> _Identity | None:
    """Return what all of an exception's evidence follows from; None where it may follow from more."""
    cls = type(error)
    if type(cls) is not type:  # a metaclass has its own say in all that follows, even in the hash of the class
        return None
    plain = _is_plain(cls)  # type: ignore[arg-type]  # a class hashes; mypy reads the hash of its instances
    if not plain or error.__context__ is not None or error.__cause__ is not None or error.__dict__:
        return None
    values = error.args
    if is_a(error, OSError):
        values = (*values, error.errno, error.filename, error.filename2)
    # 1 == True == 1.0, and their texts differ.
    kinds = tuple(map(type, values))
    return (cls, values, kinds) if _PLAIN_KINDS.issuperset(map(id, kinds)) else None


@lru_cache(maxsize=_REMEMBERED)
def _is_plain(cls: type[BaseException]) -> bool:
    """Whether a class adds nothing to its arguments: no text of its own, no slots, no attribute that evidence is read from."""
    own = [base for base in cls.__mro__ if base.__module__ != "builtins"]
    return cls.__str__ in _PLAIN_TEXTS and not any(vars(base).keys() & _TELLING for base in own)
