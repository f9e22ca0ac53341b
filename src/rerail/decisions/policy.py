"""Policy: the budgets, curves, caps and overrides that the operator sets. What they mean is decided in `machine`."""

from __future__ import annotations

import math
from types import MappingProxyType
from typing import TYPE_CHECKING, Any

import attrs

from rerail.budget.model import Window
from rerail.taxonomy import BUILT_IN, Action
from rerail.taxonomy.law import unlawful

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from rerail.rules.model import Classification
    from rerail.taxonomy import Taxonomy

MOST_RECOVERIES = 100
"""Largest budget that can be set; settings are a file that an agent can write too."""


def _positive(instance: object, attribute: attrs.Attribute[float], value: float) -> None:
    if not (value > 0 and not math.isnan(value)):
        raise ValueError(f"{type(instance).__name__}.{attribute.name} must be > 0, got {value!r}")


def _at_least_one(instance: object, attribute: attrs.Attribute[int], value: int) -> None:
    if value < 1:
        raise ValueError(f"{type(instance).__name__}.{attribute.name} must be a whole number >= 1, got {value!r}")


def _read_only(given: Mapping[str, Any]) -> Mapping[str, Any]:
    return MappingProxyType(dict(given))


def _known_actions(given: Mapping[str, str]) -> Mapping[str, Action]:
    return MappingProxyType({name: Action(action) for name, action in given.items()})


@attrs.frozen
class Backoff:
    """How long to wait between attempts. All in seconds."""

    initial_s: float = attrs.field(default=1.0, validator=_positive)
    """The wait after the first failure, before jitter; it doubles from there."""
    cap_s: float = attrs.field(default=60.0, validator=_positive)
    """Longest single wait of our own curve."""
    horizon_s: float = attrs.field(default=300.0, validator=_positive)
    """Longest wait a server's hint may ask for; beyond it the unit pauses until the stated time."""
    total_s: float = attrs.field(default=1800.0, validator=_positive)
    """Longest wait of one unit run in total; beyond it the unit pauses."""
    jitter: float = attrs.field(default=0.25, validator=_positive)
    """Positive jitter: up to this share of the wait is added, on hints and caps too."""
    wait: Callable[[Any], float] | None = None
    """Any tenacity ``wait_*`` strategy, in place of the doubling curve; its result is still held to the caps."""


_HOURLY = Window(charges=20, length_s=3600.0)


@attrs.frozen
class Ceiling:
    """Caps on one unit run that no success of another class, pause or heal resets."""

    attempts: int = attrs.field(default=20, validator=_at_least_one)
    wall_s: float = attrs.field(default=6 * 3600.0, validator=_positive)
    """From the first attempt's start, pauses included."""


@attrs.frozen
class Policy:
    """Everything that the operator decides about recovery.

    Raises:
        ValueError: A budget is out of bounds, a name does not exist, or an action is none that its class may have.
    """

    taxonomy: Taxonomy = BUILT_IN
    budgets: Mapping[str, int] = attrs.field(factory=dict, converter=_read_only)
    """Per class; what is not named keeps the taxonomy's."""
    actions: Mapping[str, Action] = attrs.field(factory=dict, converter=_known_actions)
    """Per reason, as ``environment/port-in-use``."""
    backoff: Backoff = Backoff()
    ceiling: Ceiling = Ceiling()
    window: Window = _HOURLY
    """Per (unit, class): charges in any window of this length, successes or not."""

    def __attrs_post_init__(self) -> None:
        for name, budget in self.budgets.items():
            self.taxonomy.class_spec(name)
            if not 0 <= budget <= MOST_RECOVERIES:
                raise ValueError(f"budgets.{name}: must be a whole number from 0 to {MOST_RECOVERIES}, got {budget!r}")
        for name, action in self.actions.items():
            class_, _, reason = name.partition("/")
            self.taxonomy.reason_spec(class_, reason)
            if (fault := unlawful(class_, action, self.taxonomy.class_spec(class_).severity)) is not None:
                raise ValueError(f"actions.{name}: {fault}")

    def action(self, classification: Classification) -> Action:
        """Return the action that this policy gives a classification."""
        if not self.actions:
            return classification.action
        return self.actions.get(f"{classification.class_}/{classification.reason}", classification.action)

    def budget(self, class_: str) -> int:
        """Return the budget of a class, in recoveries per unit."""
        own = self.budgets.get(class_)
        return self.taxonomy.budget(class_) if own is None else own
