"""The schema: what it accepts, what it complains about, and what it says of a place.

Judging is left to `judging`; here the JSON Schema is read as a document. Only what certainly applies to a place is read: its
``properties`` and ``items``, what ``$ref`` and ``allOf`` add, and of a choice the one branch that is not null.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import attrs

from rerail.handlers.repair.judging import judge_of_document, judge_of_model
from rerail.handlers.repair.tree import copied, same

if TYPE_CHECKING:
    from collections.abc import Iterator

    from rerail.handlers.repair.judging import Judge
    from rerail.handlers.repair.tree import Place

_MAX_REFS = 20
"""References and branches followed from one place; a schema may refer to itself."""


@attrs.frozen
class Shape:
    """One schema."""

    document: Any
    """The JSON Schema; ``{}`` for a model that has none."""
    judge: Judge
    """Says what is wrong with a value, nothing when the schema accepts it."""

    def fields(self, place: Place) -> frozenset[str]:
        """Return the fields that the schema declares for the object at *place*."""
        return frozenset(name for node in self._nodes(place) for name in _mapping(node, "properties"))

    def has_open_names(self, place: Place) -> bool:
        """Whether the object at *place* declares fields by pattern, so that a misspelled name cannot be told."""
        return any(_mapping(node, "patternProperties") for node in self._nodes(place))

    def given(self, place: Place) -> tuple[Any, str] | None:
        """Return the one value that the schema itself gives for *place*, and why; None when it gives none, or several."""
        nodes = list(self._nodes(place))
        only = [node["const"] for node in nodes if "const" in node]
        only += [node["enum"][0] for node in nodes if isinstance(node.get("enum"), list) and len(node["enum"]) == 1]
        if only:
            # A required "yes" is an acknowledgement that somebody must give; a schema cannot give it.
            is_certain = only[0] is not True and all(same(value, only[0]) for value in only)
            return (only[0], "the only value that its schema allows") if is_certain else None
        defaults = [node["default"] for node in nodes if "default" in node]
        if defaults and all(same(value, defaults[0]) for value in defaults):
            return defaults[0], "its schema's default"
        return None

    def values(self, place: Place) -> tuple[Any, ...]:
        """Return the values that the schema enumerates for *place*."""
        return tuple(
            value for node in self._nodes(place) if isinstance(node.get("enum"), list) for value in node["enum"]
        )

    def _nodes(self, place: Place) -> Iterator[dict[str, Any]]:
        nodes = list(self._whole(self.document, _MAX_REFS))
        for step in place:
            children = [child for node in nodes for child in _children(node, step)]
            nodes = [part for child in children for part in self._whole(child, _MAX_REFS)]
        yield from nodes

    def _whole(self, node: Any, refs: int) -> Iterator[dict[str, Any]]:
        """Yield a schema and all that must hold with it."""
        if not isinstance(node, dict) or refs < 0:
            return
        yield node
        if isinstance(ref := node.get("$ref"), str) and ref.startswith("#"):
            yield from self._whole(self._resolved(ref), refs - 1)
        parts = node["allOf"] if isinstance(node.get("allOf"), list) else []
        for part in parts[:_MAX_REFS]:
            yield from self._whole(part, refs - 1 - len(parts))
        for branches in (node.get("anyOf"), node.get("oneOf")):
            some = [each for each in branches if not _is_null(each)] if isinstance(branches, list) else []
            if len(some) == 1:
                yield from self._whole(some[0], refs - 1)

    def _resolved(self, ref: str) -> Any:
        node = self.document
        for word in ref.removeprefix("#").split("/")[1:]:
            node = node.get(word.replace("~1", "/").replace("~0", "~")) if isinstance(node, dict) else None
        return node


def shape_of(schema: object) -> Shape | None:
    """Return the shape of a JSON Schema mapping, a pydantic model class or a ``TypeAdapter``; None for None.

    Raises:
        UnjudgedError: It is none of these, no valid schema, or too large.
    """
    if schema is None:
        return None
    for describe, validate in (("model_json_schema", "model_validate"), ("json_schema", "validate_python")):
        if hasattr(schema, describe) and hasattr(schema, validate):
            return Shape(_described(getattr(schema, describe)), judge_of_model(getattr(schema, validate)))
    document, judge = judge_of_document(schema)
    return Shape(document, judge)


def _mapping(node: Any, keyword: str) -> dict[str, Any]:
    """Return the mapping that a schema has under *keyword*, empty when it has none."""
    found = node.get(keyword) if isinstance(node, dict) else None
    return found if isinstance(found, dict) else {}


def _described(describe: Any) -> Any:
    try:
        return copied(describe())
    except Exception:  # noqa: BLE001  a model that has no JSON Schema can still judge
        return {}


def _children(node: dict[str, Any], step: str | int) -> Iterator[Any]:
    """Yield the schemas that a schema gives for the value at *step* of its own."""
    if isinstance(step, str):
        declared = _mapping(node, "properties")
        yield declared[step] if step in declared else node.get("additionalProperties")
        return
    listed = node.get("prefixItems")
    if not isinstance(listed, list):
        listed = node["items"] if isinstance(node.get("items"), list) else []
    yield listed[step] if step < len(listed) else node.get("items")


def _is_null(node: Any) -> bool:
    return isinstance(node, dict) and (node.get("type") == "null" or ("const" in node and node["const"] is None))
