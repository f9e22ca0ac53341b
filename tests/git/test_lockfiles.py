"""Generated lockfiles merged without a person: nothing that either side added is dropped, and no package is mixed from two."""

from __future__ import annotations

import json
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from rerail.git.repairs.lockfiles import _merge, _merged_json

NAMES = st.sampled_from(["a", "b", "c", "d", "e"])
PACKAGE = st.builds(lambda version: {"version": version, "integrity": f"sha-{version}"}, st.integers(1, 3).map(str))
LOCK = st.fixed_dictionaries({"lockfileVersion": st.just(3), "packages": st.dictionaries(NAMES, PACKAGE, max_size=5)})


@given(LOCK, LOCK)
def test_a_side_that_did_not_change_gives_way_to_the_other(base: Any, side: Any) -> None:
    assert _merge(base, side, base) == side
    assert _merge(base, base, side) == side
    assert _merge(base, side, side) == side


@given(LOCK, LOCK, LOCK)
def test_every_package_comes_whole_from_one_side(base: Any, ours: Any, theirs: Any) -> None:
    merged = _merge(base, ours, theirs)["packages"]
    for name, package in merged.items():
        assert package in (ours["packages"].get(name), theirs["packages"].get(name))
    for name, package in ours["packages"].items():
        if package != base["packages"].get(name):
            assert merged[name] == package, "what we changed stands"
    for name, package in theirs["packages"].items():
        if name not in base["packages"] and name not in ours["packages"]:
            assert merged[name] == package, "what they added comes in"


@given(LOCK, st.sampled_from([2, 4, "\t", None]), st.booleans())
def test_the_layout_of_our_side_is_kept(lock: Any, indent: int | str | None, newline: bool) -> None:
    text = (json.dumps(lock, indent=indent) + "\n" * newline).encode()
    assert _merged_json(b"{}", text, text) == text


def test_what_is_no_json_is_not_merged() -> None:
    assert _merged_json(b"{}", b"<<<<<<<", b"{}") is None
    assert _merged_json(b"{}", b"[1]", b"{}") is None
    assert _merged_json(b"", b"{}", b"[" * 100_000) is None
