"""The published JSON Schemas."""

from __future__ import annotations

from rerail.boundary.result import Result
from rerail.boundary.schemas import SCHEMAS, published
from rerail.errors import UnknownNameError


def schema(name: str | None = None) -> Result:
    """Return one published schema, or all of them.

    Raises:
        UnknownNameError: There is none of that name.
    """
    if name is not None and name not in SCHEMAS:
        raise UnknownNameError("schema", name, SCHEMAS)
    names = SCHEMAS if name is None else (name,)
    return Result(True, "schema", "", {"schemas": {each: published(each) for each in names}})
