"""What a caller declares about a unit. A value; running it is `rerail.runner.guard`'s."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Literal, TypedDict

import attrs

from rerail.decisions.model import Effects
from rerail.ids import UnitName

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Mapping

    from rerail.decisions.model import Landing
    from rerail.decisions.policy import Policy
    from rerail.evidence.model import Evidence
    from rerail.handlers.repair import RepairRequest


def _declared(effects: Effects | str) -> Effects:
    try:
        return Effects(effects)
    except ValueError:
        raise ValueError(f"effects must be 'none', 'idempotent' or 'unsafe', got {effects!r}") from None


def _named(instance: object, attribute: attrs.Attribute[UnitName], value: object) -> None:  # noqa: ARG001  attrs' signature
    if not isinstance(value, str):
        raise TypeError(f"a unit's name must be text, got {value!r}")
    if not value or not value.isprintable():
        raise ValueError(f"a unit's name must be printable text, got {value!r}")


_called = attrs.validators.optional(attrs.validators.is_callable())
_classes = attrs.validators.deep_iterable(attrs.validators.instance_of(type), attrs.validators.instance_of(tuple))


@attrs.frozen
class Unit:
    """The smallest step of work under recovery.

    Raises:
        ValueError: The name is empty or not printable, or the effects are none of the three.
        TypeError: A field is not of its kind: a callback that cannot be called, a name that is no text.
    """

    name: UnitName = attrs.field(converter=UnitName, validator=_named)
    """Stable over runs: budgets are kept under it."""
    effects: Effects = attrs.field(default=Effects.UNSAFE, converter=_declared)
    """``none`` is the caller's word that a second run does no harm."""
    landed: Callable[[], Landing | bool | Awaitable[Landing | bool | None] | None] | None = attrs.field(
        default=None, validator=_called
    )
    """Asked after an unknown outcome of an unsafe unit: True, False, or None for unknown. One that raises does not know."""
    repair: Callable[[RepairRequest], Any] | None = attrs.field(default=None, validator=_called)
    """Gives a new input after a rejection, or None; may be a coroutine function under the awaiting driver. One that raises
    has none to give."""
    schema: object = None
    """What the input must fit: a JSON Schema, or a pydantic model."""
    context: Mapping[str, object] = attrs.field(factory=dict)
    """Values that a repair may fill in, by field name or dotted path."""
    failure: Callable[[Any], Evidence | None] | None = attrs.field(default=None, validator=_called)
    """Reads a returned value that is a failure all the same, and gives its evidence."""
    passes_through: tuple[type[BaseException], ...] = attrs.field(default=(), validator=_classes)
    """Exceptions that are control flow, not failures: they end the run as a cancellation does."""
    policy: Policy | None = None
    """In place of the loop's."""
    marks_starts: bool = False
    """Whether even the first attempt is written down before it runs, so that a unit that kills its host is known, and holds the
    lease of its worktree from the start; otherwise it does after its first failure. Commands always do."""


class UnitFields(TypedDict, total=False):
    """What can be declared about a unit beside its name, as keywords; each is the field of `Unit` with its name."""

    effects: Effects | Literal["none", "idempotent", "unsafe"]
    landed: Callable[[], Landing | bool | Awaitable[Landing | bool | None] | None] | None
    repair: Callable[[RepairRequest], Any] | None
    schema: object
    context: Mapping[str, object]
    failure: Callable[[Any], Evidence | None] | None
    passes_through: tuple[type[BaseException], ...]
    policy: Policy | None
    marks_starts: bool
