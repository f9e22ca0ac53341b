"""Complaints and the places of an input that they speak of."""

from __future__ import annotations

from typing import Any

import pytest

from rerail.handlers.repair.fitting import fit_all, is_settled
from rerail.handlers.repair.model import Complaint, Kind

ROOT: dict[str, Any] = {"a": {"limit": "3"}, "b": [{"name": "x"}, {"name": "y"}], "pet": {"kind": "dog"}, "u": "5"}


def fits(*complaints: Complaint) -> tuple[list[tuple[Any, ...]], bool]:
    found, are_all = fit_all(complaints, ROOT)
    return [(fit.kind, fit.place, *fit.expected) for fit in found], are_all


@pytest.mark.parametrize(
    ("complaint", "place"),
    [
        (Complaint(Kind.TYPE, ("a", "limit")), ("a", "limit")),
        (Complaint(Kind.TYPE, ("limit",), rooted=False), ("a", "limit")),
        (Complaint(Kind.TYPE, ("limit",)), None),
        (Complaint(Kind.TYPE, ("name",), rooted=False), None),
        (Complaint(Kind.UNKNOWN, ("b", 0, "name")), ("b", 0, "name")),
        (Complaint(Kind.TYPE, received="3"), ("a", "limit")),
        (Complaint(Kind.TYPE, received=3), None),
        (Complaint(Kind.MISSING, ("c",), rooted=False), ("c",)),
        (Complaint(Kind.MISSING, ("a", "c")), ("a", "c")),
        (Complaint(Kind.MISSING, ("c", "d")), None),
        (Complaint(Kind.MISSING, ("u", "d")), None),
        (Complaint(Kind.MISSING, ()), None),
    ],
)
def test_a_complaint_speaks_of_one_place_or_none(complaint: Complaint, place: tuple[Any, ...] | None) -> None:
    found, are_all = fit_all([complaint], ROOT)
    assert [fit.place for fit in found] == ([] if place is None else [place])
    assert are_all is (place is not None)


def test_types_that_any_member_wants_are_joined() -> None:
    wants = [
        Complaint(Kind.TYPE, ("u", name), tagged=True, expected=(kind,))
        for name, kind in (("int", "integer"), ("bool", "boolean"))
    ]
    assert fits(*wants) == ([(Kind.TYPE, ("u",), "integer", "boolean")], True)


def test_the_member_that_is_meant_is_heard_alone() -> None:
    dog = Complaint(Kind.MISSING, ("pet", "Dog", "name"), tagged=True)
    cat = [
        Complaint(Kind.VALUE, ("pet", "Cat", "kind"), tagged=True, allowed=("cat",)),
        Complaint(Kind.MISSING, ("pet", "Cat", "lives"), tagged=True),
    ]
    text = Complaint(Kind.TYPE, ("pet", "str"), tagged=True, expected=("string",))
    assert fits(dog, *cat, text) == ([(Kind.MISSING, ("pet", "name"))], True)


def test_of_members_that_may_both_be_meant_none_is_heard() -> None:
    dog = Complaint(Kind.MISSING, ("pet", "Dog", "name"), tagged=True)
    cat = Complaint(Kind.MISSING, ("pet", "Cat", "lives"), tagged=True)
    other = Complaint(Kind.TYPE, ("u",), expected=("integer",))
    assert fits(dog, cat, other) == ([(Kind.TYPE, ("u",), "integer")], False)


@pytest.mark.parametrize(
    ("complaint", "settled"),
    [
        (Complaint(Kind.MISSING, ("a", "x")), False),
        (Complaint(Kind.MISSING, ("a", "limit")), True),
        (Complaint(Kind.UNKNOWN, ("a", "limit")), False),
        (Complaint(Kind.UNKNOWN, ("a", "x")), True),
        (Complaint(Kind.TYPE, ("a", "limit"), expected=("integer",)), False),
        (Complaint(Kind.TYPE, ("a", "limit"), expected=("integer", "string")), True),
        (Complaint(Kind.TYPE, ("a", "x"), expected=("integer",)), False),
        (Complaint(Kind.VALUE, ("u",), allowed=("4", 5)), False),
        (Complaint(Kind.VALUE, ("u",), allowed=("5",)), True),
        (Complaint(Kind.VALUE, ("u",), received="5"), False),
        (Complaint(Kind.VALUE, ("u",), received="6"), True),
        (Complaint(Kind.NAME, ("u",), received="5"), False),
    ],
)
def test_a_complaint_is_settled_when_it_no_longer_holds(complaint: Complaint, settled: bool) -> None:
    assert is_settled(complaint, ROOT) is settled
