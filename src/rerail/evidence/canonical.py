"""One byte string per value: equal for equal inputs, whatever order a dict or set came in, and different for any other.

JSON-like values are told apart as a validator would: ``1``, ``1.0``, ``True`` and ``"1"`` are four inputs; a list and a tuple
of the same items are one. Models (pydantic, attrs, dataclasses) count by their type and fields. Other objects count by type and
repr without memory addresses, or by their attributes where they have no repr of their own.
"""

from __future__ import annotations

from collections.abc import Mapping, Set

from rerail.evidence.foreign import answer_of, names_of
from rerail.evidence.lazy import compiled
from rerail.light_typing import TYPE_CHECKING

if TYPE_CHECKING:
    from typing import Any

_MAX_DEPTH = 100
_MAX_REPR_CHARS = 64 * 1024
_ADDRESS = r" at 0x[0-9a-fA-F]+"


def canonical(value: object) -> bytes:
    """Return the canonical form of *value*.

    Never raises. Beyond 100 levels, and where a value contains itself, only types are told apart.
    """
    return answer_of(lambda: _encode(value, ())) or _sized(b"c", _type_name(value))


def _encode(value: object, outer: tuple[int, ...]) -> bytes:
    match value:
        case str():
            return _sized(b"s", value.encode("utf-8", "surrogatepass"))
        case None:
            return b"n;"
        case bool():
            return b"t;" if value else b"f;"
        case int():
            return b"i%x;" % value if value >= 0 else b"i-%x;" % -value
        case float():
            return b"d%s;" % float.__repr__(value).encode()
        case bytes() | bytearray():
            return _sized(b"b", bytes(value))
    if id(value) in outer or len(outer) >= _MAX_DEPTH:
        return _sized(b"c", _type_name(value))
    outer = (*outer, id(value))
    match value:
        case list() | tuple():
            return b"l%d:" % len(value) + b"".join(_encode(item, outer) for item in value)
        case Mapping():
            return _encode_mapping(value, outer)
        case Set():
            return b"e%d:" % len(value) + b"".join(sorted(_encode(item, outer) for item in value))
    return _encode_object(value, outer)


def _sized(tag: bytes, data: bytes) -> bytes:
    return b"%s%d:%s" % (tag, len(data), data)


def _encode_mapping(value: Mapping[Any, object], outer: tuple[int, ...]) -> bytes:
    pairs = sorted(_encode(key, outer) + _encode(item, outer) for key, item in value.items())
    return b"m%d:" % len(pairs) + b"".join(pairs)


def _encode_object(value: object, outer: tuple[int, ...]) -> bytes:
    fields = answer_of(lambda: _fields(value))
    name = _sized(b"o", _type_name(value))
    if fields is not None:
        return name + _encode_mapping(fields, outer)
    # A repr is foreign code, and a fingerprint must not fail.
    shown = answer_of(lambda: repr(value)[:_MAX_REPR_CHARS]) or ""
    return name + _sized(b"s", compiled(_ADDRESS).sub("", shown).encode("utf-8", "surrogatepass"))


def _fields(value: object) -> Mapping[Any, object] | None:
    """Return the fields of a model, or the attributes of an object without a repr of its own."""
    cls = type(value)
    dump = getattr(cls, "model_dump", None)
    if callable(dump):
        dumped = dump(value)
        return dumped if isinstance(dumped, Mapping) else None
    names = getattr(cls, "__dataclass_fields__", None)
    if names is None:
        names = [attribute.name for attribute in getattr(cls, "__attrs_attrs__", ())]
    if names:
        return {name: getattr(value, name) for name in names}
    return dict(vars(value)) if cls.__repr__ is object.__repr__ else None


def _type_name(value: object) -> bytes:
    return ".".join(names_of(type(value))).encode("utf-8", "surrogatepass")
