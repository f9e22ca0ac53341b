"""The picture of a confusion matrix is well-formed, loads nothing, and shows hostile names as themselves."""

from __future__ import annotations

from xml.etree import ElementTree as ET

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rerail.quality.matrix_svg import draw

SVG = "{http://www.w3.org/2000/svg}"
HOSTILE = [
    "</text><script>alert(1)</script>",
    '"><image href="https://example.com/x.png"/>',
    "]]>&amp;<!-- --><?xml?>",
    "\x00\x1b[31m\ufffe\udcff\u202e",
    "x" * 10_000,
    "",
]


def picture(confusion: dict[str, dict[str, int]], **more: object) -> ET.Element:
    names = list(dict.fromkeys(name for truth, row in confusion.items() for name in (truth, *row)))
    options = {"title": "corpus.jsonl", "figures": "2 cases"} | more
    return ET.fromstring(draw(confusion, names, **options))  # type: ignore[arg-type]


def texts(root: ET.Element) -> list[str]:
    return [element.text or "" for element in root.iter(f"{SVG}text")]


def test_rows_are_truths_and_columns_also_what_was_only_named() -> None:
    root = picture({"provider": {"provider": 3, "git": 1}})
    assert texts(root)[:4] == ["corpus.jsonl", "2 cases", "provider", "git"]
    assert {"3", "1", "75.0% of 4"} <= set(texts(root))
    cells = [element.get("class") for element in root.iter(f"{SVG}rect")]
    assert cells == ["page", "empty", "right", "empty", "wrong"]


def test_an_unsafe_mistake_is_framed() -> None:
    root = picture({"git": {"provider": 1}}, unsafe=frozenset({("git", "provider")}))
    assert [element.get("class") for element in root.iter(f"{SVG}rect")].count("unsafe") == 1


def test_one_mistake_among_thousands_is_still_seen() -> None:
    root = picture({"git": {"git": 100_000, "provider": 1}})
    (wrong,) = [element for element in root.iter(f"{SVG}rect") if element.get("class") == "wrong"]
    assert float(wrong.get("fill-opacity", "0")) > 0.1


@pytest.mark.parametrize("name", HOSTILE)
def test_a_hostile_name_is_shown_as_text(name: str) -> None:
    root = picture({name: {name: 1, "git": 2}}, title=name, figures=name)
    assert {element.tag.removeprefix(SVG) for element in root.iter()} == {"svg", "title", "style", "rect", "text"}
    assert not any("href" in key for element in root.iter() for key in element.attrib)


@given(st.dictionaries(st.text(max_size=20), st.dictionaries(st.text(max_size=20), st.integers(1, 10**9), min_size=1)))
def test_every_matrix_is_well_formed_and_inside_its_page(confusion: dict[str, dict[str, int]]) -> None:
    root = picture(confusion)
    width, height = (float(root.get(side, "0")) for side in ("width", "height"))
    for element in root.iter(f"{SVG}rect"):
        assert float(element.get("x", "0")) + float(element.get("width", "0")) <= width
        assert float(element.get("y", "0")) + float(element.get("height", "0")) <= height


def test_nothing_beside_the_picture_is_needed() -> None:
    drawn = draw({"git": {"git": 1}}, ["git"], title="t", figures="f")
    assert "url(" not in drawn
    assert "@import" not in drawn
    assert "@font-face" not in drawn
    assert drawn.count("http") == 1, "the namespace alone"
