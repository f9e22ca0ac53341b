"""The published JSON Schemas: what others read and write of rerail, each under a version of its own.

Within a version a schema only grows: optional fields, and words of a vocabulary. `docs/schemas/` keeps what was published, and a
test refuses a change that would break a reader or writer of it.
"""

from __future__ import annotations

from types import MappingProxyType
from typing import TYPE_CHECKING, Any, Literal

from pydantic import Field, TypeAdapter

from rerail.boundary.data import DATA, BalanceData, Classification, Facts, PauseData
from rerail.boundary.envelope import Envelope
from rerail.boundary.evidence_schema import EVIDENCE_SCHEMA

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

JsonSchema = dict[str, Any]

DIALECT = "https://json-schema.org/draft/2020-12/schema"


class BlockFields(Facts):
    """What a recovery-classification block says, as `rerail.parse_block` reads it."""

    failure: str = Field(description="The failure in one line.")
    class_: str = Field(alias="class")
    evidence_source: str = Field(description="Where the deciding evidence stands; empty when no rule has evidence.")
    evidence_text: str
    action: str
    remaining: int = Field(ge=0, description="Recoveries that are left to the unit for this class.")
    budget: int = Field(ge=0)


class _Header(Facts):
    kind: Literal["ledger"]
    schema_version: Literal[1]
    path: str


class _Event(Facts):
    kind: Literal["event"]
    id: int
    at_s: float = Field(description="Wall clock, seconds since the epoch.")
    run: str
    unit: str
    attempt: int = Field(description="Counted from 1; 0 where it is about no attempt.")
    name: str
    fields: dict[str, Any]


class _Balance(BalanceData):
    kind: Literal["balance"]


class _Pause(PauseData):
    kind: Literal["pause"]


def envelope_of(verb: str) -> JsonSchema:
    """Return the schema of the envelope that one verb returns, its data typed."""
    schema = _of(Envelope)
    shapes = [_of(model) for model in DATA[verb]]
    for shape in shapes:
        schema["$defs"] |= shape.pop("$defs", {})
    nothing = {"type": "object", "description": "Nothing is known, or what a bug left: the verb was ended by an error."}
    schema["properties"]["data"] = {"anyOf": [*shapes, nothing]}
    return schema | {"title": f"Envelope of {verb}"}


def _of(model: Any) -> JsonSchema:
    # As it is written: a field with a default may be absent, and is not required of a writer either.
    return TypeAdapter(model).json_schema(by_alias=True, mode="validation")


SCHEMAS: Mapping[str, tuple[int, Callable[[], JsonSchema]]] = MappingProxyType(
    {
        "envelope": (1, lambda: _of(Envelope)),
        "evidence": (1, lambda: dict(EVIDENCE_SCHEMA)),
        "classification": (1, lambda: _of(Classification)),
        "block": (1, lambda: _of(BlockFields)),
        "ledger-export": (1, lambda: _of(_Header | _Event | _Balance | _Pause)),
    }
)
"""Every published schema by its name: its version, and what makes it."""


def published(name: str) -> JsonSchema:
    """Return a schema as it is published, with its name and version in ``$id``."""
    version, make = SCHEMAS[name]
    return {"$schema": DIALECT, "$id": f"urn:rerail:{name}:{version}", **make()}
