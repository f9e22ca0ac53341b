"""Every envelope that a test looks at is held to the data that its verb publishes."""

from __future__ import annotations

from typing import Any

from pydantic import ValidationError

from rerail.boundary.data import DATA, Bug, Facts
from rerail.boundary.envelope import Envelope


def typed(envelope: dict[str, Any]) -> dict[str, Any]:
    """Return the envelope, once it and its data are what is published: no field is missing, and none is unknown."""
    Envelope.model_validate(envelope)
    data = envelope["data"]
    if data or envelope["ok"]:
        models = DATA[envelope["verb"]]
        shapes: tuple[type[Facts], ...] = models if envelope["ok"] else (*models, Bug)
        assert any(_fits(model, data) for model in shapes), (
            envelope["verb"],
            data,
            [_fault(each, data) for each in models],
        )
    return envelope


def _fits(model: type[Facts], data: dict[str, Any]) -> bool:
    try:
        read = model.model_validate(data)
    except ValidationError:
        return False
    return bool(read.model_dump(mode="json", exclude_unset=True) == data)


def _fault(model: type[Facts], data: dict[str, Any]) -> str:
    try:
        read = model.model_validate(data).model_dump(mode="json", exclude_unset=True)
    except ValidationError as error:
        return str(error)
    return f"unknown to {model.__name__}: {sorted(data.keys() - read.keys())}"
