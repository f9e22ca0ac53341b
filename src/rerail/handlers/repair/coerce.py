"""Exact coercions: the same value in the type that was asked for, and nothing that loses or adds anything.

A string becomes what it is the JSON text of; an integer becomes its digits; a float that is whole becomes an integer; one value
becomes the list of it. A float never becomes a string (``1.10`` has become ``1.1`` before anyone looks), nor a string with spaces
or separators a list of one (``"git status"`` may mean two).
"""

from __future__ import annotations

import json
import re
from decimal import Decimal, InvalidOperation
from typing import TYPE_CHECKING, Any

from rerail.handlers.repair.malformed import mended
from rerail.handlers.repair.tree import NotJsonError, copied

if TYPE_CHECKING:
    from collections.abc import Iterator

MAX_EXACT = 2**53 - 1
"""Integers beyond it are rounded by receivers that read JSON numbers as doubles (RFC 8259, section 6)."""

_NUMBER = re.compile(r"-?(?:0|[1-9][0-9]{0,30})(?:\.[0-9]{1,30})?(?:[eE][+-]?[0-9]{1,3})?")
_WORDS = {"true": True, "false": False, "True": True, "False": False}
_ONE_WORD = re.compile(r"[^\s,;|\[\]{}]{1,1000}")


def coercions(value: Any) -> Iterator[Any]:
    """Yield *value* as each other type that it can be without loss; nothing for what has no other form."""
    match value:
        case str():
            yield from _of_string(value)
        case bool():
            pass
        case int():
            yield str(value)
        case float() if value.is_integer() and abs(value) <= MAX_EXACT:
            yield int(value)
        case _:
            pass
    if isinstance(value, bool | int | float | dict) or (isinstance(value, str) and _ONE_WORD.fullmatch(value)):
        yield [value]


def is_json(text: str) -> bool:
    """Whether *text* is JSON as it stands."""
    try:
        json.loads(text)
    except (ValueError, RecursionError):
        return False
    return True


def _of_string(text: str) -> Iterator[Any]:
    if text in _WORDS:
        yield _WORDS[text]
    elif text == "null":
        yield None
    elif _NUMBER.fullmatch(text):
        yield from _number(text)
    elif text.lstrip()[:1] in {"{", "[", "`"}:
        yield from _container(text)


def _number(text: str) -> Iterator[int | float]:
    if text.lstrip("-").isdigit():
        if abs(int(text)) <= MAX_EXACT and text != "-0":
            yield int(text)
        return
    number = float(text)
    try:
        if Decimal(repr(number)) == Decimal(text):
            yield number
            if number.is_integer() and abs(number) <= MAX_EXACT:
                yield int(number)
    except InvalidOperation:  # an exponent beyond the finite
        return


def _container(text: str) -> Iterator[Any]:
    """Yield the object or array that *text* is the JSON of; malformed JSON only where it can be mended for certain."""
    try:
        value = json.loads(text, strict=False, object_pairs_hook=_distinct)
    except (ValueError, RecursionError):
        value = mended(text)
    try:
        if isinstance(value, dict | list):
            yield copied(value)
    except NotJsonError:
        return


def _distinct(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    fields = dict(pairs)
    if len(fields) < len(pairs):
        raise ValueError("a key stands twice, and only one value would be kept")
    return fields
