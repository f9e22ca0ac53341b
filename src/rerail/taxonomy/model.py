"""What a class and a reason must say before they can exist.

A row *is* the class or reason: it cannot be written without its action, budget and hint, so no map can miss it. The built-in rows
are in `classes` and `reasons`; a project's come from recipes and pass the same constructor checks.
"""

from __future__ import annotations

from rerail.errors import UnknownNameError
from rerail.light_typing import TYPE_CHECKING, NamedTuple
from rerail.taxonomy.law import unlawful

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from rerail.ids import ClassName
    from rerail.taxonomy.actions import Action


class ClassSpec(NamedTuple):
    """One failure class."""

    name: ClassName
    signal: str
    """What it looks like, as a phrase."""
    action: Action
    """What a reason of this class does unless it says otherwise."""
    budget: int
    """Recoveries per unit before the class escalates to a pause; 0 means none."""
    severity: int
    """Of several causes with equal evidence, the higher one names the failure; the safest reading wins."""
    advice: str
    """What the action is, as an instruction, for the block and the docs."""
    pitfall: str
    """What must not be done, and why."""
    pack: str
    """``core``, an extension pack, or the recipe that added it."""


class ReasonSpec(NamedTuple):
    """One finer reason within a class."""

    class_: ClassName
    name: str
    """kebab-case, unique within the class."""
    summary: str
    """What happened, as a phrase."""
    hint: str
    """What to do next, as an instruction to whoever reads it: agent or operator."""
    action: Action

    @property
    def full_name(self) -> str:
        """The reason with its class: ``provider/rate-limit``."""
        return f"{self.class_}/{self.name}"


class Taxonomy:
    """The classes and reasons in force: a total map from every name to its action and budget.

    Args:
        classes: Each name once.
        reasons: Each (class, name) once; every class has at least one.

    Raises:
        ValueError: A class twice, a reason twice, a reason of no class, a class without reasons, or a negative budget.
    """

    def __init__(self, classes: Iterable[ClassSpec], reasons: Iterable[ReasonSpec]) -> None:
        self._classes: dict[str, ClassSpec] = {}
        self._reasons: dict[tuple[str, str], ReasonSpec] = {}
        for spec in classes:
            _refuse(spec.name in self._classes, f"class {spec.name} is declared twice")
            _refuse(spec.budget < 0, f"class {spec.name}: budget must be >= 0, got {spec.budget}")
            self._classes[spec.name] = spec
        for reason in reasons:
            key = (reason.class_, reason.name)
            _refuse(key in self._reasons, f"reason {reason.full_name} is declared twice")
            _refuse(reason.class_ not in self._classes, f"reason {reason.full_name} belongs to no class")
            fault = unlawful(reason.class_, reason.action, self._classes[reason.class_].severity)
            _refuse(fault is not None, f"reason {reason.full_name}: {fault}")
            self._reasons[key] = reason
        bare = self._classes.keys() - {class_ for class_, _ in self._reasons}
        _refuse(bool(bare), f"classes without a reason: {', '.join(sorted(bare))}")

    def __iter__(self) -> Iterator[ClassSpec]:
        return iter(self._classes.values())

    def __contains__(self, name: object) -> bool:
        return name in self._classes

    def class_spec(self, name: str) -> ClassSpec:
        """Return the class of that name.

        Raises:
            UnknownNameError: Nothing carries it.
        """
        spec = self._classes.get(name)
        if spec is None:
            raise UnknownNameError("class", name, self._classes)
        return spec

    def reason_spec(self, class_: str, name: str) -> ReasonSpec:
        """Return the reason of that class and name.

        Raises:
            UnknownNameError: Nothing carries it.
        """
        spec = self._reasons.get((class_, name))
        if spec is None:
            known = [reason.full_name for reason in self._reasons.values()]
            raise UnknownNameError("reason", f"{class_}/{name}", known)
        return spec

    def reasons(self, class_: str) -> tuple[ReasonSpec, ...]:
        """Return the reasons of a class, in the order they were declared."""
        return tuple(reason for reason in self._reasons.values() if reason.class_ == class_)

    def action(self, class_: str, reason: str) -> Action:
        """Return the one default action of a reason."""
        return self.reason_spec(class_, reason).action

    def budget(self, class_: str) -> int:
        """Return a class's default budget: recoveries per unit."""
        return self.class_spec(class_).budget

    def extended(self, classes: Iterable[ClassSpec], reasons: Iterable[ReasonSpec]) -> Taxonomy:
        """Return a taxonomy with more rows.

        Raises:
            ValueError: As the constructor; a built-in name cannot be declared again.
        """
        more_classes, more_reasons = tuple(classes), tuple(reasons)
        if not more_classes and not more_reasons:
            return self
        return Taxonomy((*self._classes.values(), *more_classes), (*self._reasons.values(), *more_reasons))

    def without_packs(self, packs: Iterable[str]) -> Taxonomy:
        """Return a taxonomy without the classes of the named packs and their reasons."""
        gone = set(packs)
        kept = {name for name, spec in self._classes.items() if spec.pack not in gone}
        return Taxonomy(
            (spec for spec in self._classes.values() if spec.name in kept),
            (reason for reason in self._reasons.values() if reason.class_ in kept),
        )


def _refuse(fault: bool, message: str) -> None:
    if fault:
        raise ValueError(message)
