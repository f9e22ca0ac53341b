"""The published JSON Schemas: what is published stays readable and writable for whoever built on it."""

from __future__ import annotations

import copy
import importlib.util
import json
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from jsonschema import Draft202012Validator

from rerail.boundary.schemas import SCHEMAS, published

if TYPE_CHECKING:
    from collections.abc import Callable
    from types import ModuleType

DOCS = Path(__file__).parents[2] / "docs"


def _module() -> ModuleType:
    spec = importlib.util.spec_from_file_location("docs_schemas", DOCS / "schemas.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


breaks: Callable[[Any, Any], Any] = _module().breaks


def kept(name: str) -> dict[str, Any]:
    version, _ = SCHEMAS[name]
    value: dict[str, Any] = json.loads((DOCS / "schemas" / f"{name}-{version}.json").read_text())
    return value


@pytest.mark.parametrize("name", SCHEMAS)
def test_a_schema_is_one(name: str) -> None:
    Draft202012Validator.check_schema(published(name))


@pytest.mark.parametrize("name", SCHEMAS)
def test_what_is_published_is_still_kept(name: str) -> None:
    assert list(breaks(kept(name), published(name))) == []


def changed(change: Callable[[dict[str, Any]], object], name: str = "classification") -> list[str]:
    old = kept(name)
    new = copy.deepcopy(old)
    change(new)
    return list(breaks(old, new))


@pytest.mark.parametrize(
    ("name", "change"),
    [
        ("classification", lambda schema: schema["properties"].pop("rule")),
        ("classification", lambda schema: schema["required"].remove("rule")),
        ("classification", lambda schema: schema["required"].append("id")),
        ("classification", lambda schema: schema["properties"]["rule"].update(type="integer")),
        ("classification", lambda schema: schema["properties"]["rule"].update(maxLength=3)),
        ("classification", lambda schema: schema["$defs"].pop("Cited")),
        ("classification", lambda schema: schema.update(additionalProperties=False)),
        ("envelope", lambda schema: schema["$defs"]["ErrorSlug"]["enum"].remove("paused")),
        ("ledger-export", lambda schema: schema["anyOf"].pop()),
    ],
)
def test_what_would_break_a_reader_or_writer_is_refused(name: str, change: Callable[[dict[str, Any]], object]) -> None:
    assert changed(change, name)


@pytest.mark.parametrize(
    ("name", "change"),
    [
        ("classification", lambda schema: schema["properties"].update(confidence={"type": "number"})),
        ("classification", lambda schema: schema["properties"]["rule"].update(description="reworded")),
        ("envelope", lambda schema: schema["$defs"]["ErrorSlug"]["enum"].append("new-slug")),
    ],
)
def test_an_optional_field_another_word_and_better_prose_break_nobody(
    name: str, change: Callable[[dict[str, Any]], object]
) -> None:
    assert changed(change, name) == []
