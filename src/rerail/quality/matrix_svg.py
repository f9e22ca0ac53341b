"""A confusion matrix as a picture: one SVG that needs nothing beside itself, in the reader's light or dark scheme.

No script, no font and no address is loaded, so it can be shown wherever a picture can; every text in it is inert.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING
from xml.sax.saxutils import escape

from rerail.evidence.ansi import printable

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

_CELL, _GAP = 46, 2
_LABEL_CHARS, _CHAR_PX = 28, 7.2
_MARGIN, _HEAD, _FOOT = 24, 76, 58
_SIDE = 74
"""Room for the recall of each row."""
_FAINTEST = 0.16
"""Opacity of a cell with one case; what is wrong must be seen among thousands."""
_LEGEND = "rows: what it is · columns: what it was named · framed: unsafe"
_NO_XML = re.compile("[^\t\n\r\x20-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")

_STYLE = """\
svg { font: 12px ui-sans-serif, system-ui, -apple-system, "Segoe UI", sans-serif; }
.page { fill: #ffffff; } .empty { fill: #f1f3f5; } .right { fill: #2b8a3e; } .wrong { fill: #e03131; }
.unsafe { fill: none; stroke: #c92a2a; stroke-width: 2.5; }
text { fill: #212529; } .quiet { fill: #868e96; } .title { font-size: 16px; font-weight: 600; } .mid { text-anchor: middle; }
.end { text-anchor: end; } .strong { font-weight: 600; } .over { fill: #ffffff; }
@media (prefers-color-scheme: dark) {
.page { fill: #16181d; } .empty { fill: #22262d; } .right { fill: #37b24d; } .wrong { fill: #fa5252; }
.unsafe { stroke: #ff8787; } text { fill: #e9ecef; } .quiet { fill: #868e96; } .over { fill: #ffffff; }
}"""


def draw(
    confusion: Mapping[str, Mapping[str, int]],
    names: Sequence[str],
    *,
    title: str,
    figures: str,
    unsafe: frozenset[tuple[str, str]] = frozenset(),
) -> str:
    """Return the picture as SVG text.

    Args:
        confusion: Truth -> given name -> how many; see `rerail.quality.scores.Score`.
        names: Truths and given names in the order of rows and columns; a truth without cases has no row.
        title: What was scored.
        figures: A line of figures below the title.
        unsafe: ``(truth, given)`` pairs that are framed, for such a mistake could do harm.
    """
    rows = [name for name in names if confusion.get(name)]
    given = {name for row in confusion.values() for name in row}
    columns = [name for name in names if name in given or name in rows]
    longest = max((len(_label(name)) for name in columns), default=0)
    left = _MARGIN + 16 + longest * _CHAR_PX
    # Headings stand at 45 degrees, so that long ones need little height.
    top = _HEAD + longest * _CHAR_PX * 0.72 + 14
    width = max(left + len(columns) * _CELL + _SIDE + longest * 2 + _MARGIN, 480)
    height = top + len(rows) * _CELL + _FOOT
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" role="img" width="{width:.0f}" height="{height:.0f}">',
        f"<title>{_inert(title)}: {_inert(figures)}</title>",
        f"<style>{_STYLE}</style>",
        f'<rect class="page" width="{width:.0f}" height="{height:.0f}" rx="8"/>',
        _text(_MARGIN, 34, title, "title"),
        _text(_MARGIN, 55, figures, "quiet"),
    ]
    for at, name in enumerate(columns):
        x, y = left + at * _CELL + _CELL / 2 + 4, top - 10
        turned = f' transform="rotate(-45 {x:.0f} {y:.0f})"'
        parts.append(_text(x, y, _label(name), "" if name in rows else "quiet", turned))
    for at, truth in enumerate(rows):
        parts += _row(truth, confusion[truth], columns, left, top + at * _CELL, unsafe)
    parts.append(_text(left, top + len(rows) * _CELL + 26, _LEGEND, "quiet"))
    parts.append("</svg>\n")
    return "\n".join(parts)


def _row(
    truth: str,
    counts: Mapping[str, int],
    columns: Sequence[str],
    left: float,
    y: float,
    unsafe: frozenset[tuple[str, str]],
) -> Iterator[str]:
    total = sum(counts.values())
    middle = y + _CELL / 2 + 4
    yield _text(left - 12, middle, _label(truth), "end")
    for at, name in enumerate(columns):
        count = counts.get(name, 0)
        x, side = left + at * _CELL, _CELL - _GAP
        box = f'x="{x:.0f}" y="{y:.0f}" width="{side}" height="{side}" rx="4"'
        yield f'<rect class="empty" {box}/>'
        if not count:
            continue
        shade = _FAINTEST + (1 - _FAINTEST) * count / total
        yield f'<rect class="{"right" if name == truth else "wrong"}" {box} fill-opacity="{shade:.2f}"/>'
        if (truth, name) in unsafe:
            yield f'<rect class="unsafe" {box}/>'
        yield _text(x + side / 2, middle, f"{count}", "mid strong over" if shade > 0.6 else "mid strong")
    recall = counts.get(truth, 0) / total
    yield _text(left + len(columns) * _CELL + 10, middle, f"{recall:.1%} of {total}", "quiet")


def _text(x: float, y: float, content: str, style: str = "", more: str = "") -> str:
    named = f' class="{style}"' if style else ""
    return f'<text x="{x:.0f}" y="{y:.0f}"{named}{more}>{_inert(content)}</text>'


def _label(name: str) -> str:
    return name if len(name) <= _LABEL_CHARS else name[: _LABEL_CHARS - 1] + "…"


def _inert(text: str) -> str:
    """Return text that XML can carry and nothing reads as markup."""
    return escape(_NO_XML.sub("\ufffd", printable(text)))
