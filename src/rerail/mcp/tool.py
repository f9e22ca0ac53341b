"""A tool: what it is called, what it takes, and the function that does it; and what that function works with."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Protocol, TypeVar

import attrs
from pydantic import BaseModel, ConfigDict, ValidationError

from rerail.boundary.result import Diagnostic, Result, with_recovery_hint
from rerail.boundary.slugs import ErrorSlug

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence
    from pathlib import Path

    from pydantic_core import ErrorDetails

    from rerail.mcp.policy import Allowed
    from rerail.process import EndRequest

_Taken = TypeVar("_Taken", bound="Arguments", contravariant=True)

NOT_AN_OBJECT = "(arguments)"
"""The name under which arguments stand that are no object; see `rerail.mcp.server`."""


class Arguments(BaseModel):
    """The arguments of a tool. Unknown ones are refused: a slip must not pass for a default."""

    model_config = ConfigDict(extra="forbid", strict=True, frozen=True)


@attrs.frozen
class Call:
    """What a tool works with, besides its arguments."""

    cwd: Path
    """The directory that the server was started for."""
    allowed: Allowed
    end: EndRequest
    """Made when the client cancels, or the server ends."""
    tell: Callable[[str], None]
    """Tells the client how far it is."""


class Act(Protocol[_Taken]):
    """Does what a tool is for, in a thread."""

    def __call__(self, call: Call, taken: _Taken, /) -> Result:
        """Return the verb's result, or raise an error of the tree."""
        ...


@attrs.frozen
class Tool:
    """One tool."""

    name: str
    verb: str
    """The verb that it is on the command line."""
    title: str
    description: str
    """For a model: what it does, when to call it, and what it does not do."""
    arguments: type[Arguments]
    act: Act[Any]
    input_schema: Mapping[str, Any] | None = None
    """In place of the arguments' own."""
    read_only: bool = True
    destructive: bool = False
    idempotent: bool = True

    def schema(self) -> dict[str, Any]:
        """Return the JSON Schema of the arguments."""
        return dict(self.input_schema or self.arguments.model_json_schema())

    def perform(self, call: Call, arguments: Mapping[str, Any]) -> Result:
        """Check the arguments, and do it."""
        if NOT_AN_OBJECT in arguments:
            return self._refused([Diagnostic(f"the arguments must be an object, got {arguments[NOT_AN_OBJECT]!r:.60}")])
        try:
            taken = self.arguments.model_validate(arguments)
        except ValidationError as error:
            return self._refused([_fault(each) for each in error.errors(include_url=False, include_context=False)])
        result: Result = self.act(call, taken)
        return result

    def _refused(self, faults: Sequence[Diagnostic]) -> Result:
        """Return the result of a call whose arguments the tool does not take: a diagnostic per fault."""
        more = f" (and {len(faults) - 1} more)" if len(faults) > 1 else ""
        message = f"{self.name}: {faults[0].message}{more}"
        return with_recovery_hint(Result(False, self.verb, message, diagnostics=tuple(faults), error=ErrorSlug.USAGE))


def _fault(error: ErrorDetails) -> Diagnostic:
    key = ".".join(map(str, error["loc"]))
    said = "is no argument of this tool" if error["type"] == "extra_forbidden" else error["msg"]
    got = "" if error["type"] in ("missing", "extra_forbidden") else f", got {error['input']!r:.60}"
    return Diagnostic(f"{key}: {said}{got}", key=key)
