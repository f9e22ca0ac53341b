"""The envelope as a published schema: what every ``--json`` and every MCP tool returns, for whoever reads it.

`rerail.boundary.serialize` writes it without pydantic; a test holds the two together. Readers ignore fields that they do not
know, so that a newer rerail can be read by an older reader of the same ``schema_version``.
"""

from __future__ import annotations

from typing import Any, Literal

from pydantic import BaseModel, ConfigDict, Field

from rerail.boundary.hints import Audience, Category  # noqa: TC001  pydantic reads annotations
from rerail.boundary.slugs import ErrorSlug  # noqa: TC001  pydantic reads annotations


class _Read(BaseModel):
    model_config = ConfigDict(frozen=True, extra="ignore")


class EnvelopeDiagnostic(_Read):
    """One thing that is wrong, and where."""

    message: str = Field(description="What was expected and what came.")
    where: str = Field("", description="A file, a stream or a check; empty where the place is the call itself.")
    line: int | None = Field(None, description="Counted from 1.")
    key: str = Field("", description="The dotted path of the key at fault.")
    evidence: str = Field("", description="The line itself, redacted.")


class EnvelopeHint(_Read):
    """One piece of advice out of the closed registry."""

    id: str = Field(description="Which hint of the registry.")
    category: Category
    audience: Audience
    text: str = Field(description="The advice; commands stand in backquotes.")
    command: list[str] | None = Field(None, description="The one command that is the step, ready to run.")


class Envelope(_Read):
    """The result of one verb."""

    schema_version: Literal[1]
    ok: bool
    verb: str
    message: str = Field(description="What happened; on a failure with the remedy.")
    data: dict[str, Any] = Field(description="Facts, as the verb's own schema says.")
    diagnostics: list[EnvelopeDiagnostic]
    hints: list[EnvelopeHint] = Field(description="Advice; a failed result has at least one next step.")
    error: ErrorSlug | None = Field(
        description="Why it is not ok; null too where a verb looked and found something wrong."
    )
