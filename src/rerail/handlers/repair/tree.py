"""JSON-like values as trees: a checked private copy, the types JSON Schema names, and changes that leave the old tree alone.

A *place* is the way from the root to a value: names and indexes. What a place is called in text belongs to `places`.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Final, TypeAlias

from rerail.evidence.canonical import canonical

Place: TypeAlias = tuple[str | int, ...]

MAX_NODES = 10_000
"""Values in one tree, keys not counted. A tool call has some dozens; more than this is not repaired but handed to a model."""

MAX_DEPTH = 64
"""Containers within containers."""

MAX_NAME = 1_000
"""Characters of a field's name."""

_MAX_INT_BITS = 1_024
"""Python refuses to print integers of some thousand digits."""


class _Absent:
    """Nothing is there; not even null."""

    def __repr__(self) -> str:
        return "ABSENT"


ABSENT: Final = _Absent()


class NotJsonError(ValueError):
    """The value is not JSON, or too large or deep to be worked on."""


def copied(value: object) -> Any:
    """Return an independent copy made of plain dicts, lists, strings, numbers, booleans and None.

    Raises:
        NotJsonError: Something in it is none of these, not finite, cyclic, or beyond `MAX_NODES` or `MAX_DEPTH`.
    """
    return _copied(value, MAX_DEPTH, iter(range(MAX_NODES)))


def _copied(value: object, depth: int, nodes: Iterator[int]) -> Any:
    if depth < 0 or next(nodes, None) is None:
        raise NotJsonError("too deep or too large")
    if value is None or isinstance(value, bool):
        return value
    # Subclasses (enums, strings with methods) become what they print as in JSON.
    if isinstance(value, str):
        return str.__str__(value)
    if isinstance(value, int) and value.bit_length() <= _MAX_INT_BITS:
        return int(value)
    if isinstance(value, float) and math.isfinite(value):
        return float(value)
    if isinstance(value, Mapping):
        if not all(isinstance(key, str) and len(key) <= MAX_NAME for key in value):
            raise NotJsonError("a key that is no field's name")
        return {str.__str__(key): _copied(item, depth - 1, nodes) for key, item in value.items()}
    if isinstance(value, Sequence) and not isinstance(value, bytes | bytearray | memoryview | range):
        return [_copied(item, depth - 1, nodes) for item in value]
    raise NotJsonError(f"{type(value).__name__} is not a JSON value")


def type_of(value: object) -> str:
    """Return the JSON Schema type of a plain value; a float is ``number`` even when it is whole."""
    match value:
        case None:
            return "null"
        case bool():
            return "boolean"
        case int():
            return "integer"
        case float():
            return "number"
        case str():
            return "string"
        case list():
            return "array"
        case _:
            return "object"


def is_a(value: object, types: Sequence[str]) -> bool:
    """Whether *value* is of one of *types* as every validator reads them: ``3.0`` is no integer, ``3`` is a number."""
    name = type_of(value)
    return name in types or (name == "integer" and "number" in types)


def same(one: object, other: object) -> bool:
    """Whether two plain values are the same input, which Python's ``==`` does not say: ``3 == 3.0 == True + 2``."""
    return canonical(one) == canonical(other)


def at(root: Any, place: Place) -> Any:
    """Return what stands at *place*, or `ABSENT`."""
    for step in place:
        if (isinstance(root, dict) and isinstance(step, str) and step in root) or (
            isinstance(root, list) and isinstance(step, int) and 0 <= step < len(root)
        ):
            root = root[step]  # type: ignore[index]  # which of the two it is has just been asked
        else:
            return ABSENT
    return root


def replaced(root: Any, place: Place, value: Any) -> Any:
    """Return *root* with *value* at *place*, whose parent exists; only the containers on the way are copied."""
    if not place:
        return value
    head, *rest = place
    fresh = root.copy()
    fresh[head] = replaced(root[head], tuple(rest), value) if rest else value
    return fresh


def with_field(root: Any, place: Place, value: Any) -> Any:
    """Return *root* with *value* as the field at *place*, whose object exists."""
    return replaced(root, place[:-1], {**at(root, place[:-1]), place[-1]: value})


def without(root: Any, place: Place) -> Any:
    """Return *root* without the field at *place*."""
    fields = at(root, place[:-1])
    return replaced(root, place[:-1], {name: value for name, value in fields.items() if name != place[-1]})


def renamed(root: Any, place: Place, name: str) -> Any:
    """Return *root* with the field at *place* called *name*, in the same position."""
    fields = at(root, place[:-1])
    return replaced(root, place[:-1], {name if key == place[-1] else key: value for key, value in fields.items()})


def leaves(root: Any, place: Place = ()) -> Iterator[tuple[Place, Any]]:
    """Yield every value that is no container, with its place, in order."""
    if isinstance(root, dict):
        for name, value in root.items():
            yield from leaves(value, (*place, name))
    elif isinstance(root, list):
        for index, value in enumerate(root):
            yield from leaves(value, (*place, index))
    else:
        yield place, root
