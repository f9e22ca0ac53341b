"""What every result of every tool must be."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from tests.envelopes import typed

from rerail.boundary.envelope import Envelope
from rerail.evidence.ansi import printable

if TYPE_CHECKING:
    from mcp_types import CallToolResult


def checked(result: CallToolResult) -> dict[str, Any]:
    """Return a result's envelope, after checking that it is one, and that nothing is said beside it."""
    envelope: dict[str, Any] = result.structured_content
    read = Envelope.model_validate(envelope)
    assert result.is_error is (not read.ok)
    (content,) = result.content
    assert content.type == "text"
    assert json.loads(content.text) == envelope
    assert printable(content.text) == content.text
    assert "Traceback" not in read.message
    if read.verb != "mcp":  # a tool that does not exist has no facts
        typed(envelope)
    if not read.ok:
        assert any(hint.category == "next-step" for hint in read.hints)
    return envelope
