"""Sentences into complaints: one line read with the `phrasebook`.

Records with fields of their own are `records`' business; where one line speaks of another is `complaints`'. The text is hostile,
and the caller bounds it.
"""

from __future__ import annotations

import functools
import re
from typing import TYPE_CHECKING

import attrs

from rerail.handlers.repair.literals import NotLiteralError, literal_of
from rerail.handlers.repair.model import Complaint, Kind
from rerail.handlers.repair.phrasebook import NO_NAMES, NO_PLACES, PHRASES, PLACE, TYPE_OF
from rerail.handlers.repair.places import place_of
from rerail.handlers.repair.tree import ABSENT

if TYPE_CHECKING:
    from collections.abc import Iterator

    from rerail.handlers.repair.tree import Place


@functools.cache
def compiled(pattern: str) -> re.Pattern[str]:
    """Compile a phrase's pattern; most processes never meet most of them."""
    return re.compile(pattern, re.IGNORECASE | re.ASCII)


_ITEM = re.compile(
    r"""\s*+(?P<separator>(?:,\s*+(?:and|or)\b|,|\||\band\b|\bor\b)\s*+)?+
        (?:'(?P<a>[^'\n]{1,200})'|"(?P<b>[^"\n]{1,200})"|`(?P<c>[^`\n]{1,200})`|:?(?P<bare>[\w$@][\w$@./:-]{0,199}))""",
    re.VERBOSE | re.ASCII,
)
_MAX_ITEMS = 200

_AT = re.compile(
    rf"(?:['\"`\])]{{0,2}},? (?:but )?(?:received|got) [^\n,;]{{1,80}}?)?['\"`\])]{{0,2}},?\s(?:- )?(?:at|@)\s"
    rf"(?!(?:line|position|column|char|offset|index|least|most|the|an?|end)\b){PLACE}",
    re.ASCII,
)
"""Where a phrase ends, the place it speaks of: ``Required at "repo"``, ``missing field `id` - at `$.items[0]` ``."""

_ALTERNATIVES = re.compile(
    r"(?:expected|must be) one of:?\s|expected (?=`)|(?:available|valid|known) \w{1,20}(?: are)?: ?",
    re.ASCII | re.IGNORECASE,
)
_SUGGESTION = re.compile(
    r"(?:did you mean|do you mean|perhaps you meant|maybe you meant)(?: one of(?: these)?| this)?:?\s?"
    r"|\buse (?=['\"`][^'\"`\n]{1,200}['\"`] instead)",
    re.ASCII | re.IGNORECASE,
)


def read(text: str, where: Place | None = None, *, after: str = "", tagged: bool = False) -> Iterator[Complaint]:
    """Yield what one line complains about.

    Args:
        text: The line, without what it echoes of the input.
        where: The place that the line is known to speak of.
        after: The line below, for a "did you mean" that stands there.
        tagged: *where* may hold names of union members.
    """
    lowered = text.lower()
    for phrase in PHRASES:
        if phrase.needle not in lowered:
            continue
        for found in compiled(phrase.pattern).finditer(text):
            for complaint in _said(phrase.kind, found, where):
                yield _with_beside(attrs.evolve(complaint, tagged=tagged), text[found.end() :], after)


def types_in(text: str) -> tuple[str, ...]:
    """Return the JSON Schema types that *text* names; what an array consists of is not its type."""
    outer = re.sub(r"\b(array|list|sequence|set|vec)s?\sof\s[`'\"]?\w+", r"\1", text.lower())
    return tuple(dict.fromkeys(TYPE_OF[word] for word in re.findall(r"\w+", outer) if word in TYPE_OF))


def items_in(text: str, start: int = 0) -> tuple[tuple[object, ...], int]:
    """Return the names or values listed from *start* on, and where they end: ``'a', 'b', and 'c'``, ``[1, 2]``, ``a | b``."""
    after_colon = text[:start].rstrip().endswith((":", "="))
    start += len(text[start:]) - len(text[start:].lstrip(" [({<"))
    items: list[object] = []
    while (item := _ITEM.match(text, start)) and len(items) < _MAX_ITEMS:
        bare = item["bare"]
        if bool(items) != bool(item["separator"]) or (bare and not after_colon and bare.lower() in NO_NAMES):
            break
        items.append(_value_of(bare.rstrip(".:")) if bare else item["a"] or item["b"] or item["c"])
        start = item.end()
    return tuple(items), start


def _value_of(bare: str) -> object:
    try:
        return literal_of(bare)
    except NotLiteralError:
        return bare


def _said(kind: Kind, found: re.Match[str], where: Place | None) -> Iterator[Complaint]:
    group = found.groupdict()
    items, end = items_in(found.string, found.start("list")) if "list" in group else ((), found.end())
    own = _place(group.get("place")) or where
    inside = _place(group.get("where")) or where
    at = _AT.match(found.string, max(end, found.end()))
    if at and (suffixed := place_of(at["place"])) is not None:
        own = inside = suffixed
    if kind is Kind.MISSING or kind is Kind.UNKNOWN:
        names = _names(group, items)
        yield from (each for name in names for each in _named(kind, name, inside))
        if not names and own is not None:
            yield Complaint(kind, own)
        return
    received = _received(group)
    own = _place(group.get("name")) or own
    if kind is Kind.NAME:
        yield Complaint(kind, received=received)
    elif own is not None or received is not ABSENT:
        rooted = own is None or own == where or len(own) > 1
        expected = types_in(group.get("type") or group.get("also") or "") or _go_type(group.get("go"))
        allowed = items if kind is Kind.VALUE else ()
        yield Complaint(kind, own, rooted=rooted, expected=expected, allowed=allowed, received=received)


def _names(group: dict[str, str | None], items: tuple[object, ...]) -> list[str]:
    if "plural" in group and group["plural"] is None:
        items = items[:1]
    name = group.get("name")
    return [str(item) for item in items] or ([name] if name and name.lower() not in NO_NAMES else [])


def _named(kind: Kind, name: str, inside: Place | None) -> Iterator[Complaint]:
    """Yield the complaint about a field called *name*; a name may itself be a path, or repeat the end of the place."""
    named = place_of(name.rstrip(".:"))
    if not named:
        return
    if inside is None:
        yield Complaint(kind, named, rooted=len(named) > 1)
    else:
        yield Complaint(kind, inside if inside[-len(named) :] == named else (*inside, *named))


def _place(text: str | None) -> Place | None:
    if text is None or text.strip(":").lower() in NO_PLACES:
        return None
    return place_of(text)


def _received(group: dict[str, str | None]) -> object:
    if bare := group.get("bare"):
        return bare.rstrip(".:")
    if not (got := group.get("got")):
        return ABSENT
    if got[0] == "`":
        return _value_of(got.strip("`"))
    return got[1:-1] if got[0] in "\"'" else _value_of(got)


def _go_type(text: str | None) -> tuple[str, ...]:
    return {"[]": ("array",), "map[": ("object",)}.get(text or "") or types_in(text or "")


def _with_beside(complaint: Complaint, rest: str, after: str) -> Complaint:
    """Add what stands beside a complaint: the alternatives that it lists, and what it suggests."""
    if complaint.kind is Kind.MISSING or complaint.kind is Kind.TYPE:
        return complaint
    if complaint.kind is not Kind.VALUE and (found := _ALTERNATIVES.search(rest)):
        complaint = attrs.evolve(complaint, allowed=items_in(rest, found.end())[0])
    for text in (rest, after):
        if found := _SUGGESTION.search(text):
            return attrs.evolve(complaint, suggested=tuple(map(str, items_in(text, found.end())[0])))
    return complaint
