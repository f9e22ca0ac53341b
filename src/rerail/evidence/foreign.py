"""Attributes of other people's objects, read without running their code.

Exceptions and responses come from any library. A property may raise, be slow or do network I/O (`httpx.Response.text` on an
unread stream), a ``__getattr__`` may invent anything. So only what lies in an instance's dictionary, in a slot or as a plain
value on its class is read; no property, no ``__getattr__`` and no ``__getattribute__`` runs.
"""

from __future__ import annotations

from types import GetSetDescriptorType, MemberDescriptorType
from typing import TYPE_CHECKING, Any, TypeGuard, TypeVar

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

_Kind = TypeVar("_Kind")

_NOTHING: Mapping[str, object] = {}
FOREIGN_FAILURES = (Exception, SystemExit, GeneratorExit)
"""What code of other people that is only read may raise, and means nothing to us; an interrupt is the user's own word."""

_PLAIN = (str, int, float, bytes, dict, list, tuple)


def is_a(value: object, kind: type[_Kind]) -> TypeGuard[_Kind]:
    """Return whether *value* is of *kind* by its real type: `isinstance` would ask the object for its ``__class__`` as well."""
    return issubclass(type(value), kind)


def own_values(value: object) -> Mapping[str, object]:
    """Return the instance dictionary of *value*, empty if it has none."""
    try:
        own = object.__getattribute__(value, "__dict__")
    except FOREIGN_FAILURES:  # there is none, or the class makes its own
        return _NOTHING
    return own if type(own) is dict else _NOTHING


def read(value: object, name: str) -> Any:
    """Return the attribute, or the item of a dict, called *name*; None when there is none that can be read safely."""
    if type(value) is dict:
        return value.get(name)
    own = own_values(value)
    if name in own:
        return own[name]
    for cls in type(value).__mro__:
        found = cls.__dict__.get(name)
        if found is None:
            continue
        if type(found) in (MemberDescriptorType, GetSetDescriptorType):
            try:
                return found.__get__(value, type(value))
            except AttributeError:  # a slot that was never filled
                return None
        return found if isinstance(found, _PLAIN) else None
    return None


def first(value: object, names: Iterable[str]) -> Any:
    """Return the first of these attributes that is not None."""
    for name in names:
        found = read(value, name)
        if found is not None:
            return found
    return None
