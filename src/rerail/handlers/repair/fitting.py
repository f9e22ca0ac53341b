"""Complaints fitted to an input: which of its places each one speaks of, and whether it still holds."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import attrs

from rerail.handlers.repair.model import Complaint, Kind
from rerail.handlers.repair.places import Placed, placed
from rerail.handlers.repair.tree import ABSENT, Place, at, is_a, leaves, same

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence


def fit_all(complaints: Iterable[Complaint], root: Any) -> tuple[list[Complaint], bool]:
    """Return the complaints that speak of a certain place of *root*, each with that place, and whether those are all.

    A fitted complaint's `received` is what stands there. Types wanted of one place are joined, for any of them would do.
    """
    fits: list[tuple[Complaint, Placed]] = []
    are_all = True
    for complaint in complaints:
        found = _fitted(complaint, root)
        if found is None:
            are_all = False
        else:
            here = at(root, found.place)
            fits.append((attrs.evolve(complaint, place=found.place, tagged=False, received=here), found))
    kept, are_decided = _decided(fits)
    return _joined(kept), are_all and are_decided


def is_settled(fit: Complaint, root: Any) -> bool:
    """Whether a fitted complaint no longer holds of *root*, an input that was changed since; not if its place is gone."""
    here = at(root, fit.place or ())
    match fit.kind:
        case Kind.MISSING:
            return here is not ABSENT
        case Kind.UNKNOWN:
            return here is ABSENT
        case _ if here is ABSENT:
            return False
        case Kind.TYPE:
            return is_a(here, fit.expected)
        case Kind.VALUE if fit.allowed:
            return any(same(here, value) for value in fit.allowed)
        case _:
            return not same(here, fit.received)


def _fitted(complaint: Complaint, root: Any) -> Placed | None:
    if complaint.place is None:
        return _only(place for place, leaf in leaves(root) if same(leaf, complaint.received))
    if complaint.kind is Kind.MISSING:
        return placed(root, complaint.place, may_be_absent=True, tagged=complaint.tagged) if complaint.place else None
    found = placed(root, complaint.place, tagged=complaint.tagged)
    if found is None and not complaint.rooted:
        # A name from a sentence: the field may lie deeper.
        return _only(place for place in _fields(root) if place[-1:] == complaint.place[-1:])
    return found


def _only(places: Iterator[Place]) -> Placed | None:
    found = next(places, None)
    return Placed(found) if found is not None and next(places, None) is None else None


def _fields(root: Any, place: Place = ()) -> Iterator[Place]:
    steps: Iterable[tuple[str | int, Any]] = ()
    if isinstance(root, dict):
        steps = root.items()
    elif isinstance(root, list):
        steps = enumerate(root)
    for step, value in steps:
        if isinstance(step, str):
            yield (*place, step)
        yield from _fields(value, (*place, step))


def _decided(fits: Sequence[tuple[Complaint, Placed]]) -> tuple[list[Complaint], bool]:
    """Return the complaints without those of union members that are not meant, and whether it is certain which are.

    A member is not meant when it wants another type, or fixes a field that is there to another value. Where all want another
    type, any of the types would do.
    """
    unions: dict[Place, dict[str, list[Complaint]]] = {}
    for fit, found in fits:
        for union, member in found.members:
            unions.setdefault(union, {}).setdefault(member, []).append(fit)
    dropped: set[int] = set()
    are_decided = True
    for union, members in unions.items():
        meant = [name for name, own in members.items() if not any(_rules_out(fit, union) for fit in own)]
        are_decided = are_decided and len(meant) <= 1
        for name, own in members.items():
            if meant != [name]:
                dropped.update(id(fit) for fit in own if meant or fit.place != union)
    return [fit for fit, _ in fits if id(fit) not in dropped], are_decided


def _rules_out(fit: Complaint, union: Place) -> bool:
    if fit.kind is Kind.TYPE:
        return fit.place == union
    return fit.kind is Kind.VALUE and len(fit.allowed) == 1 and fit.received is not ABSENT


def _joined(fits: Iterable[Complaint]) -> list[Complaint]:
    joined: dict[tuple[Kind, Place | None], Complaint] = {}
    for fit in fits:
        before = joined.setdefault((fit.kind, fit.place), fit)
        if before is not fit:
            joined[fit.kind, fit.place] = attrs.evolve(
                before,
                expected=tuple(dict.fromkeys((*before.expected, *fit.expected))),
                allowed=before.allowed or fit.allowed,
                suggested=before.suggested or fit.suggested,
            )
    return list(joined.values())
