"""Attributes of other people's objects, read without running their code.

Exceptions and responses come from any library. A property may raise, be slow or do network I/O (`httpx.Response.text` on an
unread stream), a ``__getattr__`` may invent anything. So only what lies in an instance's dictionary, in a slot or as a plain
value on its class is read; no property, no ``__getattr__`` and no ``__getattribute__`` runs.
"""

from __future__ import annotations

from types import GetSetDescriptorType, MemberDescriptorType

from rerail.light_typing import TYPE_CHECKING, TypeVar

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping
    from typing import Any, TypeGuard

_Kind = TypeVar("_Kind")

_NOTHING: Mapping[str, object] = {}

# The slots themselves: a metaclass may override what its classes say of themselves.
_mro = type.__dict__["__mro__"].__get__
_module = type.__dict__["__module__"].__get__
_qualname = type.__dict__["__qualname__"].__get__
_class_values = type.__dict__["__dict__"].__get__

_PLAIN = (str, int, float, bytes, dict, list, tuple)


def is_a(value: object, kind: type[_Kind]) -> TypeGuard[_Kind]:
    """Return whether *value* is of *kind* by its real type: `isinstance` would ask the object for its ``__class__`` as well."""
    return issubclass(type(value), kind)


def own_values(value: object) -> Mapping[str, object]:
    """Return the instance dictionary of *value*, empty if it has none."""
    try:
        own = object.__getattribute__(value, "__dict__")
    except AttributeError:  # there is none
        return _NOTHING
    except KeyboardInterrupt:
        raise
    except BaseException:  # noqa: BLE001  the class makes its own; see `answer_of`
        return _NOTHING
    return own if type(own) is dict else _NOTHING


def mro_of(cls: type) -> tuple[type, ...]:
    """Return a class and its bases in the order in which they are asked."""
    found: tuple[type, ...] = _mro(cls)
    return found


def class_values(cls: type) -> Mapping[str, Any]:
    """Return what a class itself defines."""
    found: Mapping[str, Any] = _class_values(cls)
    return found


def names_of(cls: type) -> tuple[str, str]:
    """Return a class's module, ``""`` where it says none, and its qualified name."""
    module = _module(cls)  # which a class may set to anything
    return str.__str__(module) if is_a(module, str) else "", str.__str__(_qualname(cls))


def answer_of(question: Callable[[], _Kind]) -> _Kind | None:
    """Return what other people's code answers; None where it raises, whatever that is.

    Only an interrupt, which is the user's own word and comes at any moment, goes on. Nothing else does: a task is cancelled where
    it awaits, and nothing is awaited here.
    """
    try:
        return question()
    except KeyboardInterrupt:
        raise
    except BaseException:  # noqa: BLE001  as said
        return None


def read(value: object, name: str) -> Any:
    """Return the attribute, or the item of a dict, called *name*; None when there is none that can be read safely."""
    if type(value) is dict:
        return value.get(name)
    own = own_values(value)
    if name in own:
        return own[name]
    for cls in mro_of(type(value)):
        found = class_values(cls).get(name)
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
