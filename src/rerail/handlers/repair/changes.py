"""Certain changes: what one complaint allows to be done to the input.

A change uses nothing but the validator's words, the schema and the declared context; where these leave two ways open, there is no
change. Texts name fields, never a value of the context or of the input.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final, NamedTuple

import attrs

from rerail.handlers.repair.coerce import coercions, is_json
from rerail.handlers.repair.model import Complaint, Kind
from rerail.handlers.repair.places import key_of, show, shown
from rerail.handlers.repair.suggest import alike
from rerail.handlers.repair.tree import ABSENT, Place, at, is_a, renamed, replaced, same, type_of, with_field, without

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from rerail.handlers.repair.shape import Shape

_HELD_BACK = frozenset(
    {
        *("check", "checkonly", "confirm", "draft", "dryrun", "noop", "planonly", "preview", "readonly", "sandbox"),
        *("simulate", "testmode", "validateonly", "whatif"),
    }
)
"""Fields that hold an action back, without their underscores: leaving one out may turn a rehearsal into the deed."""

_NOUN = {
    "null": "null",
    "boolean": "a boolean",
    "integer": "an integer",
    "number": "a number",
    "string": "a string",
    "array": "an array",
    "object": "an object",
}


class Change(NamedTuple):
    """One step of a repair."""

    input: Any
    """The whole new input; the old one is untouched."""
    text: str
    """What was done, as an instruction: ``add workspace_id from session context``."""


@attrs.frozen
class Bench:
    """What changes may use."""

    shape: Shape | None
    context: Mapping[str, Any]
    """Plain values only."""
    said: tuple[Complaint, ...] = ()
    """What the validator's message complains about, fitted."""
    judged: tuple[Complaint, ...] = ()
    """What the schema complains about, fitted."""
    missed: frozenset[Place] = frozenset()
    """Every field that was missing when the repair began or later."""

    def may_have(self, place: Place) -> bool:
        """Whether the schema declares the field at *place*; one that declares none of its siblings either does not say."""
        declared = self.shape.fields(place[:-1]) if self.shape else frozenset()
        return not declared or place[-1] in declared

    def misspelled(self, place: Place, fields: Mapping[str, Any]) -> tuple[str, ...]:
        """Return those of *fields*, the siblings of the missing *place*, that are it in another spelling."""
        parent = place[:-1]
        if self.shape and self.shape.has_open_names(parent):
            return ()
        declared = self.shape.fields(parent) if self.shape else frozenset()
        return alike(str(place[-1]), (name for name in fields if name not in declared))

    def declared_value(self, place: Place) -> Any:
        """Return what the context declares for *place*, by its path or else its name, or `ABSENT`."""
        by_name = self.context.get(str(place[-1]), ABSENT)
        return self.context.get(key_of(place), by_name)

    def accepts(self, root: Any, place: Place) -> bool:
        """Whether there is a schema, and it has nothing against what stands at *place* and deeper."""
        return self.shape is not None and not any(each.where[: len(place)] == place for each in self.shape.judge(root))


def change_for(complaint: Complaint, root: Any, bench: Bench) -> Change | None:
    """Return the one change to *root* that a fitted complaint certainly asks for; None when none is certain or needed."""
    make = _MAKERS.get(complaint.kind)
    return make(complaint, root, bench) if make else None


def _add(complaint: Complaint, root: Any, bench: Bench) -> Change | None:
    place = complaint.where
    fields = at(root, place[:-1])
    if not place or not isinstance(fields, dict) or place[-1] in fields or not bench.may_have(place):
        return None
    value = bench.declared_value(place)
    others = bench.misspelled(place, fields)
    if others:
        # The caller sent the field, misspelled; what the session declares must not overrule it.
        is_certain = len(others) == 1 and (value is ABSENT or same(value, fields[others[0]]))
        return _rename(root, (*place[:-1], others[0]), str(place[-1])) if is_certain else None
    if value is not ABSENT:
        return Change(with_field(root, place, value), f"add {show(place)} from session context")
    given = bench.shape.given(place) if bench.shape else None
    return Change(with_field(root, place, given[0]), f"add {show(place)}: {given[1]}") if given else None


def _drop_or_rename(complaint: Complaint, root: Any, bench: Bench) -> Change | None:
    place = complaint.where
    fields = at(root, place[:-1])
    if not place or not isinstance(fields, dict) or place[-1] not in fields:
        return None
    targets = _targets(complaint, bench)
    if len(targets) == 1:
        target = (*place[:-1], targets[0])
        if targets[0] not in fields:
            return _rename(root, place, targets[0]) if bench.may_have(target) else None
        if same(at(root, target), at(root, place)):
            return Change(without(root, place), f"remove {show(place)}, which repeats {show(target)}")
    elif not targets and _is_surplus(place, root, bench):
        return Change(without(root, place), f"remove {show(place)}, which the schema does not have")
    return None


def _targets(complaint: Complaint, bench: Bench) -> tuple[str, ...]:
    """Return the names that an unknown field may stand for."""
    *_, name = map(str, complaint.where)
    parent = complaint.where[:-1]
    if complaint.suggested:
        return complaint.suggested if len(complaint.suggested) == 1 else alike(name, complaint.suggested)
    known = {each for each in complaint.allowed if isinstance(each, str)}
    known |= {str(place[-1]) for place in bench.missed if place[:-1] == parent}
    known |= bench.shape.fields(parent) if bench.shape else frozenset()
    return alike(name, sorted(known))


def _is_surplus(place: Place, root: Any, bench: Bench) -> bool:
    """Whether the field at *place* may be left out: the validator names it, the schema forbids it, and it means nothing else."""
    named = any(each.kind is Kind.UNKNOWN and each.place == place for each in bench.said)
    forbidden = any(each.kind is Kind.UNKNOWN and each.place == place for each in bench.judged)
    name, value = str(place[-1]), at(root, place)
    if not (named and forbidden) or name in _HELD_BACK or alike(name, _HELD_BACK):
        return False
    # {"file": "a"} against a missing "path": the value may be the one that is missing, under a name of the caller's own.
    beside = [other for other in bench.missed if other[:-1] == place[:-1]]
    return not any(bench.accepts(with_field(root, other, value), other) for other in beside)


def _retype(complaint: Complaint, root: Any, bench: Bench) -> Change | None:
    place, expected = complaint.where, complaint.expected
    here = at(root, place)
    if here is ABSENT or not expected or is_a(here, expected):
        return None
    options = [value for value in coercions(here) if is_a(value, expected)]
    # 3.0 and 3 are one number.
    options = [value for index, value in enumerate(options) if value not in options[:index]]
    if len(options) > 1 or [here] in options:
        options = [value for value in options if bench.accepts(replaced(root, place, value), place)]
    if len(options) != 1 or not _is_asked_for(options[0], place, root, bench):
        return None
    return _as_type(root, place, options[0])


def _is_asked_for(value: Any, place: Place, root: Any, bench: Bench) -> bool:
    """Whether the schema asks for a form that is more than another way to write the value: a list of it, or mended JSON."""
    here = at(root, place)
    if value == [here]:
        # A schema that would accept a list of anything does not say that it wants a list of this.
        anything: tuple[Any, ...] = (None, True, 0, "", [], {})
        return not all(bench.accepts(replaced(root, place, [item]), place) for item in anything)
    is_mended = isinstance(here, str) and isinstance(value, dict | list) and not is_json(here)
    return bench.shape is not None or not is_mended


def _as_type(root: Any, place: Place, value: Any) -> Change:
    here, noun = at(root, place), _NOUN[type_of(value)]
    if value == [here]:
        text = f"send {show(place)} as an array of one"
    elif isinstance(here, str) and isinstance(value, dict | list):
        text = f"read {show(place)} as {noun}" + ("" if is_json(here) else ", with its JSON corrected")
    else:
        text = f"send {show(place)} as {noun}"
    return Change(replaced(root, place, value), text)


def _choose(complaint: Complaint, root: Any, bench: Bench) -> Change | None:
    place = complaint.where
    here = at(root, place)
    allowed = complaint.allowed or (bench.shape.values(place) if bench.shape else ())
    if here is ABSENT or any(same(here, value) for value in allowed):
        return None
    choices: tuple[Any, ...] = tuple(each for each in complaint.suggested if not allowed or each in allowed)
    if not complaint.suggested:
        names = [value for value in allowed if isinstance(value, str)]
        choices = alike(here, names) if isinstance(here, str) else ()
        choices += tuple(value for value in allowed if any(same(value, other) for other in coercions(here)))
    return _chosen(root, place, choices)


def _call_by_name(complaint: Complaint, root: Any, _: Bench) -> Change | None:
    place = complaint.where
    here = at(root, place)
    if not isinstance(here, str) or not same(here, complaint.received):
        return None
    names = [name for name in complaint.allowed if isinstance(name, str)]
    return _chosen(root, place, complaint.suggested or alike(here, names))


def _chosen(root: Any, place: Place, choices: tuple[Any, ...]) -> Change | None:
    if len(choices) != 1 or same(choices[0], at(root, place)):
        return None
    return Change(replaced(root, place, choices[0]), f"send {show(place)} as {shown(str(choices[0]))}")


def _rename(root: Any, place: Place, name: str) -> Change:
    return Change(renamed(root, place, name), f"rename {show(place)} to {shown(name)}")


_MAKERS: Final[dict[Kind, Callable[[Complaint, Any, Bench], Change | None]]] = {
    Kind.UNKNOWN: _drop_or_rename,
    Kind.MISSING: _add,
    Kind.TYPE: _retype,
    Kind.VALUE: _choose,
    Kind.NAME: _call_by_name,
}

ORDER = tuple(_MAKERS)
"""The kinds in the order in which they are tried: a field that is renamed is not missing any more."""
