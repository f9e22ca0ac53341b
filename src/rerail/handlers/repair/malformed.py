"""Malformed JSON: mended by a library, and believed only where nothing but punctuation was wrong.

json-repair always returns something; most of what it accepts it has to guess. Here the text is read once beforehand: every
bracket must be closed by its own kind, every name and value must stand there in full. The library's result counts when it has
exactly those brackets, names and values in that order. What is left to mend: commas, quote characters, bare names, Python's
``True`` and ``None``, raw line breaks, a Markdown fence. A text that is cut off is never completed: that makes valid, wrong,
runnable input.
"""

from __future__ import annotations

import re
from itertools import zip_longest
from typing import TYPE_CHECKING, Any

from rerail.handlers.repair.literals import WORDS, NotLiteralError, Token, number_of, string_of, tokens, whole

if TYPE_CHECKING:
    from collections.abc import Iterator

MAX_CHARS = 64 * 1024
"""A longer text is not mended; the library is not linear."""

MAX_DEPTH = 40

_FENCE = "```"
_OPENING_FENCE = re.compile(r"```[a-zA-Z0-9]{0,10}\n")
_CLOSES = {"}": "{", "]": "["}
# What an escape means in every dialect; anything else two readers would read in two ways.
_ESCAPES = re.compile(r"(?:[^\\]|\\(?:[\"'\\/bfnrt]|u[0-9a-fA-F]{4}))*+")


def mended(text: str) -> Any:
    """Return the object or array that malformed *text* certainly means; None when that is not certain."""
    if len(text) > MAX_CHARS:
        return None
    text = _unfenced(text.strip())
    try:
        stated = _stated(text)
    except NotLiteralError:
        return None
    from json_repair import loads

    try:
        value = _whole(loads(text, skip_json_loads=True))
    except Exception:  # noqa: BLE001  # whatever a heuristic parser trips over, it has not mended the text
        return None
    if not isinstance(value, dict | list):
        return None
    found = zip_longest(stated, _pieces(value), fillvalue=_NOTHING)
    return value if all(type(one) is type(other) and one == other for one, other in found) else None


def _unfenced(text: str) -> str:
    opening = _OPENING_FENCE.match(text)
    if opening and text.endswith(_FENCE) and opening.end() < len(text):
        return text[opening.end() :].removesuffix(_FENCE)
    return text


def _whole(value: Any) -> Any:
    """Join the halves of characters, which the library leaves apart."""
    if isinstance(value, dict):
        return {whole(name): _whole(item) for name, item in value.items()}
    if isinstance(value, list):
        return [_whole(item) for item in value]
    return whole(value) if isinstance(value, str) else value


class _Bracket(str):
    """A bracket among the values."""

    __slots__ = ()


_NOTHING = _Bracket("")


def _pieces(value: Any) -> Iterator[Any]:
    """Yield a value's brackets, names and plain values in order."""
    if isinstance(value, dict):
        yield _Bracket("{")
        for name, item in value.items():
            yield name
            yield from _pieces(item)
        yield _Bracket("}")
    elif isinstance(value, list):
        yield _Bracket("[")
        for item in value:
            yield from _pieces(item)
        yield _Bracket("]")
    else:
        yield value


def _stated(text: str) -> list[Any]:
    """Return the brackets, names and values that the text itself states, in order.

    Raises:
        NotLiteralError: Something is left open, left out, or can be read in more than one way.
    """
    pieces: list[Any] = []
    opened: list[str] = []
    before: Token | None = None
    source = list(tokens(text))
    for token, after in zip_longest(source, source[1:]):
        if pieces and not opened:
            raise NotLiteralError("more than one value")
        if token.kind == "punct":
            _check_punctuation(token.text, before, opened)
            if token.text in "{}[]":
                pieces.append(_Bracket(token.text))
        elif not opened:
            raise NotLiteralError("no container")
        else:
            _check_apart(token, before, after)
            pieces.append(_stated_value(token, after, in_object=opened[-1] == "{"))
        before = token
    if opened or not pieces:
        raise NotLiteralError("cut off")
    return pieces


def _check_punctuation(mark: str, before: Token | None, opened: list[str]) -> None:
    if mark in "()":
        raise NotLiteralError("no JSON")
    if mark in "{[":
        opened.append(mark)
        if len(opened) > MAX_DEPTH:
            raise NotLiteralError("too deep")
    elif mark in "}]":
        if not opened or opened.pop() != _CLOSES[mark] or (before is not None and before.text == ":"):
            raise NotLiteralError("closes what is not open, or before its value")
    elif before is None or before.text in ",:{[":
        # Between two separators something was left out.
        raise NotLiteralError("a separator without a value before it")


def _check_apart(token: Token, before: Token | None, after: Token | None) -> None:
    """Refuse what may be one text with quotes in it: ``{"a": "he said "hi" there"}``."""
    if before is None or before.kind == "punct":
        return
    touching = before.end + len(token.text) == token.end
    two_strings = before.kind == token.kind == "string" and not (after and after.text == ":")
    if touching or two_strings:
        raise NotLiteralError("two values without a separator")


def _stated_value(token: Token, after: Token | None, *, in_object: bool) -> Any:
    if token.kind == "string":
        if not _ESCAPES.fullmatch(token.text):
            raise NotLiteralError("an escape that JSON does not have")
        return string_of(token)
    if token.kind == "number":
        if token.text.lstrip("-").startswith("0") and token.text.lstrip("-")[1:2].isdigit():
            raise NotLiteralError("a number that is no JSON")
        return number_of(token)
    if in_object and after is not None and after.text == ":":
        return token.text
    if token.text in WORDS:
        return WORDS[token.text]
    raise NotLiteralError("a bare word")
