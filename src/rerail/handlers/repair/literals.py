"""JSON and Python literals in hostile text: where one begins, what it says, where it ends.

Error bodies arrive as JSON, as the ``repr`` of a dict, and in the middle of prose. One tokenizer reads all of them; it never
evaluates anything, takes time linear in the text, and gives up on depth.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Iterator

MAX_DEPTH = 64
"""Containers within containers."""

MAX_INT_DIGITS = 300
"""Python takes quadratic time over long integers, and refuses some thousand digits."""

_MAX_FOUND = 64
"""Literals read from one text."""

_TOKEN = re.compile(
    r"""(?P<space> (?: \s | \\[nrt] )++ )            # a repr of bytes writes line breaks as two characters
      | (?P<punct> [{}\[\](),:] )
      | (?P<string> "[^"\\]*+(?:\\.[^"\\]*+)*+" | '[^'\\]*+(?:\\.[^'\\]*+)*+' )
      | (?P<number> -?+[0-9]++(?:\.[0-9]++)?+(?:[eE][+-]?+[0-9]++)?+ (?![\w.]) )
      | (?P<word> [A-Za-z_$][\w$]*+ )""",
    re.VERBOSE | re.DOTALL | re.ASCII,
)
_OPENING = re.compile(r"[{\[]")
_ESCAPE = re.compile(r"\\(?:u([0-9a-fA-F]{4})|x([0-9a-fA-F]{2})|U(00(?:0[0-9a-fA-F]|10)[0-9a-fA-F]{4})|(.))", re.DOTALL)
_SHORT = {"b": "\b", "f": "\f", "n": "\n", "r": "\r", "t": "\t", "\n": ""}
WORDS = {"true": True, "false": False, "null": None, "True": True, "False": False, "None": None}
"""The words that stand for values, in JSON and in Python."""

_CLOSER = {"{": "}", "[": "]", "(": ")"}


class Token(NamedTuple):
    """One piece of a literal."""

    kind: str
    """``punct``, ``string``, ``number`` or ``word``."""
    text: str
    """As it stands in the source."""
    end: int
    """Where the next one may begin."""


class NotLiteralError(ValueError):
    """The text holds no literal at this place."""


def tokens(text: str, start: int = 0) -> Iterator[Token]:
    """Yield the tokens of *text* from *start* on, without the spaces between.

    Raises:
        NotLiteralError: At the first character that begins none; not at the end of the text.
    """
    while start < len(text):
        found = _TOKEN.match(text, start)
        if found is None:
            raise NotLiteralError(f"nothing of a literal at {start}")
        start = found.end()
        if found.lastgroup != "space":
            yield Token(found.lastgroup or "", found[0], start)


def string_of(token: Token) -> str:
    """Return what a string token says."""
    text = _ESCAPE.sub(_unescaped, token.text[1:-1])
    return whole(text) if "\\u" in token.text else text


def whole(text: str) -> str:
    r"""Return *text* with halves of a character made one: JSON writes what lies beyond the first plane as ``\ud83d\ude00``."""
    return text.encode("utf-16", "surrogatepass").decode("utf-16", "surrogatepass")


def _unescaped(found: re.Match[str]) -> str:
    code = found[1] or found[2] or found[3]
    return chr(int(code, 16)) if code else _SHORT.get(found[4], found[4])


def number_of(token: Token) -> int | float:
    """Return what a number token says.

    Raises:
        NotLiteralError: It has too many digits to be one that somebody meant.
    """
    if len(token.text) > MAX_INT_DIGITS:
        raise NotLiteralError("a number of too many digits")
    return int(token.text) if token.text.lstrip("-").isdigit() else float(token.text)


def found_in(text: str) -> Iterator[tuple[int, int, Any]]:
    """Yield ``(start, end, value)`` of the outermost containers that *text* holds: dicts and lists; a set reads as a list."""
    # Every failed start has cost what it read; the sum is kept linear in the text.
    patience = len(text) + 1_000
    start = count = 0
    while count < _MAX_FOUND and patience > 0:
        opening = _OPENING.search(text, start)
        if opening is None:
            return
        reader = _Reader(text, opening.start())
        try:
            value = reader.value(MAX_DEPTH)
        except NotLiteralError:
            patience -= max(1, reader.end - opening.start())
            start = opening.end()
        else:
            start = reader.end
            count += 1
            yield opening.start(), reader.end, value


def literal_of(text: str) -> Any:
    """Return the one value that *text* writes, whole.

    Raises:
        NotLiteralError: It is none, or not only one.
    """
    reader = _Reader(text, 0)
    value = reader.value(MAX_DEPTH)
    if text[reader.end :].strip():
        raise NotLiteralError("more than one value")
    return value


class _Reader:
    """Reads one value; *end* is how far it has come."""

    def __init__(self, text: str, start: int) -> None:
        self._tokens = tokens(text, start)
        self.end = start

    def _next(self) -> Token:
        token = next(self._tokens, None)
        if token is None:
            raise NotLiteralError("ends too early")
        self.end = token.end
        return token

    def value(self, depth: int) -> Any:
        return self._value(self._next(), depth)

    def _value(self, token: Token, depth: int) -> Any:
        match token.kind:
            case "string":
                return string_of(token)
            case "number":
                return number_of(token)
            case "word" if token.text in WORDS:
                return WORDS[token.text]
            case "punct" if token.text in _CLOSER and depth > 0:
                return self._container(_CLOSER[token.text], depth - 1)
        raise NotLiteralError(f"{token.text[:20]!r} is no value")

    def _container(self, closer: str, depth: int) -> Any:
        fields: dict[str, Any] = {}
        items: list[Any] = []
        while (token := self._next()).text != closer:
            item = self._value(token, depth)
            token = self._next()
            if closer == "}" and token.text == ":" and isinstance(item, str):
                fields[item] = self.value(depth)
                token = self._next()
            else:
                items.append(item)
            if token.text == closer:
                break
            if token.text != ",":
                raise NotLiteralError("a separator is missing")
        # Braces around bare values are a Python set; an empty pair is a dict.
        return fields if closer == "}" and not items else items
